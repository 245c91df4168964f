//! The grammar: one function for each state, and the steps that they share.

use std::ops::Range;

use super::state::{Begin, BrokenOff, Delta, HeaderState, OpenMessage, State};
use super::stream::StreamableParser;
use super::utf8::Utf8Decoder;
use crate::chat::{Content, Message, TextContent};
use crate::error::{ErrorKind, Result};
use crate::header::{self, Given};
use crate::repair::RepairKind;
use crate::tokenizer::special;

/// The tokens at which a message ends.
pub(crate) const STOP_TOKENS: [u32; 3] = [special::RETURN, special::END, special::CALL];

/// Whether a message ends at this token.
pub(super) fn is_stop(token: u32) -> bool {
    STOP_TOKENS.contains(&token)
}

impl StreamableParser {
    /// Between messages.
    pub(super) fn on_start(&mut self, token: u32, index: usize) -> Result<()> {
        if token == special::START {
            self.state = State::Header(HeaderState::new(index, Begin::Start));
            return Ok(());
        }
        if self.setup.strict {
            let text = self.text_of(index..index + 1);
            let error = self.error_at(ErrorKind::UnexpectedToken { token }, index);
            return Err(error.with_token_text(text));
        }
        self.stray(token, index);
        Ok(())
    }

    /// In a header: its tokens are gathered until `<|message|>`.
    ///
    /// No other token raises an error here, neither a stop token nor a misplaced marker: 0.0.8 raised at `<|message|>`
    /// at the earliest, and servers that skip errors rely on the error at the end of the tokens, which means that the
    /// message was never read.
    pub(super) fn on_header(&mut self, token: u32, index: usize) -> Result<()> {
        let State::Header(header) = &mut self.state else { return Ok(()) };
        match token {
            _ if header.begin == Begin::Stray => {
                let from = header.from;
                self.on_stray(from, token, index);
            }
            special::MESSAGE => return self.end_header(index),
            special::START if header.begin == Begin::Given && header.from == index => {
                // The tokens begin with `<|start|>` although a role was given: the header names its own author.
                header.begin = Begin::Start;
                if !self.setup.strict {
                    self.given_role = None;
                }
            }
            _ if !self.setup.strict => self.on_lenient_header(token, index),
            special::START => self.start_over(index),
            _ => {}
        }
        Ok(())
    }

    /// `<|start|>` inside a header: the header is read as in lenient parsing, and a new one begins. 0.0.8 read both as
    /// one and lost the next message. Whether that is an error is decided where 0.0.8 did, at `<|message|>`: code that
    /// stops at its first error must not stop earlier.
    fn start_over(&mut self, index: usize) {
        let State::Header(header) = self.take_state() else { return };
        let given = self.given(&header);
        let is_readable =
            self.read_strictly(header.body()..index, given).is_ok() || self.words.is_empty();
        let role = header::role(&self.words);
        let broken_off = match header.broken_off {
            None => BrokenOff { tokens: index - header.body(), given, role, is_readable },
            Some(first) => BrokenOff {
                tokens: first.tokens + (index - header.from),
                given: first.given,
                role: role.or(first.role),
                is_readable: first.is_readable && is_readable,
            },
        };
        self.read_leniently(&header, index);
        let next = HeaderState::new(index, Begin::Start);
        self.state = State::Header(HeaderState { broken_off: Some(broken_off), ..next });
    }

    /// `<|message|>`: the header is complete.
    pub(super) fn end_header(&mut self, index: usize) -> Result<()> {
        let State::Header(header) = self.take_state() else { return Ok(()) };
        if !self.setup.strict {
            self.open_repaired(&header, index);
            return Ok(());
        }
        let read = self.read_strictly(header.body()..index, self.given(&header));
        let as_one = match header.broken_off {
            Some(first) if !first.is_readable || read.is_err() => {
                self.read_strictly(header.from - first.tokens..index, first.given).map(|_| ())
            }
            _ => Ok(()),
        };
        match read {
            Ok(read) => self.open(header.from, index, read),
            // The content that follows must not be lost, whether or not 0.0.8 raised an error.
            Err(_) if header.broken_off.is_some() => self.read_leniently(&header, index),
            Err(error) => return Err(error.at_token(self.fed_at(index))),
        }
        as_one.map_err(|error| error.at_token(self.fed_at(index)))
    }

    /// Reads the words of a header. One with an id that does not exist cannot be read.
    fn read_strictly(&mut self, body: Range<usize>, given: Given) -> Result<Message> {
        let tokens = &self.tokens[body];
        self.words.split(self.setup.tokenizer, tokens);
        match tokens.iter().find(|&&token| self.setup.tokenizer.token_bytes(token).is_none()) {
            Some(&token) => Err(ErrorKind::InvalidToken { token }.into()),
            None => header::read(&self.words, given),
        }
    }

    /// What is known about the author of a header.
    fn given(&self, header: &HeaderState) -> Given {
        match (self.given_role, header.begin) {
            (None, _) => {
                let role = header.broken_off.and_then(|first| first.role);
                role.map_or(Given::Nothing, Given::Fallback)
            }
            (Some(role), Begin::Given) => Given::Role(role),
            // The given role is that of the first tokens.
            (Some(role), _) if self.fed_at(header.from) == 0 => Given::Fallback(role),
            (Some(role), _) => Given::Waiting(role),
        }
    }

    pub(super) fn open(&mut self, from: usize, index: usize, header: Message) {
        self.given_role = None;
        self.report_start(from..index + 1, &header);
        self.open_content(header, index + 1);
    }

    /// Begins the content of a message at this token.
    pub(super) fn open_content(&mut self, header: Message, from: usize) {
        self.state = State::Content(Box::new(OpenMessage {
            message: header,
            text: String::new(),
            decoder: Utf8Decoder::default(),
            from,
            reported: 0,
            uncovered: from,
            held_from: None,
            headerless: false,
        }));
    }

    /// Takes the state and leaves [`State::Start`].
    pub(super) fn take_state(&mut self) -> State {
        std::mem::replace(&mut self.state, State::Start)
    }

    /// In a message's content.
    #[inline]
    pub(super) fn on_content(&mut self, token: u32, index: usize) {
        if is_stop(token) {
            self.release_held(index);
            self.close(index, Some(token));
        } else if self.setup.strict || !self.on_lenient_content(token, index) {
            self.push_content(token, index);
        }
    }

    /// Appends a token's text to the content.
    #[inline]
    pub(super) fn push_content(&mut self, token: u32, index: usize) {
        let State::Content(open) = &mut self.state else { return };
        let Some(bytes) = self.setup.tokenizer.token_bytes(token) else {
            return self.replace_unknown(index);
        };
        let before = open.text.len();
        open.decoder.push(bytes, &mut open.text);
        if open.text.len() > before {
            self.delta.begin_at(before);
        }
    }

    /// An id that does not exist becomes U+FFFD. 0.0.8 lost the rest of the message, and code that stops at its first
    /// error would, too.
    fn replace_unknown(&mut self, index: usize) {
        let State::Content(open) = &mut self.state else { return };
        let before = open.text.len();
        open.decoder.finish(&mut open.text);
        open.text.push(char::REPLACEMENT_CHARACTER);
        self.delta.begin_at(before);
        self.repair(RepairKind::UnknownToken, index..index + 1, Some(self.message_count()));
    }

    /// The number of these tokens that are certain to be content.
    pub(super) fn content_run(&self, tokens: &[u32]) -> usize {
        match &self.state {
            State::Content(open) if open.held_from.is_none() && !self.spelling.is_read => {
                tokens.iter().take_while(|&&token| token < special::STARTOFTEXT).count()
            }
            _ => 0,
        }
    }

    /// Appends the text of tokens that are certain to be content.
    pub(super) fn push_run(&mut self, run: &[u32]) {
        let State::Content(open) = &mut self.state else { return };
        self.tokens.extend_from_slice(run);
        if let Ok(bytes) = self.setup.tokenizer.decode_bytes(run) {
            open.decoder.push(&bytes, &mut open.text);
        }
    }

    /// Completes the open message, whose tokens end before `end`.
    pub(super) fn close(&mut self, end: usize, stop_token: Option<u32>) {
        if !matches!(self.state, State::Content(_)) {
            return;
        }
        self.finish_character();
        self.report_content(end);
        let State::Content(open) = self.take_state() else { return };
        let OpenMessage { message, text, .. } = *open;
        self.complete(message, text, stop_token);
        self.report_end(end, stop_token);
    }

    /// Replaces a character that its message's end cut off.
    fn finish_character(&mut self) {
        let State::Content(open) = &mut self.state else { return };
        let before = open.text.len();
        if open.decoder.finish(&mut open.text) {
            self.delta.begin_at(before);
        }
        if let Delta::Open(start) = self.delta {
            self.delta = Delta::Complete(start);
        }
    }

    /// Adds a complete message.
    pub(super) fn complete(&mut self, mut message: Message, text: String, stop_token: Option<u32>) {
        message.content = vec![Content::Text(TextContent { text })];
        self.made.messages.push(message);
        self.made.stop_tokens.push(stop_token);
    }

    /// The text of a span, with the names of special tokens, and U+FFFD for unknown ids.
    pub(super) fn text_of(&self, span: Range<usize>) -> String {
        let mut bytes = Vec::new();
        for &token in &self.tokens[span] {
            bytes.extend_from_slice(
                self.setup.tokenizer.token_bytes(token).unwrap_or("\u{FFFD}".as_bytes()),
            );
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
