//! JSON as it streams, byte by byte: is this the beginning of a JSON text, and is it whole?

use crate::json::MAX_DEPTH;

/// Follows a JSON text.
#[derive(Debug, Clone)]
pub(super) struct WellFormed {
    place: Place,
    /// The lists and objects that are open.
    open: Vec<Open>,
    /// Whether the whole is an object.
    is_object: bool,
    /// How many blanks may stand in a row, and how many do.
    most_blanks: Option<usize>,
    blanks: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    List,
    Object,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Value,
    /// Behind `[`.
    ValueOrEnd,
    /// Behind `{`.
    KeyOrEnd,
    /// Behind a comma in an object.
    Key,
    Colon,
    /// Behind a value.
    Behind,
    String {
        is_key: bool,
    },
    Escape {
        is_key: bool,
    },
    /// So many digits of an escape are missing.
    Digits {
        is_key: bool,
        missing: u8,
    },
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
    /// `most_blanks`: how many blanks may stand in a row between words.
    pub(super) fn new(is_object: bool, most_blanks: Option<usize>) -> Self {
        Self { place: Place::Value, open: Vec::new(), is_object, most_blanks, blanks: 0 }
    }

    /// Whether the text is whole here.
    pub(super) fn is_complete(&self) -> bool {
        let ends = matches!(
            self.place,
            Place::Behind | Place::Zero | Place::Integer | Place::Fraction | Place::Power
        );
        ends && self.open.is_empty()
    }

    /// Reads a byte; false if no JSON text goes on with it.
    pub(super) fn feed(&mut self, byte: u8) -> bool {
        let is_in_string = matches!(
            self.place,
            Place::String { .. } | Place::Escape { .. } | Place::Digits { .. }
        );
        let is_blank = !is_in_string && matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
        self.blanks = if is_blank { self.blanks + 1 } else { 0 };
        if self.most_blanks.is_some_and(|most| self.blanks > most) {
            return false;
        }
        match self.next(byte) {
            Some(place) => {
                self.place = place;
                true
            }
            None => false,
        }
    }

    fn next(&mut self, byte: u8) -> Option<Place> {
        let is_blank = matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
        match self.place {
            Place::Value | Place::ValueOrEnd | Place::KeyOrEnd | Place::Key | Place::Colon
                if is_blank =>
            {
                Some(self.place)
            }
            Place::ValueOrEnd if byte == b']' => self.close(Open::List),
            Place::Value | Place::ValueOrEnd => self.value(byte),
            Place::KeyOrEnd if byte == b'}' => self.close(Open::Object),
            Place::KeyOrEnd | Place::Key => {
                (byte == b'"').then_some(Place::String { is_key: true })
            }
            Place::Colon => (byte == b':').then_some(Place::Value),
            Place::Behind if is_blank => Some(Place::Behind),
            Place::Behind => self.behind(byte),
            Place::String { is_key } => match byte {
                b'"' if is_key => Some(Place::Colon),
                b'"' => Some(Place::Behind),
                b'\\' => Some(Place::Escape { is_key }),
                0..0x20 => None,
                _ => Some(self.place),
            },
            Place::Escape { is_key } => match byte {
                b'u' => Some(Place::Digits { is_key, missing: 4 }),
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                    Some(Place::String { is_key })
                }
                _ => None,
            },
            Place::Digits { is_key, missing } => {
                byte.is_ascii_hexdigit().then_some(match missing {
                    1 => Place::String { is_key },
                    _ => Place::Digits { is_key, missing: missing - 1 },
                })
            }
            Place::Word(rest) => match rest.split_first() {
                Some((first, [])) if *first == byte => Some(Place::Behind),
                Some((first, rest)) if *first == byte => Some(Place::Word(rest)),
                _ => None,
            },
            _ => self.number(byte),
        }
    }

    fn value(&mut self, byte: u8) -> Option<Place> {
        if self.is_object && self.open.is_empty() && byte != b'{' {
            return None;
        }
        match byte {
            b'{' => self.enter(Open::Object, Place::KeyOrEnd),
            b'[' => self.enter(Open::List, Place::ValueOrEnd),
            b'"' => Some(Place::String { is_key: false }),
            b't' => Some(Place::Word(b"rue")),
            b'f' => Some(Place::Word(b"alse")),
            b'n' => Some(Place::Word(b"ull")),
            b'-' => Some(Place::Minus),
            b'0' => Some(Place::Zero),
            b'1'..=b'9' => Some(Place::Integer),
            _ => None,
        }
    }

    fn number(&mut self, byte: u8) -> Option<Place> {
        match (self.place, byte) {
            (Place::Minus, b'0') => Some(Place::Zero),
            (Place::Minus, b'1'..=b'9') | (Place::Integer, b'0'..=b'9') => Some(Place::Integer),
            (Place::Zero | Place::Integer, b'.') => Some(Place::Point),
            (Place::Point | Place::Fraction, b'0'..=b'9') => Some(Place::Fraction),
            (Place::Zero | Place::Integer | Place::Fraction, b'e' | b'E') => Some(Place::Exponent),
            (Place::Exponent, b'+' | b'-') => Some(Place::Sign),
            (Place::Exponent | Place::Sign | Place::Power, b'0'..=b'9') => Some(Place::Power),
            (Place::Zero | Place::Integer | Place::Fraction | Place::Power, _) => match byte {
                b' ' | b'\n' | b'\t' | b'\r' => Some(Place::Behind),
                _ => self.behind(byte),
            },
            _ => None,
        }
    }

    fn behind(&mut self, byte: u8) -> Option<Place> {
        match (self.open.last()?, byte) {
            (Open::List, b',') => Some(Place::Value),
            (Open::Object, b',') => Some(Place::Key),
            (Open::List, b']') => self.close(Open::List),
            (Open::Object, b'}') => self.close(Open::Object),
            _ => None,
        }
    }

    fn enter(&mut self, open: Open, place: Place) -> Option<Place> {
        self.open.push(open);
        (self.open.len() <= MAX_DEPTH).then_some(place)
    }

    fn close(&mut self, open: Open) -> Option<Place> {
        (self.open.pop()? == open).then_some(Place::Behind)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn reads(text: &[u8]) -> bool {
        let mut json = WellFormed::new(false, None);
        text.iter().all(|&byte| json.feed(byte)) && json.is_complete()
    }

    proptest! {
        /// Texts that are nearly JSON are JSON here if and only if they are to `serde_json`.
        #[test]
        fn as_serde_json(text in r#"[\[\]{}:, "\\u0-9a-f.eE+\-tn]{0,12}|\{"a": ?(true|null|-?[0-9.]{1,4}|"x\\[nu"x]{1,3}")\}"#) {
            let value = serde_json::from_str::<Value>(&text);
            // Half a pair and numbers beyond a double are JSON all the same.
            let is_beyond = value.as_ref().is_err_and(|error| {
                let said = error.to_string();
                said.contains("surrogate") || said.contains("out of range") || said.contains("lone")
                    || said.contains("unexpected end of hex escape")
            });
            prop_assert!(is_beyond || reads(text.as_bytes()) == value.is_ok(), "{text}: {value:?}");
        }
    }

    #[test]
    fn blanks_up_to_a_limit() {
        for (text, most, is_taken) in [
            ("[1, \"a  b\"]", Some(0), false),
            ("[1,\"a  b\"]", Some(0), true),
            (" [1 ,  2]\n", Some(2), true),
            ("[1,   2]", Some(2), false),
            ("[1,   2]", None, true),
        ] {
            let mut json = WellFormed::new(false, most);
            assert_eq!(text.bytes().all(|byte| json.feed(byte)), is_taken, "{text} {most:?}");
        }
    }

    #[test]
    fn an_object_where_one_is_needed() {
        for (text, is_object) in
            [("{}", true), (" {\"a\": [1]}\n", true), ("[]", false), ("1", false)]
        {
            let mut json = WellFormed::new(true, None);
            let fed = text.bytes().all(|byte| json.feed(byte));
            assert_eq!(fed && json.is_complete(), is_object, "{text}");
        }
    }
}
