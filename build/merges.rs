//! The tables of `src/tokenizer/pairs.rs` and `borders.rs`: which two tokens are merged into which.

use std::collections::HashMap;
use std::error::Error;

use crate::{Table, border_bits, perfect_hash, pilots};

/// What the tables have for no token and no rank; `src/tokenizer/pairs.rs` says the same.
const NO_HALF: u32 = (1 << 18) - 1;
const NEVER: u32 = ((1 << 13) - 1) * 32;

/// `sides.bin`: u64 per ordinary token: what it is before a border and, in the upper half, behind
/// one: see `Side::pack`.
/// `pair_slots.bin`: u32 per slot: a rank and, from bit 18 on, the fingerprint of its halves'
/// hash; a free slot holds 0.
/// `pair_pilots.bin`: u16 per bucket.
/// `border_bits.bin`: the bits of the borders between the halves of all merges.
pub(crate) fn tables(tokens: &[Vec<u8>]) -> Result<Vec<Table>, Box<dyn Error>> {
    let merges = merges(tokens)?;
    let (mut before, mut behind) =
        (vec![Side::ALONE; tokens.len()], vec![Side::ALONE; tokens.len()]);
    for &Merge { rank, left, right } in &merges {
        before[left as usize].note_merge(rank);
        behind[right as usize].note_merge(rank);
    }
    // By rank, so what a token is made of comes before it.
    for &Merge { rank, left, right } in &merges {
        // A merge over the border comes in time if its rank is below that of the merge on the
        // left side, and not above that of the merge on the right side: see `stay_apart`.
        let right_half = before[right as usize];
        before[rank as usize].half = right;
        before[rank as usize].goes_on = right_half.soonest_merge < rank || right_half.goes_on;
        let left_half = behind[left as usize];
        behind[rank as usize].half = left;
        behind[rank as usize].goes_on = left_half.soonest_merge <= rank || left_half.goes_on;
    }

    let hash = |merge: &Merge| perfect_hash::hash(merge.left.into(), merge.right.into());
    let hashes: Vec<u64> = merges.iter().map(hash).collect();
    let placement = pilots::place(&hashes)?;
    let slot = |key: usize| merges[key].rank | perfect_hash::fingerprint(hashes[key]) << 18;
    let slots: Vec<u32> = placement.slots.iter().map(|key| key.map_or(0, slot)).collect();
    let sides = before.into_iter().zip(behind);
    let pack = |(before, behind): (Side, Side)| before.pack() | behind.pack() << 32;
    Ok(vec![
        Table::of_u64("sides.bin", &sides.map(pack).collect::<Vec<_>>()),
        Table::of_u32("pair_slots.bin", &slots),
        Table::of_u16("pair_pilots.bin", &placement.pilots),
        Table { name: "border_bits.bin", bytes: border_bits(tokens, &merges) },
    ])
}

/// The bits of the borders between the halves of all merges that are looked for.
fn border_bits(tokens: &[Vec<u8>], merges: &[Merge]) -> Vec<u8> {
    let mut bits = vec![0; border_bits::COUNT / 8];
    for merge in merges {
        let (left, right) = (&tokens[merge.left as usize], &tokens[merge.right as usize]);
        if right[0] < border_bits::LONG_CHAR {
            continue;
        }
        let before = left.iter().rev().zip((0..border_bits::SIDE).rev());
        let behind = right.iter().zip(border_bits::SIDE..2 * border_bits::SIDE);
        let byte_at = |(&byte, place): (&u8, usize)| u64::from(byte) << (8 * place);
        let window = before.chain(behind).map(byte_at).sum();
        let shorter = left.len().min(right.len());
        let bit = border_bits::of(window)[shorter.min(border_bits::SIDE) - 1];
        bits[bit / 8] |= 1 << (bit % 8);
    }
    bits
}

/// What `stay_apart` has to know of a token at one side of a border.
#[derive(Clone, Copy)]
struct Side {
    /// The one of its halves that touches the border.
    half: u32,
    /// The lowest rank that it is merged into over the border.
    soonest_merge: u32,
    /// Whether any part of it that touches the border, other than itself, can be merged over the
    /// border before it is merged into a larger part of the token.
    goes_on: bool,
}

impl Side {
    /// A single byte that is never merged.
    const ALONE: Self = Self { half: NO_HALF, soonest_merge: NEVER, goes_on: false };

    fn note_merge(&mut self, rank: u32) {
        self.soonest_merge = self.soonest_merge.min(rank);
    }

    /// Bits 0 to 17 the half, 18 to 30 a 32nd of the rank, rounded down, bit 31 whether it goes on.
    fn pack(self) -> u64 {
        (self.half | (self.soonest_merge / 32) << 18 | u32::from(self.goes_on) << 31).into()
    }
}

/// Two tokens that are merged into a third.
struct Merge {
    rank: u32,
    left: u32,
    right: u32,
}

/// The merge that leads to each token longer than a byte.
fn merges(tokens: &[Vec<u8>]) -> Result<Vec<Merge>, String> {
    let ranks: HashMap<&[u8], u32> =
        tokens.iter().zip(0..).map(|(token, rank)| (token.as_slice(), rank)).collect();
    let longer = tokens.iter().zip(0..).filter(|(token, _)| token.len() > 1);
    longer
        .map(|(token, rank)| {
            let (left, right) = last_merge(token, &ranks)
                .ok_or_else(|| format!("merging the bytes of token {rank} does not lead to it"))?;
            if left.max(right) >= rank {
                return Err(format!("token {rank} ranks before one of its halves"));
            }
            Ok(Merge { rank, left, right })
        })
        .collect()
}

/// The two parts left when a token's bytes are merged until two are left: always the neighbours
/// whose union has the lowest rank, of equals the leftmost.
fn last_merge(token: &[u8], ranks: &HashMap<&[u8], u32>) -> Option<(u32, u32)> {
    // Borders between the parts, with both ends.
    let mut borders: Vec<usize> = (0..=token.len()).collect();
    while borders.len() > 3 {
        let (_, first) = borders
            .windows(3)
            .enumerate()
            .filter_map(|(at, part)| Some((*ranks.get(&token[part[0]..part[2]])?, at)))
            .min()?;
        borders.remove(first + 1);
    }
    let middle = borders[1];
    Some((*ranks.get(&token[..middle])?, *ranks.get(&token[middle..])?))
}
