//! Grammars of the texts that custom tools take: a regular expression, or Lark's language.
//!
//! A grammar describes texts by their characters. Where a text may be read in several ways, one of them is enough: names
//! of terminals, their priorities and the shape of the tree say nothing here, and `%ignore` may come before any
//! terminal and at the end.

mod common;
mod expr;
mod lark;
mod regex;
mod scan;
mod simplify;

use std::sync::Arc;

use serde::{Serialize, Serializer};

pub(crate) use self::expr::{Expr, has, is_wide, letters};
pub(crate) use self::regex::{between_anchors, parse, without_anchors};
pub(crate) use self::simplify::TextRules;
use crate::error::{Error, ErrorKind, Result};
use crate::options::choices;
use crate::path::Path;

/// A longer grammar is not read: no engine compiles it.
const MAX_LENGTH: usize = 1 << 16;

/// How much room ([`Expr::size`]) a grammar may take.
const MOST_ROOM: usize = 1 << 18;

/// In which language the grammar of a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrammarSyntax {
    /// Lark's, with the rule `start`, in which regular expressions are those of the crate `regex`.
    Lark,
    /// One regular expression of the crate `regex`, which fits the whole text.
    Regex,
}

choices! {
    GrammarSyntax, "'lark' or 'regex'": "lark" Lark, "regex" Regex;
}

/// What the input of a custom tool has to be.
///
/// ```
/// use openai_harmony::grammar::{GrammarSyntax, InputGrammar};
///
/// let dice = "start: COUNT \"d\" (\"6\" | \"20\")\nCOUNT: /[1-9]/";
/// assert!(InputGrammar::new(GrammarSyntax::Lark, dice).is_ok());
/// let error = InputGrammar::new(GrammarSyntax::Lark, "start: COUNT").unwrap_err();
/// let told = "Invalid grammar: definition: line 1, column 8: no rule or terminal is called COUNT";
/// assert_eq!(error.to_string(), told);
/// ```
///
/// Cloning costs nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputGrammar(Arc<Definition>);

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Definition {
    syntax: GrammarSyntax,
    #[serde(rename = "definition")]
    text: String,
    /// What it says, or why no engine's grammar can enforce it.
    #[serde(skip)]
    read: std::result::Result<Read, String>,
}

/// The rules of a grammar as it is written.
#[derive(Debug, PartialEq, Eq)]
struct Read {
    rules: Vec<Expr>,
    start: usize,
}

impl Serialize for InputGrammar {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl InputGrammar {
    /// Reads a grammar.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`]: it is not in this syntax, or names a rule that is not there; the error has the line
    /// and the column, in characters from 1 on. What can be read, but no engine can hold, such as a look-around, is no
    /// error: see [`GrammarOptions::strict`](crate::grammar::GrammarOptions::strict).
    pub fn new(syntax: GrammarSyntax, definition: impl Into<String>) -> Result<Self> {
        let made = Self::read(syntax, definition.into());
        made.map_err(|reason| -> Error {
            let path = Path::of("definition");
            ErrorKind::InvalidGrammar { path, reason: reason.into(), recipient: None }.into()
        })
    }

    /// The same, with the reason why it cannot be read.
    pub(crate) fn read(syntax: GrammarSyntax, text: String) -> std::result::Result<Self, String> {
        let read = if text.len() > MAX_LENGTH {
            Err(Refused::unheld(0, format!("too large: a grammar has at most {MAX_LENGTH} bytes")))
        } else {
            match syntax {
                GrammarSyntax::Lark => lark::read(&text),
                GrammarSyntax::Regex => regex::whole(&text),
            }
        };
        let read = match read {
            Err(refused) if !refused.is_readable => return Err(refused.with_place(&text)),
            read => read.map_err(|refused| refused.with_place(&text)),
        };
        Ok(Self(Arc::new(Definition { syntax, text, read })))
    }

    /// In which language it is written.
    pub fn syntax(&self) -> GrammarSyntax {
        self.0.syntax
    }

    /// The grammar's text.
    pub fn definition(&self) -> &str {
        &self.0.text
    }

    /// Its rules, as few and as plain as they can be.
    ///
    /// # Errors
    ///
    /// Why no engine's grammar can enforce it.
    pub(crate) fn rules(&self) -> std::result::Result<TextRules, String> {
        let read = self.0.read.as_ref().map_err(Clone::clone)?;
        simplify::simplified(read.rules.clone(), read.start)
    }
}

/// Why a grammar or an expression is not used.
#[derive(Debug)]
pub(crate) struct Refused {
    /// Where, as an offset in bytes.
    at: usize,
    pub(crate) reason: String,
    /// Whether it is a grammar all the same.
    is_readable: bool,
}

impl Refused {
    fn wrong(at: usize, reason: impl Into<String>) -> Self {
        Self { at, reason: reason.into(), is_readable: false }
    }

    fn unheld(at: usize, reason: impl Into<String>) -> Self {
        Self { at, reason: reason.into(), is_readable: true }
    }

    /// The reason, with the line and the column in the grammar.
    fn with_place(&self, text: &str) -> String {
        let before = text.get(..self.at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|char| *char != '\n').count() + 1;
        format!("line {line}, column {column}: {}", self.reason)
    }
}
