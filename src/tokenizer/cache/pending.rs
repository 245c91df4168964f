//! New short pieces of a text, which wait to be encoded together.
//!
//! A piece that waits leaves no room in the output. When its tokens are known, what was written after it is moved up.

use super::words::WordCache;
use crate::tokenizer::bpe::{Key, Together};
use crate::tokenizer::vocabulary::TokenId;

/// Where the tokens of a piece belong.
#[derive(Clone, Copy)]
struct Place {
    key: Key,
    /// Its set in `words`.
    set: usize,
    /// Its tokens belong before this index of the output.
    at: usize,
}

pub(super) struct Pending {
    places: [Place; Together::PIECES],
    len: usize,
    together: Together,
}

impl Pending {
    pub(super) const fn new() -> Self {
        let none = Place { key: Key::NONE, set: 0, at: 0 };
        Self { places: [none; Together::PIECES], len: 0, together: Together::new() }
    }

    /// How many pieces wait.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a piece; its tokens come next. If the list is full, all are encoded.
    #[inline]
    pub(super) fn push(
        &mut self,
        key: Key,
        set: usize,
        words: &mut WordCache,
        out: &mut Vec<TokenId>,
    ) {
        self.places[self.len] = Place { key, set, at: out.len() };
        self.len += 1;
        if self.len == Together::PIECES {
            self.encode(words, out);
        }
    }

    /// Encodes and caches all pieces that wait.
    #[inline(never)]
    pub(super) fn encode(&mut self, words: &mut WordCache, out: &mut Vec<TokenId>) {
        let places = &self.places[..self.len];
        self.len = 0;
        let count = self.together.encode(places.iter().map(|place| place.key));
        // From the back, so each token is moved once, and nothing is overwritten that is still to be moved.
        let mut end = out.len();
        let mut to = end + count;
        out.resize(to, 0);
        for (index, place) in places.iter().enumerate().rev() {
            to -= end - place.at;
            out.copy_within(place.at..end, to);
            end = place.at;
            let tokens = self.together.tokens(index);
            to -= tokens.len();
            out[to..to + tokens.len()].copy_from_slice(tokens);
            words.insert(place.key, place.set, tokens);
        }
    }
}
