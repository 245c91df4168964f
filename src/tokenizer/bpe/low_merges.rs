//! Into which token with a low id are two tokens merged? Few tokens are met more often than all others: this table has
//! 128 KiB and stays in the second cache of the processor.

use super::layout::{NO_TOKEN, TOKEN_BITS, low_merges};
use crate::tokenizer::bits::low_32;
use crate::tokenizer::tables::table;
use crate::tokenizer::vocabulary::TokenId;

table!(
    /// The pilots of the slots.
    PILOTS, 1, "low_merge_pilots.bin"
);
table!(
    /// A slot for each merge, see `layout::low_merges`.
    SLOTS, 8, "low_merges.bin"
);

/// The token that two tokens are merged into, if it is below 12,700; else `NO_TOKEN`.
#[inline]
pub(super) fn merged(left: TokenId, right: TokenId) -> TokenId {
    let key = low_merges::key(left, right);
    let hash = low_merges::hash(key);
    let [pilot] = PILOTS[low_merges::LAYOUT.pilot(hash)];
    let slot = u64::from_le_bytes(SLOTS[low_merges::LAYOUT.slot(hash, pilot)]);
    let token = low_32(slot) & NO_TOKEN;
    std::hint::select_unpredictable(slot >> TOKEN_BITS == key, token, NO_TOKEN)
}
