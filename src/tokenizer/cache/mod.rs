//! Caches of what was encoded before: the same words, names and lines come again and again.
//!
//! The tables of the vocabulary have megabytes, and encoding a piece by them reads a dozen of their slots,
//! each of which may be a cache miss of the processor. Here the pieces in use lie close together: 2 MB of
//! prose that was encoded before takes a third of the time with these caches, and even text that is new to
//! them three quarters.
//!
//! A `PieceEncoder` belongs to one encoding at a time (see `pool`). It asks its caches, and `bpe` for what is
//! in none of them. A piece of
//!
//! * up to 15 bytes: `tokens`, else `short`, else `bpe::encode`;
//! * 16 bytes or more: `long`, if it has up to 64 bytes and does not end in a zero byte; else each of its segments by
//!   itself: one of up to 15 bytes as above, a longer one by `bpe::encode`.
//!
//! | cache | from | to | slots | memory |
//! |---|---|---|---|---|
//! | `tokens` | a piece of up to 12 bytes | the token that it is | 16,384 of 16 bytes | 256 KiB |
//! | `short` | a piece of up to 15 bytes | its tokens, up to 6 | 65,536 of 40 bytes | 2.5 MiB |
//! | `long` | a piece of 16 to 64 bytes | its tokens, up to 16 | 4,096 of 130 bytes | 520 KiB |
//! | `pairs` | two tokens | whether they are a valid pair, for `bpe::encode` | 65,536 of 8 bytes | 512 KiB |
//!
//! Every cache is an array of a fixed size: a new piece takes the slot of an older one.
//! Memory of the system that was never written to is not used up: the four grow into their 3.76 MiB
//! as they fill.
//!
//! Budget: [`BYTES_PER_CACHE`] (3.76 MiB) for each encoding that runs at a time, so per thread at the most, and
//! [`MAX_BYTES`] (240 MiB) in all. [`usage`] is how much is in use, [`clear`] gives it back.

mod hash;
mod key;
mod long;
mod packed;
mod pool;
mod short;
mod table;
mod tokens;
mod valid_pairs;

pub(super) use self::pool::with;
pub use self::pool::{BYTES_PER_CACHE, MAX_BYTES, Usage, clear, usage};

use self::key::Key;
use self::long::{LongCache, LongKey};
use self::short::ShortCache;
use self::tokens::TokenCache;
use self::valid_pairs::PairCache;
use super::bpe;
use super::vocabulary::TokenId;

/// Slots of the four caches.
#[derive(Debug, Clone, Copy)]
struct Slots {
    tokens: usize,
    short: usize,
    long: usize,
    pairs: usize,
}

impl Slots {
    /// The bytes of a cache that has them all.
    const fn bytes(self) -> usize {
        self.tokens * TokenCache::BYTES_PER_SLOT
            + self.short * ShortCache::BYTES_PER_SLOT
            + self.long * LongCache::BYTES_PER_SLOT
            + self.pairs * PairCache::BYTES_PER_SLOT
    }
}

/// Twice as many `short` gain 2 % at most for 2 MB of text, half as many cost 6 %.
const SLOTS: Slots = Slots { tokens: 1 << 14, short: 1 << 16, long: 1 << 12, pairs: 1 << 16 };

/// Encodes pieces, and caches what came out.
pub(super) struct PieceEncoder {
    tokens: TokenCache,
    short: ShortCache,
    long: LongCache,
    pairs: PairCache,
}

impl PieceEncoder {
    /// Zeroed memory, which the system provides as it is written to.
    fn new(slots: Slots) -> Self {
        Self {
            tokens: TokenCache::new(slots.tokens),
            short: ShortCache::new(slots.short),
            long: LongCache::new(slots.long),
            pairs: PairCache::new(slots.pairs),
        }
    }

    /// Appends the tokens of the piece `text[start..end]`. It takes the text, since the keys of short pieces are read
    /// past their end: see `Key::of`.
    #[inline]
    pub(super) fn encode(&mut self, text: &[u8], start: usize, end: usize, out: &mut Vec<TokenId>) {
        let key = Key::of(text, start, end);
        match key.and_then(|key| self.tokens.get(key)) {
            Some(token) => out.push(token),
            None => self.encode_other(key, text, start, end, out),
        }
    }

    /// A piece that is not in `tokens`. Out of line, so that the loop over the pieces stays small.
    #[inline(never)]
    fn encode_other(
        &mut self,
        key: Option<Key>,
        text: &[u8],
        start: usize,
        end: usize,
        out: &mut Vec<TokenId>,
    ) {
        match key {
            Some(key) => self.encode_short(key, &text[start..end], out),
            None => self.encode_long(text, start, end, out),
        }
    }

    #[inline]
    fn encode_short(&mut self, key: Key, piece: &[u8], out: &mut Vec<TokenId>) {
        let first = out.len();
        if let Some(tokens) = self.short.get(key) {
            packed::append(tokens, out);
        } else {
            self.encode_new(piece, out);
            self.short.insert(key, &out[first..]);
        }
        if let [token] = out[first..] {
            self.tokens.insert(key, token);
        }
    }

    #[inline]
    fn encode_long(&mut self, text: &[u8], start: usize, end: usize, out: &mut Vec<TokenId>) {
        let key = LongKey::of(&text[start..end]);
        if key.as_ref().is_some_and(|key| self.long.append(key, out)) {
            return;
        }
        let first = out.len();
        bpe::for_each_segment(text, start, end, |start, end| match Key::of(text, start, end) {
            Some(key) => match self.tokens.get(key) {
                Some(token) => out.push(token),
                None => self.encode_short(key, &text[start..end], out),
            },
            None => self.encode_new(&text[start..end], out),
        });
        if let Some(key) = key {
            self.long.insert(&key, &out[first..]);
        }
    }

    /// A piece or segment that is in no cache. Out of line, since there are two callers and it is large.
    #[inline(never)]
    fn encode_new(&mut self, piece: &[u8], out: &mut Vec<TokenId>) {
        bpe::encode(piece, |left, right| self.pairs.is_valid_pair(left, right), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small, so that pieces take each other's slots.
    const FEW: Slots = Slots { tokens: 8, short: 16, long: 2, pairs: 4 };

    fn encode(encoder: &mut PieceEncoder, piece: &str) -> Vec<TokenId> {
        let mut out = vec![7];
        encoder.encode(piece.as_bytes(), 0, piece.len(), &mut out);
        out.split_off(1)
    }

    fn encode_without_cache(piece: &str) -> Vec<TokenId> {
        let mut out = vec![];
        bpe::encode(piece.as_bytes(), bpe::is_valid_pair, &mut out);
        out
    }

    fn key(piece: &str) -> Key {
        Key::of(piece.as_bytes(), 0, piece.len()).unwrap_or_else(|| unreachable!("it is short"))
    }

    #[test]
    fn a_cached_piece_is_not_encoded_again() {
        let mut encoder = PieceEncoder::new(SLOTS);
        encoder.tokens.insert(key("word"), 5);
        assert_eq!(encode(&mut encoder, "word"), [5]);
        encoder.short.insert(key("wordzq"), &[1, 2, 3]);
        assert_eq!(encode(&mut encoder, "wordzq"), [1, 2, 3]);
        let long = "a_name_of_thirty_two_characters_";
        if let Some(key) = LongKey::of(long.as_bytes()) {
            encoder.long.insert(&key, &[4, 5]);
            encoder.long.insert(&key, &[4, 5]);
        }
        assert_eq!(encode(&mut encoder, long), [4, 5]);
    }

    #[test]
    fn what_was_encoded_is_cached() {
        let mut encoder = PieceEncoder::new(SLOTS);
        let word = encode(&mut encoder, "word");
        assert_eq!(encoder.tokens.get(key("word")).as_slice(), word);
        let name = encode(&mut encoder, "wordzq");
        let mut cached = vec![];
        if let Some(tokens) = encoder.short.get(key("wordzq")) {
            packed::append(tokens, &mut cached);
        }
        assert!(name.len() > 1 && cached == name);
        let long = "a_name_of_thirty_two_characters_";
        for times in 1..=2 {
            let tokens = encode(&mut encoder, long);
            let mut cached = vec![];
            let found = LongKey::of(long.as_bytes())
                .is_some_and(|key| encoder.long.append(&key, &mut cached));
            // Only what comes for the second time is.
            assert_eq!(found, times == 2);
            assert_eq!(cached, if found { tokens } else { vec![] });
        }
    }

    /// Of every length, each three times over: new, seen once, cached, or thrown out in between.
    #[test]
    fn pieces_that_take_each_others_slots_are_encoded_as_without_a_cache() {
        let mut encoder = PieceEncoder::new(FEW);
        let mut pieces: Vec<String> =
            vec!["\0".repeat(20), "a\0".into(), "a".into(), "-".repeat(64)];
        for number in 0..2000_u32 {
            let digits = format!("{:o}", number.wrapping_mul(0x9e37_79b1));
            let unit = ["é中", "qz", "the", "-"][number as usize % 4];
            pieces.push(digits.clone() + &unit.repeat(number as usize % 40));
            pieces.push(unit.repeat(number as usize % 70 + 1));
        }
        for piece in &pieces {
            let expected = encode_without_cache(piece);
            for _ in 0..3 {
                assert_eq!(encode(&mut encoder, piece), expected, "{piece:?}");
            }
        }
    }
}
