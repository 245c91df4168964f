//! Names of tools and namespaces, which are declared unchanged: the model calls what is declared.

use std::collections::HashSet;

use super::depth::invalid;
use crate::error::Result;
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
    Err(invalid(name, reason))
}

/// Refuses two tools of one name: a call of them would be ambiguous.
pub(super) fn check_unique<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    let twice = names.into_iter().find(|name| !seen.insert(*name));
    twice.map_or(Ok(()), |name| Err(invalid(name, "two tools of the namespace have this name")))
}
