//! A grammar in Lark -> its words.

use super::Refused;

/// A word of a grammar.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word<'t> {
    /// A rule's or a terminal's, with its leading `_`.
    Name(&'t str),
    /// A text, and whether its case says nothing.
    Text(String, bool),
    /// A regular expression between slashes, and its flags.
    Regex(&'t str, &'t str),
    Number(u32),
    /// `%import` and the like.
    Directive(&'t str),
    /// A sign: `:`, `|`, `->`, `..`, an operator or a bracket.
    Sign(&'static str),
    /// One line break or several.
    Line,
}

const SIGNS: [&str; 20] = [
    "->", "..", ":", "|", "(", ")", "[", "]", "{", "}", "?", "*", "+", "~", "!", ".", ",", "<",
    ">", "-",
];

/// The words and where each begins; at the end comes a line break.
pub(super) fn words(text: &str) -> Result<Vec<(usize, Word<'_>)>, Refused> {
    let (mut words, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (length, word) = match first {
            '\n' => (1, Some(Word::Line)),
            _ if first.is_whitespace() => (first.len_utf8(), None),
            '\\' if rest[1..].trim_start_matches([' ', '\r']).starts_with('\n') => {
                (rest.find('\n').unwrap_or(0) + 1, None)
            }
            '#' => (line(rest), None),
            '/' if rest.starts_with("//") => (line(rest), None),
            '/' => regex(rest, at)?,
            '"' => quoted(rest, at)?,
            '%' => {
                let name = run(&rest[1..], |char| char.is_ascii_alphabetic());
                (1 + name.len(), Some(Word::Directive(name)))
            }
            '0'..='9' => {
                let digits = run(rest, |char| char.is_ascii_digit());
                let number = digits.parse();
                let number = number.map_err(|_| Refused::wrong(at, "too large a number"))?;
                (digits.len(), Some(Word::Number(number)))
            }
            '_' | 'a'..='z' | 'A'..='Z' => {
                let name = run(rest, |char| char == '_' || char.is_ascii_alphanumeric());
                (name.len(), Some(Word::Name(name)))
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (sign.len(), Some(Word::Sign(sign))),
                None => return Err(Refused::wrong(at, format!("{first:?} begins nothing"))),
            },
        };
        words.extend(word.filter(|word| !is_second_line(&words, word)).map(|word| (at, word)));
        at += length;
    }
    words.push((at, Word::Line));
    Ok(words)
}

fn is_second_line(words: &[(usize, Word<'_>)], word: &Word<'_>) -> bool {
    *word == Word::Line && words.last().is_some_and(|(_, last)| *last == Word::Line)
}

fn run(text: &str, is: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|char| !is(char)).unwrap_or(text.len())]
}

/// Up to the end of the line.
fn line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

type Scanned<'t> = Result<(usize, Option<Word<'t>>), Refused>;

/// The end of what is quoted, after its quote, which a backslash hides.
fn end(text: &str, quote: char) -> Option<usize> {
    let mut is_hidden = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            '\n' if quote == '"' => return None,
            _ if is_hidden => is_hidden = false,
            '\\' => is_hidden = true,
            _ if char == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn regex(text: &str, at: usize) -> Scanned<'_> {
    let end = end(text, '/');
    let end = end.ok_or_else(|| Refused::wrong(at, "the regular expression does not end"))?;
    let flags = run(&text[end..], |char| char.is_ascii_lowercase());
    if let Some(flag) = flags.find(|flag| !"imslux".contains(flag)) {
        return Err(Refused::wrong(
            at + end + flag,
            "the flags of expressions are i, m, s, l, u, x",
        ));
    }
    if text[..end].contains('\n') && !flags.contains('x') {
        return Err(Refused::wrong(at, "line breaks in a regular expression need the flag x"));
    }
    Ok((end + flags.len(), Some(Word::Regex(&text[1..end - 1], flags))))
}

fn quoted(text: &str, at: usize) -> Scanned<'_> {
    let end = end(text, '"').ok_or_else(|| Refused::wrong(at, "the text does not end"))?;
    let is_case_ignored = text[end..].starts_with('i');
    let word = Word::Text(unescaped(&text[1..end - 1], at + 1)?, is_case_ignored);
    Ok((end + usize::from(is_case_ignored), Some(word)))
}

/// A text without its escapes, which are those of Python.
fn unescaped(text: &str, at: usize) -> Result<String, Refused> {
    let mut made = String::with_capacity(text.len());
    let mut chars = text.char_indices();
    while let Some((place, char)) = chars.next() {
        if char != '\\' {
            made.push(char);
            continue;
        }
        let Some((_, name)) = chars.next() else { break };
        let digits = match name {
            'n' => "\n",
            't' => "\t",
            'r' => "\r",
            'f' => "\x0c",
            'x' | 'u' | 'U' => {
                let count = [2, 4, 8]["xuU".find(name).unwrap_or(0)];
                let digits = text.get(place + 2..place + 2 + count);
                let digits =
                    digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
                let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let found = code.and_then(char::from_u32);
                made.push(found.ok_or_else(|| {
                    Refused::wrong(at + place, format!("\\{name} needs {count} hexadecimal digits"))
                })?);
                chars.nth(count - 1);
                ""
            }
            '"' => "\"",
            '\\' => "\\",
            '/' => "/",
            other => {
                made.extend(['\\', other]);
                ""
            }
        };
        made.push_str(digits);
    }
    Ok(made)
}
