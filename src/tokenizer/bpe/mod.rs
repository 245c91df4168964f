//! Byte-pair encoding: from the bytes of one piece to its tokens.
//!
//! **The definition.** Begin with a token per byte. Of all adjacent pairs whose concatenation is a token, merge
//! the one whose concatenation has the lowest id; of equal ones the leftmost. Repeat until there is none. (An id
//! is a rank here: the tokens were numbered in the order in which training merged them.)
//!
//! `merge` does just that, in nearly linear time, but slowly: a sorted map of candidates, and two look-ups for
//! each merge. `backtrack` gives the same result without merging: it takes the longest token at each offset and
//! goes back where two tokens are not a valid pair. On nearly all text the first try is right.
//! It argues there why the two are equal, and a test compares them.
//!
//! | file | answers | table that build.rs makes |
//! |---|---|---|
//! | `trie` | which is the longest token that a text begins with? | the tokens by their bytes |
//! | `pairs` | which token are two tokens merged into? are they a valid pair? | the operands of each token's merge |
//! | `backtrack` | the encoding of a piece | |
//! | `merge` | the same, where backtracking would take too long | |
//! | `boundaries` | which offsets of a long piece does no merge reach across? | what is around where operands meet |
//!
//! Long pieces, such as sentences of Chinese, are cut at those offsets into segments first; most segments are
//! a token each.

mod backtrack;
mod boundaries;
pub(super) mod boundary_bits;
mod layout;
mod merge;
mod pairs;
mod trie;

pub(super) use self::backtrack::encode;
pub(super) use self::boundaries::for_each_segment;
pub(super) use self::pairs::is_valid_pair;
pub(super) use self::trie::byte_token;
