//! The table of `src/tokenizer/bpe/boundaries.rs`: what is around where the operands of merges meet.

use crate::bpe::Merge;
use crate::{Table, boundary_bits};

/// `boundary_bits.bin`: the bits, as `boundary_bits` numbers them, of all merges that are looked for.
pub(crate) fn table(merges: &[Merge], tokens: &[Vec<u8>]) -> Table {
    let mut bits = vec![0; boundary_bits::COUNT / 8];
    for merge in merges {
        let (left, right) = (&tokens[merge.left as usize], &tokens[merge.right as usize]);
        if right[0] < boundary_bits::LONG_CHAR {
            continue;
        }
        let before = left.iter().rev().zip((0..boundary_bits::SIDE).rev());
        let after = right.iter().zip(boundary_bits::SIDE..2 * boundary_bits::SIDE);
        let byte_at = |(&byte, index): (&u8, usize)| u64::from(byte) << (8 * index);
        let around = before.chain(after).map(byte_at).sum();
        let shorter = left.len().min(right.len());
        let bit = boundary_bits::of(around)[shorter.min(boundary_bits::SIDE) - 1];
        bits[bit / 8] |= 1 << (bit % 8);
    }
    Table { name: "boundary_bits.bin", bytes: bits }
}
