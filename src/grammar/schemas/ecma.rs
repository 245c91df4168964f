//! `pattern`: a regular expression as JavaScript has them -> one of the crate `regex-syntax`.
//!
//! A pattern is found anywhere in a text, unless it has anchors; what is made of it here fits the whole text.

use std::borrow::Cow;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition};

use crate::text_grammar::{between_anchors, parse};

/// Reads a pattern.
///
/// # Errors
///
/// Why no grammar can enforce it.
pub(in crate::grammar) fn whole(pattern: &str) -> Result<Hir, String> {
    let hir = parse(&translated(pattern), "").map_err(|refused| refused.reason)?;
    let hir = anywhere(&hir, [false; 2]);
    if hir.properties().look_set().is_empty() {
        Ok(hir)
    } else {
        Err("grammars cannot express anchors or word boundaries inside a pattern".to_owned())
    }
}

/// What fits a whole text: other characters around what has no anchor there, nor did where it is an option.
fn anywhere(hir: &Hir, [is_start, is_end]: [bool; 2]) -> Hir {
    match hir.kind() {
        HirKind::Capture(capture) => anywhere(&capture.sub, [is_start, is_end]),
        HirKind::Alternation(options) => Hir::alternation(
            options.iter().map(|option| anywhere(option, [is_start, is_end])).collect(),
        ),
        _ => {
            let (starts, middle, ends) = between_anchors(hir);
            let (is_start, is_end) = (is_start || starts, is_end || ends);
            if let [one] = middle
                && (starts || ends)
            {
                return anywhere(one, [is_start, is_end]);
            }
            let around = |is_anchored: bool| (!is_anchored).then(any_text);
            let all = around(is_start).into_iter().chain(middle.iter().cloned());
            Hir::concat(all.chain(around(is_end)).collect())
        }
    }
}

fn any_text() -> Hir {
    let all = ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)]);
    let sub = Box::new(Hir::class(Class::Unicode(all)));
    Hir::repetition(Repetition { min: 0, max: None, greedy: true, sub })
}

/// The same in Rust's syntax: classes of ASCII only, and `[` in a class as a character.
fn translated(pattern: &str) -> String {
    let mut made = String::with_capacity(pattern.len());
    let (mut chars, mut is_in_class) = (pattern.chars().peekable(), false);
    while let Some(char) = chars.next() {
        match char {
            '\\' => made.push_str(&chars.next().map_or(Cow::Borrowed("\\\\"), escape)),
            '[' if is_in_class => made.push_str("\\["),
            '&' | '~' | '-' if is_in_class && chars.peek() == Some(&char) => {
                made.push('\\');
                made.push(char);
            }
            '[' => {
                is_in_class = true;
                made.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    made.push('^');
                }
            }
            ']' => {
                is_in_class = false;
                made.push(']');
            }
            _ => made.push(char),
        }
    }
    made
}

fn escape(char: char) -> Cow<'static, str> {
    match char {
        'd' => "[0-9]".into(),
        'D' => "[^0-9]".into(),
        'w' => "[A-Za-z0-9_]".into(),
        'W' => "[^A-Za-z0-9_]".into(),
        's' => "[\\t\\n\\x0b\\x0c\\r \\u{a0}\\u{1680}\\u{2000}-\\u{200a}\\u{2028}\\u{2029}\\u{202f}\\u{205f}\\u{3000}\\u{feff}]".into(),
        'S' => "[^\\t\\n\\x0b\\x0c\\r \\u{a0}\\u{1680}\\u{2000}-\\u{200a}\\u{2028}\\u{2029}\\u{202f}\\u{205f}\\u{3000}\\u{feff}]".into(),
        '0' => "\\x00".into(),
        // Rust's syntax knows `\<` and `\>` as ends of words.
        '<' | '>' => char.to_string().into(),
        other => format!("\\{other}").into(),
    }
}
