//! How the numbers in the tables of `trie` and `pairs` are packed. Shared with build.rs, which packs them, so it
//! depends on nothing.

/// Bits of a token's id.
const TOKEN_BITS: u32 = 18;
/// The id that means no token.
pub(crate) const NO_TOKEN: u32 = (1 << TOKEN_BITS) - 1;

/// A node of the trie, a u64. From bit 0 on: the byte that leads to it, and a bit that only a `HOLE` has; the token
/// that ends there; `LEAF`. From bit 32 on: its base; or, in a leaf, how many bytes remain of the only token
/// below it, in 8 bits, and the first three of these bytes.
pub(crate) mod node {
    /// Not a node.
    pub(crate) const HOLE: u64 = 1 << 8;
    pub(crate) const TOKEN_SHIFT: u32 = 9;
    pub(crate) const LEAF: u64 = 1 << 27;
    pub(crate) const BASE_SHIFT: u32 = 32;
}

/// A token on one side of a boundary, a u32. From bit 0 on: the operand of its merge that touches the boundary;
/// the lowest token that it is merged into across the boundary, in steps of `STEP`, rounded down;
/// `PARTS_MAY_MERGE`.
pub(crate) mod side {
    use super::TOKEN_BITS;

    pub(crate) const STEP: u32 = 32;
    /// In place of the lowest token, where there is no merge across: above any id.
    pub(crate) const NEVER: u32 = ((1 << 13) - 1) * STEP;
    pub(crate) const LOWEST_SHIFT: u32 = TOKEN_BITS;
    /// Whether a part of it that touches the boundary, other than itself, can be merged across the boundary
    /// before it is merged into a larger part of the token.
    pub(crate) const PARTS_MAY_MERGE: u32 = 1 << 31;
}
