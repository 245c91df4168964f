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

/// The rules of JSON but `blanks`: name, rule, and the rules that it needs.
///
/// `string` has its characters up to the quote that ends it; what no string holds as it is, and [`FIRST_OF_NAMES`], stand
/// in the classes. `char` is one character of a string whose length counts, with `<` as an escape alone.
const OF_JSON: [(&str, &str, &[&str]); 14] = [
    ("string", r#""\"" chars"#, &["chars"]),
    (
        "chars",
        r#"[^<"\\\u0000-\u001f] chars | "<" angle | "\"" | "\\" escape chars"#,
        &["angle", "escape"],
    ),
    (
        "angle",
        r#""<" angle | "|" bar | [^<|"\\\u0000-\u001f] chars | "\"" | "\\" escape chars"#,
        &["bar"],
    ),
    ("bar", r#""<" angle | [^cemrs<"\\\u0000-\u001f] chars | "\"" | "\\" escape chars"#, &[]),
    ("char", r#"[^<"\\\u0000-\u001f] | "\\" escape"#, &["escape"]),
    ("escape", r#"["\\/bfnrt] | "u" [0-9a-fA-F]{4}"#, &[]),
    ("integer", r#""-"? ("0" | [1-9] [0-9]*)"#, &[]),
    ("fraction", r#"("." [0-9]+)? ([eE] [-+]? [0-9]+)?"#, &[]),
    ("number", "integer fraction", &["integer", "fraction"]),
    (
        "value",
        r#"object | array | string | number | "true" | "false" | "null""#,
        &["object", "array", "string", "number"],
    ),
    ("member", r#"string blanks ":" blanks value blanks"#, &["string", "value", "blanks"]),
    ("object", r#""{" blanks (member ("," blanks member)*)? "}""#, &["member"]),
    ("element", "value blanks", &["value", "blanks"]),
    ("array", r#""[" blanks (element ("," blanks element)*)? "]""#, &["element"]),
];

/// Rules in the order in which they were made.
pub(super) struct BnfRules {
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

impl BnfRules {
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

    /// Adds a rule, and gives the name that it has.
    pub(super) fn made(&mut self, is: &str) -> String {
        let name = self.name();
        self.add(&name, is);
        name
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// A rule of JSON, which is added with those that it needs unless it is there.
    pub(super) fn json(&mut self, name: &'static str) -> &'static str {
        if self.of_json.contains(&name) {
            return name;
        }
        self.of_json.push(name);
        if let Some((_, is, needed)) = OF_JSON.iter().find(|(rule, ..)| *rule == name) {
            self.add(name, is);
            for needed in *needed {
                self.json(needed);
            }
        } else {
            let blanks = match self.most_blanks {
                None => r"[ \t\n\r]*".to_owned(),
                Some(0) => "\"\"".to_owned(),
                Some(most) => format!(r"[ \t\n\r]{{0,{most}}}"),
            };
            self.add("blanks", blanks);
        }
        name
    }
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
            Err(invalid(path.clone().then(key), Reason::is("not a number of characters or items")))
        }
    }
}
