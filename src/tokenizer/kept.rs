//! Tokens as the memories keep them: each plus one and 0 for none, so zeroed memory holds nothing.

use super::Rank;

/// The tokens to keep; `None` if there are more than `N`.
#[inline]
pub(super) fn pack<const N: usize>(tokens: &[Rank]) -> Option<[Rank; N]> {
    let mut kept = [0; N];
    for (place, token) in kept.get_mut(..tokens.len())?.iter_mut().zip(tokens) {
        *place = token + 1;
    }
    Some(kept)
}

/// Appends the tokens kept.
#[inline]
pub(super) fn append(kept: &[Rank], out: &mut Vec<Rank>) {
    out.extend(kept.iter().take_while(|&&token| token != 0).map(|token| token - 1));
}
