//! Rules of a grammar, and those that all JSON needs.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::error::{Reason, Result};
use crate::grammar::invalid;
use crate::path::Path;

/// The letters with which names of special tokens begin: call, channel, constrain, end, endofprompt, endoftext, message,
/// reserved, return, start, startoftext.
pub(super) const FIRST_OF_NAMES: &str = "cemrs";

/// What no string in JSON holds as it is, in a class of characters.
const REFUSED: &str = r#""\\\u0000-\u001f"#;

/// Rules in the order in which they were made.
pub(super) struct Rules {
    text: String,
    /// The rules of JSON that are there.
    of_json: Vec<&'static str>,
    /// A schema's text -> its rule.
    pub(super) of_schemas: HashMap<String, String>,
    /// How many schemas have been written, each with references of its own.
    pub(super) roots: usize,
    made: usize,
    most_repeated: Option<usize>,
    most_blanks: Option<usize>,
}

impl Rules {
    /// For an engine that repeats a part at most so often, with so many blanks in a row in JSON.
    pub(super) fn new(most_repeated: Option<usize>, most_blanks: Option<usize>) -> Self {
        Self {
            text: String::new(),
            of_json: Vec::new(),
            of_schemas: HashMap::new(),
            roots: 0,
            made: 0,
            most_repeated,
            most_blanks,
        }
    }

    /// Refuses what the engine does not repeat so often.
    pub(super) fn bounded(&self, count: usize, keyword: &'static str, path: &Path) -> Result<()> {
        match self.most_repeated {
            Some(most) if count > most => {
                let reason = format!("the engine holds no number above {most}");
                Err(invalid(path.clone().then(keyword), reason))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn add(&mut self, name: &str, is: impl AsRef<str>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{name} ::= {}", is.as_ref());
    }

    /// A name for a rule that is added later.
    pub(super) fn name(&mut self) -> String {
        self.made += 1;
        format!("s{}", self.made)
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Adds a rule of JSON, if it is not there; false if it is.
    fn is_new(&mut self, name: &'static str) -> bool {
        let is_new = !self.of_json.contains(&name);
        if is_new {
            self.of_json.push(name);
        }
        is_new
    }

    pub(super) fn add_blanks(&mut self) {
        if self.is_new("blanks") {
            let is = match self.most_blanks {
                None => r"[ \t\n\r]*".to_owned(),
                Some(0) => "\"\"".to_owned(),
                Some(most) => format!(r"[ \t\n\r]{{0,{most}}}"),
            };
            self.add("blanks", is);
        }
    }

    /// A string, and its characters up to the quote that ends it.
    pub(super) fn add_string(&mut self) -> &'static str {
        if self.is_new("string") {
            let names = FIRST_OF_NAMES;
            let rest = r#""\"" | "\\" escape chars"#;
            self.add("string", r#""\"" chars"#);
            self.add("chars", format!(r#"[^<{REFUSED}] chars | "<" angle | {rest}"#));
            self.add("angle", format!(r#""<" angle | "|" bar | [^<|{REFUSED}] chars | {rest}"#));
            self.add("bar", format!(r#""<" angle | [^{names}<{REFUSED}] chars | {rest}"#));
            self.add_escape();
        }
        "string"
    }

    /// One character of a string whose length counts: `<` as an escape alone.
    pub(super) fn add_char(&mut self) -> &'static str {
        if self.is_new("char") {
            self.add("char", format!(r#"[^<{REFUSED}] | "\\" escape"#));
            self.add_escape();
        }
        "char"
    }

    fn add_escape(&mut self) {
        if self.is_new("escape") {
            self.add("escape", r#"["\\/bfnrt] | "u" [0-9a-fA-F]{4}"#);
        }
    }

    pub(super) fn add_integer(&mut self) -> &'static str {
        if self.is_new("integer") {
            self.add("integer", r#""-"? ("0" | [1-9] [0-9]*)"#);
        }
        "integer"
    }

    pub(super) fn add_number(&mut self) -> &'static str {
        if self.is_new("number") {
            let integer = self.add_integer();
            self.add("fraction", r#"("." [0-9]+)? ([eE] [-+]? [0-9]+)?"#);
            self.add("number", format!("{integer} fraction"));
        }
        "number"
    }

    /// Any JSON.
    pub(super) fn add_value(&mut self) -> &'static str {
        if self.is_new("value") {
            let (string, number) = (self.add_string(), self.add_number());
            let (object, array) = (self.add_object(), self.add_array());
            let words = r#""true" | "false" | "null""#;
            self.add("value", format!("{object} | {array} | {string} | {number} | {words}"));
        }
        "value"
    }

    pub(super) fn add_object(&mut self) -> &'static str {
        if self.is_new("object") {
            let (string, value) = (self.add_string(), self.add_value());
            self.add_blanks();
            self.add("member", format!(r#"{string} blanks ":" blanks {value} blanks"#));
            self.add("object", r#""{" blanks (member ("," blanks member)*)? "}""#);
        }
        "object"
    }

    pub(super) fn add_array(&mut self) -> &'static str {
        if self.is_new("array") {
            let value = self.add_value();
            self.add_blanks();
            self.add("element", format!("{value} blanks"));
            self.add("array", r#""[" blanks (element ("," blanks element)*)? "]""#);
        }
        "array"
    }
}

/// What writes the rules of schemas within a schema.
pub(super) trait Values {
    fn rules(&mut self) -> &mut Rules;

    /// The name of the rule of a schema's values.
    fn value(&mut self, schema: &Value, path: &Path) -> Result<String>;
}

/// A keyword whose value is a number of characters or items.
pub(super) fn count(
    members: &Map<String, Value>,
    key: &'static str,
    path: &Path,
) -> Result<Option<usize>> {
    let Some(value) = members.get(key) else { return Ok(None) };
    match value.as_u64().and_then(|number| usize::try_from(number).ok()) {
        Some(number) => Ok(Some(number)),
        None => {
            Err(invalid(path.clone().then(key), Reason::is("no number of characters or items")))
        }
    }
}
