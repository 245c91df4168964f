//! Sampled tokens through a grammar.

use std::fmt::Write;
use std::sync::Arc;

use super::Grammar;
use super::headers::{MessageKind, Symbol, beginning, quoted, stop_of, symbol};
use super::options::{HeaderForms, Thinking};
use super::pattern::Matcher;
use super::well_formed::WellFormed;
use crate::tokenizer::{TokenId, Tokenizer, special};

/// Between messages, after `<|end|>`: the author of the next.
const AUTHOR: &str = "assistant";

/// How many ways to continue an error names.
const NAMED: usize = 4;

/// Whether tokens are a turn of a grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether they are.
    pub ok: bool,
    /// The index of the first token that is not as it should be; their number if there should be more.
    pub at: Option<usize>,
    /// What was expected there.
    pub expected: Option<String>,
}

/// How far a turn is.
#[derive(Debug, Clone)]
pub struct GrammarState {
    grammar: Arc<Grammar>,
    stage: Stage,
    /// How many messages have ended.
    ended: usize,
}

#[derive(Debug, Clone)]
enum Stage {
    /// In a header; after `<|end|>` in what comes before it, too.
    Header(Vec<Symbol>),
    Content(Content),
    /// After the `<|end|>` of the message that ends the turn: its own token has to follow.
    Ended(TokenId),
    Done,
    /// Nothing can follow any longer.
    Failed(String),
}

#[derive(Debug, Clone)]
struct Content {
    kind: MessageKind,
    form: Form,
    /// The first bytes of a character.
    rest: Vec<u8>,
}

/// What content has to be.
#[derive(Debug, Clone)]
enum Form {
    Text,
    Json(WellFormed),
    Pattern(Box<Matcher>),
}

impl Form {
    fn is_complete(&self) -> bool {
        match self {
            Self::Text => true,
            Self::Json(json) => json.is_complete(),
            Self::Pattern(matcher) => matcher.is_complete(),
        }
    }
}

impl GrammarState {
    pub(super) fn new(grammar: Arc<Grammar>) -> Self {
        let mut state = Self { grammar, stage: Stage::Header(Vec::new()), ended: 0 };
        if let Some(kind) = state.grammar.begun {
            state.stage = Stage::Content(state.content(kind));
        }
        state
    }

    /// Whether the turn is complete, so that nothing follows.
    pub fn is_complete(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// What may follow.
    pub fn expected(&self) -> String {
        match &self.stage {
            Stage::Header(read) => self.expected_in_header(read),
            Stage::Content(content) => expected_in(content),
            Stage::Ended(stop) => name(*stop),
            Stage::Done => "nothing: the turn is complete".to_owned(),
            Stage::Failed(expected) => expected.clone(),
        }
    }

    /// Reads a token. Costs about a microsecond; of a header the logarithm of the number of headers.
    ///
    /// # Errors
    ///
    /// What was expected, if no turn of the grammar resumes this token. All that follows is an error, too.
    pub fn feed(&mut self, token: TokenId) -> Result<(), String> {
        let tokenizer = Tokenizer::o200k_harmony();
        let is_special = tokenizer.is_special_token(token);
        let is_fed = match (&mut self.stage, tokenizer.token_bytes(token)) {
            (Stage::Header(_), Some(_)) if is_special => self.feed_header([symbol(token)]),
            (Stage::Header(_), Some(bytes)) => {
                self.feed_header(bytes.iter().copied().map(Symbol::from))
            }
            (Stage::Content(_), Some(_)) if is_special => self.end_message(token),
            (Stage::Content(content), Some(bytes)) => content.feed(bytes),
            (&mut Stage::Ended(stop), _) if token == stop => {
                self.stage = Stage::Done;
                true
            }
            (_, None) | (Stage::Ended(_) | Stage::Done | Stage::Failed(_), _) => false,
        };
        if is_fed {
            return Ok(());
        }
        let expected = self.expected();
        self.stage = Stage::Failed(expected.clone());
        Err(expected)
    }

    /// Reads more of a header; false if none resumes it.
    fn feed_header(&mut self, symbols: impl IntoIterator<Item = Symbol>) -> bool {
        let Stage::Header(read) = &self.stage else { return false };
        let read: Vec<Symbol> = read.iter().copied().chain(symbols).collect();
        let lead = self.lead();
        if lead.starts_with(&read) {
            self.stage = Stage::Header(read);
            return true;
        }
        let Some(header) = read.strip_prefix(&lead[..]) else { return false };
        let mut found = self.lists().into_iter().flat_map(|list| beginning(list, header));
        let Some(&(ref first, kind)) = found.next() else { return false };
        // No header is the beginning of another: each ends with the one `<|message|>` that it has.
        let is_complete = first.len() == header.len();
        self.stage =
            if is_complete { Stage::Content(self.content(kind)) } else { Stage::Header(read) };
        true
    }

    /// Reads a special token within a content; false if it does not end it.
    fn end_message(&mut self, token: TokenId) -> bool {
        let Stage::Content(content) = &self.stage else { return false };
        let is_whole = content.rest.is_empty() && content.form.is_complete();
        let stop = stop_of(content.kind);
        let has_end = self.grammar.options.header_forms == HeaderForms::All;
        self.stage = match token {
            _ if !is_whole => return false,
            special::END if stop == special::END => Stage::Header(Vec::new()),
            special::END if has_end => Stage::Ended(stop),
            _ if token == stop => Stage::Done,
            _ => return false,
        };
        self.ended += 1;
        true
    }

    /// What comes in front of the header.
    fn lead(&self) -> Vec<Symbol> {
        if self.ended == 0 {
            return Vec::new();
        }
        [symbol(special::START)].into_iter().chain(AUTHOR.bytes().map(Symbol::from)).collect()
    }

    /// The headers that may come here.
    fn lists(&self) -> Vec<&[(Vec<Symbol>, MessageKind)]> {
        let (headers, options) = (&self.grammar.headers, &self.grammar.options);
        let must_think = options.thinking == Thinking::Required && self.ended == 0;
        let has_room = options.max_messages.is_none_or(|most| self.ended + 1 < most);
        let mut lists: Vec<&[_]> = Vec::with_capacity(3);
        if has_room && options.thinking != Thinking::Off {
            lists.push(&headers.thought);
        }
        if has_room && options.preambles && !must_think {
            lists.push(&headers.preamble);
        }
        if !must_think {
            lists.push(&headers.last);
        }
        lists
    }

    fn content(&self, kind: MessageKind) -> Content {
        let most_blanks = self.grammar.options.json_space.most();
        let is_object = matches!(kind, MessageKind::Call(_));
        let form = match (self.grammar.schema_of(kind), &self.grammar.pattern) {
            (Some(_), _) => Form::Json(WellFormed::new(is_object, most_blanks)),
            (None, Some(pattern)) if kind == MessageKind::Answer => {
                Form::Pattern(Box::new(Matcher::new(pattern)))
            }
            (None, _) => Form::Text,
        };
        Content { kind, form, rest: Vec::new() }
    }

    fn expected_in_header(&self, read: &[Symbol]) -> String {
        let lead = self.lead();
        if read.len() < lead.len() {
            return quoted(&lead[read.len()..], name);
        }
        let header = &read[lead.len()..];
        let found = self.lists().into_iter().flat_map(|list| beginning(list, header));
        let found: Vec<_> = found.collect();
        let named = found.iter().take(NAMED).map(|(rest, _)| quoted(&rest[header.len()..], name));
        let mut said = named.collect::<Vec<_>>().join(" or ");
        if let Some(more) = found.len().checked_sub(NAMED).filter(|more| *more > 0) {
            // Writing to a string cannot fail.
            let _ = write!(said, " or {more} more");
        }
        said
    }
}

impl Content {
    /// Reads its content; false if that is not allowed.
    fn feed(&mut self, bytes: &[u8]) -> bool {
        let is_taken = match &mut self.form {
            Form::Text => true,
            Form::Json(json) => bytes.iter().all(|&byte| json.feed(byte)),
            Form::Pattern(matcher) => matcher.feed(bytes),
        };
        if !is_taken {
            return false;
        }
        self.rest.extend_from_slice(bytes);
        match std::str::from_utf8(&self.rest) {
            Ok(_) => self.rest.clear(),
            Err(error) if error.error_len().is_some() => return false,
            Err(error) => drop(self.rest.drain(..error.valid_up_to())),
        }
        true
    }
}

fn expected_in(content: &Content) -> String {
    let stop = name(stop_of(content.kind));
    match &content.form {
        _ if !content.rest.is_empty() => "the rest of a character".to_owned(),
        Form::Json(json) if json.is_complete() => format!("{stop}, since the JSON is complete"),
        Form::Json(_) => "more of a JSON text".to_owned(),
        Form::Pattern(matcher) if matcher.is_complete() => format!("{stop}, or more that fits"),
        Form::Pattern(_) => "an answer that fits its regex or is one of its choices".to_owned(),
        Form::Text => format!("text or {stop}"),
    }
}

fn name(token: TokenId) -> String {
    Tokenizer::o200k_harmony().decode_lossy([token]).unwrap_or_default()
}
