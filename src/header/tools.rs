//! The tools that a request offered, and how malformed spellings of their names are recognised.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use crate::chat::{BUILT_IN, CHANNELS, FUNCTIONS, Role};
use crate::error::{ErrorKind, Result};
use crate::names;

/// The content types that headers have in practice, and models write without `<|constrain|>` (guide, section
/// "Receiving tool calls").
pub(crate) const CONTENT_TYPES: [&str; 3] = ["json", "code", "text"];

/// Known recipients. The cost of a look-up depends on the length of the word, not on their number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tools {
    /// As given; of two with the same spelling the first counts.
    given: Vec<String>,
    full: HashSet<String>,
    /// In lower case, full names and the part after their last dot -> the full name.
    by_spelling: HashMap<String, String>,
}

/// What a word names among the known recipients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lookup<'a> {
    /// A known recipient, spelled correctly, or a function in a known namespace.
    Exact,
    /// A known recipient in another spelling, and where text glued to its end begins.
    Respelled { name: &'a str, rest: usize },
    /// Nothing that was offered.
    Unknown,
}

impl Tools {
    /// Takes full names (`functions.bash`, `browser.search`, `python`), short names of functions
    /// (`bash`), and namespaces whose functions are all known (`browser`).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnsafeHeaderField`] for a name that no header can carry.
    pub(crate) fn new<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self> {
        let mut tools = Self::default();
        for name in names {
            tools.add(name.as_ref())?;
            tools.given.push(name.as_ref().to_owned());
        }
        Ok(tools)
    }

    /// The names as they were given.
    pub(crate) fn given(&self) -> &[String] {
        &self.given
    }

    /// The empty set, shared by all parsers without tools.
    pub(crate) fn none() -> Arc<Self> {
        static NONE: LazyLock<Arc<Tools>> = LazyLock::new(Arc::default);
        Arc::clone(&NONE)
    }

    fn add(&mut self, name: &str) -> Result<()> {
        if let Some(reason) = names::flaw(name) {
            let value = name.to_owned();
            return Err(ErrorKind::UnsafeHeaderField {
                field: "tools",
                value,
                reason: reason.into(),
            }
            .into());
        }
        self.insert(name);
        Ok(())
    }

    fn insert(&mut self, name: &str) {
        let is_full = name.contains('.') || BUILT_IN.contains(&name);
        let full = if is_full { name.to_owned() } else { [FUNCTIONS, ".", name].concat() };
        let short = full.rsplit('.').next().unwrap_or(&full).to_ascii_lowercase();
        self.by_spelling.entry(full.to_ascii_lowercase()).or_insert_with(|| full.clone());
        if !short.is_empty() {
            self.by_spelling.entry(short).or_insert_with(|| full.clone());
        }
        self.full.insert(full);
    }

    /// Whether none was named.
    pub(crate) fn is_empty(&self) -> bool {
        self.full.is_empty()
    }

    /// What a recipient's word names.
    pub(super) fn look_up(&self, word: &str) -> Lookup<'_> {
        if self.is_empty() || self.full.contains(word) || self.is_within_namespace(word) {
            return if self.is_empty() { Lookup::Unknown } else { Lookup::Exact };
        }
        if let Some(name) = self.spelled(word) {
            return Lookup::Respelled { name, rest: word.len() };
        }
        let is_part = |c: char| c.is_alphanumeric() || "._-".contains(c);
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let name = word[..end].trim_end_matches(['.', '-']);
        if let Some(name) = self.spelled(name).filter(|_| end < word.len()) {
            return Lookup::Respelled { name, rest: end };
        }
        let mut end = name.len();
        let glued = |name: &str| {
            let mut words = CONTENT_TYPES.iter().chain(&CHANNELS);
            words.find(|word| name.ends_with(**word)).map(|word| word.len())
        };
        while let Some(length) = glued(&name[..end]) {
            end -= length;
            if let Some(name) = self.spelled(&name[..end]) {
                return Lookup::Respelled { name, rest: end };
            }
        }
        Lookup::Unknown
    }

    /// Whether a word is exactly a known recipient.
    pub(crate) fn is_offered(&self, word: &str) -> bool {
        self.look_up(word) == Lookup::Exact
    }

    /// The known recipient in place of another field, and where text glued to its end begins. A word that is a role or
    /// a channel is never a recipient here, even if a tool has that name.
    pub(crate) fn misplaced(&self, word: &str) -> Option<(String, usize)> {
        let is_name = CHANNELS.contains(&word) || Role::try_from(word).is_ok();
        match self.look_up(word) {
            _ if is_name => None,
            Lookup::Exact => Some((word.to_owned(), word.len())),
            Lookup::Respelled { name, rest } => Some((name.to_owned(), rest)),
            Lookup::Unknown => None,
        }
    }

    /// Whether a word names a known recipient, in any spelling, or can only be one.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.look_up(word) != Lookup::Unknown || is_tool_name(word)
    }

    fn spelled(&self, word: &str) -> Option<&str> {
        let word = word.to_ascii_lowercase();
        let mut named =
            [""].iter().chain(&TOOL_PREFIXES).filter_map(|prefix| word.strip_prefix(prefix));
        named.find_map(|name| self.by_spelling.get(name)).map(String::as_str)
    }

    /// `browser.search`, if `browser` was offered.
    fn is_within_namespace(&self, word: &str) -> bool {
        word.split_once('.').is_some_and(|(namespace, function)| {
            !function.is_empty()
                && function.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
                && BUILT_IN.contains(&namespace)
                && self.full.contains(namespace)
        })
    }
}

/// What models write before a tool's name.
pub(crate) const TOOL_PREFIXES: [&str; 3] = ["tools.", "tool.", "tool:"];

/// Whether a lone word is a tool's name and not the end of a sentence: a function in a namespace (`container.exec`), or
/// a tool that the model was trained with.
pub(super) fn is_tool_name(word: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
    };
    BUILT_IN.contains(&word) || (word.contains('.') && word.split('.').all(is_part))
}
