//! Token ids to bytes.

use super::Rank;
use super::vocabulary::{self, PADDING};
use crate::{Error, ErrorKind, Result};

/// The bytes of the tokens, one after the other.
pub(super) fn bytes(tokens: &[Rank]) -> Result<Vec<u8>> {
    // Room for what tokens have on average; it grows where they have more.
    let mut out = Vec::with_capacity(tokens.len() * 5 + PADDING);
    append(tokens, &mut out)?;
    Ok(out)
}

/// Appends the bytes of the tokens.
pub(super) fn append(tokens: &[Rank], out: &mut Vec<u8>) -> Result<()> {
    let all = vocabulary::all_bytes();
    for (index, &token) in tokens.iter().enumerate() {
        let (start, end) = vocabulary::span(token)
            .ok_or_else(|| Error::at(ErrorKind::InvalidToken { token }, index))?;
        let after = out.len() + (end - start);
        match all[start..].first_chunk::<PADDING>() {
            // A copy of a fixed size is a few instructions, whatever of it is then cut off.
            Some(window) if end - start <= PADDING => out.extend_from_slice(window),
            _ => out.extend_from_slice(&all[start..end]),
        }
        out.truncate(after);
    }
    Ok(())
}
