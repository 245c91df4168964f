//! Values that some data sets keep as their JSON text.

use crate::error::Result;
use crate::interop::{BodyField, Json};
use crate::json::{At, NotNumbers, Tape, Value};
use crate::path::Path;

/// A value, or the JSON in its text.
pub(super) struct Parsed<'v, 'p> {
    given: BodyField<'v, 'p>,
    json: Option<(Path, Json)>,
}

impl<'v, 'p> Parsed<'v, 'p> {
    pub(super) fn of(given: BodyField<'v, 'p>, what: &str) -> Result<Self> {
        let Value::String(text) = given.value() else { return Ok(Self { given, json: None }) };
        let mut tape = Tape::default();
        tape.parse(text, NotNumbers::Refused).map_err(|error| {
            let error = error.in_text(text);
            let is_python = text.trim_start_matches(['[', '{', ' ']).starts_with('\'');
            let why = if is_python {
                " but Python's form of one; write it with json.dumps".to_owned()
            } else {
                format!(": {error}")
            };
            let reason = format!("expected {what}, or the JSON text of one; it is not JSON{why}");
            given.invalid(reason)
        })?;
        Ok(Self { given, json: Some((given.path(), Json::new(tape))) })
    }

    /// The same for a text that is the JSON of a list of messages; any other text is taken as text.
    pub(super) fn of_list(given: BodyField<'v, 'p>) -> Self {
        let text = given.at().as_str().map_or("", str::trim_start);
        if text.starts_with('[')
            && let Ok(parsed) = Self::of(given, "")
            && parsed.field().is_ok_and(|field| is_messages(field.at()))
        {
            return parsed;
        }
        Self { given, json: None }
    }

    pub(super) fn field(&self) -> Result<BodyField<'_, '_>> {
        match &self.json {
            None => Ok(self.given),
            Some((path, json)) => BodyField::root(path, json),
        }
    }
}

/// Whether a list begins with a message.
fn is_messages(list: At<'_>) -> bool {
    let first = list.as_array().and_then(|list| list.iter().next());
    first.is_some_and(|first| {
        let has = |keys: [&str; 2]| keys.iter().any(|key| first.get(key).is_some());
        has(["role", "from"]) && (has(["content", "value"]) || first.get("tool_calls").is_some())
    })
}
