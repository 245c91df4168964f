//! Byte-pair encoding of one piece by merging, as it is defined.
//!
//! Slower than `backtrack` on usual text, but the time is nearly linear whatever is in the piece: each merge takes one
//! part away and looks up two new pairs. The ids come up in ascending order, since a token's id is above its operands'
//! (build.rs checks it): so all merges into one token are known when its turn comes, and are done from left to right.

use std::collections::BTreeMap;

use super::{pairs, trie};
use crate::tokenizer::vocabulary::TokenId;

/// Appends the encoding of a piece.
pub(super) fn encode(piece: &[u8], out: &mut Vec<TokenId>) {
    let mut parts = MergeParts::of_bytes(piece);
    // Offsets where merges were possible when they were noted, by the token that they make.
    let mut candidates: BTreeMap<TokenId, Vec<usize>> = BTreeMap::new();
    for at in 0..piece.len() {
        parts.find_merge(at, &mut candidates);
    }
    while let Some((token, mut offsets)) = candidates.pop_first() {
        offsets.sort_unstable();
        for at in offsets {
            if parts.merges[at] == Some(token) {
                parts.merge(at, token);
                parts.find_merge(at, &mut candidates);
                parts.find_merge(parts.previous[at], &mut candidates);
            }
        }
    }
    out.extend(parts.tokens());
}

/// The parts of a piece, each at the index of its first byte.
struct MergeParts {
    tokens: Vec<TokenId>,
    /// What the part and the next one are merged into; `None` also where no part begins.
    merges: Vec<Option<TokenId>>,
    /// Where the next part begins.
    next: Vec<usize>,
    /// Where the part before begins; the first part is its own.
    previous: Vec<usize>,
}

impl MergeParts {
    fn of_bytes(piece: &[u8]) -> Self {
        Self {
            tokens: piece.iter().map(|&byte| trie::byte_token(byte)).collect(),
            merges: vec![None; piece.len()],
            next: (1..=piece.len()).collect(),
            previous: (0..piece.len()).map(|at| at.saturating_sub(1)).collect(),
        }
    }

    /// Notes what the part at `at` and the next one can be merged into.
    fn find_merge(&mut self, at: usize, candidates: &mut BTreeMap<TokenId, Vec<usize>>) {
        let pair = self.tokens.get(self.next[at]).map(|&next| (self.tokens[at], next));
        self.merges[at] = pair.and_then(|(token, next)| pairs::merged(token, next));
        if let Some(token) = self.merges[at] {
            candidates.entry(token).or_default().push(at);
        }
    }

    /// Merges the part at `at` with the next one.
    fn merge(&mut self, at: usize, token: TokenId) {
        let gone = self.next[at];
        self.tokens[at] = token;
        self.merges[gone] = None;
        self.next[at] = self.next[gone];
        if let Some(previous) = self.previous.get_mut(self.next[at]) {
            *previous = at;
        }
    }

    fn tokens(&self) -> impl Iterator<Item = TokenId> {
        let beyond = self.tokens.len();
        std::iter::successors(Some(0), move |&at| Some(self.next[at]).filter(|&next| next < beyond))
            .map(move |at| self.tokens[at])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::encode;
    use crate::tokenizer::bpe::{backtrack, pairs};

    proptest! {
        #[test]
        fn backtracking_gives_what_merging_gives(piece in prop_oneof![
            "[ab]{1,60}".prop_map(String::into_bytes),
            "[a-z]{1,60}".prop_map(String::into_bytes),
            "[-=]{1,300}".prop_map(String::into_bytes),
            "[一-十é🙂🏽]{1,30}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 1..60),
        ]) {
            let (mut merged, mut tokens) = (Vec::new(), Vec::new());
            encode(&piece, &mut merged);
            backtrack::encode(&piece, pairs::is_valid_pair, &mut tokens);
            prop_assert_eq!(merged, tokens);
        }
    }
}
