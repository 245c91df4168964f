//! Pieces of up to 15 bytes with their tokens: words, numbers, names.

use crate::tokenizer::bpe::Key;
use crate::tokenizer::vocabulary::TokenId;

/// Most tokens of a piece that is cached.
const MOST_TOKENS: usize = 6;

/// The tokens of a piece. Up to four are a u32 each, the first one lowest, with their number in the upper byte of the
/// first. Five or six have eighteen bits each in all but that byte, where they have 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Tokens(u128);

const COUNT_SHIFT: u32 = 24;
/// Where the n-th of five or six tokens is: none of them touches the upper byte of the first u32.
const PACKED_SHIFTS: [u32; MOST_TOKENS] = [0, 32, 50, 68, 86, 104];
const TOKEN: u128 = (1 << 18) - 1;

impl Tokens {
    /// Those of no piece.
    pub(super) const NONE: Self = Self(0);
    /// Most tokens that are read as they are.
    pub(super) const MOST_PLAIN: usize = 4;

    /// `NONE` if they are more than six.
    fn of(tokens: &[TokenId]) -> Self {
        let place = |shifts: &[u32]| {
            let placed = tokens.iter().zip(shifts);
            placed.fold(0, |all, (&token, shift)| all | u128::from(token) << shift)
        };
        match tokens.len() {
            count @ 1..=Self::MOST_PLAIN => {
                Self(place(&[0, 32, 64, 96]) | (count as u128) << COUNT_SHIFT)
            }
            // The sixth is absent if it is all ones, which no token is.
            5 => Self(place(&PACKED_SHIFTS) | TOKEN << PACKED_SHIFTS[5]),
            MOST_TOKENS => Self(place(&PACKED_SHIFTS)),
            _ => Self::NONE,
        }
    }

    /// The number of tokens if it is at most four, else 0; and the bytes of all four slots.
    #[inline]
    pub(super) fn plain(self) -> (usize, [u8; 4 * Self::MOST_PLAIN]) {
        let count = self.0 >> COUNT_SHIFT & 0xff;
        (count as usize, (self.0 & !(0xff << COUNT_SHIFT)).to_le_bytes())
    }

    /// Five or six.
    pub(super) fn packed(self) -> impl Iterator<Item = TokenId> {
        let tokens = PACKED_SHIFTS.map(|shift| (self.0 >> shift & TOKEN) as u32);
        tokens.into_iter().filter(|&token| u128::from(token) != TOKEN)
    }
}

/// Two pieces with their tokens, the newer one first: a cache line of the processor. The key of an empty slot is 0.
type Set = [u128; 4];

/// The most sets, and the shift that turns a hash into a set's number.
const MOST_SETS: usize = 1 << 16;
const SHIFT: u32 = 48;

/// Pieces with their tokens. A new one takes the place of another of its set.
///
/// `get` relies on this: from `first` on there are four `numbers` for each set, and one set more than `mask` says.
pub(super) struct WordCache {
    numbers: Vec<u128>,
    /// Where the first set begins, so that each has a cache line to itself.
    first: usize,
    /// One less than there are sets: the bits of a set's number.
    mask: usize,
}

impl WordCache {
    pub(super) const BYTES_PER_SET: usize = size_of::<Set>();

    /// Memory for that many pairs of pieces, a power of two. The system provides it as it is written to.
    pub(super) fn new(sets: usize) -> Self {
        debug_assert!(sets.is_power_of_two() && sets <= MOST_SETS, "bits of a hash choose a set");
        let numbers = vec![0; 4 * sets + 3];
        let first = numbers.as_ptr().align_offset(64).min(3);
        Self { numbers, first, mask: sets - 1 }
    }

    /// The number of the set of a piece.
    #[inline]
    pub(super) fn set_of(&self, key: Key) -> usize {
        const { assert!(MOST_SETS == 1 << (u64::BITS - SHIFT)) };
        (key.hash() >> SHIFT) as usize & self.mask
    }

    /// Has the processor fetch a set that will be read soon.
    #[inline]
    pub(super) fn prefetch(&self, set: usize) {
        let at = self.numbers.as_ptr().wrapping_add(self.first + 4 * (set & self.mask));
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch of any address is allowed and reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }

    /// The tokens of a piece, whose set it is; `NONE` if it is not cached.
    #[inline]
    pub(super) fn get(&self, key: Key, set: usize) -> Tokens {
        let at = self.first + 4 * (set & self.mask);
        // SAFETY: `new` makes the numbers of all sets, no method changes how many there are, and the mask keeps the set
        // below their number. With two checks, which compute the bounds again, texts take 1.03 to 1.06 of the time.
        let set: &Set = unsafe { &*self.numbers.as_ptr().add(at).cast() };
        // It cannot be predicted which of the two it is, so no branch depends on it.
        let slot = if set[0] == key.0 { 0 } else { 2 };
        if set[slot] == key.0 { Tokens(set[slot + 1]) } else { Tokens::NONE }
    }

    /// Caches a piece, if it has few tokens. Then it is the newer one if it is a single token: that is a word, which
    /// comes again sooner than names and numbers of several tokens. These take the place of the older one.
    pub(super) fn insert(&mut self, key: Key, set: usize, tokens: &[TokenId]) {
        // An equal piece may have waited together with this one.
        if self.get(key, set) != Tokens::NONE {
            return;
        }
        let (sets, _) = self.numbers[self.first..].as_chunks_mut();
        let is_word = tokens.len() == 1;
        let tokens = Tokens::of(tokens);
        if tokens != Tokens::NONE
            && let Some([newer_key, newer, older_key, older]) = sets.get_mut(set)
        {
            if is_word || *newer_key == 0 {
                (*older_key, *older) = (*newer_key, *newer);
                (*newer_key, *newer) = (key.0, tokens.0);
            } else {
                (*older_key, *older) = (key.0, tokens.0);
            }
        }
    }
}
