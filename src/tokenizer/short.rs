//! What short pieces were encoded to lately, and how long pieces are made of short ones.

use super::key::Key;
use super::neighbours::Neighbours;
use super::words::Word;
use super::{Rank, borders, kept, perfect_hash, search, words};

/// Places for pieces that are tokens, 16 bytes each: 256 KiB. Sets of two, as below, cost more by
/// the second look than they gain.
const WORDS: usize = 1 << 14;
/// Sets of places for other pieces, 64 bytes each: 2 MiB. With half as many 2 MB of text take 3 to 11 %
/// more time, as merging a piece anew takes a thousand cycles; twice as many gain 5 % at most.
const MERGED: usize = 1 << 15;
/// Most tokens that are kept for a piece.
const TOKENS: usize = 4;

/// The halves of a key and its tokens, see `kept`. No piece has key 0.
type Merged = ([u64; 2], [Rank; TOKENS]);
/// Two pieces that fall into the same place, the one that came last first. Text of all kinds takes
/// a tenth less time than with twice as many single places.
type Set = [Merged; 2];

/// The pieces of at most 15 bytes that a thread remembers, and the neighbours in longer ones.
pub(super) struct Short {
    words: Vec<Word>,
    merged: Vec<Set>,
    neighbours: Neighbours,
}

impl Short {
    /// Zeroed memory, whose pages come into being as they are used.
    pub(super) fn new() -> Self {
        Self {
            words: vec![[0; 2]; WORDS],
            merged: vec![[([0; 2], [0; TOKENS]); 2]; MERGED],
            neighbours: Neighbours::new(),
        }
    }

    /// The token of the piece with this key if it is a word in use.
    #[inline]
    pub(super) fn word(&self, key: Key) -> Option<Rank> {
        words::rank(self.words[word_place(key)], key)
    }

    /// Appends the encoding of a piece with a key that is no word in use: most of them are
    /// merged, and remembered as that.
    #[inline]
    pub(super) fn encode(&mut self, key: Key, piece: &[u8], out: &mut Vec<Rank>) {
        if self.encode_known(key, out) {
            return;
        }
        let word = words::find(key);
        if let Some(token) = words::rank(word, key) {
            self.words[word_place(key)] = word;
            return out.push(token);
        }
        self.encode_new(key, piece, out);
    }

    /// Appends the encoding of the piece `text[start..end]` by what is between the borders in it
    /// that no merge goes over.
    // Kept out of the code for short pieces, which takes a twentieth less time without it.
    #[inline(never)]
    pub(super) fn encode_in_segments(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        out: &mut Vec<Rank>,
    ) {
        let (mut begun, mut at) = (start, start);
        while at < end {
            let (mut borders, next) = borders::next(text, at, end);
            while borders != 0 {
                let border = at + borders.trailing_zeros() as usize;
                // The piece's own beginning may be told as a border too.
                if border > begun {
                    self.encode_segment(text, begun, border, out);
                    begun = border;
                }
                borders &= borders - 1;
            }
            at = next;
        }
        self.encode_segment(text, begun, end, out);
    }

    #[inline]
    fn encode_segment(&mut self, text: &[u8], start: usize, end: usize, out: &mut Vec<Rank>) {
        let key = Key::of(text, start, end);
        match key.and_then(|key| self.word(key)) {
            Some(token) => out.push(token),
            None => self.encode_no_word(key, &text[start..end], out),
        }
    }

    #[inline(never)]
    fn encode_no_word(&mut self, key: Option<Key>, segment: &[u8], out: &mut Vec<Rank>) {
        match key {
            Some(key) => self.encode(key, segment, out),
            None => search::encode(segment, &mut self.neighbours, out),
        }
    }

    /// Appends the tokens of a piece if they are remembered, and tells whether they are.
    #[inline]
    fn encode_known(&self, key: Key, out: &mut Vec<Rank>) -> bool {
        let halves = key.halves();
        let set = &self.merged[merged_place(key)];
        let Some((_, tokens)) = set.iter().find(|(found, _)| *found == halves) else {
            return false;
        };
        kept::append(tokens, out);
        true
    }

    fn encode_new(&mut self, key: Key, piece: &[u8], out: &mut Vec<Rank>) {
        let first = out.len();
        search::encode(piece, &mut self.neighbours, out);
        if let Some(tokens) = kept::pack(&out[first..]) {
            let set = &mut self.merged[merged_place(key)];
            *set = [(key.halves(), tokens), set[0]];
        }
    }
}

#[inline]
fn word_place(key: Key) -> usize {
    perfect_hash::bucket(key.hash(), WORDS)
}

#[inline]
fn merged_place(key: Key) -> usize {
    perfect_hash::bucket(key.hash(), MERGED)
}
