//! Byte-pair encoding: from the bytes of one piece to its tokens.
//!
//! **The definition.** Begin with a token per byte. Of all neighbours whose union is a token, merge the pair
//! with the lowest id; of equal ones the leftmost. Repeat until no two neighbours can be merged. (An id is
//! a rank here: the tokens were numbered in the order in which training merged them.)
//!
//! `merge` does just that, in nearly linear time, but slowly: a heap of candidates, and two look-ups for each
//! merge. `backtrack` gives the same result without merging: it takes the longest token at each place and
//! goes back where two tokens could not stand side by side. On nearly all text the first try is right.
//! It argues there why the two are equal, and a test compares them.
//!
//! | file | answers | table that build.rs makes |
//! |---|---|---|
//! | `trie` | which is the longest token that a text begins with? | the tokens by their bytes |
//! | `pairs` | which token are two tokens merged into? can two tokens be neighbours? | the two halves of each token |
//! | `backtrack` | the encoding of a piece | |
//! | `merge` | the same, where backtracking would take too long | |
//! | `boundaries` | at which places of a long piece does no merge ever reach across? | what is around the middles of all merges |
//!
//! Long pieces, such as sentences of Chinese, are cut at those places into segments first; most segments are
//! a token each.

mod backtrack;
mod boundaries;
pub(super) mod boundary_bits;
mod merge;
mod pairs;
mod trie;

pub(super) use self::backtrack::encode;
pub(super) use self::boundaries::for_each_segment;
pub(super) use self::pairs::is_valid_pair;
