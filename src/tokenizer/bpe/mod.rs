//! Byte-pair encoding: from the bytes of pieces to their tokens.
//!
//! **The definition.** Begin with a token per byte. Of all adjacent pairs whose concatenation is a token, merge
//! the one whose concatenation has the lowest id; of equal ones the leftmost. Repeat until there is none. (An id
//! is a rank here: the tokens were numbered in the order in which training merged them.)
//!
//! `together` does that for many short pieces, `merge` for a long one. Both look up merges into tokens with low ids in
//! `low_merges`, by the ids of the operands, before all others in `dictionary`, by their bytes. This rests on two facts,
//! for which build.rs checks that merging the bytes of any single token leads to that token, with operands of lower ids:
//!
//! 1. *A token is always merged from the same two operands.* As long as no merge has reached across the ends of a
//!    segment of the text, the merges inside it are those that it would have by itself: the merge with the
//!    lowest id of all, if it lies inside, is the lowest inside. So a token is made in the middle of a
//!    text as it is made by itself, and its last merge has the same two operands. Other pairs may spell a token too, but
//!    merging never meets them: so pairs can be looked up by ids or by bytes.
//! 2. *A merge never makes a merge into a lower token possible*: the operands of that one would have a higher id than it.
//!    So when no merge into a low token is left, none will be.
//!
//! | file | answers | table that build.rs makes |
//! |---|---|---|
//! | `together` | the encodings of up to 32 pieces of up to 15 bytes | |
//! | `merge` | the encoding of one piece | |
//! | `low_merges` | into which token with a low id are two tokens merged? | these merges by their operands |
//! | `dictionary` | which token has these bytes? | the tokens by their bytes |
//! | `key` | short texts as numbers | |
//! | `layout` | how both tables are hashed and packed | |
//! | `boundaries` | which offsets of a long piece does no merge reach across? | what is around where operands meet |
//!
//! Long pieces, such as sentences of Chinese, are cut at those offsets into segments first; most segments are
//! a token each.

mod boundaries;
pub(super) mod boundary_bits;
mod dictionary;
mod key;
mod layout;
mod low_merges;
mod merge;
mod together;

pub(super) use self::boundaries::for_each_segment;
pub(super) use self::dictionary::byte_token;
pub(super) use self::key::Key;
pub(super) use self::layout::dictionary::hash_of_next;
pub(super) use self::merge::encode;
pub(super) use self::together::Together;
