//! Reading a header, strictly.

use super::words::{Kind, Word, Words};
use super::{CONSTRAIN, Header, TO};
use crate::chat::{Author, Role};
use crate::error::{ErrorKind, Result};

/// Reads a header's words. `given` is the author's role where the caller knows it; `named` says
/// that the header began with `<|start|>`, so that a role in it counts for more than the given.
///
/// # Errors
///
/// [`ErrorKind::EmptyChannel`], [`ErrorKind::MissingRole`], [`ErrorKind::UnknownRole`],
/// [`ErrorKind::UnexpectedInHeader`] and [`ErrorKind::InvalidUtf8`].
pub(crate) fn read(words: &Words, given: Option<Role>, named: bool) -> Result<Header> {
    for word in words.list() {
        text(words, word)?;
    }
    let mut rest: Vec<&Word> = words.list().iter().collect();
    let channel = take_channel(words, &mut rest)?;
    let author = take_author(words, &mut rest, given, named, channel.is_some())?;
    let (recipient, content_type) = take_fields(words, &mut rest)?;
    if rest.is_empty() {
        return Ok(Header { author, recipient, channel, content_type });
    }
    let left: Vec<String> = rest.iter().map(|word| shown(words, word)).collect::<Result<_>>()?;
    Err(ErrorKind::UnexpectedInHeader { text: left.join(" ") }.into())
}

/// The words of a header's markers stand in no order, so the channel is taken out first.
fn take_channel(words: &Words, rest: &mut Vec<&Word>) -> Result<Option<String>> {
    let Some(at) = rest.iter().position(|word| word.kind == Kind::Channel) else {
        return Ok(None);
    };
    let word = rest.remove(at);
    if word.text.is_empty() {
        return Err(ErrorKind::EmptyChannel.into());
    }
    Ok(Some(text(words, word)?.to_owned()))
}

/// The author: the first word if it is one, else the given role.
fn take_author(
    words: &Words,
    rest: &mut Vec<&Word>,
    given: Option<Role>,
    named: bool,
    has_channel: bool,
) -> Result<Author> {
    let first = match rest.first() {
        Some(word) if word.kind == Kind::Plain => text(words, word)?,
        _ => "",
    };
    let written = author_of(first);
    if let Some(role) = given {
        return Ok(match written {
            Some(author) if named => {
                rest.remove(0);
                author
            }
            _ => {
                if first == role.as_str() {
                    rest.remove(0);
                }
                role.into()
            }
        });
    }
    let author = match written {
        Some(author) => author,
        None if rest.is_empty() => return Err(ErrorKind::MissingRole.into()),
        None if !first.is_empty() && (rest.len() > 1 || has_channel || names_a_tool(first)) => {
            // 0.0.8 takes the bare role behind a tool's name for a second mention of it.
            let is_bare_role = |next: &&Word| {
                next.kind == Kind::Plain && words.bytes(next.text.clone()) == b"tool"
            };
            if rest.get(1).is_some_and(is_bare_role) {
                rest.remove(1);
            }
            Author::new(Role::Tool, first)
        }
        None => return Err(ErrorKind::UnknownRole { role: shown(words, rest[0])? }.into()),
    };
    rest.remove(0);
    Ok(author)
}

/// The recipient and the content type, from the last words backwards. What has no place stays.
fn take_fields(words: &Words, rest: &mut Vec<&Word>) -> Result<(Option<String>, Option<String>)> {
    let mut content_type = take_constrained(words, rest)?;
    let Some(&last) = rest.last() else {
        return Ok((None, content_type));
    };
    if last.kind != Kind::Plain {
        return Ok((None, content_type));
    }
    let word = text(words, last)?;
    if content_type.is_none() && rest.len() > 1 && !word.starts_with(TO) {
        content_type = Some(word.to_owned());
        rest.pop();
    }
    let recipient = match rest.last() {
        Some(word) if word.kind == Kind::Plain => Some(recipient_of(text(words, word)?).to_owned()),
        _ => None,
    };
    if recipient.is_some() {
        rest.pop();
    }
    Ok((recipient, content_type))
}

/// A content type behind `<|constrain|>`, where it ends the header. White space between the
/// marker and its word belongs to it, so that the guide's `<|constrain|> json` reads back as
/// it was written.
fn take_constrained(words: &Words, rest: &mut Vec<&Word>) -> Result<Option<String>> {
    let (marker, end) = match rest[..] {
        [.., marker] if marker.kind == Kind::Constrain => (marker, marker.text.end),
        [.., marker, word] if is_spaced_pair(words, marker, word) => {
            rest.pop();
            (marker, word.text.end)
        }
        _ => return Ok(None),
    };
    rest.pop();
    let value = utf8(words.bytes(marker.text.start..end))?;
    Ok(Some(format!("{CONSTRAIN}{value}")))
}

/// Whether two words are a bare `<|constrain|>` and, behind white space, its word.
pub(super) fn is_spaced_pair(words: &Words, marker: &Word, word: &Word) -> bool {
    marker.kind == Kind::Constrain
        && marker.text.is_empty()
        && word.kind == Kind::Plain
        && words.bytes(marker.text.end..word.text.start).iter().all(u8::is_ascii_whitespace)
        && !words.bytes(word.text.clone()).starts_with(TO.as_bytes())
}

/// The author that a word names: a role, or a role and a name. A tool has no word of its own.
pub(super) fn author_of(word: &str) -> Option<Author> {
    if let Ok(role) = Role::try_from(word) {
        // The word in a tool's place is its name, even if that is `tool`.
        let name = (role == Role::Tool).then(|| word.to_owned());
        return Some(Author { role, name });
    }
    let (role, name) = word.split_once(':')?;
    match Role::try_from(role) {
        Ok(Role::Tool) | Err(_) => None,
        Ok(role) => Some(Author::new(role, name)),
    }
}

/// Whether a word by itself can only be a tool: one within a namespace, or one of the two
/// that the model was trained with (guide, section "Built-in tools"). That `to=` makes one
/// is 0.0.8's reading.
pub(super) fn names_a_tool(word: &str) -> bool {
    word.contains('.') || word == "python" || word == "browser" || word.starts_with(TO)
}

/// The recipient that a word names, with or without `to=`.
pub(super) fn recipient_of(word: &str) -> &str {
    word.strip_prefix(TO).unwrap_or(word)
}

fn text<'a>(words: &'a Words, word: &Word) -> Result<&'a str> {
    utf8(words.bytes(word.text.clone()))
}

/// A word as an error shows it, with its marker.
fn shown(words: &Words, word: &Word) -> Result<String> {
    let text = text(words, word)?;
    Ok(match word.kind {
        Kind::Constrain => format!("{CONSTRAIN}{text}"),
        _ => text.to_owned(),
    })
}

fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes)
        .map_err(|error| ErrorKind::InvalidUtf8 { valid_up_to: error.valid_up_to() }.into())
}
