//! Hashing, and perfect hashing. Shared with build.rs, so it depends on nothing.
//!
//! In a perfect hash table every key, known in advance, has a slot of its own, found without probing.
//! A key's hash names a bucket of a few keys. The bucket's pilot is a number chosen so that all its
//! keys fall into slots that no other key has. A key that is not in the table falls into some
//! slot too: the slot's content decides. `build/perfect_hash.rs` finds the pilots.

/// The hash of two numbers; its upper and its lower half are both good.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the two halves are folded")]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    // Digits of pi: any odd-looking constants keep zeros from annihilating the product.
    const A: u64 = 0x243f_6a88_85a3_08d3;
    const B: u64 = 0x1319_8a2e_0370_7344;
    let product = u128::from(a ^ A) * u128::from(b ^ B);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The bucket of a hash among `buckets`, from its upper half.
#[inline]
pub(crate) fn bucket(hash: u64, buckets: usize) -> usize {
    scale(hash >> 32, buckets)
}

/// The slot of a hash among `slots`, from its lower half and the pilot of its bucket.
#[inline]
pub(crate) fn slot(hash: u64, pilot: u16, slots: usize) -> usize {
    // An odd factor keeps different hashes different; its upper bits move with the pilot.
    let factor = (u32::from(pilot) * 2 + 1).wrapping_mul(0x9e37_79b1);
    scale(u64::from(low_half(hash).wrapping_mul(factor)), slots)
}

/// Six bits of the hash that neither bucket nor slot depends on much.
#[inline]
pub(crate) fn fingerprint(hash: u64) -> u32 {
    low_half(hash >> 32) & 0x3f
}

/// Scales a number below 2^32 to one below `n`.
#[inline]
fn scale(number: u64, n: usize) -> usize {
    // Not even a 32-bit machine loses anything by the cast.
    ((number * n as u64) >> 32) as usize
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the upper half is dropped on purpose")]
fn low_half(number: u64) -> u32 {
    number as u32
}
