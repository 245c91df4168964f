//! What a thread encoded lately: the same words, names and neighbours come again and again.
//!
//! The tables of the vocabulary have megabytes, and a word's slot there shares its cache line with
//! strangers. Here lie only the words in use, close together. Each memory has a fixed number of
//! places, 2 MiB in all; what falls into a taken place throws another out. Memory that
//! is not used yet is not even touched. English of 2 MB takes half the time with this, JSON two
//! thirds.

use std::cell::Cell;
use std::sync::Mutex;

use super::key::Key;
use super::long::Long;
use super::neighbours::Neighbours;
use super::words::Word;
use super::{Rank, borders, perfect_hash, search, words};

/// Places for pieces that are tokens, 16 bytes each: 256 KiB. Sets of two, as below, cost more by
/// the second look than they gain.
const WORDS: usize = 1 << 14;
/// Sets of places for other pieces, 64 bytes each: 1 MiB. Half as many cost a tenth more time:
/// merging a piece anew takes a thousand cycles.
const MERGED: usize = 1 << 14;
/// Most tokens that are kept for a piece.
const TOKENS: usize = 4;

/// The halves of a key and its tokens, each plus one; 0 for no token. No piece has key 0.
type Merged = ([u64; 2], [Rank; TOKENS]);
/// Two pieces that fall into the same place, the one that came last first. Text of all kinds takes
/// a tenth less time than with twice as many single places.
type Set = [Merged; 2];

/// What a thread remembers.
pub(super) struct Lately {
    words: Vec<Word>,
    merged: Vec<Set>,
    long: Long,
    neighbours: Neighbours,
}

/// Most memories that are kept for threads to come, 16 MiB.
const LEFT: usize = 8;

/// What threads that have ended remembered. The next threads take it over: making new memories and
/// filling them takes longer than encoding 100 KB. Nobody waits for the lock: a process forked while
/// it was held would wait for ever.
static LEFT_BEHIND: Mutex<Vec<Lately>> = Mutex::new(Vec::new());

thread_local! {
    static LATELY: Own = const { Own(Cell::new(None)) };
}

/// What a thread remembers while it encodes nothing.
struct Own(Cell<Option<Lately>>);

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(own) = self.0.take()
            && let Ok(mut left) = LEFT_BEHIND.try_lock()
            && left.len() < LEFT
        {
            left.push(own);
        }
    }
}

impl Lately {
    /// Takes what the thread remembers, to be given back by `keep`: so the thread's storage is
    /// asked for twice a text and not for each piece.
    pub(super) fn take() -> Self {
        // The thread may be past the end of its storage.
        let own = LATELY.try_with(|lately| lately.0.take()).ok().flatten();
        own.or_else(|| LEFT_BEHIND.try_lock().ok()?.pop()).unwrap_or_else(Self::nothing)
    }

    /// Zeroed memory, whose pages come into being as they are used.
    fn nothing() -> Self {
        Self {
            words: vec![[0; 2]; WORDS],
            merged: vec![[([0; 2], [0; TOKENS]); 2]; MERGED],
            long: Long::new(),
            neighbours: Neighbours::new(),
        }
    }

    /// Gives back what `take` took.
    pub(super) fn keep(self) {
        // Past the end of the thread's storage nothing is kept: what is lost is only time.
        let _ = LATELY.try_with(|lately| lately.0.set(Some(self)));
    }

    /// Appends the encoding of the piece `text[start..end]`.
    #[inline]
    pub(super) fn encode(&mut self, text: &[u8], start: usize, end: usize, out: &mut Vec<Rank>) {
        match self.word(text, start, end) {
            Some(token) => out.push(token),
            None => self.encode_no_word(text, start, end, out),
        }
    }

    /// The token of a piece that is a word in use.
    #[inline]
    fn word(&self, text: &[u8], start: usize, end: usize) -> Option<Rank> {
        let unranked = words::unranked(Key::of(text, start, end)?)?;
        words::rank(self.words[word_place(unranked)], unranked)
    }

    #[inline(never)]
    fn encode_no_word(&mut self, text: &[u8], start: usize, end: usize, out: &mut Vec<Rank>) {
        match Key::of(text, start, end) {
            Some(key) => self.encode_short(key, &text[start..end], out),
            None => self.encode_long(text, start, end, out),
        }
    }

    /// A piece that is too long for a key: by what is between borders that no merge goes over.
    fn encode_long(&mut self, text: &[u8], start: usize, end: usize, out: &mut Vec<Rank>) {
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
        match self.word(text, start, end) {
            Some(token) => out.push(token),
            None => self.encode_no_word_segment(text, start, end, out),
        }
    }

    #[inline(never)]
    fn encode_no_word_segment(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        out: &mut Vec<Rank>,
    ) {
        let segment = &text[start..end];
        if let Some(key) = Key::of(text, start, end) {
            return self.encode_short(key, segment, out);
        }
        let Self { long, neighbours, .. } = self;
        long.encode(segment, out, |out| search::encode(segment, neighbours, out));
    }

    /// A piece with a key that is no word in use: most of them are merged, and remembered as that.
    #[inline]
    fn encode_short(&mut self, key: Key, piece: &[u8], out: &mut Vec<Rank>) {
        if self.encode_known(key, out) {
            return;
        }
        if let Some(unranked) = words::unranked(key) {
            let word = words::find(unranked);
            if let Some(token) = words::rank(word, unranked) {
                self.words[word_place(unranked)] = word;
                return out.push(token);
            }
        }
        self.encode_new(key, piece, out);
    }

    /// Appends the tokens of a piece if they are remembered, and tells whether they are.
    #[inline]
    fn encode_known(&self, key: Key, out: &mut Vec<Rank>) -> bool {
        let halves = key.halves();
        let set = &self.merged[merged_place(key)];
        let Some((_, tokens)) = set.iter().find(|(found, _)| *found == halves) else {
            return false;
        };
        out.extend(tokens.iter().take_while(|&&token| token != 0).map(|token| token - 1));
        true
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
            let set = &mut self.merged[merged_place(key)];
            *set = [(key.halves(), tokens), set[0]];
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
