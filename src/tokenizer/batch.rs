//! Many texts at once, on all cores.

use std::num::NonZeroUsize;

use super::chunk::chunk_end;
use super::{SpecialSet, TokenId, Tokenizer};
use crate::error::{Error, Result};
use crate::workers::{self, Workers};

/// The tokens of many texts as flat arrays: text `i` has the tokens `offsets[i]..offsets[i + 1]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenBatch {
    tokens: Vec<TokenId>,
    offsets: Vec<usize>,
}

/// What is wrong with one of many texts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("text {index}: {error}")]
#[non_exhaustive]
pub struct TextError {
    /// The index of the text.
    pub index: usize,
    /// What is wrong with it.
    #[source]
    pub error: Error,
}

impl Default for TokenBatch {
    fn default() -> Self {
        Self { tokens: Vec::new(), offsets: vec![0] }
    }
}

impl TokenBatch {
    /// A batch of these arrays, with one offset more than there are texts. `None` if the offsets do not ascend or
    /// exceed the tokens.
    ///
    /// ```
    /// use openai_harmony::tokenizer::TokenBatch;
    ///
    /// let batch = TokenBatch::new(vec![12194, 13225], vec![0, 1, 1, 2]).unwrap();
    /// assert_eq!(batch.iter().collect::<Vec<_>>(), [&[12194][..], &[], &[13225]]);
    /// assert_eq!(TokenBatch::new(vec![12194], vec![0, 2]), None);
    /// ```
    pub fn new(tokens: Vec<TokenId>, offsets: Vec<usize>) -> Option<Self> {
        let is_valid = offsets.is_sorted() && *offsets.last()? <= tokens.len();
        is_valid.then_some(Self { tokens, offsets })
    }

    /// The tokens of all texts.
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// The token index where each text begins, and the end of the last: one more than there are texts.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Both arrays.
    pub fn into_arrays(self) -> (Vec<TokenId>, Vec<usize>) {
        (self.tokens, self.offsets)
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tokens of a text by its index.
    pub fn get(&self, index: usize) -> Option<&[TokenId]> {
        let end = *self.offsets.get(index.checked_add(1)?)?;
        self.tokens.get(self.offsets[index]..end)
    }

    /// The tokens of each text.
    pub fn iter(&self) -> impl Iterator<Item = &[TokenId]> {
        self.offsets.windows(2).map(|ends| &self.tokens[ends[0]..ends[1]])
    }

    /// Appends the next batch. Tokens after the last offset of a batch belong to a text that continues in the next one.
    #[doc(hidden)]
    pub fn append(&mut self, later: &Self) {
        let before = self.tokens.len();
        self.tokens.extend_from_slice(&later.tokens);
        self.offsets.extend(later.offsets[1..].iter().map(|offset| before + offset));
    }
}

impl Tokenizer {
    /// Encodes many texts by the rules of [`encode`](Self::encode), on the given number of threads or on all cores,
    /// which also share long texts. The result does not depend on the threads.
    ///
    /// ```
    /// use openai_harmony::tokenizer::{SpecialSet, Tokenizer};
    ///
    /// let tokenizer = Tokenizer::o200k_harmony();
    /// let (none, all) = (SpecialSet::None, SpecialSet::All);
    /// let batch = tokenizer.encode_batch(&["Hi", "", "Hello, world"], &none, &all, None)?;
    /// assert_eq!(batch.tokens(), [12194, 13225, 11, 2375]);
    /// assert_eq!(batch.offsets(), [0, 1, 1, 4]);
    /// assert_eq!(tokenizer.decode_batch(&batch, None)?, ["Hi", "", "Hello, world"]);
    ///
    /// let error = tokenizer.encode_batch(&["Hi", "<|end|>"], &none, &all, None).unwrap_err();
    /// assert_eq!(error.index, 1);
    /// # Ok::<(), openai_harmony::tokenizer::TextError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first error of [`encode`](Self::encode), in the order of the texts.
    pub fn encode_batch<T: AsRef<str> + Sync>(
        &self,
        texts: &[T],
        allowed: &SpecialSet<'_>,
        disallowed: &SpecialSet<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<TokenBatch, TextError> {
        let parts = self.encode_batch_on(&Workers::new(threads), texts, allowed, disallowed)?;
        let mut parts = parts.into_iter();
        let mut batch = parts.next().unwrap_or_default();
        parts.for_each(|part| batch.append(&part));
        Ok(batch)
    }

    /// [`encode_batch`](Self::encode_batch), as batches to be [appended](TokenBatch::append).
    #[doc(hidden)]
    pub fn encode_batch_on<T: AsRef<str> + Sync>(
        self,
        workers: &Workers,
        texts: &[T],
        allowed: &SpecialSet<'_>,
        disallowed: &SpecialSet<'_>,
    ) -> Result<Vec<TokenBatch>, TextError> {
        let encode = |batch: &mut TokenBatch, part: Part<'_>| {
            self.encode_checked_into(part.text, allowed, disallowed, &mut batch.tokens)?;
            if part.is_last {
                batch.offsets.push(batch.tokens.len());
            }
            Ok(())
        };
        // A caller's names may be any strings, and reach across parts of a text.
        let may_divide = !matches!(disallowed, SpecialSet::Names(_));
        let shares = shares(texts.iter().map(AsRef::as_ref), may_divide);
        gather(workers, shares, 1, |batch, share| {
            let mut parts = share.into_iter();
            parts.try_for_each(|part| {
                encode(batch, part).map_err(|error| TextError { index: part.index, error })
            })
        })
    }

    /// The texts of a batch, as from [`decode_lossy`](Self::decode_lossy), on the given number of threads or on all
    /// cores.
    ///
    /// # Errors
    ///
    /// The first error of [`decode_lossy`](Self::decode_lossy), in the order of the texts.
    pub fn decode_batch(
        &self,
        batch: &TokenBatch,
        threads: Option<NonZeroUsize>,
    ) -> Result<Vec<String>, TextError> {
        let decode = |texts: &mut Vec<_>, index| {
            let text = self.decode_lossy(batch.get(index).unwrap_or_default());
            text.map(|text| texts.push(text)).map_err(|error| TextError { index, error })
        };
        gather(&Workers::new(threads), 0..batch.len(), workers::ITEMS, decode)
            .map(|parts| parts.concat())
    }

    /// The bytes of some texts of a batch, in parts that follow each other.
    #[doc(hidden)]
    pub fn decode_batch_on(
        self,
        workers: &Workers,
        batch: &TokenBatch,
        range: std::ops::Range<usize>,
    ) -> Result<Vec<Vec<Vec<u8>>>, TextError> {
        gather(workers, range, workers::ITEMS, |texts: &mut Vec<_>, index| {
            let bytes = self.decode_bytes(batch.get(index).unwrap_or_default());
            bytes.map(|bytes| texts.push(bytes)).map_err(|error| TextError { index, error })
        })
    }
}

/// A text, or a part of a long one; the parts give the tokens of the whole text.
#[derive(Clone, Copy)]
struct Part<'t> {
    text: &'t str,
    /// The index of the text.
    index: usize,
    /// Whether the text ends here.
    is_last: bool,
}

/// Bytes that a thread encodes at a time, about 0.3 ms of work: starting the threads takes a tenth of two such shares.
const SHARE: usize = 1 << 16;

/// The parts of texts, together at least `SHARE` bytes. A long text is in parts of that size, if
/// that `may_divide` it.
fn shares<'t>(texts: impl Iterator<Item = &'t str>, may_divide: bool) -> Vec<Vec<Part<'t>>> {
    let (mut shares, mut share, mut size) = (Vec::new(), Vec::new(), 0);
    for (index, mut text) in texts.enumerate() {
        loop {
            let end = if may_divide { part_end(text, SHARE - size) } else { text.len() };
            let (part, rest) = text.split_at(end);
            share.push(Part { text: part, index, is_last: rest.is_empty() });
            size += part.len();
            if size >= SHARE / 2 {
                shares.push(std::mem::take(&mut share));
                size = 0;
            }
            if rest.is_empty() {
                break;
            }
            text = rest;
        }
    }
    if !share.is_empty() {
        shares.push(share);
    }
    shares
}

/// Where the first part of a text ends: at `most` at the latest, if the text can be divided before that.
fn part_end(text: &str, most: usize) -> usize {
    let (mut searched, mut len) = (0, most);
    while len < text.len() {
        let end = (searched..=len).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(searched);
        if let Some(end) = chunk_end(&text[..end], searched) {
            return end;
        }
        (searched, len) = (end, len + most);
    }
    text.len()
}

/// Works on items, `at_once` per thread, and gathers the results, or the first error.
fn gather<I: Send, T: Default + Send>(
    workers: &Workers,
    items: impl IntoIterator<Item = I>,
    at_once: usize,
    work: impl Fn(&mut T, I) -> Result<(), TextError> + Sync,
) -> Result<Vec<T>, TextError> {
    // The results of consecutive items, up to the first error.
    let add = |(made, error): &mut (T, Option<TextError>), _, item: I| {
        if error.is_none() {
            *error = work(made, item).err();
        }
    };
    let parts = workers.gather(items.into_iter().collect(), at_once, add).into_iter();
    parts.map(|(made, error)| error.map_or(Ok(made), Err)).collect()
}
