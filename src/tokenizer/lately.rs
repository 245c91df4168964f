//! What a thread encoded lately: the same words, names and neighbours come again and again.
//!
//! The tables of the vocabulary have megabytes, and a word's slot there shares its cache line with
//! strangers. Here lie only the words in use, close together. Each memory has a fixed number of
//! places, 1.2 MiB in all; what falls into a taken place throws the other out. Memory that
//! is not used yet is not even touched. English of 2 MB takes 15 cycles a byte with this and 26
//! without, where only merged pieces were remembered, in 64 KiB; code 21 and 29, JSON 24 and 36.

use std::cell::Cell;

use super::key::Key;
use super::long::Long;
use super::neighbours::Neighbours;
use super::words::Word;
use super::{Rank, perfect_hash, search, words};

/// Places for pieces that are tokens, 16 bytes each: 128 KiB.
const WORDS: usize = 1 << 13;
/// Places for other pieces, 32 bytes each: 512 KiB. A quarter costs a fifth more time on English:
/// merging a piece anew takes a thousand cycles.
const MERGED: usize = 1 << 14;
/// Most tokens that are kept for a piece.
const TOKENS: usize = 4;

/// The halves of a key and its tokens, each plus one; 0 for no token. No piece has key 0.
type Merged = ([u64; 2], [Rank; TOKENS]);

/// What a thread remembers.
pub(super) struct Lately {
    words: Vec<Word>,
    merged: Vec<Merged>,
    long: Long,
    neighbours: Neighbours,
}

thread_local! {
    static LATELY: Cell<Option<Lately>> = const { Cell::new(None) };
}

impl Lately {
    /// Takes what the thread remembers, to be given back by `keep`: so the thread's storage is
    /// asked for twice a text and not for each piece.
    pub(super) fn take() -> Self {
        // The thread may be past the end of its storage.
        LATELY.try_with(Cell::take).ok().flatten().unwrap_or_else(Self::nothing)
    }

    /// Zeroed memory, whose pages come into being as they are used.
    fn nothing() -> Self {
        Self {
            words: vec![[0; 2]; WORDS],
            merged: vec![([0; 2], [0; TOKENS]); MERGED],
            long: Long::new(),
            neighbours: Neighbours::new(),
        }
    }

    /// Gives back what `take` took.
    pub(super) fn keep(self) {
        // Past the end of the thread's storage nothing is kept: what is lost is only time.
        let _ = LATELY.try_with(|lately| lately.set(Some(self)));
    }

    /// Appends the encoding of the piece `text[start..end]`.
    #[inline]
    pub(super) fn encode(&mut self, text: &[u8], start: usize, end: usize, out: &mut Vec<Rank>) {
        let Some(key) = Key::of(text, start, end) else {
            return self.encode_long(&text[start..end], out);
        };
        let Some(unranked) = words::unranked(key) else {
            return self.encode_merged(key, &text[start..end], out);
        };
        match words::rank(self.words[word_place(unranked)], unranked) {
            Some(token) => out.push(token),
            None => self.encode_other(key, unranked, &text[start..end], out),
        }
    }

    fn encode_long(&mut self, piece: &[u8], out: &mut Vec<Rank>) {
        let Self { long, neighbours, .. } = self;
        long.encode(piece, out, |out| search::encode(piece, neighbours, out));
    }

    /// A piece that is no word in use: most of them are merged, and remembered as that.
    #[inline(never)]
    fn encode_other(&mut self, key: Key, unranked: Word, piece: &[u8], out: &mut Vec<Rank>) {
        if self.encode_known(key, out) {
            return;
        }
        let word = words::find(unranked);
        if let Some(token) = words::rank(word, unranked) {
            self.words[word_place(unranked)] = word;
            out.push(token);
        } else {
            self.encode_new(key, piece, out);
        }
    }

    /// A piece that is longer than any word in the tables.
    fn encode_merged(&mut self, key: Key, piece: &[u8], out: &mut Vec<Rank>) {
        if !self.encode_known(key, out) {
            self.encode_new(key, piece, out);
        }
    }

    /// Appends the tokens of a piece if they are remembered, and tells whether they are.
    #[inline]
    fn encode_known(&self, key: Key, out: &mut Vec<Rank>) -> bool {
        let (found, tokens) = &self.merged[merged_place(key)];
        let known = *found == key.halves();
        if known {
            out.extend(tokens.iter().take_while(|&&token| token != 0).map(|token| token - 1));
        }
        known
    }

    fn encode_new(&mut self, key: Key, piece: &[u8], out: &mut Vec<Rank>) {
        let first = out.len();
        search::encode(piece, &mut self.neighbours, out);
        let new = &out[first..];
        if new.len() <= TOKENS {
            let mut tokens = [0; TOKENS];
            for (place, token) in tokens.iter_mut().zip(new) {
                *place = token + 1;
            }
            self.merged[merged_place(key)] = (key.halves(), tokens);
        }
    }
}

#[inline]
fn word_place([low, high]: Word) -> usize {
    perfect_hash::bucket(perfect_hash::hash(low, high), WORDS)
}

#[inline]
fn merged_place(key: Key) -> usize {
    let [low, high] = key.halves();
    perfect_hash::bucket(perfect_hash::hash(low, high), MERGED)
}
