//! What long pieces were encoded to lately.
//!
//! Long names in code and long words of many languages come again and again. A sentence of Chinese or
//! Japanese is a piece too and hardly comes twice in a text; but a conversation is
//! rendered again with each message that is added to it. Such text takes a fifth less time
//! then, and a twentieth more when it is new.

use super::places::{Places, Unit, halves, unit};
use super::tables::{low_32, low_64};
use super::{Rank, kept, perfect_hash};

/// Places per thread, 128 bytes each: 512 KiB. Half as many win half as much on 100 KB of text.
const PLACES: usize = 1 << 12;
/// Longest piece that is kept, in bytes.
const LONGEST: usize = 64;

/// A piece, padded with zeros; no piece that ends in a zero is kept, so no two look the same.
type Key = [Unit; KEY_LEN];
const KEY_LEN: usize = LONGEST / size_of::<Unit>();

/// The pieces of 16 to 64 bytes that a thread remembers.
pub(super) struct Long {
    /// Each place: the key of a piece, then as many units for its tokens, see `kept`.
    places: Places<{ 2 * KEY_LEN }>,
    /// Per place the hash of the piece that last fell into it: most pieces never come again, and
    /// only one that does is worth its 128 bytes.
    seen: Vec<u16>,
}

impl Long {
    /// Zeroed memory, whose pages come into being as they are used.
    pub(super) fn new() -> Self {
        Self { places: Places::new(PLACES), seen: vec![0; PLACES] }
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
        let (parts, _) = self.places.get_mut(place).as_chunks_mut();
        if same(&parts[0], &key) {
            return kept::append(&parts[1], out);
        }
        let first = out.len();
        encode(out);
        if let Some(new) = kept::pack(&out[first..]) {
            (parts[0], parts[1]) = (key, new);
        }
    }
}

/// The key of a piece of 16 to `LONGEST` bytes, and its hash.
///
/// How long it is cannot be foreseen, so no branch depends on it.
#[inline]
fn key(piece: &[u8]) -> (Key, u64) {
    let mut hash = 0_u64;
    let last = piece.len().saturating_sub(size_of::<Unit>());
    let key = std::array::from_fn(|index| {
        let start = index * size_of::<Unit>();
        // Where fewer than sixteen bytes are left, the last sixteen are read and shifted down, which
        // brings in zeros.
        let at = start.min(last);
        let bytes = piece[at..].first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
        let bytes = bytes.unbounded_shr(low_32(8 * (start - at) as u64));
        let [low, high] = [low_64(bytes), low_64(bytes >> 64)];
        hash = hash.rotate_left(16) ^ perfect_hash::hash(low, high);
        unit([low, high])
    });
    (key, hash)
}

/// Whether two keys are equal. Comparing arrays of this size would be a call of the system's library.
fn same(one: &Key, other: &Key) -> bool {
    let differs = |(one, other): (&Unit, &Unit)| {
        let ([a, b], [c, d]) = (halves(*one), halves(*other));
        (a ^ c) | (b ^ d)
    };
    one.iter().zip(other).map(differs).fold(0, |all, differs| all | differs) == 0
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
