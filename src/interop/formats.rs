//! Response formats: the schemas that answers must follow.

use serde_json::{Value as Tree, json};

use super::Dialect;
use super::common::read_strict;
use super::field::{BodyField, BodyObject};
use super::request::Request;
use crate::chat::ResponseFormat;
use crate::error::Result;
use crate::json::Value;

/// The name of a format without one.
const UNNAMED: &str = "response";

/// A response format under its name.
pub(super) fn response_format(
    name: Option<&str>,
    schema: Tree,
    description: Option<&str>,
) -> ResponseFormat {
    ResponseFormat {
        name: name.unwrap_or(UNNAMED).to_owned(),
        description: description.map(str::to_owned),
        schema,
    }
}

/// Any JSON object.
pub(super) fn any_object() -> ResponseFormat {
    response_format(None, json!({"type": "object"}), None)
}

const FORMATS: &[&str] = &["text", "json_object", "json_schema"];

/// The members of a format besides its schema.
const OF_FORMAT: [&str; 4] = ["name", "description", "schema", "strict"];

/// Keywords by which a bare schema in place of a format is recognised.
const KEYWORDS: [&str; 9] =
    ["type", "properties", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "items"];

impl Request<'_> {
    /// Reads `{"type": ...}`: `text`, `json_object`, or `json_schema`, whose fields are in the object
    /// or, as chat has it, in a member `json_schema`. Some servers also take a schema with `json_object`, and some
    /// clients put a bare schema into `json_schema`.
    pub(super) fn read_response_format(&mut self, format: &BodyField<'_, '_>) -> Result<()> {
        let format = format.object()?;
        let kind = format.required("type")?;
        let word = kind.text()?;
        self.response_format = None;
        self.strict_format = false;
        match word {
            "text" => {
                self.list_others(&format, &["type"]);
                return Ok(());
            }
            "json_object" | "json_schema" => {}
            // The schema itself: a model's class in Python becomes one.
            "object" if format.get("properties").is_some() => {
                let name = format.get("title").map(|name| read_format_name(&name)).transpose()?;
                self.response_format = Some(response_format(name, bare_schema(&format), None));
                return Ok(());
            }
            other => return Err(kind.unknown("response format", other, FORMATS)),
        }
        let described = format.object_or_self("json_schema")?;
        let is_nested = format.get("json_schema").is_some();
        let is_bare = is_nested
            && described.get("schema").is_none()
            && KEYWORDS.iter().any(|keyword| described.get(keyword).is_some());
        let schema = described.get("schema");
        let schema = match (schema, word) {
            (Some(schema), _) => read_format_schema(&schema)?,
            (None, _) if is_bare => bare_schema(&described),
            (None, "json_object") => json!({"type": "object"}),
            (None, _) if is_nested => json!({}),
            (None, _) => {
                let is_chat = self.dialect == Dialect::ChatCompletions;
                let missing = if is_chat { "json_schema" } else { "schema" };
                read_format_schema(&format.required(missing)?)?
            }
        };
        let name = described.get("name").map(|name| read_format_name(&name)).transpose()?;
        let description = described.text("description")?.filter(|_| !is_bare);
        self.response_format = Some(response_format(name, schema, description));
        self.strict_format = read_strict(&described)?;
        if is_nested {
            self.list_others(&format, &["type", "json_schema"]);
        }
        if !is_bare {
            let known: Vec<_> =
                OF_FORMAT.into_iter().chain((!is_nested).then_some("type")).collect();
            self.list_others(&described, &known);
        }
        Ok(())
    }
}

/// A bare schema, given in place of the object that should contain it and its name.
fn bare_schema(described: &BodyObject<'_, '_>) -> Tree {
    let mut schema = described.field().at().to_tree();
    if let Some(members) = schema.as_object_mut() {
        members.retain(|key, _| !matches!(key.as_str(), "name" | "strict"));
    }
    schema
}

fn read_format_name<'v>(name: &BodyField<'v, '_>) -> Result<&'v str> {
    let text = name.text()?;
    if text.trim().is_empty() {
        return Err(name.invalid("a response format needs a name"));
    }
    if text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}', '\u{0B}', '\u{0C}']) {
        return Err(name.invalid("the name of a response format must be one line"));
    }
    Ok(text)
}

/// A schema of an answer; JSON Schema allows `true` for anything, too.
pub(super) fn read_format_schema(schema: &BodyField<'_, '_>) -> Result<Tree> {
    match schema.value() {
        Value::Object(_) | Value::Bool(_) => Ok(schema.at().to_tree()),
        _ => Err(schema.expected("a schema")),
    }
}
