//! Saving states as bytes, to resume them in another process: JSON with a version, which changes with the fields.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorKind, Reason, Result};

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Reads a saved state of this version; `what` names it in errors.
///
/// # Errors
///
/// [`ErrorKind::InvalidState`].
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8], what: &str, expected: u32) -> Result<T> {
    let not_saved = |error: serde_json::Error| invalid(format!("not a saved {what}: {error}"));
    let Version { version } = serde_json::from_slice(bytes).map_err(not_saved)?;
    if version != expected {
        return Err(invalid(format!("its version is {version}; this library reads {expected}")));
    }
    serde_json::from_slice(bytes).map_err(not_saved)
}

/// The largest count accepted: more than any stream or answer has, and sums of such counts do not overflow.
pub(crate) const MOST: usize = (u32::MAX >> 2) as usize;

/// Refuses a state, which may come from a client, at the first field that no run would leave and that would break the
/// run that resumes it.
///
/// # Errors
///
/// [`ErrorKind::InvalidState`], which names the field.
pub(crate) fn check(fields: &[(&str, bool)]) -> Result<()> {
    let wrong = fields.iter().find(|(_, fits)| !fits);
    wrong.map_or(Ok(()), |(field, _)| {
        Err(invalid(format!("`{field}` does not fit its other fields")))
    })
}

pub(crate) fn invalid(reason: impl Into<Reason>) -> Error {
    ErrorKind::InvalidState { reason: reason.into() }.into()
}
