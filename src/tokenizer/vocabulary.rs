//! From a token to its bytes, and the vocabulary as the text that other tools read.

use std::io;

use super::Rank;
use super::special_names;
use super::tables::table;

table!(
    /// The bytes of all tokens, one after the other, then 16 zeros.
    TOKEN_BYTES, 1, "token_bytes.bin"
);
table!(
    /// u32: where the token of each rank begins in `TOKEN_BYTES`, and where the last ends.
    TOKEN_STARTS, 4, "token_starts.bin"
);

/// Bytes that may be read behind any token.
pub(super) const PADDING: usize = 16;

/// Where the bytes of a token begin and end in `all_bytes`.
#[inline]
pub(super) fn span(token: Rank) -> Option<(usize, usize)> {
    let index = token as usize;
    // One past the last id is the end of the table, not a token.
    let (start, end) = (TOKEN_STARTS.get(index)?, TOKEN_STARTS.get(index + 1)?);
    Some((u32::from_le_bytes(*start) as usize, u32::from_le_bytes(*end) as usize))
}

/// The bytes of all tokens, each followed by at least `PADDING` more.
#[inline]
pub(super) fn all_bytes() -> &'static [u8] {
    TOKEN_BYTES.as_flattened()
}

/// The bytes of a token, special ones included; `None` for an id that does not exist.
#[inline]
pub(super) fn token_bytes(token: Rank) -> Option<&'static [u8]> {
    let (start, end) = span(token)?;
    all_bytes().get(start..end)
}

/// Writes the ordinary tokens as `o200k_base.tiktoken` has them: a line for each, its bytes in
/// base64, a space and its rank.
pub(super) fn write(mut to: impl io::Write) -> io::Result<()> {
    for rank in 0..special_names::FIRST {
        let bytes = token_bytes(rank).unwrap_or_default();
        writeln!(to, "{} {rank}", base64(bytes))?;
    }
    Ok(())
}

/// RFC 4648's base64 with padding: too little to depend on a crate for.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, &byte| bits << 8 | usize::from(byte));
        let bits = bits << (8 * (3 - group.len()));
        for digit in 0..4 {
            // A group of n bytes has n + 1 digits.
            let padding = digit > group.len();
            let value = bits >> (18 - 6 * digit) & 0x3f;
            text.push(if padding { '=' } else { char::from(DIGITS[value]) });
        }
    }
    text
}
