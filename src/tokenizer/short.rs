//! What short pieces were encoded to lately, and how long pieces are made of short ones.

use super::key::Key;
use super::neighbours::Neighbours;
use super::places::{Places, Unit, halves, unit};
use super::words::Word;
use super::{Rank, bits, borders, kept, perfect_hash, search, words};

/// Places for pieces that are tokens, 16 bytes each: 256 KiB. Sets of two, as below, cost more by
/// the second look than they gain.
const WORDS: usize = 1 << 14;
/// Sets of other pieces, 64 bytes each: 2 MiB. With half as many 2 MB of text take up to 6 % more time,
/// as merging a piece anew takes a thousand cycles; twice as many gain 2 % at most.
const MERGED: usize = 1 << 15;

/// Two pieces, for each its key and then its tokens, see `kept`. The first fell here last; the second is the
/// one before it, or one that was pushed over from the set beside. No piece has key 0.
type Set = [Unit; SET_LEN];
const SET_LEN: usize = 4;

/// The pieces of at most 15 bytes that a thread remembers, and the neighbours in longer ones.
pub(super) struct Short {
    words: Vec<Word>,
    merged: Places<SET_LEN>,
    neighbours: Neighbours,
}

impl Short {
    /// Zeroed memory, whose pages come into being as they are used.
    pub(super) fn new() -> Self {
        Self {
            words: vec![[0; 2]; WORDS],
            merged: Places::new(MERGED),
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
            let (borders, next) = borders::next(text, at, end);
            for border in bits::places(borders).map(|place| at + place) {
                // The piece's own beginning may be told as a border too.
                if border > begun {
                    self.encode_segment(text, begun, border, out);
                    begun = border;
                }
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
        let place = merged_place(key);
        let tokens = tokens_in(self.merged.get(place), key)
            .or_else(|| tokens_in(self.merged.get(neighbour(place)), key));
        tokens.map(|tokens| kept::append(&[*tokens], out)).is_some()
    }

    fn encode_new(&mut self, key: Key, piece: &[u8], out: &mut Vec<Rank>) {
        let first = out.len();
        search::encode(piece, &mut self.neighbours, out);
        if let Some([tokens]) = kept::pack(&out[first..]) {
            self.remember(key, tokens);
        }
    }

    /// Remembers a piece. The older one of the two where it falls is pushed to the set beside, and throws
    /// the older one there out: so some sets hold three or four and others fewer, and only two fifths
    /// as many pieces have to be merged anew.
    fn remember(&mut self, key: Key, tokens: Unit) {
        let place = merged_place(key);
        let set = self.merged.get_mut(place);
        let [newer, newer_tokens, older, older_tokens] = *set;
        *set = [unit(key.halves()), tokens, newer, newer_tokens];
        if older != [0; 4] {
            let [_, _, last, last_tokens] = self.merged.get_mut(neighbour(place));
            (*last, *last_tokens) = (older, older_tokens);
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

/// The place beside, which shares a pair of cache lines.
#[inline]
fn neighbour(place: usize) -> usize {
    place ^ 1
}

/// The tokens of the piece with this key, if it is in the set.
#[inline]
fn tokens_in(set: &Set, key: Key) -> Option<&Unit> {
    // Which one of the two it is cannot be foreseen, so no branch depends on it.
    let (pieces, _) = set.as_chunks();
    let older = usize::from(halves(set[0]) != key.halves());
    let [found, tokens] = &pieces[older];
    (halves(*found) == key.halves()).then_some(tokens)
}

#[cfg(test)]
mod tests {
    use super::{Key, MERGED, Neighbours, Rank, Short, search};

    /// More pieces than there are places, so that some are thrown out; each three times over.
    #[test]
    fn a_remembered_piece_is_encoded_as_before() {
        let mut short = Short::new();
        let mut encode = |piece: &[u8]| -> Vec<Rank> {
            let mut out = vec![7];
            if let Some(key) = Key::of(piece, 0, piece.len()) {
                short.encode(key, piece, &mut out);
            }
            out.split_off(1)
        };
        let mut neighbours = Neighbours::new();
        for number in 0..5 * MERGED / 2 {
            let piece = format!("{:o}#", number.wrapping_mul(0x9e37_79b1) % 0x1_0000_0000);
            let mut expected = vec![];
            search::encode(piece.as_bytes(), &mut neighbours, &mut expected);
            for _ in 0..3 {
                assert_eq!(encode(piece.as_bytes()), expected, "{piece}");
            }
        }
    }
}
