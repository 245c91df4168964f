//! Token ids to bytes.

use super::vocabulary::{self, TokenId};
use crate::{Error, ErrorKind, Result};

/// The bytes of the tokens, one after the other.
pub(super) fn bytes(tokens: &[TokenId]) -> Result<Vec<u8>> {
    // Room for tokens of average length; the vector grows if they are longer.
    let mut out = Vec::with_capacity(tokens.len() * 5 + 16);
    append(tokens, &mut out)?;
    Ok(out)
}

/// Appends the bytes of the tokens.
pub(super) fn append(tokens: &[TokenId], out: &mut Vec<u8>) -> Result<()> {
    for (index, &token) in tokens.iter().enumerate() {
        let slot = vocabulary::slot(token)
            .ok_or_else(|| Error::at(ErrorKind::InvalidToken { token }, index))?;
        match vocabulary::len_in(slot) {
            // A copy of a fixed size takes a few instructions; the surplus is then cut off.
            Some(len) => {
                let after = out.len() + len;
                out.extend_from_slice(slot);
                out.truncate(after);
            }
            None => out.extend_from_slice(vocabulary::long_bytes_of(slot)),
        }
    }
    Ok(())
}
