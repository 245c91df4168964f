//! What a thread encoded lately: the same words, names and neighbours come again and again.
//!
//! The tables of the vocabulary have megabytes, and a word's slot there shares its cache line with
//! strangers. Here lie only the words in use, close together. Each memory has a fixed number of
//! places, 3 MiB in all; what falls into a taken place throws another out. Memory that
//! is not used yet is not even touched. English of 2 MB takes half the time with this, JSON two
//! thirds.

use std::cell::Cell;
use std::sync::Mutex;

use super::Rank;
use super::bits;
use super::key::Key;
use super::long::Long;
use super::short::Short;
use super::split::Stretch;

/// What a thread remembers.
pub(super) struct Lately {
    short: Short,
    long: Long,
}

/// Most memories that are kept for threads to come, 24 MiB.
const LEFT: usize = 8;

/// What threads that have ended remembered. The next threads take it over: making new memories and
/// filling them takes longer than encoding 100 KB. Nobody waits for the lock: a process forked while
/// it was held would wait for ever.
#[expect(clippy::vec_box, reason = "they are not moved when a thread takes one over")]
static LEFT_BEHIND: Mutex<Vec<Box<Lately>>> = Mutex::new(Vec::new());

thread_local! {
    static LATELY: Own = const { Own(Cell::new(None)) };
}

/// What a thread remembers while it encodes nothing.
struct Own(Cell<Option<Box<Lately>>>);

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
    pub(super) fn take() -> Box<Self> {
        // The thread may be past the end of its storage.
        let own = LATELY.try_with(|lately| lately.0.take()).ok().flatten();
        own.or_else(|| LEFT_BEHIND.try_lock().ok()?.pop())
            .unwrap_or_else(|| Box::new(Self { short: Short::new(), long: Long::new() }))
    }

    /// Gives back what `take` took.
    pub(super) fn keep(self: Box<Self>) {
        // Past the end of the thread's storage nothing is kept: what is lost is only time.
        let _ = LATELY.try_with(|lately| lately.0.set(Some(self)));
    }

    /// Appends the encodings of pieces in a window of `text`, see `split::PieceSink`.
    pub(super) fn encode_stretch(
        &mut self,
        text: &[u8],
        stretch: &Stretch<'_>,
        out: &mut Vec<Rank>,
    ) {
        let mut start = stretch.begun;
        for end in bits::places(stretch.ends) {
            let key = Key::in_window(stretch.window, start, end);
            self.encode_keyed(key, text, stretch.start + start, stretch.start + end, out);
            start = end;
        }
    }

    /// Appends the encoding of the piece `text[start..end]`.
    #[inline]
    pub(super) fn encode(&mut self, text: &[u8], start: usize, end: usize, out: &mut Vec<Rank>) {
        self.encode_keyed(Key::of(text, start, end), text, start, end, out);
    }

    /// The same, of a piece with this key, if it has one.
    #[inline]
    fn encode_keyed(
        &mut self,
        key: Option<Key>,
        text: &[u8],
        start: usize,
        end: usize,
        out: &mut Vec<Rank>,
    ) {
        match key.and_then(|key| self.short.word(key)) {
            Some(token) => out.push(token),
            None => self.encode_no_word(key, text, start, end, out),
        }
    }

    #[inline(never)]
    fn encode_no_word(
        &mut self,
        key: Option<Key>,
        text: &[u8],
        start: usize,
        end: usize,
        out: &mut Vec<Rank>,
    ) {
        let Self { short, long } = self;
        let piece = &text[start..end];
        match key {
            Some(key) => short.encode(key, piece, out),
            None => long.encode(piece, out, |out| short.encode_in_segments(text, start, end, out)),
        }
    }
}
