//! The headers that a turn may have, as what is compared with sampled tokens: bytes, and special tokens as symbols of
//! their own, so that a marker spelled by ordinary tokens does not count.

use super::options::{GrammarOptions, GrammarTool, HeaderForms};
use crate::chat::{ANALYSIS, COMMENTARY, FINAL};
use crate::tokenizer::{TokenId, special};

/// A byte, or a special token: 256 and more.
pub(super) type Symbol = u32;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageKind {
    Thought,
    Preamble,
    Answer,
    /// Of the tool with this index.
    Call(usize),
}

/// The token that ends a message.
pub(super) fn stop_of(kind: MessageKind) -> TokenId {
    match kind {
        MessageKind::Thought | MessageKind::Preamble => special::END,
        MessageKind::Answer => special::RETURN,
        MessageKind::Call(_) => special::CALL,
    }
}

/// A part of a header.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    Token(TokenId),
}

pub(super) const CHANNEL: Piece<'static> = Piece::Token(special::CHANNEL);
const CONSTRAIN: Piece<'static> = Piece::Token(special::CONSTRAIN);
pub(super) const MESSAGE: Piece<'static> = Piece::Token(special::MESSAGE);

/// The channels that calls are on; models use the first for half of them.
pub(super) const CALL_CHANNELS: [&str; 2] = [COMMENTARY, ANALYSIS];

/// The spellings of a content type, between the recipient or the channel and `<|message|>`; the first ones are those that
/// the guide has.
type Types = &'static [&'static [Piece<'static>]];

const OF_JSON: Types = &[
    &[],
    &[Piece::Text(" "), CONSTRAIN, Piece::Text("json")],
    &[CONSTRAIN, Piece::Text("json")],
    &[Piece::Text(" json")],
    &[Piece::Text(" code")],
];
const OF_TEXT: Types =
    &[&[], &[Piece::Text(" code")], &[Piece::Text(" "), CONSTRAIN, Piece::Text("code")]];

/// The content types of a call with JSON or text as arguments.
pub(super) fn types(is_json: bool, forms: HeaderForms) -> Types {
    let types = if is_json { OF_JSON } else { OF_TEXT };
    if forms == HeaderForms::All { types } else { &types[..2] }
}

/// The content types of an answer.
pub(super) fn answer_types(options: &GrammarOptions) -> Types {
    match (options.response_schema.is_some(), options.header_forms) {
        // Models name the type of an answer that nobody asked to be JSON, too.
        (false, HeaderForms::All) if !options.has_response_form() => &OF_JSON[..4],
        (false, _) => &OF_JSON[..1],
        (true, HeaderForms::Few) => &OF_JSON[..2],
        (true, HeaderForms::All) => &OF_JSON[..4],
    }
}

/// All headers, by what they begin, each list in order.
#[derive(Debug, Clone)]
pub(super) struct Headers {
    pub(super) thought: Vec<(Vec<Symbol>, MessageKind)>,
    pub(super) preamble: Vec<(Vec<Symbol>, MessageKind)>,
    /// Of the message that ends the turn.
    pub(super) last: Vec<(Vec<Symbol>, MessageKind)>,
}

impl Headers {
    pub(super) fn new(tools: &[GrammarTool], options: &GrammarOptions) -> Self {
        let plain = |channel| [CHANNEL, Piece::Text(channel), MESSAGE];
        let mut last = Vec::new();
        if !options.tool_choice.is_required() {
            for kind in answer_types(options) {
                let header = [&[CHANNEL, Piece::Text(FINAL)], &kind[..], &[MESSAGE]].concat();
                last.push((symbols(&header), MessageKind::Answer));
            }
        }
        for (index, tool) in tools.iter().enumerate() {
            let to = [Piece::Text(" to="), Piece::Text(&tool.recipient)];
            for kind in types(tool.parameters.is_some(), options.header_forms) {
                for channel in CALL_CHANNELS {
                    let on = [CHANNEL, Piece::Text(channel)];
                    for (first, second) in [(&on, &to), (&to, &on)] {
                        let header = [&first[..], &second[..], &kind[..], &[MESSAGE]].concat();
                        last.push((symbols(&header), MessageKind::Call(index)));
                    }
                }
            }
        }
        last.sort_by(|a, b| a.0.cmp(&b.0));
        Self {
            thought: vec![(symbols(&plain(ANALYSIS)), MessageKind::Thought)],
            preamble: vec![(symbols(&plain(COMMENTARY)), MessageKind::Preamble)],
            last,
        }
    }
}

/// The headers of a list that begin so.
pub(super) fn beginning<'h>(
    headers: &'h [(Vec<Symbol>, MessageKind)],
    with: &[Symbol],
) -> &'h [(Vec<Symbol>, MessageKind)] {
    let first = headers.partition_point(|(header, _)| header.as_slice() < with);
    let behind = &headers[first..];
    let count = behind.partition_point(|(header, _)| header.starts_with(with));
    &behind[..count]
}

fn symbols(pieces: &[Piece<'_>]) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => symbols.extend(text.bytes().map(Symbol::from)),
            Piece::Token(token) => symbols.push(symbol(*token)),
        }
    }
    symbols
}

/// A special token as a symbol.
pub(super) fn symbol(token: TokenId) -> Symbol {
    token.saturating_add(256)
}

/// Symbols as an error quotes them.
pub(super) fn quoted(symbols: &[Symbol], name: impl Fn(TokenId) -> String) -> String {
    let mut bytes = Vec::new();
    for &symbol in symbols {
        match u8::try_from(symbol) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend(name(symbol - 256).bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
