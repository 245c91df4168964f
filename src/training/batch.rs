//! The result of rendering rows: flat arrays, and what became of each row.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::span::MessageSpan;
use crate::tokenizer::TokenId;
use crate::workers::{self, Workers};

/// The examples of many rows as flat arrays, in the order of the rows.
///
/// Example `i` is at `offsets[i]..offsets[i + 1]` of the tokens and of the loss mask.
///
/// Each row is accounted for: it has an example, or is in `dropped` or in `errors`. A row in `errors` is there
/// once and has no example. Where each turn is an example, a row may be in several lists, since only some of its turns
/// may be too long: each turn is an example, is listed in `dropped`, is counted in the row's error, or is fully masked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Batch {
    /// The tokens of all examples.
    pub tokens: Vec<TokenId>,
    /// A byte for each token: 1 to train on it, else 0.
    pub loss_mask: Vec<u8>,
    /// Where each example begins among the tokens, and the end of the last: one number more than there are examples.
    pub offsets: Vec<usize>,
    /// The index of the row that each example was made from.
    pub row: Vec<usize>,
    /// Per example: whether it is a preferred answer, for rows of [preferences](super::RowFormat::Preference); else
    /// empty.
    pub preferred: Vec<bool>,
    /// The spans of the messages of all examples. They count tokens from the example's first, and
    /// messages as the row has them after reading.
    pub spans: Vec<MessageSpan>,
    /// Where the spans of each example begin, and the end of the last.
    pub span_offsets: Vec<usize>,
    /// Bad rows and what is wrong with them. If only some turns of a row are too long, the others are examples.
    pub errors: Vec<(usize, Error)>,
    /// The row of each example that was dropped because it has more than `max_tokens`.
    pub dropped: Vec<usize>,
    /// The row of each example that lost turns to `max_tokens`.
    pub truncated: Vec<usize>,
    /// How many thoughts of whole conversations were not rendered, since a model does not see the thoughts of completed
    /// turns. No other messages are left out.
    pub dropped_thoughts: usize,
    /// Fields of messages and tools that do not reach the model, `messages[].name`, and how often each occurred.
    pub unused: BTreeMap<String, usize>,
}

/// One example of a [`Batch`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Example<'b> {
    /// The index of the row that it was made from.
    pub row: usize,
    /// Its tokens.
    pub tokens: &'b [TokenId],
    /// A byte for each token.
    pub loss_mask: &'b [u8],
    /// The spans of its messages.
    pub spans: &'b [MessageSpan],
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            tokens: Vec::new(),
            loss_mask: Vec::new(),
            offsets: vec![0],
            row: Vec::new(),
            preferred: Vec::new(),
            spans: Vec::new(),
            span_offsets: vec![0],
            errors: Vec::new(),
            dropped: Vec::new(),
            truncated: Vec::new(),
            dropped_thoughts: 0,
            unused: BTreeMap::new(),
        }
    }
}

impl Batch {
    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.row.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// An example by its index.
    pub fn get(&self, index: usize) -> Option<Example<'_>> {
        let tokens = between(&self.offsets, index)?;
        Some(Example {
            row: *self.row.get(index)?,
            tokens: self.tokens.get(tokens.clone())?,
            loss_mask: self.loss_mask.get(tokens)?,
            spans: self.spans.get(between(&self.span_offsets, index)?)?,
        })
    }

    /// The examples in their order.
    pub fn iter(&self) -> impl Iterator<Item = Example<'_>> {
        (0..self.len()).map_while(|index| self.get(index))
    }

    /// Joins consecutive batches.
    pub(super) fn joined(parts: Vec<Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut batch = parts.next().unwrap_or_default();
        for mut part in parts {
            batch.append(&mut part);
        }
        batch
    }

    /// Appends the examples of later rows.
    pub fn append(&mut self, later: &mut Self) {
        let (tokens, spans) = (self.tokens.len(), self.spans.len());
        self.offsets.extend(later.offsets.drain(1..).map(|offset| tokens + offset));
        self.span_offsets.extend(later.span_offsets.drain(1..).map(|offset| spans + offset));
        self.tokens.append(&mut later.tokens);
        self.loss_mask.append(&mut later.loss_mask);
        self.spans.append(&mut later.spans);
        self.row.append(&mut later.row);
        self.preferred.append(&mut later.preferred);
        self.errors.append(&mut later.errors);
        self.dropped.append(&mut later.dropped);
        self.truncated.append(&mut later.truncated);
        self.dropped_thoughts += later.dropped_thoughts;
        for (path, count) in std::mem::take(&mut later.unused) {
            *self.unused.entry(path).or_default() += count;
        }
    }

    pub(super) fn push(&mut self, example: Example<'_>) {
        self.tokens.extend_from_slice(example.tokens);
        self.loss_mask.extend_from_slice(example.loss_mask);
        self.spans.extend_from_slice(example.spans);
        self.offsets.push(self.tokens.len());
        self.span_offsets.push(self.spans.len());
        self.row.push(example.row);
    }
}

/// Renders rows of any kind in consecutive batches; the first row has the index `first_row`.
pub fn render_on<T: Send>(
    workers: &Workers,
    rows: Vec<T>,
    first_row: usize,
    add: impl Fn(&mut Batch, usize, T) -> Result<()> + Sync,
) -> Vec<Batch> {
    workers.gather(rows, workers::ITEMS, |batch: &mut Batch, index, row| {
        let index = first_row + index;
        if let Err(error) = add(batch, index, row) {
            batch.errors.push((index, error));
        }
    })
}

fn between(offsets: &[usize], index: usize) -> Option<Range<usize>> {
    Some(*offsets.get(index)?..*offsets.get(index.checked_add(1)?)?)
}
