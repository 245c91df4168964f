//! JSON as a model meant it: the JSON of a text that is none, where only one reading exists and nothing is lost.
//!
//! What is mended: a code fence or `code=` around the value, backslashes that begin no escape, line breaks inside
//! strings, quotes that are escaped although they begin and end a string, commas before a closing bracket, and closing
//! brackets too many at the end.

use serde_json::Value;

/// Deeper values are not read.
const DEEPEST: usize = 100;

/// The values of a text, one after the other, each as valid JSON; and whether they are the text of a JSON string.
pub(super) fn values(text: &str) -> Option<(Vec<String>, bool)> {
    let text = unwrapped(text.trim());
    if let Ok(Value::String(inner)) = serde_json::from_str(text) {
        return Some((values_of(inner.trim())?, true));
    }
    // `{\"a\": 1}` is a string's content.
    let is_escaped = text.starts_with("{\\\"") && text.ends_with('}');
    let inner = is_escaped.then(|| serde_json::from_str(&format!("\"{text}\"")).ok()).flatten();
    let inner = inner.and_then(|inner: String| values_of(inner.trim()));
    // `"say \\"x\\""`: a quote within a string, escaped once too often.
    let found =
        inner.or_else(|| values_of(text)).or_else(|| values_of(&text.replace("\\\\\"", "\\\"")));
    Some((found?, false))
}

fn values_of(text: &str) -> Option<Vec<String>> {
    let mut values = Vec::new();
    let mut mender = Mender { rest: text, json: String::with_capacity(text.len()) };
    loop {
        mender.value(0)?;
        // An escape may still be half a character.
        serde_json::from_str::<Value>(&mender.json).ok()?;
        values.push(std::mem::take(&mut mender.json));
        let left = mender.rest.trim_start();
        if left.trim_start_matches(|c: char| matches!(c, '}' | ']') || c.is_whitespace()).is_empty()
        {
            return Some(values);
        }
        if !left.starts_with('{') {
            return None;
        }
    }
}

/// The value within a fence, or after a word that models write before it.
fn unwrapped(text: &str) -> &str {
    let fenced = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let fenced = fenced.map(|text| text.trim_start_matches(|c: char| c.is_alphanumeric()));
    let text = fenced.unwrap_or(text).trim();
    let named = ["code=", "json=", "code", "json"].iter().find_map(|word| text.strip_prefix(word));
    named.map(str::trim_start).filter(|text| text.starts_with('{')).unwrap_or(text)
}

/// Copies one value after the other, mended.
struct Mender<'t> {
    rest: &'t str,
    json: String,
}

impl Mender<'_> {
    /// The next character that is not blank.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Copies a character that is expected here.
    fn take(&mut self, expected: char) -> Option<()> {
        (self.peek()? == expected).then_some(())?;
        self.rest = &self.rest[expected.len_utf8()..];
        self.json.push(expected);
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            _ if depth > DEEPEST => None,
            '{' => self.list('{', '}', |mender| {
                mender.string()?;
                mender.take(':')?;
                mender.value(depth + 1)
            }),
            '[' => self.list('[', ']', |mender| mender.value(depth + 1)),
            '"' | '\\' => self.string(),
            _ => {
                let is_end = |c: char| matches!(c, ',' | '}' | ']') || c.is_whitespace();
                let end = self.rest.find(is_end).unwrap_or(self.rest.len());
                let word = self.rest.get(..end)?;
                serde_json::from_str::<Value>(word).ok()?;
                self.json.push_str(word);
                self.rest = &self.rest[end..];
                Some(())
            }
        }
    }

    /// Copies items between brackets; a comma at the end is left out.
    fn list(
        &mut self,
        open: char,
        close: char,
        item: impl Fn(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.take(open)?;
        let mut is_first = true;
        while self.peek()? != close {
            if !std::mem::take(&mut is_first) {
                self.json.push(',');
            }
            item(self)?;
            if self.peek()? == ',' {
                self.rest = &self.rest[1..];
            } else if self.peek()? != close {
                return None;
            }
        }
        self.take(close)
    }

    /// Copies a string. One that begins with an escaped quote ends with one, and its escapes are escaped once more.
    fn string(&mut self) -> Option<()> {
        self.peek()?;
        if let Some(inside) = self.rest.strip_prefix("\\\"") {
            let end = inside.find("\\\"").filter(|end| !inside[..*end].contains('"'))?;
            let inner: String = serde_json::from_str(&format!("\"{}\"", &inside[..end])).ok()?;
            serde_json::from_str::<String>(&format!("\"{inner}\"")).ok()?;
            self.json.extend(["\"", &inner, "\""]);
            self.rest = &inside[end + 2..];
            return Some(());
        }
        self.take('"')?;
        loop {
            let special = |c: char| matches!(c, '"' | '\\' | '\0'..='\u{1F}');
            let (plain, left) = self.rest.split_at(self.rest.find(special)?);
            self.json.push_str(plain);
            let mut characters = left.chars();
            let written = match characters.next()? {
                '"' => {
                    self.rest = left;
                    return self.take('"');
                }
                '\\' => escape(left).unwrap_or("\\\\").to_owned(),
                control => {
                    Value::from(control.to_string()).to_string().trim_matches('"').to_owned()
                }
            };
            self.json.push_str(&written);
            self.rest = escape(left).map_or(characters.as_str(), |escape| &left[escape.len()..]);
        }
    }
}

/// The escape at the beginning of a text; `None` for a lone backslash.
fn escape(text: &str) -> Option<&str> {
    let length = match text.as_bytes().get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
        b'u' => 6,
        _ => return None,
    };
    let escape = text.get(..length)?;
    let is_hex = escape[2..].bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then_some(escape)
}
