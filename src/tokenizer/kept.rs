//! Tokens as the memories keep them: each plus one and 0 for none, so zeroed memory holds nothing.

use super::Rank;
use super::places::Unit;

/// The tokens to keep; `None` if there are more than fit.
#[inline]
pub(super) fn pack<const UNITS: usize>(tokens: &[Rank]) -> Option<[Unit; UNITS]> {
    let mut kept = [[0; 4]; UNITS];
    let places = kept.as_flattened_mut().get_mut(..tokens.len())?;
    for (place, token) in places.iter_mut().zip(tokens) {
        *place = token + 1;
    }
    Some(kept)
}

/// Appends the tokens kept.
///
/// How many they are cannot be foreseen, so no branch depends on it: all places are appended, and
/// those with nothing in them taken back.
#[inline]
pub(super) fn append<const UNITS: usize>(kept: &[Unit; UNITS], out: &mut Vec<Rank>) {
    let count = kept.as_flattened().iter().filter(|&&kept| kept != 0).count();
    let end = out.len() + count;
    let ranks = kept.map(|unit| unit.map(|kept| kept.wrapping_sub(1)));
    out.extend_from_slice(ranks.as_flattened());
    out.truncate(end);
}
