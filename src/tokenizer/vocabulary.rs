//! From a token to its bytes, and the vocabulary as the text that other tools read.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::special_names;
use super::tables::table;

/// A token's id, 0 to 201088. Those below 199998 are ordinary tokens, in the order in which training merged
/// them; the others are special.
pub type TokenId = u32;

/// A token as build/vocabulary.rs packs it: so one cache line has all of most tokens.
pub(super) type Slot = [u8; 16];

table!(
    /// A slot for each token.
    SLOTS, 16, "token_slots.bin"
);
table!(
    /// The bytes of the tokens that are too long for a slot, one after the other.
    LONG, 1, "long_tokens.bin"
);

/// Most bytes of a token that a slot holds.
const LONGEST: usize = 15;

/// The slot of a token; `None` for an id that does not exist.
#[inline]
pub(super) fn slot(token: TokenId) -> Option<&'static Slot> {
    SLOTS.get(token as usize)
}

/// The length of the token whose bytes the slot begins with; `None` if they are elsewhere.
#[inline]
pub(super) fn len_in(slot: &Slot) -> Option<usize> {
    let len = usize::from(slot[LONGEST]);
    (len <= LONGEST).then_some(len)
}

/// The bytes of a token that is too long for its slot.
pub(super) fn long_bytes_of(slot: &Slot) -> &'static [u8] {
    let [start, len, ..] = slot.as_chunks().0 else { return &[] };
    let [start, len] = [start, len].map(|number| u32::from_le_bytes(*number) as usize);
    LONG.as_flattened().get(start..start + len).unwrap_or_default()
}

/// The bytes of a token, special ones included; `None` for an id that does not exist.
#[inline]
pub(super) fn token_bytes(token: TokenId) -> Option<&'static [u8]> {
    let slot = slot(token)?;
    Some(match len_in(slot) {
        Some(len) => &slot[..len],
        None => long_bytes_of(slot),
    })
}

/// Writes the ordinary tokens as `o200k_base.tiktoken` has them: a line for each, its bytes in
/// base64, a space and its id.
pub(super) fn write(mut to: impl io::Write) -> io::Result<()> {
    for token in 0..special_names::FIRST {
        let bytes = token_bytes(token).unwrap_or_default();
        writeln!(to, "{} {token}", STANDARD.encode(bytes))?;
    }
    Ok(())
}
