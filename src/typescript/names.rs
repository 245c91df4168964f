//! Names of tools and namespaces, which are declared unchanged: the model calls what is declared.

use std::collections::HashSet;

use crate::error::{ErrorKind, Result};
use crate::names;

/// Characters that in TypeScript end a name and begin something that would swallow, close or duplicate the declaration.
const STRUCTURE: [char; 13] = ['=', ';', '(', ')', '[', ']', '{', '}', '<', '>', '"', '\'', '`'];

/// Refuses a name that a header cannot carry, or that could end its declaration; `what` is
/// `tool` or `namespace`.
pub(super) fn check(what: &str, name: &str) -> Result<()> {
    let reason = if let Some(flaw) = names::flaw(name) {
        format!("the {what}'s name {flaw}")
    } else if name.contains(STRUCTURE) || name.contains("//") || name.contains("/*") {
        format!(
            "the {what}'s name must not contain a bracket, a quote, `=`, `;` or the beginning of a \
             comment"
        )
    } else {
        return Ok(());
    };
    Err(ErrorKind::InvalidSchema { name: name.to_owned(), reason: reason.into() }.into())
}

/// Refuses two tools of one name: a call of them would be ambiguous.
pub(super) fn check_unique<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    match names.into_iter().find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(twice) => {
            let reason = "two tools of the namespace have this name".to_owned();
            Err(ErrorKind::InvalidSchema { name: twice.to_owned(), reason: reason.into() }.into())
        }
    }
}
