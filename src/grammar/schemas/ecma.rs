//! `pattern`: a regular expression as JavaScript has them -> one of the crate `regex-syntax`.
//!
//! A pattern is found anywhere in a text, unless it has anchors; what is made of it here fits the whole text.

use std::borrow::Cow;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

/// Reads a pattern.
///
/// # Errors
///
/// Why no grammar holds it.
pub(in crate::grammar) fn whole(pattern: &str) -> Result<Hir, String> {
    let hir = regex_syntax::parse(&translated(pattern)).map_err(|error| match &error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "not a regular expression".to_owned(),
    })?;
    let hir = anywhere(&hir);
    if hir.properties().look_set().is_empty() {
        Ok(hir)
    } else {
        Err("grammars cannot express anchors or word boundaries inside a pattern".to_owned())
    }
}

/// What fits a whole text: other characters around what has no anchor there.
fn anywhere(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Capture(capture) => anywhere(&capture.sub),
        HirKind::Alternation(options) => Hir::alternation(options.iter().map(anywhere).collect()),
        HirKind::Concat(parts) => around(parts),
        _ => around(std::slice::from_ref(hir)),
    }
}

fn around(parts: &[Hir]) -> Hir {
    let is =
        |part: Option<&Hir>, look| part.is_some_and(|part| *part.kind() == HirKind::Look(look));
    let (is_start, mut middle) = match parts {
        [_, rest @ ..] if is(parts.first(), Look::Start) => (true, rest),
        all => (false, all),
    };
    let is_end = is(middle.last(), Look::End);
    if is_end {
        middle = &middle[..middle.len() - 1];
    }
    let mut all = Vec::with_capacity(middle.len() + 2);
    all.extend((!is_start).then(any_text));
    all.extend(middle.iter().cloned());
    all.extend((!is_end).then(any_text));
    Hir::concat(all)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_texts() {
        for (pattern, good, bad) in [
            ("^a\\d+$", "a12", "a12b"),
            ("b", "abc", "ac"),
            ("^a|c$", "ab", "ba"),
            ("^[[\\w-]+$", "[a-", "a b"),
            ("^\\/x\\-$", "/x-", "x-"),
            ("^[^&&]$", "a", "&"),
            ("^(?<y>\\d{2})$", "12", "1"),
            ("^\\<\\S$", "<a", "< "),
        ] {
            let is_match = |text| super::super::names::fits(pattern, text);
            assert!(is_match(good) && !is_match(bad), "{pattern}");
        }
        for pattern in ["(?=a)b", "a\\bb", "a^b", "(", "\\p{L}x{"] {
            assert!(whole(pattern).is_err(), "{pattern}");
        }
    }
}
