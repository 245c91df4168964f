//! The input of a custom tool, decoded while `{"input": "..."}` streams.
//!
//! Models write code into that string and forget to escape its quotes. So a quote ends the string only if what follows
//! can end the object, too; any other quote is part of the input. Arguments that are not an object are themselves the
//! input.

use serde::{Deserialize, Serialize};

use crate::interop::body::parse_arguments;

/// What a checkpoint has instead of an object whose string so far is one, and instead of other text, which cannot
/// become an object.
const OPENED: &str = "{\"input\":\"";
const NO_OBJECT: &str = "]";

/// How many bytes to look at after a quote to decide whether it ends the string. Objects that a model writes never need
/// more.
const LOOK_AHEAD: usize = 256;

/// Decodes one call's input.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct InputDecoder {
    raw: String,
    state: InputState,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
enum InputState {
    /// The arguments so far may become `{"input": "`.
    #[default]
    Opening,
    /// Bytes before this one are decoded.
    Inside(usize),
    /// Bytes before this one are emitted as they are.
    Bare(usize),
    /// Another object, which is examined once it is complete.
    Object,
}

/// Whether the text that has arrived so far is the expected one.
#[derive(Debug, PartialEq, Eq)]
enum Lookahead {
    /// It is, and takes this many bytes.
    Whole(usize),
    /// More text decides.
    Undecided,
    Other,
}

impl InputDecoder {
    /// Whether its offset lies within its text: a checkpoint may have been altered.
    pub(super) fn is_possible(&self) -> bool {
        match self.state {
            InputState::Bare(at) => self.raw.is_char_boundary(at),
            InputState::Inside(at) => {
                matches!(self.raw.get(..at), Some(OPENED | NO_OBJECT))
            }
            InputState::Opening | InputState::Object => true,
        }
    }

    /// The state that a checkpoint needs: without the emitted text, except where the end depends on it.
    pub(super) fn checkpoint(&self) -> Self {
        let (emitted, state) = match self.state {
            InputState::Bare(at) => (&self.raw[..at], InputState::Bare(0)),
            InputState::Inside(at) => (&self.raw[..at], self.state),
            InputState::Opening | InputState::Object => return self.clone(),
        };
        let left = &self.raw[emitted.len()..];
        // The meaning of a quote at the end depends on whether the whole is an object.
        let begun = match state {
            InputState::Bare(_) => "",
            _ if is_string_so_far(emitted) => OPENED,
            _ => NO_OBJECT,
        };
        let state = if begun.is_empty() { state } else { InputState::Inside(begun.len()) };
        Self { raw: [begun, left].concat(), state }
    }

    /// Takes arguments and returns the input that they add.
    pub(super) fn push(&mut self, arguments: &str) -> String {
        self.raw.push_str(arguments);
        if matches!(self.state, InputState::Opening) {
            self.state = match opening(&self.raw) {
                Lookahead::Whole(length) => InputState::Inside(length),
                Lookahead::Undecided => InputState::Opening,
                Lookahead::Other if self.raw.trim_ascii_start().starts_with('{') => {
                    InputState::Object
                }
                Lookahead::Other => InputState::Bare(0),
            };
        }
        let mut input = String::new();
        match &mut self.state {
            InputState::Inside(at) => *at = decode(&self.raw, *at, &mut input),
            InputState::Bare(at) => {
                input.push_str(&self.raw[*at..]);
                *at = self.raw.len();
            }
            InputState::Opening | InputState::Object => {}
        }
        input
    }

    /// Ends the arguments and returns the rest of the input.
    pub(super) fn finish(&self) -> String {
        match self.state {
            InputState::Bare(_) => String::new(),
            InputState::Opening | InputState::Object => {
                member(&self.raw).unwrap_or_else(|| self.raw.clone())
            }
            InputState::Inside(at) => rest(&self.raw, at),
        }
    }
}

/// Whether the text is `{"input": "` and then what a JSON string can contain.
fn is_string_so_far(text: &str) -> bool {
    let Lookahead::Whole(begun) = opening(text) else { return false };
    serde_json::from_str::<String>(&["\"", &text[begun..], "\""].concat()).is_ok()
}

/// The member `input` of an object, if it is a string.
fn member(raw: &str) -> Option<String> {
    Some(parse_arguments(raw)?.at().get("input")?.as_str()?.to_owned())
}

/// The rest of the input, if the arguments end inside the string or after it.
fn rest(raw: &str, mut at: usize) -> String {
    let is_object = is_string_so_far(&raw[..at]) && member(raw).is_some();
    let mut input = String::new();
    loop {
        at = decode(raw, at, &mut input);
        let mut left = raw[at..].chars();
        let Some(next) = left.next() else { return input };
        if next == '"' && (is_object || matches!(left.as_str().trim_ascii(), "" | "}")) {
            return input;
        }
        // A quote that ends nothing, or a cut-off escape.
        let (length, character) = escape(&raw[at..]).unwrap_or((1, next));
        input.push(character);
        at += length;
    }
}

/// Decodes the string from `at` on and returns where it stopped: at the end, at an escape that is
/// not complete, or at a quote that may end the string.
fn decode(raw: &str, mut at: usize, input: &mut String) -> usize {
    loop {
        let left = &raw[at..];
        let length = left.find(['"', '\\']).unwrap_or(left.len());
        input.push_str(&left[..length]);
        at += length;
        let left = &raw[at..];
        match left.as_bytes().first() {
            None => return at,
            Some(b'"') if closing(&left[1..]) == Lookahead::Undecided => return at,
            Some(b'"') => {
                input.push('"');
                at += 1;
            }
            // From here on, the text may end inside an escape, or between the two escapes of one character.
            Some(_) if left.len() < 2 || left.starts_with("\\u") && left.len() < PAIR => return at,
            Some(_) => {
                let (length, character) = escape(left).unwrap_or((1, '\\'));
                input.push(character);
                at += length;
            }
        }
    }
}

/// Whether `{"input": "` begins the text.
fn opening(text: &str) -> Lookahead {
    let mut at = 0;
    for expected in ["{", "\"input\"", ":", "\""] {
        let left = text[at..].trim_ascii_start();
        if !left.starts_with(expected) {
            return if expected.starts_with(left) {
                Lookahead::Undecided
            } else {
                Lookahead::Other
            };
        }
        at = text.len() - left.len() + expected.len();
    }
    Lookahead::Whole(at)
}

/// Whether the text after a quote can end the object: [`Lookahead::Undecided`] as long as it can,
/// [`Lookahead::Other`] if the quote belongs to the input.
fn closing(behind: &str) -> Lookahead {
    let text = behind.trim_ascii_start();
    let goes_on = match text.as_bytes().first() {
        None => behind.len() < LOOK_AHEAD,
        Some(b'}') => {
            text[1..].bytes().take(LOOK_AHEAD).all(|byte| byte.is_ascii_whitespace())
                && behind.len() < LOOK_AHEAD
        }
        Some(b',') => return another_member(&text[1..]),
        Some(_) => false,
    };
    if goes_on { Lookahead::Undecided } else { Lookahead::Other }
}

/// Whether the text is, or may become, the beginning of another member: `"key":`.
fn another_member(text: &str) -> Lookahead {
    let text = text.trim_ascii_start();
    let Some(key) = text.strip_prefix('"') else {
        return if text.is_empty() { Lookahead::Undecided } else { Lookahead::Other };
    };
    let head = &key.as_bytes()[..key.len().min(LOOK_AHEAD)];
    let Some(length) = head.iter().position(|&byte| byte == b'"') else {
        return if head.len() < LOOK_AHEAD { Lookahead::Undecided } else { Lookahead::Other };
    };
    match key[length + 1..].trim_ascii_start().as_bytes().first() {
        None | Some(b':') => Lookahead::Undecided,
        Some(_) => Lookahead::Other,
    }
}

/// The length of `\ud83d\ude00`, the longest escape of one character.
const PAIR: usize = 12;

/// An escape's length and character; U+FFFD for half a surrogate pair. `None` if it is not an escape.
fn escape(text: &str) -> Option<(usize, char)> {
    let of_length = |length: usize| {
        let quoted = format!("\"{}\"", text.get(..length)?);
        Some((length, serde_json::from_str(&quoted).ok()?))
    };
    let Some(hex) = text.strip_prefix("\\u") else { return of_length(2) };
    let is_unit = hex.len() >= 4 && hex.bytes().take(4).all(|byte| byte.is_ascii_hexdigit());
    let half = is_unit.then_some((6, char::REPLACEMENT_CHARACTER));
    of_length(PAIR).or_else(|| of_length(6)).or(half)
}
