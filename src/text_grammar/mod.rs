//! Grammars of the texts that custom tools take: a regular expression, or Lark's language.
//!
//! A grammar describes texts by their characters. Where a text may be read in several ways, one of them is enough: names
//! of terminals, their priorities and the shape of the tree say nothing here, and `%ignore` may come before any
//! terminal and at the end.

mod case;
mod common;
mod expr;
mod lark;
mod regex;
mod scan;
mod simplify;

use std::sync::Arc;

pub(crate) use self::expr::{Expr, has, is_wide, letters};
pub(crate) use self::regex::{between_anchors, flaw, without_anchors};
pub(crate) use self::simplify::TextRules;
use crate::error::{Error, ErrorKind, Result};
use crate::options::choices;
use crate::path::Path;

/// A longer grammar is not read: no engine compiles it.
const MAX_LENGTH: usize = 1 << 16;

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

#[derive(Debug, PartialEq, Eq)]
struct Definition {
    syntax: GrammarSyntax,
    text: String,
    /// What it says, or why no engine's grammar can enforce it.
    read: std::result::Result<Read, String>,
}

/// The rules of a grammar as it is written.
#[derive(Debug, PartialEq, Eq)]
struct Read {
    rules: Vec<Expr>,
    start: usize,
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
            Err(Refused::unheld(0, format!("a grammar has at most {MAX_LENGTH} bytes")))
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

/// Why a grammar is not used.
#[derive(Debug)]
struct Refused {
    /// Where, as an offset in bytes.
    at: usize,
    reason: String,
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn lark(text: &str) -> std::result::Result<InputGrammar, String> {
        InputGrammar::read(GrammarSyntax::Lark, text.to_owned())
    }

    /// The regular expression of a grammar whose rules lead nowhere back to themselves.
    fn regular(syntax: GrammarSyntax, text: &str) -> std::result::Result<Expr, String> {
        let rules = InputGrammar::read(syntax, text.to_owned())?.rules()?;
        assert!(rules.rules.is_empty(), "{text}: {rules:?}");
        Ok(rules.start)
    }

    #[test]
    fn grammars_are_regular_expressions_where_they_can_be() {
        for (text, pattern) in [
            (
                r#"start: "a" b // a comment
                b: "bb" | c   # another
                c: "cc""#,
                "a(bb|cc)",
            ),
            // On lines of its own, with an alias and a priority.
            (
                "start.2: A -> first\n\n  | B\n// x\n  | \"cc\"\nA: \"xy\"\n_B: \"zz\"\nB: _B",
                "xy|zz|cc",
            ),
            ("?start: \"a\"~2..3 \"b\"? (\"xx\"|\"yy\")* [\"z\"]+", "a{2,3}b?(?:xx|yy)*(?:z?)+"),
            // A list that names itself, at its end and at its beginning.
            ("start: \"a\" | \"a\" \",\" start", "(?:a,)*a"),
            ("start: \"a\" (\",\" start)?", "(?:a,)*a"),
            ("start: start \"+\" start | \"1\"", r"1(?:\+1)*"),
            ("start: e\ne: e \"+\" t | t\nt: \"1\"", r"1(?:\+1)*"),
            // Itself, which says nothing, and options within one that names it.
            ("start: start | \"a\" | start \"bb\"", "a(?:bb)*"),
            ("start: (start \"+\" | \"-\") \"1\" | \"2\"", r"(?:-1|2)(?:\+1)*"),
            // Two that name each other.
            ("start: \"a\" b\nb: \"b\" start | \"c\"", "(?:ab)*ac"),
            (
                "start: \"\\x41\\u0042\\n\\\"\\\\\" \"a\"..\"c\" /[^\\/]\\//",
                "AB\\n\"\\\\[a-c][^/]/",
            ),
            ("start: \"aé\"i /[x]/i", "[aA][éÉ][xX]"),
            ("start: \"a12b\"i", "[aA]12[bB]"),
            // Lines within a group, and one that is continued.
            ("start: (\"a\"\n  \"bb\")?", "(?:abb)?"),
            ("start: \"a\" \\ \n  \"bb\"", "abb"),
            ("start: INT\n%import common.INT", "[0-9]+"),
            (
                "start: N W\n%import common.INT -> N\n%import common (WORD)\nW: WORD",
                "[0-9]+[A-Za-z]+",
            ),
            ("start: \"a\" \"b\"\n%ignore \" \"", " *a *b *"),
            // But within a terminal.
            ("start: AB \"cc\"\nAB: \"aa\" \"bb\"\n%ignore \" \"", " *aabb *cc *"),
            ("?!start: \"a\"", "a"),
            ("!?start: \"a\"", "a"),
            ("start: \"ab\"~2..2", "(?:ab){2}"),
            ("start: \"Aß\"i", "[Aa]ß"),
            // No text has what does not end.
            ("start: \"a\" | \"b\" c\nc: \"c\" c", "a"),
            // What does not lead back is not written out.
            ("start: (\"aa\" | \"bb\") \"xx\" start | \"cc\"", "(?:(?:aa|bb)xx)*cc"),
        ] {
            let expected = regular(GrammarSyntax::Regex, pattern);
            assert_eq!(regular(GrammarSyntax::Lark, text), expected, "{text}");
            assert_eq!(lark(text).unwrap().definition(), text);
        }
    }

    #[test]
    fn what_cannot_be_read_is_named_by_line_and_column() {
        for (text, error) in [
            ("start: a", "line 1, column 8: no rule or terminal is called a"),
            ("a: \"x\"", "line 1, column 1: no rule is called start"),
            ("start: \"x\"\nstart: \"y\"", "line 2, column 1: start is defined twice"),
            ("start: \"x", "line 1, column 8: the text does not end"),
            ("start: \"x\n\"", "line 1, column 8: the text does not end"),
            ("start: /x\n", "line 1, column 8: the regular expression does not end"),
            ("start: /x/ig", "line 1, column 12: the flags of expressions are i, m, s, l, u, x"),
            ("start: \"é\" /(/", "line 1, column 13: unclosed group"),
            ("start: \"x\")", "line 1, column 11: expected |, an operator or the end of the line"),
            ("start: (\"x\"", "line 1, column 12: expected )"),
            ("start: \"x\"~3..2", "line 1, column 12: 3..2 is no range"),
            (
                "start: \"b\"..\"a\"",
                "line 1, column 8: a range is from one character to a later one",
            ),
            (
                "start: A\n%import common.A",
                "line 2, column 16: the module common has no terminal A",
            ),
            ("start \"x\"", "line 1, column 7: expected :"),
            ("start: \"\\u12\"", "line 1, column 9: \\u needs 4 hexadecimal digits"),
            ("start: \"ab\\u12\"", "line 1, column 11: \\u needs 4 hexadecimal digits"),
            ("start: \\ \"x\"", "line 1, column 8: '\\\\' begins nothing"),
            ("start: \"x\" ;", "line 1, column 12: ';' begins nothing"),
        ] {
            assert_eq!(lark(text).err().as_deref(), Some(error), "{text}");
        }
        for (text, error) in [
            ("a\n[", "line 2, column 1: unclosed character class"),
            ("(?i)a[", "line 1, column 6: unclosed character class"),
        ] {
            let read = InputGrammar::read(GrammarSyntax::Regex, text.to_owned());
            assert_eq!(read.err().as_deref(), Some(error), "{text}");
        }
    }

    #[test]
    fn what_no_engine_holds_is_no_error() {
        for (text, reason) in [
            ("start: /a(?=b)/", "line 1, column 10: look-around"),
            ("start: /^a/", "line 1, column 9: grammars cannot express anchors"),
            (r"start: /a\p{Foo}/", "line 1, column 10: Unicode property not found"),
            ("start: <|end|>", "line 1, column 8: no grammar of an engine has special tokens"),
            (
                "start[x]: \"a\"",
                "line 1, column 6: no grammar of an engine has attributes of rules",
            ),
            (
                "start: list{\"a\"}\nlist{x}: x",
                "line 1, column 12: no grammar of an engine has templates",
            ),
            ("start: \"a\"\nlist{x}: x", "line 2, column 5: no grammar of an engine has templates"),
            ("%declare X\nstart: X", "line 1, column 1: no grammar of an engine has %declare"),
            ("start: \"a\" %json {}", "line 1, column 12: no grammar of an engine has %json"),
            (
                "%import python.NAME\nstart: NAME",
                "line 1, column 9: no grammar of an engine has modules",
            ),
            ("start: \"a\" start", "no text fits it"),
            (
                &format!("start: {}\"a\"{}", "(".repeat(5000), ")".repeat(5000)),
                "line 1, column 108: too many groups",
            ),
            (
                &format!("start: {}\"a\"{}", "(\"bb\" ".repeat(90), ")*".repeat(90)),
                "more than 150 expressions within one another",
            ),
            (
                &(0..300).fold("start: \"a\"".to_owned(), |all, at| format!("{all}\nr{at}: \"b\"")),
                "more than 300 rules",
            ),
            (
                &format!("start: \"a\"\n{}", " ".repeat(MAX_LENGTH)),
                "line 1, column 1: a grammar has at most",
            ),
        ] {
            let rules = lark(text).map(|read| read.rules());
            let said = rules.as_ref().map(|rules| rules.as_ref().err());
            assert!(
                said.is_ok_and(|said| said.is_some_and(|said| said.starts_with(reason))),
                "{text:.60} {rules:?}"
            );
        }
    }

    /// A rule is written out where it begins or ends one of its own options, not between.
    #[test]
    fn what_names_itself_in_the_middle_stays() {
        let rules = lark("start: \"xx\" (\"aa\" start | \"bb\") \"yy\"").unwrap().rules().unwrap();
        let text = Expr::literal;
        let inner = Expr::choice([Expr::concat([text("aa"), Expr::Rule(0)]), text("bb")]);
        assert_eq!(rules.rules, [Expr::concat([text("xx"), inner, text("yy")])]);
        assert_eq!(rules.start, Expr::Rule(0));
    }

    #[test]
    fn what_begins_with_itself_does_so_by_way_of_others_too() {
        for (text, begins) in [
            ("start: \"q\" start \"x\" start \"y\" | \"w\"", false),
            ("start: [\"q\"] start \"x\" start \"y\" | \"w\"", true),
            ("start: b \"x\" start \"y\" | \"z\"\nb: start \"q\" b \"w\" | \"v\"", true),
            ("start: b \"x\" start \"y\" | \"z\"\nb: \"q\" b \"w\" | \"v\"", false),
        ] {
            let rules = lark(text).unwrap().rules().unwrap();
            assert_eq!(rules.is_left_recursive(), begins, "{text} {rules:?}");
        }
    }

    #[test]
    fn all_texts_but_the_empty_one() {
        let of = |pattern| regular(GrammarSyntax::Regex, pattern).unwrap();
        for (pattern, rest) in [
            ("(?:aa)?(?:bb)?", "aa(?:bb)?|bb"),
            ("(?:aa)*", "(?:aa)+"),
            ("aa|(?:bb)?", "aa|bb"),
            ("aa", "aa"),
        ] {
            assert_eq!(of(pattern).without_empty(&|_| false), of(rest), "{pattern}");
        }
    }

    #[test]
    fn what_has_too_many_options_names_itself_further() {
        let all = |letter, count| {
            (0..count).fold("start".to_owned(), |all, at| format!("{all} | \"{letter}{at}\""))
        };
        let either = |count| format!("({}) ({})", all('a', count), all('b', count));
        for (text, is_regular) in [
            (format!("start: {}", all('a', 199)), true),
            (format!("start: {}", all('a', 200)), false),
            (format!("start: {}", either(13)), true),
            (format!("start: {}", either(14)), false),
            (format!("start: {}", either(15)), false),
        ] {
            let rules = lark(&text).unwrap().rules().unwrap();
            assert_eq!(rules.rules.is_empty(), is_regular, "{text}");
        }
    }

    #[test]
    fn grammars_of_the_largest_size_are_held() {
        let nested = |count| {
            format!("start: \"b\" | {}\"a\"{}", "(\"bb\" ".repeat(count), ")*".repeat(count))
        };
        let padded = |length| format!("start: \"a\"{}", " ".repeat(length - 10));
        let many = |count| {
            (0..count).fold("start: \"a\"".to_owned(), |all, at| format!("{all}\nr{at}: \"b\""))
        };
        for (text, is_held) in [
            (many(297), true),
            (many(298), false),
            (nested(74), true),
            (nested(75), false),
            (padded(MAX_LENGTH), true),
            (padded(MAX_LENGTH + 1), false),
        ] {
            assert_eq!(lark(&text).unwrap().rules().is_ok(), is_held, "{text:.60}");
        }
    }

    /// Rules that double, or go deep, take neither time nor the stack.
    #[test]
    fn large_grammars_are_small_work() {
        let rules = |rule: fn(usize) -> String| (0..296).map(rule).collect::<String>();
        let doubled = rules(|at| format!("r{at}: r{0} r{0} | \"x\"\n", at + 1));
        let chain = rules(|at| format!("r{at}: \"a\" r{0} \"b\" | \"x\"\n", at + 1));
        let circle =
            rules(|at| format!("r{at}: r{0} \"a\" | \"b\" r{0} | \"x\"\n", (at + 1) % 296));
        let wide: Vec<String> = (0..1900).map(|at| format!("\"x{at}\"")).collect();
        for (text, most) in [
            (format!("start: WIDE WIDE WIDE\nWIDE: {}", wide.join(" | ")), 1),
            (format!("start: r0\n{doubled}r296: \"y\""), 300),
            (format!("start: r0\n{chain}r296: \"y\""), 5),
            (format!("start: r0\n{circle}"), 300),
        ] {
            let rules = lark(&text).and_then(|read| read.rules()).unwrap();
            let size: usize = rules.rules.iter().chain([&rules.start]).map(Expr::size).sum();
            assert!(size <= simplify::MOST_SIZE, "{size}");
            assert!(rules.rules.len() <= most, "{}", rules.rules.len());
        }
    }
}
