//! Tokens as the caches hold them: each plus one, and 0 for none, so zeroed memory holds nothing.

use crate::tokenizer::vocabulary::TokenId;

/// Up to `N` tokens.
pub(super) type Packed<const N: usize> = [u32; N];

/// The tokens, packed; `None` if they are more than `N`.
#[inline]
pub(super) fn pack<const N: usize>(tokens: &[TokenId]) -> Option<Packed<N>> {
    let mut packed = [0; N];
    for (slot, token) in packed.get_mut(..tokens.len())?.iter_mut().zip(tokens) {
        *slot = token + 1;
    }
    Some(packed)
}

/// Appends the packed tokens.
///
/// Their number cannot be predicted, so no branch depends on it: all `N` are appended, and the
/// surplus is taken back.
#[inline]
pub(super) fn append<const N: usize>(packed: &Packed<N>, out: &mut Vec<TokenId>) {
    let count = packed.iter().filter(|&&slot| slot != 0).count();
    let end = out.len() + count;
    out.extend_from_slice(&packed.map(|slot| slot.wrapping_sub(1)));
    out.truncate(end);
}
