//! What of a schema a form of a grammar does not hold.

use std::collections::HashSet;
use std::fmt::Write;

use crate::error::{Error, ErrorKind, Result};
use crate::path::Path;

/// The most pairs of values and bounds that are compared; looking at a schema counts as [`OF_EACH`].
const MOST_COMPARED: usize = 1 << 24;
pub(super) const OF_EACH: usize = 16;

/// How many keywords an error names.
const NAMED: usize = 20;

/// A keyword that a form of a grammar does not hold: it admits more there than the schema does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loosened {
    /// The tool's recipient; empty for the schema of the answer.
    pub recipient: String,
    /// Where the keyword is: `tools[0].parameters.properties.in.not`.
    pub path: Path,
    /// The keyword: `not`.
    pub keyword: &'static str,
    /// Why it is not enforced.
    pub reason: String,
}

/// What is loosened while a grammar is written.
#[derive(Debug, Default)]
pub(in crate::grammar) struct Report {
    /// Of the schema that is being written.
    recipient: String,
    loosened: Vec<Loosened>,
    seen: HashSet<Path>,
    compared: usize,
}

impl Report {
    /// The schema that is written from here on.
    pub(in crate::grammar) fn begin(&mut self, recipient: &str) {
        recipient.clone_into(&mut self.recipient);
        self.seen.clear();
    }

    /// Whether there is room to compare so much more, in all schemas together.
    pub(super) fn has_room(&mut self, more: usize) -> bool {
        self.compared = self.compared.saturating_add(more);
        self.compared <= MOST_COMPARED
    }

    /// Notes a keyword of the schema at this path, once.
    pub(in crate::grammar) fn loosen(
        &mut self,
        path: &Path,
        keyword: &'static str,
        reason: impl Into<String>,
    ) {
        let path = path.clone().then(keyword);
        if self.seen.insert(path.clone()) {
            let recipient = self.recipient.clone();
            self.loosened.push(Loosened { recipient, path, keyword, reason: reason.into() });
        }
    }

    /// All that is loosened.
    ///
    /// # Errors
    ///
    /// The keywords of strict schemas, all in one.
    pub(in crate::grammar) fn finish(self, strict: Option<&[String]>) -> Result<Vec<Loosened>> {
        let is_strict =
            |one: &&Loosened| strict.is_none_or(|strict| strict.contains(&one.recipient));
        let mut refused = self.loosened.iter().filter(is_strict);
        let Some(first) = refused.next() else { return Ok(self.loosened) };
        let mut reason = first.reason.clone();
        for one in refused.by_ref().take(NAMED - 1) {
            // Writing to a string cannot fail.
            let _ = write!(reason, "; {}: {}", one.path, one.reason);
        }
        match refused.count() {
            0 => {}
            more => _ = write!(reason, "; and {more} more"),
        }
        let error: Error = ErrorKind::InvalidGrammar {
            path: first.path.clone(),
            reason: reason.into(),
            recipient: None,
        }
        .into();
        Err(error.of_schema(&first.recipient))
    }
}
