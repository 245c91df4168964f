//! What a row of the tables is.

/// One malformed output and what it means.
pub(crate) struct Row {
    pub(crate) text: &'static str,
    pub(crate) messages: &'static [&'static str],
    /// The kinds of its repairs, where nothing stands before or after it.
    pub(crate) kinds: &'static [&'static str],
    /// Both, where the tools are known, if that makes a difference.
    pub(crate) known: Option<(&'static [&'static str], &'static [&'static str])>,
    /// Whether it says something else where another message follows.
    pub(crate) is_last: bool,
}

pub(crate) const fn row(
    text: &'static str,
    messages: &'static [&'static str],
    kinds: &'static [&'static str],
) -> Row {
    Row { text, messages, kinds, known: None, is_last: false }
}

/// A row that means something else where the tools are known.
pub(crate) const fn known(
    text: &'static str,
    messages: &'static [&'static str],
    kinds: &'static [&'static str],
    known_messages: &'static [&'static str],
    known_kinds: &'static [&'static str],
) -> Row {
    Row { known: Some((known_messages, known_kinds)), ..row(text, messages, kinds) }
}

/// A row that the end of the tokens breaks off.
pub(crate) const fn last(
    text: &'static str,
    messages: &'static [&'static str],
    kinds: &'static [&'static str],
) -> Row {
    Row { is_last: true, ..row(text, messages, kinds) }
}
