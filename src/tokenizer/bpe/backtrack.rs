//! Byte-pair encoding of one piece without merging.
//!
//! Three facts make this possible. build.rs checks what they rest on: that merging the bytes of any single token
//! leads to that token.
//!
//! 1. *A token is always merged from the same two operands.* As long as no merge has reached across the ends of a
//!    segment of the text, the merges inside it are those that it would have by itself: the merge with the
//!    lowest id of all, if it lies inside, is the lowest inside. So a token is made in the middle of a
//!    text as it is made by itself, and its last merge has the same two operands.
//! 2. *A sequence of tokens is the encoding of its text if each two adjacent ones are a valid pair*, that is, if
//!    the encoding of their joined text is these two tokens. Suppose merging reached across some boundary
//!    between two of the tokens, and look at the first time it does. Until then the merges inside those
//!    two tokens were those that the two have by themselves, so it reaches across the boundary there as well,
//!    and they are not a valid pair. And the reverse: if the sequence is the encoding, the two tokens were
//!    made without a merge across their boundary, and at the end none is possible, so they are a valid pair.
//! 3. *Every beginning of the encoding is the encoding of that beginning of the text*, by 2. So a
//!    beginning of the text is reached by one sequence of valid pairs at most.
//!
//! So backtracking finds the encoding: at each offset take the longest token that makes a valid pair with the
//! token before it; where there is none, go back and take a shorter one. By fact 3 it never comes to the
//! same offset twice. On usual text the first try is right three times in four. Where it is wrong too
//! often, as in a long line of dashes, of which there are 28 tokens, up to 112 dashes long, it gives up and
//! `merge` follows the definition: 1.3 million dashes take 0.35 s so, and took 15 s.

use super::{merge, trie};
use crate::tokenizer::vocabulary::{self, TokenId};

/// Appends the encoding of a piece. `is_valid_pair` is `pairs::is_valid_pair` or a cache of it.
pub(in crate::tokenizer) fn encode(
    piece: &[u8],
    is_valid_pair: impl FnMut(TokenId, TokenId) -> bool,
    out: &mut Vec<TokenId>,
) {
    let first = out.len();
    if backtrack(piece, is_valid_pair, out).is_none() {
        out.truncate(first);
        merge::encode(piece, out);
    }
}

/// Appends the encoding; `None` if too many tries were wrong, and then `out` ends in a part of the result.
fn backtrack(
    piece: &[u8],
    mut is_valid_pair: impl FnMut(TokenId, TokenId) -> bool,
    out: &mut Vec<TokenId>,
) -> Option<()> {
    let first = out.len();
    let mut wrong_tries_left = 32 + piece.len() / 4;
    // `out[first..]` is the encoding of `piece[..at]`; the next token must end by `limit`.
    let (mut at, mut limit) = (0, piece.len());
    while at < piece.len() {
        if let Some((token, len)) = trie::longest_token(&piece[at..limit]) {
            if out[first..].last().is_none_or(|&before| is_valid_pair(before, token)) {
                out.push(token);
                at += len;
                limit = piece.len();
            } else {
                wrong_tries_left = wrong_tries_left.checked_sub(1)?;
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

#[cfg(test)]
mod tests {
    use super::backtrack;
    use crate::tokenizer::bpe::{merge, pairs};
    use crate::tokenizer::vocabulary::token_bytes;

    /// Only pieces with many wrong tries, such as long runs of one character, may need merging, which is slower.
    #[test]
    fn short_pieces_need_no_merging() {
        for left in (0..199_998).step_by(23) {
            for right in [left, left + 1, left * 7919 % 199_998] {
                let (Some(first), Some(second)) = (token_bytes(left), token_bytes(right)) else {
                    continue;
                };
                let piece = [first, second].concat();
                if piece.len() > 32 {
                    continue;
                }
                let (mut tokens, mut merged) = (Vec::new(), Vec::new());
                assert!(
                    backtrack(&piece, pairs::is_valid_pair, &mut tokens).is_some(),
                    "{piece:?}"
                );
                merge::encode(&piece, &mut merged);
                assert_eq!(tokens, merged, "{piece:?}");
            }
        }
    }
}
