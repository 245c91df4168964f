//! Byte-pair encoding of one piece by merging, in the order of the ranks.
//!
//! Slower than `search` on usual text, but the time is nearly linear whatever is in the piece: each
//! merge takes one part away and asks for two new pairs. The ranks come up in rising order, since
//! a token ranks above its halves (build.rs checks it): so all merges of one rank are known when
//! its turn comes, and are done from left to right.

use std::collections::BTreeMap;

use super::{Rank, pairs, prefixes};

/// Appends the encoding of a piece.
pub(super) fn encode(piece: &[u8], out: &mut Vec<Rank>) {
    let mut parts = Parts::of_bytes(piece);
    // Where merges are possible, by the rank that they lead to. A place may no longer hold.
    let mut places: BTreeMap<Rank, Vec<usize>> = BTreeMap::new();
    for at in 0..piece.len() {
        parts.find_merge(at, &mut places);
    }
    while let Some((rank, mut places_of_rank)) = places.pop_first() {
        places_of_rank.sort_unstable();
        for at in places_of_rank {
            if parts.merges[at] == Some(rank) {
                parts.merge(at, rank);
                parts.find_merge(at, &mut places);
                parts.find_merge(parts.previous[at], &mut places);
            }
        }
    }
    out.extend(parts.tokens());
}

/// The parts of a piece, each at the index of its first byte.
struct Parts {
    tokens: Vec<Rank>,
    /// What the part and the next one are merged into; `None` also where no part begins.
    merges: Vec<Option<Rank>>,
    /// Where the next part begins.
    next: Vec<usize>,
    /// Where the part before begins; the first part is its own.
    previous: Vec<usize>,
}

impl Parts {
    fn of_bytes(piece: &[u8]) -> Self {
        Self {
            tokens: piece.iter().map(|&byte| prefixes::byte_token(byte)).collect(),
            merges: vec![None; piece.len()],
            next: (1..=piece.len()).collect(),
            previous: (0..piece.len()).map(|at| at.saturating_sub(1)).collect(),
        }
    }

    /// Notes what the part at `at` and the next one can be merged into.
    fn find_merge(&mut self, at: usize, places: &mut BTreeMap<Rank, Vec<usize>>) {
        let pair = self.tokens.get(self.next[at]).map(|&next| (self.tokens[at], next));
        self.merges[at] = pair.and_then(|(token, next)| pairs::merged(token, next));
        if let Some(rank) = self.merges[at] {
            places.entry(rank).or_default().push(at);
        }
    }

    /// Merges the part at `at` with the next one.
    fn merge(&mut self, at: usize, rank: Rank) {
        let gone = self.next[at];
        self.tokens[at] = rank;
        self.merges[gone] = None;
        self.next[at] = self.next[gone];
        if let Some(previous) = self.previous.get_mut(self.next[at]) {
            *previous = at;
        }
    }

    fn tokens(&self) -> impl Iterator<Item = Rank> {
        let beyond = self.tokens.len();
        std::iter::successors(Some(0), move |&at| Some(self.next[at]).filter(|&next| next < beyond))
            .map(move |at| self.tokens[at])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::encode;
    use crate::tokenizer::neighbours::Neighbours;
    use crate::tokenizer::search;

    proptest! {
        /// Merging is the definition, the search the shortcut.
        #[test]
        fn merging_and_searching_agree(piece in prop_oneof![
            "[ab]{1,60}".prop_map(String::into_bytes),
            "[a-z]{1,60}".prop_map(String::into_bytes),
            "[-=]{1,300}".prop_map(String::into_bytes),
            "[一-十é🙂🏽]{1,30}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 1..60),
        ]) {
            let (mut merged, mut found) = (Vec::new(), Vec::new());
            encode(&piece, &mut merged);
            search::encode(&piece, &mut Neighbours::new(), &mut found);
            prop_assert_eq!(merged, found);
        }
    }
}
