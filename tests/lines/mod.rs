//! Lists of tests as files: a value on each line, in JSON.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde::de::DeserializeOwned;

/// The values of a file. Empty lines and those that begin with `# ` are for people.
pub(crate) fn lines<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let values = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    values.map(|line| serde_json::from_str(line).unwrap()).collect()
}
