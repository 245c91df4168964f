//! Words made of roles and channels.

use crate::chat::{CHANNELS, Role};

/// The roles that headers name by a word; a tool's header has its name instead.
pub(super) const WRITTEN_ROLES: [Role; 4] =
    [Role::Assistant, Role::User, Role::System, Role::Developer];

/// A word made of roles and channels, in upper or lower case: `assistantfinal`, `Assistant`. Models write these in
/// place of a role, and no tool has such a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameRun {
    /// The first role in it.
    pub(super) role: Option<Role>,
    /// The last channel in it.
    pub(super) channel: Option<&'static str>,
}

impl NameRun {
    /// Reads a word that consists only of written roles and channels.
    pub(crate) fn read(word: &str) -> Option<Self> {
        Self::of(word, &WRITTEN_ROLES)
    }

    /// Reads a word that consists only of these roles and channels. None of them is a prefix of another.
    pub(super) fn of(word: &str, roles: &[Role]) -> Option<Self> {
        let lower = word.to_ascii_lowercase();
        let mut rest = &lower[..];
        let mut run = Self { role: None, channel: None };
        while !rest.is_empty() {
            let role = roles.iter().find(|role| rest.starts_with(role.as_str()));
            let channel = CHANNELS.into_iter().find(|channel| rest.starts_with(channel));
            run.role = run.role.or(role.copied());
            run.channel = channel.or(run.channel);
            rest = &rest[role.map(Role::as_str).or(channel)?.len()..];
        }
        (!word.is_empty()).then_some(run)
    }
}
