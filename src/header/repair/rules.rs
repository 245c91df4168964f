//! The order in which the words of a header are read, which decides what a word with several meanings is: of each
//! list, the first rule that can read the word does.

use super::super::words::Word;
use super::Draft;
use crate::chat::Role;

/// Reads the first word as the author, or with one, in a header whose position implies `role`. Whether it did.
pub(super) type AuthorRule<'a> = fn(&mut Draft<'a>, Role, &str) -> bool;

/// Reads a word with this text. Whether it did.
pub(super) type Rule<'a> = fn(&mut Draft<'a>, &Word, &str) -> bool;

impl<'a> Draft<'a> {
    /// The first word after a role that the caller gave; a model may repeat it.
    pub(super) const AFTER_GIVEN_ROLE: [AuthorRule<'a>; 3] =
        [Self::take_same_role, Self::take_run_of_same_role, Self::take_glued_role];

    /// The first word of a header that began without `<|start|>`: the assistant's if it names no author.
    pub(super) const WITHOUT_START: [AuthorRule<'a>; 6] = [
        Self::skip_stray_role,
        Self::take_known_author,
        Self::take_run_with_role,
        Self::take_tool,
        Self::take_glued_role,
        Self::take_misplaced_recipient,
    ];

    /// The first word after `<|start|>`, where a role should be.
    pub(super) const AFTER_START: [AuthorRule<'a>; 5] = [
        Self::take_known_author,
        Self::take_any_run,
        Self::take_misplaced_recipient,
        Self::take_glued_role,
        Self::guess_author,
    ];

    /// A word after `<|channel|>`.
    pub(super) const CHANNEL: [Rule<'a>; 7] = [
        Self::read_spaced_channel,
        Self::read_recipient_in_channel,
        Self::read_known_channel,
        Self::read_channel_with_more,
        Self::read_tool_in_channel,
        Self::read_content_in_channel,
        Self::read_any_channel,
    ];

    /// A word without a marker.
    pub(super) const PLAIN: [Rule<'a>; 4] =
        [Self::read_content, Self::read_addressee, Self::read_spaced_recipient, Self::read_other];

    /// A word without a marker and `to=`, in a header without `<|message|>`. What is no field begins the content.
    pub(super) const BARE_OF_CUT: [Rule<'a>; 6] = [
        Self::read_channel_with_text,
        Self::read_channel_without_marker,
        Self::read_bare_type,
        Self::read_long_type,
        Self::read_bare_tool,
        Self::begin_content,
    ];

    /// The same in a header with `<|message|>`, where fields with markers come first.
    pub(super) const BARE: [Rule<'a>; 4] = [
        Self::place_run_of_channels,
        Self::place_channel_with_text,
        Self::place_type,
        Self::place_recipient,
    ];
}
