//! Byte-pair encoding of one piece of any length, as it is defined.
//!
//! The ids come up in ascending order, since a token's id is above its operands' (build.rs checks it): so all merges
//! into one token are known when its turn comes, and are done from left to right, in one *sweep* over the piece. Most
//! long pieces have few bytes or, like a line of dashes, few different tokens. The others are hostile: after
//! `MOST_SWEEPS` a sorted map has the candidates. That is slower on usual text, but nearly linear whatever is in it:
//! each merge takes one part away and looks up two new pairs.

use std::collections::BTreeMap;

use super::layout::NO_TOKEN;
use super::{dictionary, low_merges};
use crate::tokenizer::vocabulary::TokenId;

/// The longest piece, in bytes, that is only swept.
const MOST_SWEEPS: usize = 64;

/// Appends the encoding of the piece or segment `text[start..end]`.
#[inline(never)]
pub(in crate::tokenizer) fn encode(text: &[u8], start: usize, end: usize, out: &mut Vec<TokenId>) {
    let whole = dictionary::token(text, start, end);
    if whole != NO_TOKEN {
        return out.push(whole);
    }
    let mut parts = Parts::of_bytes(&text[start..end]);
    let mut sweeps_left = MOST_SWEEPS;
    // A merge never makes a token with a lower id than its operands', so those into low tokens come first.
    parts.sweep(Parts::low_merge, &mut sweeps_left);
    parts.sweep(Parts::merge_of, &mut sweeps_left);
    if sweeps_left == 0 {
        parts.merge_sorted();
    }
    out.extend(parts.tokens());
}

/// The parts of a piece, each at the index of its first byte.
struct Parts<'p> {
    piece: &'p [u8],
    tokens: Vec<TokenId>,
    /// What the part and the next one are merged into; `NO_TOKEN`, which is above all ids, if into nothing, and where no
    /// part begins.
    merges: Vec<TokenId>,
    /// Where the next part begins.
    next: Vec<usize>,
    /// Where the part before begins; the first part is its own.
    previous: Vec<usize>,
}

impl<'p> Parts<'p> {
    fn of_bytes(piece: &'p [u8]) -> Self {
        Self {
            piece,
            tokens: piece.iter().map(|&byte| dictionary::byte_token(byte)).collect(),
            merges: vec![NO_TOKEN; piece.len()],
            next: (1..=piece.len()).collect(),
            previous: (0..piece.len()).map(|at| at.saturating_sub(1)).collect(),
        }
    }

    /// Merges what `merge_of` finds, the lowest token first, each in a sweep.
    fn sweep(&mut self, merge_of: impl Fn(&Self, usize) -> TokenId, sweeps_left: &mut usize) {
        self.find_merges(&merge_of);
        while let Some(&token) = self.merges.iter().min()
            && token != NO_TOKEN
            && *sweeps_left > 0
        {
            *sweeps_left -= 1;
            for at in 0..self.piece.len() {
                if self.merges[at] == token {
                    self.merge(at, token);
                    self.merges[at] = merge_of(self, at);
                    let previous = self.previous[at];
                    if previous < at {
                        self.merges[previous] = merge_of(self, previous);
                    }
                }
            }
        }
    }

    /// Merges all that can be merged.
    #[cold]
    fn merge_sorted(&mut self) {
        self.find_merges(Self::merge_of);
        // Offsets where merges were possible when they were noted, by the token that they make.
        let mut candidates: BTreeMap<TokenId, Vec<usize>> = BTreeMap::new();
        for at in 0..self.piece.len() {
            candidates.entry(self.merges[at]).or_default().push(at);
        }
        while let Some((token, mut offsets)) = candidates.pop_first()
            && token != NO_TOKEN
        {
            offsets.sort_unstable();
            for at in offsets {
                if self.merges[at] == token {
                    self.merge(at, token);
                    for changed in [at, self.previous[at]] {
                        self.merges[changed] = self.merge_of(changed);
                        candidates.entry(self.merges[changed]).or_default().push(changed);
                    }
                }
            }
        }
    }

    fn find_merges(&mut self, merge_of: impl Fn(&Self, usize) -> TokenId) {
        let mut at = 0;
        while at < self.piece.len() {
            self.merges[at] = merge_of(self, at);
            at = self.next[at];
        }
    }

    /// What the part at `at` and the next one can be merged into.
    fn merge_of(&self, at: usize) -> TokenId {
        let end = self.next.get(self.next[at]);
        end.map_or(NO_TOKEN, |&end| dictionary::token(self.piece, at, end))
    }

    /// The same if it has a low id.
    fn low_merge(&self, at: usize) -> TokenId {
        let next = self.tokens.get(self.next[at]);
        next.map_or(NO_TOKEN, |&next| low_merges::merged(self.tokens[at], next))
    }

    /// Merges the part at `at` with the next one.
    fn merge(&mut self, at: usize, token: TokenId) {
        let gone = self.next[at];
        self.tokens[at] = token;
        self.merges[gone] = NO_TOKEN;
        self.next[at] = self.next[gone];
        if let Some(previous) = self.previous.get_mut(self.next[at]) {
            *previous = at;
        }
    }

    fn tokens(&self) -> impl Iterator<Item = TokenId> {
        let first = (!self.piece.is_empty()).then_some(0);
        let next = |&at: &usize| Some(self.next[at]).filter(|&next| next < self.piece.len());
        std::iter::successors(first, next).map(|at| self.tokens[at])
    }
}
