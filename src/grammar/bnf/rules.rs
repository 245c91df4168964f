//! Rules of a grammar, and those that all JSON needs.

use std::collections::HashMap;
use std::fmt::Write;

use crate::grammar::input::MOST_TEXT;
use crate::grammar::schemas::Report;
use crate::grammar::schemas::names::Patterns;

/// The letters with which names of special tokens begin: call, channel, constrain, end, endofprompt, endoftext, message,
/// reserved, return, start, startoftext.
pub(super) const FIRST_OF_NAMES: &str = "cemrs";

/// The rules of JSON but `blanks`: name, rule, and the rules that it needs.
///
/// `string` has its characters up to the quote that ends it; what no string holds as it is, and [`FIRST_OF_NAMES`], are
/// in the classes. `char` is one character of a string of limited length, with `<` only as an escape.
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

/// The milliseconds for which xgrammar may compile what schemas say of the characters of texts.
const MILLISECONDS: usize = 700;

/// Why rules are not written that would take more.
pub(super) const NO_TIME: &str = "costs xgrammar more time than there is for texts";

/// Why no more rules of schemas are written.
pub(super) const TOO_LARGE: &str = "too large for a grammar";

/// The most often llama.cpp repeats a part.
const MOST_REPEATED: usize = 2000;

/// The most often xgrammar repeats a part, as it counts; rules repeat items and members only.
const MOST_OF_XGRAMMAR: usize = 1_000_000;

/// The most rules of all schemas, their most bytes, and the most work with the schemas, each with all that it is combined
/// with.
const MOST_RULES: usize = 100_000;
const MOST_OF_SCHEMAS: usize = 1 << 22;
const MOST_READ: usize = 1 << 24;

/// An engine that reads the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    LlamaCpp,
    Xgrammar,
}

/// Rules in the order in which they were made.
pub(super) struct BnfRules {
    text: String,
    pub(super) engine: Engine,
    /// The rules of JSON that are there.
    of_json: Vec<&'static str>,
    /// A schema's text -> its rule; `None` if no value fits it.
    pub(super) of_schemas: HashMap<String, Option<String>>,
    /// How many characters have to follow, and at most may -> the rule of a text's rest.
    pub(super) of_texts: HashMap<(usize, Option<usize>), String>,
    pub(super) patterns: Patterns,
    /// How many schemas have been written, each with references of its own.
    pub(super) roots: usize,
    /// How much work there was with the schemas that were written.
    pub(super) read: usize,
    /// What no rule can enforce.
    pub(super) report: Report,
    made: usize,
    /// How many rules, and bytes of them, there were before what is being attempted.
    attempted: (usize, usize),
    /// Of [`MILLISECONDS`].
    spent: usize,
    most_blanks: Option<usize>,
}

impl BnfRules {
    /// For an engine, with at most this many blanks in a row in JSON.
    pub(super) fn new(engine: Engine, most_blanks: Option<usize>) -> Self {
        Self {
            text: String::new(),
            engine,
            of_json: Vec::new(),
            of_schemas: HashMap::new(),
            of_texts: HashMap::new(),
            patterns: Patterns::default(),
            roots: 0,
            read: 0,
            report: Report::default(),
            made: 0,
            attempted: (0, 0),
            spent: 0,
            most_blanks,
        }
    }

    /// Whether a character's rule is best repeated, which costs xgrammar seconds for a token.
    ///
    /// # Errors
    ///
    /// The engine does not repeat it so often.
    pub(super) fn repeats(&self, count: usize) -> Result<bool, String> {
        match self.engine {
            Engine::LlamaCpp if count > MOST_REPEATED => {
                Err(format!("llama.cpp takes no number above {MOST_REPEATED}"))
            }
            Engine::Xgrammar if count > MOST_OF_XGRAMMAR => {
                Err(format!("xgrammar takes no number above {MOST_OF_XGRAMMAR}"))
            }
            engine => Ok(engine == Engine::LlamaCpp),
        }
    }

    /// # Errors
    ///
    /// There is no room for rules that take the engine so long to compile.
    pub(super) fn can_spend(&self, milliseconds: usize) -> Result<(), String> {
        if self.engine == Engine::Xgrammar && self.spent + milliseconds > MILLISECONDS {
            return Err(NO_TIME.to_owned());
        }
        Ok(())
    }

    /// Takes room for rules.
    pub(super) fn spend(&mut self, milliseconds: usize) -> Result<(), String> {
        self.can_spend(milliseconds)?;
        self.spent += milliseconds;
        Ok(())
    }

    /// Writes what may turn out to have no room; then nothing is left of it.
    pub(super) fn attempt<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        let before = (self.text.len(), self.of_json.len(), self.spent);
        self.attempted = (self.made, self.text.len());
        let written = write(self);
        if written.is_err() {
            self.text.truncate(before.0);
            self.of_json.truncate(before.1);
            self.spent = before.2;
        }
        written
    }

    /// # Errors
    ///
    /// What is being attempted has more rules, or too long ones.
    pub(super) fn has_room(&self, most: usize) -> Result<(), String> {
        if self.made - self.attempted.0 > most {
            return Err(format!("more than {most} rules"));
        }
        if self.text.len() - self.attempted.1 > MOST_TEXT {
            return Err(format!("too large: more than {MOST_TEXT} bytes"));
        }
        Ok(())
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

    /// Whether there is no room for more schemas.
    pub(super) fn is_full(&self) -> bool {
        self.made > MOST_RULES || self.read > MOST_READ || self.text.len() > MOST_OF_SCHEMAS
    }

    /// The rules, and what they do not hold.
    pub(super) fn into_parts(self) -> (String, Report) {
        (self.text, self.report)
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
