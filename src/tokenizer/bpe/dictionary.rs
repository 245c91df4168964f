//! Which token has these bytes?

use super::key::Key;
use super::layout::{NO_TOKEN, TOKEN_BITS, dictionary};
use crate::tokenizer::tables::table;
use crate::tokenizer::vocabulary::{self, TokenId};

table!(
    /// The token of each byte.
    BYTES, 1, "byte_tokens.bin"
);
table!(
    /// The pilots of the slots.
    PILOTS, 1, "dictionary_pilots.bin"
);
table!(
    /// A slot for each token, see `layout::dictionary`.
    SLOTS, 4, "dictionary.bin"
);

/// Most bytes of a token.
const LONGEST: usize = 128;

/// The token of a single byte.
#[inline]
pub(in crate::tokenizer) fn byte_token(byte: u8) -> TokenId {
    BYTES[usize::from(byte)][0].into()
}

/// The token with the bytes `text[start..end]`, `NO_TOKEN` if there is none.
#[inline]
pub(super) fn token(text: &[u8], start: usize, end: usize) -> TokenId {
    let key = Key::of(text, start, end);
    if key == Key::NONE {
        return long_token(&text[start..end]);
    }
    let token = candidate(key);
    if is_token(token, key) { token } else { NO_TOKEN }
}

/// The same for more bytes than a key has.
#[inline(never)]
fn long_token(bytes: &[u8]) -> TokenId {
    if bytes.len() > LONGEST {
        return NO_TOKEN;
    }
    let token = candidate_of(dictionary::hash(bytes));
    if vocabulary::token_bytes(token) == Some(bytes) { token } else { NO_TOKEN }
}

/// The only token that may have the bytes of a key, or `NO_TOKEN`. If none has, one key in 16,384 gets a token
/// nevertheless, so `is_token` has to compare them; it reads another table.
#[inline]
pub(super) fn candidate(key: Key) -> TokenId {
    candidate_of(key.hash())
}

#[inline]
fn candidate_of(hash: u64) -> TokenId {
    let [pilot] = PILOTS[dictionary::LAYOUT.pilot(hash)];
    let slot = u32::from_le_bytes(SLOTS[dictionary::LAYOUT.slot(hash, pilot)]);
    let is_tagged = slot >> TOKEN_BITS == dictionary::tag(hash);
    std::hint::select_unpredictable(is_tagged, slot & NO_TOKEN, NO_TOKEN)
}

/// Whether the token has the bytes of the key.
#[inline]
pub(super) fn is_token(token: TokenId, key: Key) -> bool {
    vocabulary::slot(token).is_some_and(|slot| u128::from_le_bytes(*slot) == key.0)
}
