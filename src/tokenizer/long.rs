//! What long pieces were encoded to lately.
//!
//! Long names in code and long words of many languages come again and again. A sentence of Chinese or
//! Japanese is a piece too and hardly comes twice in a text; but a conversation is
//! rendered again with each message that is added to it. Such text takes a fifth less time
//! then, and a twentieth more when it is new.

use super::{Rank, kept, perfect_hash};

/// Places per thread, 128 bytes each: 512 KiB. Half as many win half as much on 100 KB of text.
const PLACES: usize = 1 << 12;
/// Longest piece that is kept, in bytes.
const LONGEST: usize = 64;
/// Most tokens that are kept for a piece.
const TOKENS: usize = 16;

/// A piece, padded with zeros; no piece that ends in a zero is kept, so no two look the same.
type Key = [u64; LONGEST / 8];
/// A piece and its tokens, see `kept`.
type Place = (Key, [Rank; TOKENS]);

/// The pieces of 16 to 64 bytes that a thread remembers.
pub(super) struct Long {
    places: Vec<Place>,
    /// Per place the hash of the piece that last fell into it: most pieces never come again, and
    /// only one that does is worth its 128 bytes.
    seen: Vec<u16>,
}

impl Long {
    /// Zeroed memory, whose pages come into being as they are used.
    pub(super) fn new() -> Self {
        Self { places: vec![([0; LONGEST / 8], [0; TOKENS]); PLACES], seen: vec![0; PLACES] }
    }

    /// Appends the encoding of a piece: what is remembered, or else what `encode` appends.
    #[inline]
    pub(super) fn encode(
        &mut self,
        piece: &[u8],
        out: &mut Vec<Rank>,
        encode: impl FnOnce(&mut Vec<Rank>),
    ) {
        if piece.len() > LONGEST || piece.ends_with(&[0]) {
            return encode(out);
        }
        let (key, hash) = key(piece);
        let place = perfect_hash::bucket(hash, PLACES);
        if self.seen[place] != low_16(hash) {
            self.seen[place] = low_16(hash);
            return encode(out);
        }
        let (found, tokens) = &mut self.places[place];
        if *found == key {
            return kept::append(tokens, out);
        }
        let first = out.len();
        encode(out);
        if let Some(new) = kept::pack(&out[first..]) {
            (*found, *tokens) = (key, new);
        }
    }
}

/// The key of a piece of at most `LONGEST` bytes, and its hash.
#[inline]
fn key(piece: &[u8]) -> (Key, u64) {
    let mut key = [0; LONGEST / 8];
    let mut hash = 0;
    let (blocks, rest) = piece.as_chunks();
    for (place, block) in key.iter_mut().zip(blocks) {
        *place = u64::from_le_bytes(*block);
        hash = perfect_hash::hash(hash, *place);
    }
    if let Some(place) = key.get_mut(blocks.len()).filter(|_| !rest.is_empty()) {
        *place = rest.iter().rev().fold(0, |last, &byte| last << 8 | u64::from(byte));
        hash = perfect_hash::hash(hash, *place);
    }
    (key, hash)
}

/// The lower sixteen bits of a number.
fn low_16(number: u64) -> u16 {
    let [a, b, ..] = number.to_le_bytes();
    u16::from_le_bytes([a, b])
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Long};

    /// Each piece three times over: new, seen once, remembered.
    #[test]
    fn a_remembered_piece_is_encoded_as_before() {
        let mut long = Long::new();
        for len in 16..=LONGEST + 1 {
            for filler in [0, 1, 0xff] {
                let piece = vec![filler; len];
                let tokens = [0, 7, u32::try_from(len).unwrap_or_default(), u32::from(filler)];
                let mut encoded = 0;
                for _ in 0..3 {
                    let mut out = vec![1];
                    long.encode(&piece, &mut out, |out| {
                        encoded += 1;
                        out.extend(tokens);
                    });
                    assert_eq!(out[1..], tokens, "{len} times {filler}");
                }
                let kept = len <= LONGEST && filler != 0;
                assert_eq!(encoded, if kept { 2 } else { 3 }, "{len} times {filler}");
            }
        }
    }
}
