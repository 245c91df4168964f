//! Whether JSON fits its schema, which is asked where its message ends.

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

/// A schema's validator, made when it is asked for the first time: many grammars are only written.
#[derive(Debug, Default)]
pub(super) struct Fits(OnceLock<Result<Validator, String>>);

impl Fits {
    /// What should have been there instead, if the text does not fit the schema.
    pub(super) fn expected(&self, schema: &Value, text: &[u8]) -> Option<String> {
        let made = || jsonschema::validator_for(schema).map_err(|error| error.masked().to_string());
        let validator = match self.0.get_or_init(made) {
            Ok(validator) => validator,
            Err(error) => return Some(format!("a schema that can be checked: {error}")),
        };
        let value: Value = match serde_json::from_slice(text) {
            Ok(value) => value,
            Err(error) => return Some(format!("JSON whose values can be read: {error}")),
        };
        let error = validator.validate(&value).err()?;
        let (path, reason) = (error.instance_path().to_string(), error.masked());
        let path = if path.is_empty() { "the whole".to_owned() } else { path };
        Some(format!("JSON that fits its schema: {path}: {reason}"))
    }
}
