//! Caches of what was encoded before: the same words, names and lines come again and again.
//!
//! The tables of the vocabulary have megabytes, and encoding a piece with them reads a dozen slots, each a possible
//! cache miss of the processor. Here the pieces in use are close together: prose that was encoded before takes a fifth
//! of the time of new prose.
//!
//! A `PieceEncoder` belongs to one encoding at a time (see `pool`). It takes many pieces together (`BlockEncoder`), asks
//! its caches, and `bpe` for what is in none of them. A piece of
//!
//! * up to 15 bytes: `words`; a new one waits in `pending` until there are 32 or the text ends, see `bpe::Together`;
//! * 16 bytes or more: `long`, if it has up to 64 bytes and does not end in a zero byte; else each of its segments by
//!   itself: one of up to 15 bytes as above, a longer one from `long` or by `bpe::encode`.
//!
//! | cache | from | to | slots | memory |
//! |---|---|---|---|---|
//! | `words` | a piece of up to 15 bytes | its tokens, up to 6 | 131,072 of 32 bytes | 4 MiB |
//! | `long` | a piece of 16 to 64 bytes | its tokens, up to 16 | 8,192 of 130 bytes | 1 MiB |
//!
//! Both caches are arrays of a fixed size: a new piece takes the slot of an older one. Memory of the system that was
//! never written to is not used up: they grow into their 5.02 MiB as they fill.
//!
//! Budget: [`BYTES_PER_CACHE`] (5.02 MiB) for each encoding that runs at a time, so per thread at the most, and
//! [`MAX_BYTES`] (321 MiB) in all. [`usage`] is how much is in use, [`clear`] gives it back.

mod long;
mod pending;
mod pool;
mod words;

pub(super) use self::pool::with;
pub use self::pool::{BYTES_PER_CACHE, CacheUsage, MAX_BYTES, clear, usage};

use self::long::{LongCache, LongKey};
use self::pending::Pending;
use self::words::{Tokens, WordCache};
use super::bpe::{self, Key};
use super::split::Pieces;
use super::vocabulary::TokenId;

/// Slots of both caches.
#[derive(Debug, Clone, Copy)]
struct Slots {
    /// Pairs of slots.
    words: usize,
    long: usize,
}

impl Slots {
    /// The bytes of a cache that has them all.
    const fn bytes(self) -> usize {
        self.words * WordCache::BYTES_PER_SET + self.long * LongCache::BYTES_PER_SLOT
    }
}

/// Half as many `words` take 1.02 to 1.25 of the time for texts of 2 MB that come again, a quarter 1.15 to 1.5; twice as
/// many 0.92 to 1.08. With half as many `long` CJK of 20 KB that comes again takes 1.1.
const SLOTS: Slots = Slots { words: 1 << 16, long: 1 << 13 };

/// Encodes pieces, and caches what came out.
pub(super) struct PieceEncoder {
    pieces: Pieces,
    block: BlockEncoder,
}

impl PieceEncoder {
    /// Zeroed memory, which the system provides as it is written to.
    fn new(slots: Slots) -> Self {
        let block = BlockEncoder {
            probes: [(Key::NONE, 0); Pieces::MOST],
            found: [[0; 4]; FOUND + Tokens::MOST_PLAIN],
            caches: Caches {
                words: WordCache::new(slots.words),
                long: LongCache::new(slots.long),
                pending: Pending::new(),
            },
        };
        Self { pieces: Pieces::new(), block }
    }

    /// What cuts a text into pieces, and what encodes them.
    #[inline]
    pub(super) fn parts(&mut self) -> (&mut Pieces, &mut BlockEncoder) {
        (&mut self.pieces, &mut self.block)
    }
}

/// Encodes many pieces at a time.
pub(super) struct BlockEncoder {
    /// The key of each piece, and its set in `words`.
    probes: [(Key, usize); Pieces::MOST],
    /// Tokens that were found but are not yet in the output, as bytes.
    found: [[u8; 4]; FOUND + Tokens::MOST_PLAIN],
    caches: Caches,
}

/// Room for the tokens of all pieces of a block.
const FOUND: usize = (Tokens::MOST_PLAIN * Pieces::MOST).next_power_of_two();

/// From this length on, texts have more pieces than the processor's L2 cache has lines for: texts of 2 MB take 0.74 to
/// 0.95 of the time if their sets are fetched early, shorter ones would take 1.03 to 1.05.
const LARGE: usize = 1 << 18;

impl BlockEncoder {
    /// Appends the tokens of pieces of a text, in two loops.
    ///
    /// The first makes all keys and hashes, so that the reads of the cache wait for nothing and overlap. The second
    /// stores tokens without a branch: four for each piece, of which only its own remain. The only branch is for a
    /// piece that is not cached, or has more tokens.
    #[inline(never)]
    pub(super) fn encode(&mut self, text: &[u8], pieces: &Pieces, out: &mut Vec<TokenId>) {
        let Self { probes, found, caches } = self;
        let bounds = pieces.bounds();
        let probes = &mut probes[..bounds.len() - 1];
        let mut start = bounds[0];
        for (probe, &end) in probes.iter_mut().zip(&bounds[1..]) {
            let key = Key::of(text, start, end);
            let set = caches.words.set_of(key);
            if text.len() >= LARGE {
                caches.words.prefetch(set);
            }
            *probe = (key, set);
            start = end;
        }
        let mut count = 0;
        for (index, &(key, set)) in probes.iter().enumerate() {
            let (len, tokens) = caches.words.get(key, set).plain();
            if len == 0 {
                append(&found[..count], out);
                count = 0;
                caches.encode_other((key, set), text, bounds[index], bounds[index + 1], out);
                continue;
            }
            let at = count % FOUND;
            let stored = &mut found[at..at + Tokens::MOST_PLAIN];
            stored.as_flattened_mut().copy_from_slice(&tokens);
            count += len;
        }
        append(&found[..count], out);
    }

    /// Completes the tokens of a text; its last pieces may still wait.
    #[inline]
    pub(super) fn finish(&mut self, out: &mut Vec<TokenId>) {
        if self.caches.pending.len() > 0 {
            self.caches.pending.encode(&mut self.caches.words, out);
        }
    }
}

/// Appends tokens given as their bytes.
#[inline]
fn append(tokens: &[[u8; 4]], out: &mut Vec<TokenId>) {
    out.extend(tokens.iter().map(|bytes| TokenId::from_le_bytes(*bytes)));
}

/// The caches of one encoder.
struct Caches {
    words: WordCache,
    long: LongCache,
    pending: Pending,
}

impl Caches {
    /// A piece that is not in `words`, or has more than four tokens there.
    #[inline(never)]
    fn encode_other(
        &mut self,
        probe: (Key, usize),
        text: &[u8],
        start: usize,
        end: usize,
        out: &mut Vec<TokenId>,
    ) {
        if probe.0 == Key::NONE {
            self.encode_long(text, start, end, out);
        } else {
            self.encode_rare(probe, out);
        }
    }

    /// The same, if it is short. A new one's tokens follow later. Out of line, since there are two callers.
    #[inline(never)]
    fn encode_rare(&mut self, (key, set): (Key, usize), out: &mut Vec<TokenId>) {
        let tokens = self.words.get(key, set);
        if tokens != Tokens::NONE {
            return out.extend(tokens.packed());
        }
        self.pending.push(key, set, &mut self.words, out);
    }

    fn encode_long(&mut self, text: &[u8], start: usize, end: usize, out: &mut Vec<TokenId>) {
        let key = LongKey::of(&text[start..end]);
        if key.as_ref().is_some_and(|key| self.long.append(key, out)) {
            return;
        }
        let (first, waiting) = (out.len(), self.pending.len());
        let piece = start..end;
        bpe::for_each_segment(text, start, end, |start, end| {
            let key = Key::of(text, start, end);
            if key == Key::NONE {
                return if piece == (start..end) {
                    bpe::encode(text, start, end, out);
                } else {
                    // It has no segments but itself.
                    self.encode_long(text, start, end, out);
                };
            }
            let set = self.words.set_of(key);
            match self.words.get(key, set).plain() {
                (0, _) => self.encode_rare((key, set), out),
                (count, tokens) => {
                    // As in a block: no branch depends on their number.
                    let end = out.len() + count;
                    append(tokens.as_chunks().0, out);
                    out.truncate(end);
                }
            }
        });
        if let Some(key) = key {
            // A piece of up to 64 bytes has fewer segments than `pending` has room: if as many wait as before, none is
            // new.
            let tokens = (self.pending.len() == waiting).then(|| &out[first..]);
            self.long.insert(&key, tokens);
        }
    }
}
