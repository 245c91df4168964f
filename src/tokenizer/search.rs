//! Byte-pair encoding of one piece without merging.
//!
//! What is to be computed: begin with single bytes; of all neighbours whose union is a token, merge
//! those with the lowest rank, of equals the leftmost; repeat until nothing can be merged.
//!
//! Three facts make a shortcut. build.rs checks what they rest on: merging the bytes of any token
//! alone leads to that token.
//!
//! 1. *A token is always made of the same two halves.* As long as no merge has gone over the ends
//!    of a stretch of text, the merges inside the stretch are those that it would have alone: the
//!    lowest of all, if it lies inside, is the lowest inside. So a token is made in the midst of
//!    a text as it is made alone, and its last merge is of the same two parts.
//! 2. *A sequence of tokens is the encoding of its text if each two neighbours stay apart when
//!    they are alone.* Suppose merging went over some border between two of the tokens, and
//!    look at the first time it does. Until then the merges inside those two tokens were those
//!    that the two have alone, so it goes over the border there as well, and they do not stay
//!    apart. And the reverse: if the sequence is the encoding, the two tokens were made without a
//!    merge over their border, and at the end none is possible, so they stay apart alone.
//! 3. *Every beginning of the encoding is the encoding of that beginning of the text*, by 2. So a
//!    beginning of the text is reached by one sequence at most whose neighbours all stay apart.
//!
//! So the encoding is found by a search: at each place take the longest token that stays apart
//! from the one before it, where there is none go back and take a shorter one. By fact 3 the search
//! never comes to the same place twice. On usual text the first try is right three times in four.
//! Where it is wrong too often, as in a long line of dashes, of which there are tokens of nearly
//! every length, the search gives up and `merge` does as the definition says.

use super::neighbours::Neighbours;
use super::{Rank, merge, prefixes, vocabulary};

/// Appends the encoding of a piece.
pub(super) fn encode(piece: &[u8], neighbours: &mut Neighbours, out: &mut Vec<Rank>) {
    let first = out.len();
    if search(piece, neighbours, out, first).is_none() {
        out.truncate(first);
        merge::encode(piece, out);
    }
}

/// The search; `None` if it is wrong too often, and then `out` ends in a part of the result.
fn search(
    piece: &[u8],
    neighbours: &mut Neighbours,
    out: &mut Vec<Rank>,
    first: usize,
) -> Option<()> {
    let mut patience = 32 + piece.len() / 4;
    // `out[first..]` is the encoding of `piece[..at]`; the next token must end by `limit`.
    let (mut at, mut limit) = (0, piece.len());
    while at < piece.len() {
        if let Some((token, len)) = prefixes::longest(&piece[at..limit]) {
            if out[first..].last().is_none_or(|&before| neighbours.stay_apart(before, token)) {
                out.push(token);
                at += len;
                limit = piece.len();
            } else {
                patience = patience.checked_sub(1)?;
                limit = at + len - 1;
            }
        } else {
            // Nothing fits here: the token before must be shorter.
            let before = *out[first..].last()?;
            out.pop();
            limit = at - 1;
            at -= vocabulary::token_bytes(before)?.len();
        }
    }
    Some(())
}
