//! How tokens and merges are found in their tables. Shared with build/bpe.rs, which makes them, so it depends on nothing.
#![expect(
    clippy::cast_possible_truncation,
    reason = "bits that do not matter are dropped on purpose"
)]

/// Bits of a token's id.
pub(crate) const TOKEN_BITS: u32 = 18;
/// The id that means no token.
pub(crate) const NO_TOKEN: u32 = (1 << TOKEN_BITS) - 1;

/// A hash table in which each key has a slot to itself. The upper bits of a hash choose a *pilot*, a byte that the build
/// picks for all keys that have it, so that none of their slots is taken; the bits below and the pilot choose the slot.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    /// Bits that choose a pilot, and a slot.
    pub(crate) pilot_bits: u32,
    pub(crate) slot_bits: u32,
}

impl Layout {
    #[inline]
    pub(crate) const fn pilot(self, hash: u64) -> usize {
        (hash >> (u64::BITS - self.pilot_bits)) as usize
    }

    #[inline]
    pub(crate) const fn slot(self, hash: u64, pilot: u8) -> usize {
        let displaced = hash << self.pilot_bits ^ (pilot as u64).wrapping_mul(PILOT_FACTOR);
        (displaced >> (u64::BITS - self.slot_bits)) as usize
    }
}

/// Spreads pilots over all slots.
const PILOT_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The merges into tokens with low ids. A slot is a u64: the token, and above it both operands, which are the key.
pub(crate) mod low_merges {
    use super::{Layout, TOKEN_BITS};

    pub(crate) const LAYOUT: Layout = Layout { pilot_bits: 12, slot_bits: 14 };

    #[inline]
    pub(crate) fn key(left: u32, right: u32) -> u64 {
        u64::from(left) << TOKEN_BITS | u64::from(right)
    }

    /// No two keys with the same pilot agree in the bits that choose a slot.
    #[inline]
    pub(crate) fn hash(key: u64) -> u64 {
        key.wrapping_mul(0x9ced_c8ca_5ce3_d0d7)
    }
}

/// The tokens by their bytes. A slot is a u32: the token, and above it a tag, which tells nearly all other texts apart.
pub(crate) mod dictionary {
    use super::Layout;

    pub(crate) const LAYOUT: Layout = Layout { pilot_bits: 16, slot_bits: 18 };
    /// Most bytes of a text that is a number.
    pub(crate) const SHORT: usize = 15;

    /// A text of 1 to 15 bytes as a number: its bytes, zeros, and in the last byte its length.
    pub(crate) fn key(text: &[u8]) -> u128 {
        let bytes = text.iter().rev().fold(0, |key, &byte| key << 8 | u128::from(byte));
        bytes | (text.len() as u128) << (8 * SHORT)
    }

    /// The hash of a text, fifteen bytes at a time. Its upper bits are good.
    pub(crate) fn hash(text: &[u8]) -> u64 {
        text.chunks(SHORT).fold(0, |hash, part| hash_of_next(hash, key(part)))
    }

    /// The hash of a text, from that of what comes before its last fifteen bytes or fewer, and the key of these. No two
    /// tokens with the same pilot agree in the bits that choose a slot.
    #[inline]
    pub(crate) fn hash_of_next(hash: u64, key: u128) -> u64 {
        const A: u64 = 0x5c2f_5a16_99c2_c655;
        const B: u64 = 0xa40a_47aa_6e4c_d5d9;
        let folded = (key as u64).wrapping_mul(A) ^ (key >> 64) as u64;
        (hash.rotate_left(32) ^ folded).wrapping_mul(B)
    }

    /// The bits below those that choose the slot.
    #[inline]
    pub(crate) fn tag(hash: u64) -> u32 {
        (hash >> (u64::BITS - LAYOUT.pilot_bits - LAYOUT.slot_bits - 14)) as u32 & 0x3fff
    }
}
