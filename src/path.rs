//! Where a value is in a caller's input.

use std::borrow::Cow;
use std::fmt;

use crate::brief::Brief;

/// Where a value is in a request's body, a row of a data set or an argument: `messages[3].content`. It is empty
/// for the whole.
///
/// ```
/// use openai_harmony::interop::{ReadOptions, chat_completions};
/// use serde_json::json;
///
/// let body = json!({"messages": [{"role": "user", "content": "Hi", "mood": "good"}]});
/// let turn = chat_completions::read(&body, &ReadOptions::default())?;
/// assert_eq!(turn.unused[0].path, "messages[0].mood");
/// assert_eq!(turn.unused[0].path.without_indices(), "messages[].mood");
/// # Ok::<(), openai_harmony::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Path(Vec<PathStep>);

/// A step from a value to one within it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// `.content`
    Name(Cow<'static, str>),
    /// `["content"]`, in Python's schemas, where a key may be any text.
    Key(Cow<'static, str>),
    /// `[3]`
    Index(usize),
}

impl Path {
    /// The path of the value under a name.
    pub fn of(name: impl Into<Cow<'static, str>>) -> Self {
        Self(vec![PathStep::Name(name.into())])
    }

    /// The path of a value within this one.
    #[must_use]
    pub(crate) fn then(mut self, step: impl Into<PathStep>) -> Self {
        self.0.push(step.into());
        self
    }

    /// The same path, from the enclosing value.
    #[doc(hidden)]
    #[must_use]
    pub fn inside(mut self, step: impl Into<PathStep>) -> Self {
        self.0.insert(0, step.into());
        self
    }

    /// The name of the top-level member that it leads to or into.
    #[cfg(feature = "training")]
    pub(crate) fn first_name(&self) -> Option<&str> {
        match self.0.first() {
            Some(PathStep::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// The name of its last member; `None` for a list item.
    #[cfg(feature = "training")]
    pub(crate) fn last_name(&self) -> Option<&str> {
        match self.0.last() {
            Some(PathStep::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether it is the path of a member of this name, or of a value within it.
    pub(crate) fn begins_with(&self, member: &str) -> bool {
        matches!(self.0.first(), Some(PathStep::Name(name)) if name == member)
    }

    /// Whether it is the path of the value itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The path as a text in which no index is named, the same for all items of a list: `messages[].content`.
    pub fn without_indices(&self) -> String {
        format!("{self:#}")
    }
}

impl fmt::Display for Path {
    /// The alternative form, `{:#}`, names no index.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Name(name) if at == 0 => Brief(name).fmt(f)?,
                PathStep::Name(name) => write!(f, ".{}", Brief(name))?,
                PathStep::Key(key) => write!(f, "[{:?}]", Brief(key))?,
                PathStep::Index(_) if f.alternate() => f.write_str("[]")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Whether it is shown as this text.
impl PartialEq<str> for Path {
    fn eq(&self, text: &str) -> bool {
        format!("{self}") == text
    }
}

/// Whether it is shown as this text.
impl PartialEq<&str> for Path {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

impl From<&str> for PathStep {
    fn from(name: &str) -> Self {
        name.to_owned().into()
    }
}

impl From<String> for PathStep {
    fn from(name: String) -> Self {
        Self::Name(name.into())
    }
}

impl From<usize> for PathStep {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}
