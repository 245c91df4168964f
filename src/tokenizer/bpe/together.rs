//! Byte-pair encoding of many short pieces together.
//!
//! Each piece goes the same way, and at each step all pieces take it one after the other. So what a piece reads from a
//! table, which takes as long as hundreds of instructions if the table is not in a cache, is read while others wait
//! too; and no branch depends on what is in a piece: only the number of merges does, and pieces that are done leave
//! the list of those that continue.
//!
//! 1. A piece that is a token is done (`dictionary`): seven in ten of code, four in ten of prose.
//! 2. The others are merged by `low_merges`, until nothing more can be. That is right, since a merge never makes a token
//!    with a lower id than its operands': a merge into a higher one is not due before.
//! 3. What is left, four or five parts, is merged by `dictionary`, which knows all tokens.

use super::key::Key;
use super::layout::NO_TOKEN;
use super::{dictionary, low_merges};
use crate::tokenizer::vocabulary::TokenId;

/// Encodes up to `PIECES` pieces of up to 15 bytes.
pub(in crate::tokenizer) struct Together {
    pieces: Pieces,
}

type Pieces = [Piece; Together::PIECES];

impl Together {
    pub(in crate::tokenizer) const PIECES: usize = 32;

    pub(in crate::tokenizer) const fn new() -> Self {
        Self { pieces: [Piece::NONE; Self::PIECES] }
    }

    /// Encodes pieces, whose `tokens` can then be asked for. Returns how many tokens they have in all.
    pub(in crate::tokenizer) fn encode(&mut self, keys: impl Iterator<Item = Key>) -> usize {
        let mut count = 0;
        for (piece, key) in self.pieces.iter_mut().zip(keys) {
            piece.key = key;
            count += 1;
        }
        let pieces = &mut self.pieces;
        let all = List::first(count);
        all.each(pieces, Piece::find_whole);
        let several = all.kept(pieces, |piece| !piece.is_whole());
        several.each(pieces, Piece::begin);
        several.merge(pieces, Piece::merge_low);
        several.each(pieces, Piece::begin_high);
        several.merge(pieces, Piece::merge_high);
        pieces[..count].iter_mut().map(Piece::gather).sum()
    }

    /// The tokens of a piece, by its index in the last `encode`.
    #[inline]
    pub(in crate::tokenizer) fn tokens(&self, piece: usize) -> &[TokenId] {
        let piece = &self.pieces[piece];
        &piece.tokens[1..][..piece.count]
    }
}

/// Some of the pieces, by their indices.
struct List {
    indices: [usize; Together::PIECES],
    len: usize,
}

impl List {
    fn first(count: usize) -> Self {
        Self { indices: std::array::from_fn(|index| index), len: count }
    }

    #[inline]
    fn each(&self, pieces: &mut Pieces, work: impl Fn(&mut Piece)) {
        for &index in &self.indices[..self.len] {
            work(&mut pieces[index % Together::PIECES]);
        }
    }

    /// Those that `is_kept` keeps. No branch depends on it.
    #[inline]
    fn kept(&self, pieces: &mut Pieces, is_kept: impl Fn(&mut Piece) -> bool) -> Self {
        let mut kept = Self { indices: self.indices, len: 0 };
        for at in 0..self.len {
            let index = self.indices[at];
            kept.indices[kept.len] = index;
            kept.len += usize::from(is_kept(&mut pieces[index % Together::PIECES]));
        }
        kept
    }

    /// Does one merge of each piece, until nothing can be merged.
    #[inline]
    fn merge(&self, pieces: &mut Pieces, merge: impl Fn(&mut Piece)) {
        let mut list = self.kept(pieces, Piece::can_merge);
        while list.len > 0 {
            list.each(pieces, &merge);
            list = list.kept(pieces, Piece::can_merge);
        }
    }
}

/// A piece while it is merged.
#[derive(Clone, Copy)]
struct Piece {
    key: Key,
    /// The parts, each at its *place*: the offset of its first byte plus one. At 0 and after the last part is `NO_TOKEN`,
    /// which is merged with nothing.
    tokens: [TokenId; 32],
    /// A bit for each place of a part, and for the two of `NO_TOKEN`.
    places: u32,
    /// For each part the token that it and the next one can be merged into, or `NO_TOKEN`, and its place in the lowest
    /// bits: so the lowest number is the next merge.
    merges: [u32; 16],
    /// That number.
    next: u32,
    /// The number of parts, at the end.
    count: usize,
}

/// The bits of a place in `merges`.
const PLACE_BITS: u32 = 4;
/// Of a part without a merge; any place may be in the lowest bits.
const NO_MERGE: u32 = NO_TOKEN << PLACE_BITS;

impl Piece {
    const NONE: Self = Self {
        key: Key::NONE,
        tokens: [NO_TOKEN; 32],
        places: 0,
        merges: [NO_MERGE; 16],
        next: NO_MERGE,
        count: 0,
    };

    /// Takes the piece as one part.
    #[inline]
    fn find_whole(&mut self) {
        self.tokens[1] = dictionary::candidate(self.key);
        self.places = 0b111;
    }

    /// Whether it is a token.
    #[inline]
    fn is_whole(&mut self) -> bool {
        dictionary::is_token(self.tokens[1], self.key)
    }

    /// Takes each byte as a part, and finds the merges into low tokens.
    #[inline]
    fn begin(&mut self) {
        let [bytes @ .., len] = self.key.0.to_le_bytes();
        for (token, byte) in self.tokens[1..].iter_mut().zip(bytes) {
            *token = dictionary::byte_token(byte);
        }
        self.tokens[usize::from(len % 16) + 1] = NO_TOKEN;
        self.places = (4 << (len % 16)) - 1;
        self.merges = [NO_MERGE; 16];
        for place in 1..u32::from(len) {
            let token = low_merges::merged(self.token(place), self.token(place + 1));
            self.note(place, token);
        }
    }

    /// Finds the merges into any tokens.
    #[inline]
    fn begin_high(&mut self) {
        let (mut place, mut next) = (1, after(self.places, 1));
        while next < 32 {
            let end = after(self.places, next);
            self.note(place, self.high_token(place, end));
            (place, next) = (next, end);
        }
    }

    /// Finds the next merge, and whether there is one.
    #[inline]
    fn can_merge(&mut self) -> bool {
        self.next = lowest(&self.merges);
        self.next < NO_MERGE
    }

    #[inline]
    fn merge_low(&mut self) {
        let (before, place, token, next) = self.take_next();
        self.note(place, low_merges::merged(token, self.token(next)));
        self.note(before, low_merges::merged(self.token(before), token));
    }

    #[inline]
    fn merge_high(&mut self) {
        let place = self.next % 16;
        let end = after(self.places, after(self.places, place));
        // One candidate in some thousands only looks like a token.
        if !dictionary::is_token(self.next >> PLACE_BITS, self.part(place, end)) {
            return self.note(place, NO_TOKEN);
        }
        let (before, place, _, next) = self.take_next();
        self.note(place, self.high_token(place, after(self.places, next)));
        self.note(before, self.high_token(before, next));
    }

    /// Merges, and returns the places of the part before, the merged part, its token, and the place of the next one.
    #[inline]
    fn take_next(&mut self) -> (u32, u32, TokenId, u32) {
        let (place, token) = (self.next % 16, self.next >> PLACE_BITS);
        let gone = after(self.places, place);
        let next = after(self.places, gone);
        let before = (self.places & ((1 << place) - 1) | 1).ilog2();
        self.places &= !(1 << (gone % 32));
        self.tokens[place as usize] = token;
        self.note(gone, NO_TOKEN);
        (before, place, token, next)
    }

    #[inline]
    fn token(&self, place: u32) -> TokenId {
        self.tokens[place as usize % 32]
    }

    #[inline]
    fn note(&mut self, place: u32, token: TokenId) {
        self.merges[place as usize % 16] = (token << PLACE_BITS) | (place % 16);
    }

    /// The token that the bytes of two parts may be, from the place of the first one to that after the second one;
    /// `NO_TOKEN` if one of them is not there.
    #[inline]
    fn high_token(&self, place: u32, end: u32) -> TokenId {
        let token = dictionary::candidate(self.part(place, end));
        std::hint::select_unpredictable(place > 0 && end < 32, token, NO_TOKEN)
    }

    #[inline]
    fn part(&self, place: u32, end: u32) -> Key {
        self.key.part(place.max(1) as usize - 1, end.min(16) as usize - 1)
    }

    /// Moves the parts together, from place 1 on. Returns how many there are.
    #[inline]
    fn gather(&mut self) -> usize {
        self.count = self.places.count_ones() as usize - 2;
        let mut places = self.places & !1;
        // Four at once, whether there are as many or not, since their number cannot be predicted.
        for first in (1..=self.count).step_by(4) {
            for at in first..first + 4 {
                self.tokens[at % 32] = self.token(places.trailing_zeros());
                places &= places.wrapping_sub(1);
            }
        }
        self.count
    }
}

/// The lowest bit after one; 32 if there is none.
#[inline]
fn after(bits: u32, bit: u32) -> u32 {
    (bits & (u32::MAX - 1).unbounded_shl(bit)).trailing_zeros()
}

/// The compiler makes vectors of it.
#[inline]
fn lowest(merges: &[u32; 16]) -> u32 {
    let eight: [u32; 8] = std::array::from_fn(|at| merges[at].min(merges[at + 8]));
    let four: [u32; 4] = std::array::from_fn(|at| eight[at].min(eight[at + 4]));
    four[0].min(four[2]).min(four[1].min(four[3]))
}
