//! The table of `src/tokenizer/bpe/pairs.rs`: which two tokens are merged into which.

use std::collections::HashMap;

use crate::Table;
use crate::layout::{NO_TOKEN, side};

/// `pair_sides.bin`: u64 per ordinary token: what it is on the left of a boundary (see `Side`) and, from bit 32 on,
/// on the right of one.
pub(crate) fn table(merges: &[Merge], tokens: usize) -> Table {
    let (lefts, rights) = sides(merges, tokens);
    let pack = |(left, right): (Side, Side)| left.pack() | right.pack() << 32;
    let sides: Vec<u64> = lefts.into_iter().zip(rights).map(pack).collect();
    Table::of_u64("pair_sides.bin", &sides)
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
        let operand = lefts[right as usize];
        let side = &mut lefts[token as usize];
        side.operand = right;
        side.parts_may_merge = operand.lowest_merge < token || operand.parts_may_merge;
        let operand = rights[left as usize];
        let side = &mut rights[token as usize];
        side.operand = left;
        side.parts_may_merge = operand.lowest_merge <= token || operand.parts_may_merge;
    }
    (lefts, rights)
}

/// What `is_valid_pair` has to know of a token on one side of a boundary: `layout::side` before it is packed.
#[derive(Clone, Copy)]
struct Side {
    operand: u32,
    lowest_merge: u32,
    parts_may_merge: bool,
}

impl Side {
    /// A single byte that is never merged.
    const ALONE: Self =
        Self { operand: NO_TOKEN, lowest_merge: side::NEVER, parts_may_merge: false };

    fn note_merge(&mut self, token: u32) {
        self.lowest_merge = self.lowest_merge.min(token);
    }

    fn pack(self) -> u64 {
        let lowest = (self.lowest_merge / side::STEP) << side::LOWEST_SHIFT;
        let parts_may_merge = if self.parts_may_merge { side::PARTS_MAY_MERGE } else { 0 };
        (self.operand | lowest | parts_may_merge).into()
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
                return Err(format!("the id of token {token} is below that of an operand"));
            }
            Ok(Merge { token, left, right })
        })
        .collect()
}

/// The two parts that remain when a token's bytes are merged until there are two: always the adjacent pair
/// whose concatenation has the lowest id, of equals the leftmost.
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
    let (left, right) = token.split_at(ends[1]);
    Some((*ids.get(left)?, *ids.get(right)?))
}
