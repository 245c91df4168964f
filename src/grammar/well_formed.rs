//! JSON as it streams, byte by byte: is this the beginning of a JSON text, and is it complete?

use crate::json::MAX_DEPTH;

/// Follows a JSON text.
#[derive(Debug, Clone)]
pub(super) struct WellFormed {
    state: JsonState,
    /// The brackets that close the lists and objects that are open.
    open: Vec<u8>,
    /// Whether the last string is a key.
    is_key: bool,
    /// Whether the whole is an object.
    is_object: bool,
    /// How many blanks may follow each other, and how many do.
    most_blanks: Option<usize>,
    blanks: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonState {
    Value,
    /// After `[`.
    ValueOrEnd,
    /// After `{`.
    KeyOrEnd,
    /// After a comma in an object.
    Key,
    Colon,
    /// After a value.
    Behind,
    String,
    Escape,
    /// So many digits of an escape are missing.
    Digits(u8),
    /// What is left of `true`, `false` or `null`.
    Word(&'static [u8]),
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

impl WellFormed {
    /// `is_object`: whether the whole has to be an object.
    /// `most_blanks`: how many blanks may separate two words.
    pub(super) fn new(is_object: bool, most_blanks: Option<usize>) -> Self {
        let (state, open) = (JsonState::Value, Vec::new());
        Self { state, open, is_key: false, is_object, most_blanks, blanks: 0 }
    }

    /// Whether the text is complete here.
    pub(super) fn is_complete(&self) -> bool {
        self.open.is_empty() && self.ends_value()
    }

    /// Whether a value may end here.
    fn ends_value(&self) -> bool {
        matches!(
            self.state,
            JsonState::Behind
                | JsonState::Zero
                | JsonState::Integer
                | JsonState::Fraction
                | JsonState::Power
        )
    }

    /// Reads a byte; false if no JSON text resumes it.
    pub(super) fn feed(&mut self, byte: u8) -> bool {
        let is_in_string =
            matches!(self.state, JsonState::String | JsonState::Escape | JsonState::Digits(_));
        let is_blank = !is_in_string && matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
        self.blanks = if is_blank { self.blanks + 1 } else { 0 };
        if self.most_blanks.is_some_and(|most| self.blanks > most) {
            return false;
        }
        let next = if is_blank { self.blank() } else { self.next(byte) };
        next.map(|state| self.state = state).is_some()
    }

    fn blank(&self) -> Option<JsonState> {
        match self.state {
            JsonState::Value
            | JsonState::ValueOrEnd
            | JsonState::KeyOrEnd
            | JsonState::Key
            | JsonState::Colon => Some(self.state),
            _ => self.ends_value().then_some(JsonState::Behind),
        }
    }

    fn next(&mut self, byte: u8) -> Option<JsonState> {
        match self.state {
            JsonState::ValueOrEnd if byte == b']' => self.close(byte),
            JsonState::Value | JsonState::ValueOrEnd => self.value(byte),
            JsonState::KeyOrEnd if byte == b'}' => self.close(byte),
            JsonState::KeyOrEnd | JsonState::Key => {
                self.is_key = true;
                (byte == b'"').then_some(JsonState::String)
            }
            JsonState::Colon => (byte == b':').then_some(JsonState::Value),
            JsonState::String => match byte {
                b'"' if self.is_key => Some(JsonState::Colon),
                b'"' => Some(JsonState::Behind),
                b'\\' => Some(JsonState::Escape),
                0..0x20 => None,
                _ => Some(JsonState::String),
            },
            JsonState::Escape => match byte {
                b'u' => Some(JsonState::Digits(4)),
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(JsonState::String),
                _ => None,
            },
            JsonState::Digits(missing) => byte.is_ascii_hexdigit().then_some(match missing {
                1 => JsonState::String,
                _ => JsonState::Digits(missing - 1),
            }),
            JsonState::Word(rest) => match rest.split_first() {
                Some((first, [])) if *first == byte => Some(JsonState::Behind),
                Some((first, rest)) if *first == byte => Some(JsonState::Word(rest)),
                _ => None,
            },
            _ => self.number(byte),
        }
    }

    fn value(&mut self, byte: u8) -> Option<JsonState> {
        if self.is_object && self.open.is_empty() && byte != b'{' {
            return None;
        }
        self.is_key = false;
        match byte {
            b'{' => self.enter(b'}', JsonState::KeyOrEnd),
            b'[' => self.enter(b']', JsonState::ValueOrEnd),
            b'"' => Some(JsonState::String),
            b't' => Some(JsonState::Word(b"rue")),
            b'f' => Some(JsonState::Word(b"alse")),
            b'n' => Some(JsonState::Word(b"ull")),
            b'-' => Some(JsonState::Minus),
            b'0' => Some(JsonState::Zero),
            b'1'..=b'9' => Some(JsonState::Integer),
            _ => None,
        }
    }

    /// Continues a number, or what follows a value.
    fn number(&mut self, byte: u8) -> Option<JsonState> {
        match (self.state, byte) {
            (JsonState::Minus, b'0') => Some(JsonState::Zero),
            (JsonState::Minus, b'1'..=b'9') | (JsonState::Integer, b'0'..=b'9') => {
                Some(JsonState::Integer)
            }
            (JsonState::Zero | JsonState::Integer, b'.') => Some(JsonState::Point),
            (JsonState::Point | JsonState::Fraction, b'0'..=b'9') => Some(JsonState::Fraction),
            (JsonState::Zero | JsonState::Integer | JsonState::Fraction, b'e' | b'E') => {
                Some(JsonState::Exponent)
            }
            (JsonState::Exponent, b'+' | b'-') => Some(JsonState::Sign),
            (JsonState::Exponent | JsonState::Sign | JsonState::Power, b'0'..=b'9') => {
                Some(JsonState::Power)
            }
            _ if !self.ends_value() => None,
            (_, b',') if *self.open.last()? == b'}' => Some(JsonState::Key),
            (_, b',') => Some(JsonState::Value),
            _ => self.close(byte),
        }
    }

    fn enter(&mut self, closing: u8, state: JsonState) -> Option<JsonState> {
        self.open.push(closing);
        (self.open.len() <= MAX_DEPTH).then_some(state)
    }

    fn close(&mut self, byte: u8) -> Option<JsonState> {
        self.open.pop_if(|closing| *closing == byte).map(|_| JsonState::Behind)
    }
}
