//! Reading a header, strictly.
//!
//! Every header that 0.0.8 reads is read. Where 0.0.8 makes a marker part of a field, this reader ends the field before
//! the marker.

use serde::{Deserialize, Serialize};

use super::groups::{Group, Groups, Spelled, spells_marker, until_spelled, utf8};
use super::name_run::NameRun;
use super::tools::CONTENT_TYPES;
use super::words::{Word, WordKind, Words};
use super::{CONSTRAIN, TO};
use crate::chat::{Author, BUILT_IN, Message, Role};
use crate::error::{ErrorKind, Result};

/// The source of a role that the header itself need not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Given {
    /// The header names its author.
    Nothing,
    /// The caller gave the role; a word of the header may repeat it.
    Role(Role),
    /// The caller gave the role of an earlier header that could not be read. It is used for this
    /// header, unless this one names an author.
    Waiting(Role),
    /// The caller gave a role, but the header begins with `<|start|>` and so names its author. The
    /// given role is used if it names no author or an unknown one.
    Fallback(Role),
}

/// Reads a header's words: a message without content.
///
/// # Errors
///
/// [`ErrorKind::EmptyChannel`], [`ErrorKind::MissingRole`], [`ErrorKind::UnknownRole`],
/// [`ErrorKind::UnexpectedInHeader`] and [`ErrorKind::InvalidUtf8`].
pub(crate) fn read(words: &Words, given: Given) -> Result<Message> {
    let read = Reader::new(words, Spelled::Text)?.read(given);
    if read.is_ok() || !spells_marker(words) {
        return read;
    }
    // A spelled marker means nothing, but 0.0.8 may have read this header only by taking it for one.
    Reader::new(words, Spelled::Misplaced)?.read(given).or(read)
}

/// The role that a header names. The header may be incomplete.
pub(crate) fn role(words: &Words) -> Option<Role> {
    let mut reader = Reader::new(words, Spelled::Misplaced).ok()?;
    Some(reader.take_role()?.role)
}

struct Reader<'a> {
    words: &'a Words,
    groups: Groups<'a>,
    spelled: Spelled,
}

impl<'a> Reader<'a> {
    fn new(words: &'a Words, spelled: Spelled) -> Result<Self> {
        Ok(Self { words, groups: Groups::of(words, spelled)?, spelled })
    }

    fn read(&mut self, given: Given) -> Result<Message> {
        if self.groups.channel == Some("") {
            return Err(ErrorKind::EmptyChannel.into());
        }
        let author = match given {
            Given::Nothing => self.take_author()?,
            Given::Role(role) => self.take_given(role),
            Given::Waiting(role) => self.take_role().unwrap_or_else(|| self.take_given(role)),
            Given::Fallback(role) => self.take_author_or(role),
        };
        let content_type = self.take_content_type()?;
        let recipient = self.take_recipient();
        if self.groups.list.is_empty() {
            let channel = self.groups.channel.map(str::to_owned);
            let content = Vec::new();
            return Ok(Message { author, recipient, content, channel, content_type });
        }
        let left = self.groups.list.iter().map(|group| self.groups.shown(self.words, group));
        let text = left.collect::<Vec<_>>().join(" ");
        Err(ErrorKind::UnexpectedInHeader { text }.into())
    }

    /// The index of the first group that is not a misplaced marker, if that group is plain.
    fn first_at(&self) -> Option<usize> {
        let at = self.groups.list.iter().position(|group| group.kind != WordKind::Noise)?;
        (self.groups.list[at].kind == WordKind::Plain).then_some(at)
    }

    /// The text of that group; empty if there is none.
    fn first(&self) -> &'a str {
        self.first_at().map_or("", |at| self.groups.list[at].value)
    }

    fn drop_first(&mut self) {
        if let Some(at) = self.first_at() {
            self.groups.list.remove(at);
        }
    }

    /// The author if the caller gave the role.
    fn take_given(&mut self, role: Role) -> Author {
        if self.first() == role.as_str() {
            self.drop_first();
        }
        role.into()
    }

    /// The author, if the first word is a role.
    fn take_role(&mut self) -> Option<Author> {
        let author = author_of(self.first())?;
        self.drop_first();
        Some(author)
    }

    /// The author if the header must name it.
    fn take_author(&mut self) -> Result<Author> {
        if let Some(author) = self.take_role() {
            return Ok(author);
        }
        let Some(group) = self.groups.list.first() else {
            return Err(ErrorKind::MissingRole.into());
        };
        let name = group.value;
        let has_channel = self.groups.channel.is_some();
        let is_tool = group.kind == WordKind::Plain
            && (names_a_tool(name) || has_channel && !is_run_of_names(name));
        // 0.0.8 also counts a word that begins with a marker or a spelled marker.
        let has_more = self.groups.list.len() > 1 || self.spelled == Spelled::Misplaced;
        // 0.0.8 reads `assistant<|constrain|>` as the role, and an answer must not become a tool's message.
        let is_role =
            group.kind == WordKind::Plain && author_of(&name[..until_spelled(name)]).is_some();
        if is_role || !has_more && !is_tool {
            let role = self.groups.shown(self.words, group);
            return Err(ErrorKind::UnknownRole { role }.into());
        }
        self.groups.list.remove(0);
        self.drop_second_role();
        // A marker is not a name. A tool without a name is called `tool`, so that the message can be
        // rendered.
        let name = if name.is_empty() { Role::Tool.as_str() } else { name };
        Ok(Author::new(Role::Tool, name))
    }

    /// The author that the header names, otherwise the given role. A word that names an unknown role
    /// is left out.
    fn take_author_or(&mut self, role: Role) -> Author {
        if self.first().starts_with(TO) {
            return role.into();
        }
        self.take_author().unwrap_or_else(|_| {
            self.drop_first();
            role.into()
        })
    }

    /// 0.0.8 reads the word `tool` after a tool's name as a repetition of its role.
    fn drop_second_role(&mut self) {
        let is_role = |group: &Group<'_>| {
            group.kind == WordKind::Plain && group.is_whole() && group.value == Role::Tool.as_str()
        };
        if self.groups.list.first().is_some_and(is_role) {
            self.groups.list.remove(0);
        }
    }

    /// The content type is the last word if it follows `<|constrain|>`, if there are several words, or if it is a
    /// content type after a channel (`final json`). Without a channel, 0.0.8's users call tools named `json` that way.
    ///
    /// A misplaced marker is not a field and is dropped. But it counts as a word here, as in 0.0.8.
    fn take_content_type(&mut self) -> Result<Option<String>> {
        let has_channel = self.groups.channel.is_some();
        let list = &mut self.groups.list;
        let at = list.iter().rposition(|group| group.kind != WordKind::Noise).unwrap_or_default();
        list.retain(|group| group.kind != WordKind::Noise);
        let Some(word) = list.last() else { return Ok(None) };
        if let [.., marker, word] = &list[..] {
            let (before, after) = (marker.first(self.words), word.first(self.words));
            if word.follows(marker) && is_spaced_pair(self.words, before, after) {
                let end = self.words.offset_of(after, word.value.len());
                let text = utf8(self.words.bytes(before.text.start..end))?;
                list.truncate(list.len() - 2);
                return Ok(Some([CONSTRAIN, text].concat()));
            }
        }
        // 0.0.8 does not see a recipient after a channel and white space beyond ASCII, and reads two fields.
        let is_hidden = list.len() > 1 && word.first(self.words).kind == WordKind::Channel;
        let before = list.len().saturating_sub(2);
        let precedes = is_hidden && is_recipient(word) && !is_recipient(&list[before]);
        let place = if precedes { before } else { list.len() - 1 };
        let word = &list[place];
        let content_type = match word.kind {
            WordKind::Constrain => [CONSTRAIN, word.value].concat(),
            _ if !is_hidden && is_recipient(word) => return Ok(None),
            _ if at > 0 || has_channel && is_content_type(word.value) => word.value.to_owned(),
            _ => return Ok(None),
        };
        list.remove(place);
        Ok(Some(content_type))
    }

    /// The last of the remaining words, unless it is a second `<|constrain|>`.
    fn take_recipient(&mut self) -> Option<String> {
        let last = self.groups.list.pop()?;
        (last.kind != WordKind::Constrain).then(|| recipient_of(last.value).to_owned())
    }
}

/// Whether two words are a bare `<|constrain|>` and, after white space, its value. The white space belongs to the
/// content type, so that the guide's `<|constrain|> json` reads back as written.
pub(super) fn is_spaced_pair(words: &Words, marker: &Word, word: &Word) -> bool {
    marker.kind == WordKind::Constrain
        && marker.text.is_empty()
        && word.kind == WordKind::Plain
        && words.bytes(marker.text.end..word.text.start).iter().all(u8::is_ascii_whitespace)
        && !words.bytes(word.text.clone()).starts_with(TO.as_bytes())
}

/// The author that a word names: a role, or a role and a name. A tool is not written this way.
pub(super) fn author_of(word: &str) -> Option<Author> {
    if let Ok(role) = Role::try_from(word) {
        // Where a tool's name is expected, the word is the name, even if it is `tool`.
        let name = (role == Role::Tool).then(|| word.to_owned());
        return Some(Author { role, name });
    }
    let (role, name) = word.split_once(':')?;
    match Role::try_from(role) {
        Ok(Role::Tool) | Err(_) => None,
        Ok(role) => Some(Author::new(role, name)),
    }
}

/// Whether a lone word can only be a tool: one in a namespace, or one of the two that the model was trained with
/// (guide, section "Built-in tools"). 0.0.8 also takes a word with `to=` for a tool.
pub(super) fn names_a_tool(word: &str) -> bool {
    word.contains('.') || BUILT_IN.contains(&word) || word.starts_with(TO)
}

/// Whether a word consists only of roles, `tool` among them, and channels.
pub(super) fn is_run_of_names(word: &str) -> bool {
    NameRun::of(word, &Role::ALL).is_some()
}

/// Whether a word is a content type even if the header has only it and a channel. Any other such word is the recipient.
fn is_content_type(word: &str) -> bool {
    CONTENT_TYPES.contains(&word)
}

fn is_recipient(group: &Group<'_>) -> bool {
    group.kind == WordKind::Plain && group.value.starts_with(TO)
}

/// The recipient that a word names, with or without `to=`.
pub(super) fn recipient_of(word: &str) -> &str {
    word.strip_prefix(TO).unwrap_or(word)
}
