//! What a malformed word spells: several names in one word, or a field with other text glued to it.
//!
//! Everything here depends on one word, not on the header around it.

use super::super::TO;
use super::super::name_run::{NameRun, WRITTEN_ROLES};
use super::super::tools::CONTENT_TYPES;
use super::HeaderEnd;
use crate::chat::{CHANNELS, Role};

/// A known channel in a longer word: the channel, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GluedChannel {
    pub(super) channel: &'static str,
    /// The byte offset of the channel's beginning.
    pub(super) from: usize,
    /// The byte offset of its end.
    pub(super) to: usize,
}

impl GluedChannel {
    /// `final__X`, `commentaryjson`, `––commentary`; in a header without `<|message|>` also
    /// `finalThe`. A longer name, such as `finalists`, is not a glued channel.
    pub(super) fn find(word: &str, ending: HeaderEnd) -> Option<Self> {
        CHANNELS.into_iter().find_map(|channel| {
            let at = word.find(channel)?;
            let (before, rest) = (&word[..at], &word[at + channel.len()..]);
            let is_glued = if at > 0 {
                !before.contains(char::is_alphanumeric) && rest.is_empty()
            } else {
                is_glued_rest(rest, ending)
            };
            is_glued.then_some(Self { channel, from: at, to: at + channel.len() })
        })
    }
}

/// Whether the first word of a header cannot be a tool's name: it is impossible as one, or a channel with other text
/// glued to it.
pub(crate) fn names_no_tool(word: &str) -> bool {
    is_nobody(word) || channel_at_start(word).is_some()
}

/// A known channel at the beginning of a word without a marker before it: `analysisX`.
pub(super) fn channel_at_start(word: &str) -> Option<GluedChannel> {
    GluedChannel::find(word, HeaderEnd::Tokens).filter(|glued| glued.from == 0)
}

/// Whether a channel of a complete header would be read as a known one with text glued to it.
pub(crate) fn is_glued_channel(channel: &str) -> bool {
    !CHANNELS.contains(&channel) && GluedChannel::find(channel, HeaderEnd::Message).is_some()
}

fn is_glued_rest(rest: &str, ending: HeaderEnd) -> bool {
    let Some(first) = rest.chars().next() else { return false };
    (!first.is_alphanumeric() && first != '-')
        || CHANNELS.iter().any(|next| rest.starts_with(next))
        || is_content_type(rest)
        || rest.starts_with(TO)
        || (ending.is_cut() && begins_text(rest))
}

/// Whether text glued to a field begins a sentence or a value: not with a lower-case letter or a character of a name.
pub(super) fn begins_text(rest: &str) -> bool {
    rest.chars().next().is_some_and(|c| !c.is_lowercase() && !"-_.:".contains(c))
}

/// The role that a word begins with, if what follows begins a text or a recipient:
/// `assistant{"a":1}`, `assistantThe`, `assistantto=f`.
pub(super) fn glued_role(word: &str, ending: HeaderEnd) -> Option<Role> {
    WRITTEN_ROLES.into_iter().find(|role| {
        word.strip_prefix(role.as_str()).is_some_and(|rest| {
            let is_name = |c: char| c.is_alphanumeric() && !ending.is_cut();
            rest.starts_with(TO) || (begins_text(rest) && !rest.starts_with(is_name))
        })
    })
}

/// Whether the author of a complete header would be read as a role with text or a recipient glued to it.
pub(crate) fn is_glued_role(name: &str) -> bool {
    glued_role(name, HeaderEnd::Message).is_some()
}

/// Whether no message can be addressed to a name: roles but the assistant, channels, and text with markup or a value.
pub(crate) fn is_nobody(name: &str) -> bool {
    name.contains(['<', '>', '{'])
        || (name != Role::Assistant.as_str() && NameRun::read(name).is_some())
}

/// Whether a word contains the beginning of a JSON value, where lenient parsing ends a name.
pub(crate) fn begins_value(word: &str) -> bool {
    value_at(word, HeaderEnd::Open).is_some()
}

/// A content type that models write without its marker.
pub(super) fn is_content_type(word: &str) -> bool {
    CONTENT_TYPES.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Where a value begins in a word; names and content types end there. In a header that has not ended,
/// only characters that can hardly be part of a name begin a value.
pub(super) fn value_at(word: &str, ending: HeaderEnd) -> Option<usize> {
    if ending != HeaderEnd::Open {
        return word.find(['{', '[']);
    }
    let is_value = |rest: &str| {
        ["{\"", "[{\"", "[\""].iter().any(|value| rest.starts_with(value))
            || ["{", "[", "[{"].contains(&rest)
    };
    word.char_indices().map(|(at, _)| at).find(|&at| is_value(&word[at..]))
}

/// The first bytes of a marker, which the end of the stream cut off: `<|chan`.
pub(super) fn is_cut_marker(word: &str) -> bool {
    const MARKERS: [&str; 4] = ["<|channel|>", "<|message|>", "<|constrain|>", "<|start|>"];
    word.len() > 1 && MARKERS.iter().any(|marker| marker.starts_with(word))
}
