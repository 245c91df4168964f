//! The tables of `src/tokenizer/bpe/pairs.rs`: which two tokens are merged into which.

use std::collections::HashMap;

use crate::{Table, hash, perfect_hash};

/// What the tables have for no token and no merge; `src/tokenizer/bpe/pairs.rs` says the same.
const NO_HALF: u32 = (1 << 18) - 1;
const NEVER: u32 = ((1 << 13) - 1) * 32;

/// `pair_sides.bin`: u64 per ordinary token: what it is on the left of a boundary and, in the upper half, on
/// the right of one: see `Side::pack`.
/// `pair_slots.bin`: u32 per slot: a token and, from bit 18 on, the fingerprint of its halves' hash; a free
/// slot holds 0.
/// `pair_pilots.bin`: u16 per bucket.
pub(crate) fn tables(merges: &[Merge], tokens: usize) -> Result<Vec<Table>, String> {
    let (lefts, rights) = sides(merges, tokens);
    let pack = |(left, right): (Side, Side)| left.pack() | right.pack() << 32;
    let sides: Vec<u64> = lefts.into_iter().zip(rights).map(pack).collect();

    let hash = |merge: &Merge| hash::mix(merge.left.into(), merge.right.into());
    let hashes: Vec<u64> = merges.iter().map(hash).collect();
    let placement = perfect_hash::place(&hashes)?;
    let slot = |key: usize| merges[key].token | hash::fingerprint(hashes[key]) << 18;
    let slots: Vec<u32> = placement.slots.iter().map(|key| key.map_or(0, slot)).collect();
    Ok(vec![
        Table::of_u64("pair_sides.bin", &sides),
        Table::of_u32("pair_slots.bin", &slots),
        Table::of_u16("pair_pilots.bin", &placement.pilots),
    ])
}

/// What each token is on the left of a boundary, and on the right of one.
fn sides(merges: &[Merge], tokens: usize) -> (Vec<Side>, Vec<Side>) {
    let (mut lefts, mut rights) = (vec![Side::ALONE; tokens], vec![Side::ALONE; tokens]);
    for &Merge { token, left, right } in merges {
        lefts[left as usize].note_merge(token);
        rights[right as usize].note_merge(token);
    }
    // By id, so what a token is made of comes before it.
    for &Merge { token, left, right } in merges {
        // A merge across the boundary comes in time if its id is below that of the merge on the
        // left side, and not above that of the merge on the right side: see `is_valid_pair`.
        let right_half = lefts[right as usize];
        let side = &mut lefts[token as usize];
        side.half = right;
        side.has_open_parts = right_half.lowest_merge < token || right_half.has_open_parts;
        let left_half = rights[left as usize];
        let side = &mut rights[token as usize];
        side.half = left;
        side.has_open_parts = left_half.lowest_merge <= token || left_half.has_open_parts;
    }
    (lefts, rights)
}

/// What `is_valid_pair` has to know of a token beside a boundary.
#[derive(Clone, Copy)]
struct Side {
    /// The one of its halves that touches the boundary.
    half: u32,
    /// The lowest token that it is merged into across the boundary.
    lowest_merge: u32,
    /// Whether any part of it that touches the boundary, other than itself, can be merged across the
    /// boundary before it is merged into a larger part of the token.
    has_open_parts: bool,
}

impl Side {
    /// A single byte that is never merged.
    const ALONE: Self = Self { half: NO_HALF, lowest_merge: NEVER, has_open_parts: false };

    fn note_merge(&mut self, token: u32) {
        self.lowest_merge = self.lowest_merge.min(token);
    }

    /// Bits 0 to 17 the half, 18 to 30 a 32nd of the merge, rounded down, bit 31 whether it has open parts.
    fn pack(self) -> u64 {
        (self.half | (self.lowest_merge / 32) << 18 | u32::from(self.has_open_parts) << 31).into()
    }
}

/// Two tokens that are merged into a third.
pub(crate) struct Merge {
    pub(crate) token: u32,
    pub(crate) left: u32,
    pub(crate) right: u32,
}

/// The merge that leads to each token longer than a byte.
pub(crate) fn merges(tokens: &[Vec<u8>]) -> Result<Vec<Merge>, String> {
    let ids: HashMap<&[u8], u32> =
        tokens.iter().zip(0..).map(|(bytes, token)| (bytes.as_slice(), token)).collect();
    let longer = tokens.iter().zip(0..).filter(|(bytes, _)| bytes.len() > 1);
    longer
        .map(|(bytes, token)| {
            let (left, right) = last_merge(bytes, &ids)
                .ok_or_else(|| format!("merging the bytes of token {token} does not lead to it"))?;
            if left.max(right) >= token {
                return Err(format!("the id of token {token} is below that of one of its halves"));
            }
            Ok(Merge { token, left, right })
        })
        .collect()
}

/// The two parts left when a token's bytes are merged until two are left: always the neighbours
/// whose union has the lowest id, of equals the leftmost.
fn last_merge(token: &[u8], ids: &HashMap<&[u8], u32>) -> Option<(u32, u32)> {
    // Where the parts begin and end.
    let mut ends: Vec<usize> = (0..=token.len()).collect();
    while ends.len() > 3 {
        let (_, first) = ends
            .windows(3)
            .enumerate()
            .filter_map(|(at, part)| Some((*ids.get(&token[part[0]..part[2]])?, at)))
            .min()?;
        ends.remove(first + 1);
    }
    let middle = ends[1];
    Some((*ids.get(&token[..middle])?, *ids.get(&token[middle..])?))
}
