//! Bodies of requests: JSON as clients write it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Tree};

use crate::error::{ErrorKind, Result};
use crate::json::{At, MAX_DEPTH, NotNumbers, Tape};
use crate::path::Path;

/// JSON as it was given: a request's body, or a message of one.
///
/// Its numbers are kept as text, so that integers of any length, and the digits that a model wrote, stay unchanged in
/// the arguments of calls. A `serde_json::Value` cannot hold all of them; JSON made from one has the numbers it holds.
///
/// ```
/// use openai_harmony::interop::{Json, parse_body};
/// use serde_json::json;
///
/// let body = parse_body(r#"{"model": "gpt-oss", "seed": 12345678901234567890123}"#)?;
/// assert_eq!(body.text("model"), Some("gpt-oss"));
/// assert_eq!(body.to_string(), r#"{"model":"gpt-oss","seed":12345678901234567890123}"#);
/// assert_eq!(Json::from(json!([1, 2])).to_value(), json!([1, 2]));
/// # Ok::<(), openai_harmony::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Json {
    /// The value is the first one on the tape. Copies share the tape.
    tape: Arc<Tape>,
}

impl Json {
    /// The first value of a tape.
    #[doc(hidden)]
    pub fn new(tape: Tape) -> Self {
        Self { tape: Arc::new(tape) }
    }

    /// A value of other JSON.
    pub(super) fn copy(at: At<'_>) -> Self {
        let mut tape = Tape::default();
        tape.copy(at);
        Self::new(tape)
    }

    /// JSON that this library wrote.
    pub(super) fn written(bytes: &[u8]) -> Self {
        let mut tape = Tape::default();
        tape.parse_written(std::str::from_utf8(bytes).unwrap_or_default());
        Self::new(tape)
    }

    /// The same for several values, each on its own line.
    pub(super) fn written_lines(bytes: &[u8]) -> Vec<Self> {
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.map(Self::written).collect()
    }

    #[doc(hidden)]
    pub fn at(&self) -> At<'_> {
        self.tape.at(0)
    }

    pub(super) fn is_too_deep(&self) -> bool {
        self.tape.is_too_deep()
    }

    /// The text of a member; `None` if there is no such member, or it is not a string.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.at().get(key)?.as_str()
    }

    /// The same object with this member, which replaces one of that name; anything but an object stays as it is.
    #[must_use]
    pub fn with_member(&self, key: &str, value: &Tree) -> Self {
        let mut tape = Tape::clone(&self.tape);
        tape.add_member(key, value);
        Self::new(tape)
    }

    /// The value as a `serde_json::Value`, in which an integer of more than 64 bits becomes the nearest float.
    pub fn to_value(&self) -> Tree {
        self.at().to_tree()
    }
}

impl From<&Tree> for Json {
    fn from(tree: &Tree) -> Self {
        let mut tape = Tape::default();
        tape.tree(tree, MAX_DEPTH);
        Self::new(tape)
    }
}

impl From<Tree> for Json {
    fn from(tree: Tree) -> Self {
        Self::from(&tree)
    }
}

impl From<Map<String, Tree>> for Json {
    fn from(map: Map<String, Tree>) -> Self {
        Tree::Object(map).into()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.at().serialize(serializer)
    }
}

/// As JSON on one line.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.at().to_json())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Whether both have the same JSON text.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

/// Reads the arguments of a call, if they are an object that every JSON parser accepts: without unpaired surrogates,
/// and with numbers that fit an `f64`, rounded if need be.
pub(super) fn parse_arguments(text: &str) -> Option<Json> {
    let mut tape = Tape::default();
    let index = tape.parse(text, NotNumbers::Refused).ok()?;
    let is_taken = tape.at(index).as_object().is_some() && !tape.has_half_pairs();
    is_taken.then(|| Json::new(tape))
}

/// Reads a request's body from its text.
///
/// Unpaired surrogates become U+FFFD: JavaScript writes one as `\ud83d` when a text was cut inside an emoji. A leading
/// byte order mark is skipped.
///
/// # Errors
///
/// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) without a path: text that is
/// not JSON, has a number that no double can hold, or is nested more than 127 levels deep.
///
/// ```
/// use openai_harmony::interop::parse_body;
///
/// assert_eq!(parse_body(r#"{"model": "gpt-oss"}"#)?.text("model"), Some("gpt-oss"));
/// assert_eq!(parse_body(r#"["\ud83d"]"#)?.to_value()[0], "\u{FFFD}");
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn parse_body(text: &str) -> Result<Json> {
    parse_body_within(text, usize::MAX)
}

/// [`parse_body`] with a limit on the number of values, keys included: a value takes up to 24 bytes of memory, twelve
/// times its text.
///
/// # Errors
///
/// Those of [`parse_body`]; "too many values".
///
/// ```
/// use openai_harmony::interop::parse_body_within;
///
/// let error = parse_body_within("[[],[],[]]", 3).unwrap_err();
/// assert!(error.to_string().ends_with("the body is not JSON: too many values at line 1 column 8"));
/// ```
pub fn parse_body_within(text: &str, values: usize) -> Result<Json> {
    let mut tape = Tape::default();
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    match tape.parse_some(text, values) {
        Ok(_) => Ok(Json::new(tape)),
        Err(error) => {
            let reason = format!("the body is not JSON: {}", error.in_text(text));
            Err(ErrorKind::InvalidRequest { path: Path::default(), reason: reason.into() }.into())
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Tree::deserialize(from).map(Self::from)
    }
}
