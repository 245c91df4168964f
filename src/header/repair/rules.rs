//! The rules of reading as tables: what a word with several meanings is, and which of two values counts.
//!
//! In each list, the first rule that can read the word does.

use super::super::words::{Word, WordKind};
use super::{Draft, FieldValue, Fields, is_channel};
use crate::chat::Role;
use crate::repair::RepairKind;

/// A field that a header has once.
pub(super) struct Once {
    pub(super) slot: fn(&mut Fields) -> &mut Option<FieldValue>,
    /// Whether the first of two values counts.
    pub(super) first_counts: fn(&str, &str) -> bool,
    /// What a repair calls the one that does not.
    pub(super) duplicate: RepairKind,
}

/// The last known channel counts.
pub(super) const CHANNEL: Once = Once {
    slot: |fields| &mut fields.channel,
    first_counts: |first, next| is_channel(first) && !is_channel(next),
    duplicate: RepairKind::DuplicateChannel,
};

/// The first recipient that is not `assistant` counts.
pub(super) const RECIPIENT: Once = Once {
    slot: |fields| &mut fields.recipient,
    first_counts: |first, _| first != Role::Assistant.as_str(),
    duplicate: RepairKind::DuplicateRecipient,
};

pub(super) const CONTENT_TYPE: Once = Once {
    slot: |fields| &mut fields.content_type,
    first_counts: |_, _| true,
    duplicate: RepairKind::HeaderNoise,
};

/// Tries to read the first word, which has this text, as the author, or as one with other text; returns whether it
/// could.
pub(super) type AuthorRule<'a> = fn(&mut Draft<'a>, &str) -> bool;

/// Reads a word with this text. Whether it did.
pub(super) type Rule<'a> = fn(&mut Draft<'a>, &Word, &str) -> bool;

impl<'a> Draft<'a> {
    /// How the first word is read.
    pub(super) fn author_rules(&self) -> &'a [AuthorRule<'a>] {
        match self.setting.given {
            // A model may repeat a role that the caller gave.
            Some(_) if !self.setting.named => {
                &[Self::take_same_role, Self::take_run_of_same_role, Self::take_glued_role]
            }
            // In a header that began without `<|start|>`. It is the assistant's if it names no author.
            Some(_) => &[
                Self::skip_stray_role,
                Self::take_known_author,
                Self::take_run_with_role,
                Self::take_tool,
                Self::take_glued_role,
                Self::take_misplaced_recipient,
            ],
            // After `<|start|>`, where a role should be.
            None => &[
                Self::take_known_author,
                Self::take_any_run,
                Self::take_misplaced_recipient,
                Self::take_glued_role,
                Self::guess_author,
            ],
        }
    }

    /// How a later word is read.
    pub(super) fn rules(&self, kind: WordKind) -> &'a [Rule<'a>] {
        match kind {
            WordKind::Channel => &[
                Self::read_spaced_channel,
                Self::read_recipient_in_channel,
                Self::read_known_channel,
                Self::read_channel_with_more,
                Self::read_tool_in_channel,
                Self::read_content_in_channel,
                Self::read_any_channel,
            ],
            WordKind::Constrain => &[Self::read_constrained],
            WordKind::Noise => &[Self::read_noise],
            // In a header without `<|message|>`, a word that is not a field begins the content.
            WordKind::Plain if self.setting.end.is_cut() => &[
                Self::read_content,
                Self::read_addressee,
                Self::read_spaced_recipient,
                Self::read_channel_with_text,
                Self::read_channel_without_marker,
                Self::read_bare_type,
                Self::read_long_type,
                Self::read_bare_tool,
                Self::begin_content,
            ],
            WordKind::Plain => &[Self::read_addressee, Self::read_spaced_recipient],
        }
    }

    /// The rules for words of a header with `<|message|>` that none of the above could read.
    pub(super) const BARE: [Rule<'a>; 4] = [
        Self::place_run_of_channels,
        Self::place_channel_with_text,
        Self::place_type,
        Self::place_recipient,
    ];
}
