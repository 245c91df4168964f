//! The hash of all caches.

/// The hash of two numbers; its upper and its lower half are both good.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the two halves are folded")]
pub(super) fn mix(a: u64, b: u64) -> u64 {
    // Digits of pi: any odd-looking constants keep zeros from annihilating the product.
    const A: u64 = 0x243f_6a88_85a3_08d3;
    const B: u64 = 0x1319_8a2e_0370_7344;
    let product = u128::from(a ^ A) * u128::from(b ^ B);
    (product as u64) ^ ((product >> 64) as u64)
}
