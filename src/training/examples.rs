//! A conversation -> examples of the requested number and length. Options and errors speak of turns, as trainers do; in
//! this code they are exchanges, since a [`Turn`](crate::interop::Turn) is a request.

use super::batch::{Batch, Example};
use super::{ExampleUnit, LossMask, Overflow, RowOptions, Turns};
use crate::HarmonyEncoding;
use crate::chat::Role;
use crate::error::{ErrorKind, Result};
use crate::render::{self, AsMessage, ExchangeRanges, Pieces, RenderEnd, Rendered, Selection};

/// Makes examples of conversations. Any number of threads may share one.
pub struct ExampleMaker<'o> {
    pub(super) encoding: HarmonyEncoding,
    pub(super) options: &'o RowOptions,
    /// The mask; where each exchange is an example, only the last exchange is trained.
    mask: LossMask,
}

/// Where the examples of a row go.
struct Row<'b> {
    batch: &'b mut Batch,
    index: usize,
    /// Per message: whether it is left out of the loss.
    untrained: &'b [bool],
    too_long: Option<TooLong>,
}

/// Examples of a row that are too long and cannot be shortened.
struct TooLong {
    /// How many tokens the first has.
    tokens: usize,
    /// The exchange at whose end the first ends, where each is an example.
    exchange: Option<usize>,
    /// How many more examples are too long.
    later: usize,
}

impl<'o> ExampleMaker<'o> {
    /// Makes examples by these options.
    pub fn new(encoding: HarmonyEncoding, options: &'o RowOptions) -> Self {
        let mut mask = options.mask.clone();
        if options.examples == ExampleUnit::Turns {
            mask.turns = Turns::Last;
        }
        Self { encoding, options, mask }
    }

    /// Puts the examples of a conversation into the batch. An example that is too long is an error; the other exchanges
    /// still become examples. Any other error comes before the first example, so there are none.
    ///
    /// `untrained`: per message, whether the row leaves it out of the loss; empty leaves out none.
    pub(crate) fn add<M: AsMessage>(
        &self,
        batch: &mut Batch,
        index: usize,
        messages: &[M],
        untrained: &[bool],
    ) -> Result<()> {
        let before = (batch.len(), batch.dropped.len());
        let mut row = Row { batch, index, untrained, too_long: None };
        match self.options.examples {
            ExampleUnit::Conversation => self.add_conversation(&mut row, messages)?,
            ExampleUnit::Turns => self.add_turns(&mut row, messages)?,
        }
        // The remaining exchanges are fully masked.
        let has_something = (row.batch.len(), row.batch.dropped.len()) != before;
        match row.too_long {
            Some(too_long) => Err(self.too_many(&too_long)),
            None if has_something => Ok(()),
            None => Err(ErrorKind::NothingToTrain.into()),
        }
    }

    fn add_conversation<M: AsMessage>(&self, row: &mut Row<'_>, messages: &[M]) -> Result<()> {
        let config = self.options.config;
        let ending = RenderEnd::Training;
        let rendered = render::conversation(self.encoding.tokenizer(), messages, ending, config)?;
        match self.options.max_tokens {
            Some(max_tokens) if rendered.tokens.len() > max_tokens => {
                if self.options.overflow == Overflow::TruncateTurns {
                    let pieces = self.pieces(messages)?;
                    self.add_truncated(row, None, &pieces, pieces.exchanges.len(), max_tokens);
                } else {
                    self.leave_out(row, None, || rendered.tokens.len());
                }
            }
            _ => {
                let shown = rendered.spans.iter().filter(|span| span.message.is_some()).count();
                if self.add_example(row, &rendered) {
                    row.batch.dropped_thoughts += messages.len().saturating_sub(shown);
                }
            }
        }
        Ok(())
    }

    fn add_turns<M: AsMessage>(&self, row: &mut Row<'_>, messages: &[M]) -> Result<()> {
        let pieces = self.pieces(messages)?;
        for end in 1..=pieces.exchanges.len() {
            let mut last = messages[pieces.exchanges.messages(end - 1..end)].iter();
            if !last.any(|message| message.is_from(Role::Assistant)) {
                continue;
            }
            let Some(max_tokens) = self.options.max_tokens else {
                self.add_example(row, &pieces.select(0..end).rendered());
                continue;
            };
            if let Some(selection) = whole(&pieces, end, max_tokens) {
                self.add_example(row, &selection.rendered());
                continue;
            }
            let exchange = Some(end - 1);
            if self.options.overflow == Overflow::TruncateTurns {
                self.add_truncated(row, exchange, &pieces, end, max_tokens);
            } else {
                self.leave_out(row, exchange, || pieces.select(0..end).tokens);
            }
        }
        Ok(())
    }

    fn pieces<'m, M: AsMessage>(&self, messages: &'m [M]) -> Result<Pieces<'m, M>> {
        Pieces::new(
            self.encoding.tokenizer(),
            self.options.config,
            messages,
            ExchangeRanges::of(messages),
        )
    }

    /// Handles an example that is too long; `exchange` is its last exchange, where each is an example.
    fn leave_out(
        &self,
        row: &mut Row<'_>,
        exchange: Option<usize>,
        tokens: impl FnOnce() -> usize,
    ) {
        match self.options.overflow {
            Overflow::Drop => row.batch.dropped.push(row.index),
            _ => row.note_too_long(exchange, tokens),
        }
    }

    /// Adds as many exchanges before `end` as fit: the last ones if only the last one is trained, else the first.
    fn add_truncated<M: AsMessage>(
        &self,
        row: &mut Row<'_>,
        exchange: Option<usize>,
        pieces: &Pieces<'_, M>,
        end: usize,
        max_tokens: usize,
    ) {
        // The exchanges that fit, and the shortest selection, to report if none do.
        let (kept, shortest) = if self.mask.turns == Turns::Last {
            (pieces.last_exchanges(end, max_tokens), end.saturating_sub(1)..end)
        } else {
            (0..first_exchanges(pieces, end, max_tokens), 0..end.min(1))
        };
        if kept.is_empty() {
            row.note_too_long(exchange, || pieces.select(shortest).tokens);
        } else if self.add_example(row, &pieces.select(kept).rendered()) {
            row.batch.truncated.push(row.index);
        }
    }

    /// Adds an example, unless the mask leaves nothing of it.
    fn add_example(&self, row: &mut Row<'_>, rendered: &Rendered) -> bool {
        let mut loss_mask = rendered.loss_mask(&self.mask);
        for span in &rendered.spans {
            let is_untrained = |message: usize| row.untrained.get(message) == Some(&true);
            if span.message.is_some_and(is_untrained)
                && let Some(mask) = loss_mask.get_mut(span.start..span.end)
            {
                mask.fill(0);
            }
        }
        let is_trained = loss_mask.contains(&1);
        if is_trained {
            let Rendered { tokens, spans, .. } = rendered;
            row.batch.push(Example { row: row.index, tokens, loss_mask: &loss_mask, spans });
        }
        is_trained
    }

    fn too_many(&self, too_long: &TooLong) -> crate::Error {
        let &TooLong { tokens, exchange, later } = too_long;
        let max_tokens = self.options.max_tokens.unwrap_or(usize::MAX);
        let is_single_turn = self.options.overflow == Overflow::TruncateTurns;
        ErrorKind::TooManyTokens { tokens, max_tokens, turn: exchange, later, is_single_turn }
            .into()
    }
}

impl Row<'_> {
    /// Counts the tokens of the first only: each count reads all messages.
    fn note_too_long(&mut self, exchange: Option<usize>, tokens: impl FnOnce() -> usize) {
        match &mut self.too_long {
            Some(first) => first.later += 1,
            none => *none = Some(TooLong { tokens: tokens(), exchange, later: 0 }),
        }
    }
}

/// The head and the exchanges before `end`, if they fit.
fn whole<'p, M: AsMessage>(
    pieces: &'p Pieces<'_, M>,
    end: usize,
    max_tokens: usize,
) -> Option<Selection<'p>> {
    // Otherwise each exchange of a long conversation would read all messages before it.
    if pieces.surely_exceeds(end, max_tokens) {
        return None;
    }
    Some(pieces.select(0..end)).filter(|selection| selection.tokens <= max_tokens)
}

/// How many of the first exchanges before `end`, but not all, fit. Adding an exchange may reduce the tokens: it
/// completes the previous one, whose thoughts are then dropped. So all numbers are tried, from the largest.
fn first_exchanges<M: AsMessage>(pieces: &Pieces<'_, M>, end: usize, max_tokens: usize) -> usize {
    (1..end).rev().find(|&count| whole(pieces, count, max_tokens).is_some()).unwrap_or(0)
}
