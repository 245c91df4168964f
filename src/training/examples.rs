//! A conversation -> examples, as many and as long as is wanted.

use super::batch::{Batch, Example};
use super::turns::Turns;
use super::{Examples, LossMask, Overflow, RenderRows};
use crate::chat::Role;
use crate::error::{ErrorKind, Result};
use crate::render::{self, AsMessage, Ending, Rendered};
use crate::tokenizer::Tokenizer;

/// Makes examples of conversations. Any number of threads may share one.
pub(crate) struct ExampleMaker<'o> {
    pub(super) tokenizer: Tokenizer,
    pub(super) options: &'o RenderRows,
    /// What narrows the mask: in an example for each turn, the last alone is trained.
    mask: LossMask,
}

/// What a range of turns gives.
enum Made {
    Whole(Rendered),
    /// Without some of the turns.
    Truncated(Rendered),
    /// Nothing, since it is too long.
    Dropped,
}

impl<'o> ExampleMaker<'o> {
    pub(crate) fn new(tokenizer: Tokenizer, options: &'o RenderRows) -> Self {
        let mut mask = options.mask.clone();
        if options.examples == Examples::Turns {
            mask.turns = super::Turns::Last;
        }
        Self { tokenizer, options, mask }
    }

    /// Puts the examples of a conversation into the batch, all or, where one of them is an error,
    /// none.
    pub(crate) fn add<M: AsMessage>(
        &self,
        batch: &mut Batch,
        row: usize,
        messages: &[M],
    ) -> Result<()> {
        let turns = Turns::of(messages);
        let mut made = Vec::new();
        match self.options.examples {
            Examples::Conversation => made.push(self.make(messages, &turns, turns.turns.len())?),
            Examples::Turns => {
                let is_answered = |turn: &usize| {
                    let mut messages = messages[turns.turns[*turn].clone()].iter();
                    messages.any(|message| message.is_from(Role::Assistant))
                };
                for turn in (0..turns.turns.len()).filter(is_answered) {
                    made.push(self.make(messages, &turns, turn + 1)?);
                }
            }
        }
        let mut is_trained = false;
        for made in made {
            is_trained |= self.add_made(batch, row, &made);
        }
        if is_trained { Ok(()) } else { Err(ErrorKind::NothingToTrain.into()) }
    }

    /// Whether there was something to train, whatever became of it.
    fn add_made(&self, batch: &mut Batch, row: usize, made: &Made) -> bool {
        let (rendered, is_truncated) = match made {
            Made::Whole(rendered) => (rendered, false),
            Made::Truncated(rendered) => (rendered, true),
            Made::Dropped => {
                list_once(&mut batch.dropped, row);
                return true;
            }
        };
        let loss_mask = rendered.loss_mask(&self.mask);
        if !loss_mask.contains(&1) {
            return false;
        }
        if is_truncated {
            list_once(&mut batch.truncated, row);
        }
        let Rendered { tokens, spans, .. } = rendered;
        batch.push(Example { row, tokens, loss_mask: &loss_mask, spans });
        true
    }

    /// The example that ends with the turn before `end`.
    fn make<M: AsMessage>(&self, messages: &[M], turns: &Turns, end: usize) -> Result<Made> {
        let rendered = self.render(messages, turns, 0, end)?;
        let tokens = rendered.tokens.len();
        let Some(max_tokens) = self.options.max_tokens.filter(|&most| tokens > most) else {
            return Ok(Made::Whole(rendered));
        };
        match self.options.overflow {
            Overflow::Error => Err(ErrorKind::TooManyTokens { tokens, max_tokens }.into()),
            Overflow::Drop => Ok(Made::Dropped),
            Overflow::TruncateTurns => {
                self.truncate(messages, turns, end, &rendered, max_tokens).map(Made::Truncated)
            }
        }
    }

    /// As many turns as fit: the last ones if the last one alone is trained, else the first.
    fn truncate<M: AsMessage>(
        &self,
        messages: &[M],
        turns: &Turns,
        end: usize,
        whole: &Rendered,
        max_tokens: usize,
    ) -> Result<Rendered> {
        let keeps_last = self.mask.turns == super::Turns::Last;
        // Where the tokens of a turn begin. What is left out changes which thoughts are dropped, so this
        // tells only where to begin to try; fewer tokens than told there are only by 0.0.8's rule.
        let begin = |turn: usize| first_token(whole, turns.turns[turn].start);
        let head = begin(0);
        let behind = |turn: &usize| head + whole.tokens.len() - begin(*turn) > max_tokens;
        let before = |turn: &usize| begin(*turn) > max_tokens;
        let candidates: Vec<(usize, usize)> = if keeps_last {
            (1..end).skip_while(behind).map(|start| (start, end)).collect()
        } else {
            (1..end).rev().skip_while(before).map(|end| (0, end)).collect()
        };
        let mut tokens = whole.tokens.len();
        for (start, end) in candidates {
            let rendered = self.render(messages, turns, start, end)?;
            tokens = rendered.tokens.len();
            if tokens <= max_tokens {
                return Ok(rendered);
            }
        }
        Err(ErrorKind::TooManyTokens { tokens, max_tokens }.into())
    }

    /// Renders the head and a range of turns.
    fn render<M: AsMessage>(
        &self,
        messages: &[M],
        turns: &Turns,
        start: usize,
        end: usize,
    ) -> Result<Rendered> {
        let head = turns.head.len();
        let first = turns.turns.get(start).map_or(head, |turn| turn.start);
        let last = end.checked_sub(1).map_or(head, |last| turns.turns[last].end);
        let shown = messages[turns.head.clone()].iter().chain(&messages[first..last]);
        let (mut tokens, mut spans) = (Vec::new(), (Vec::new(), Vec::new()));
        let config = self.options.config;
        let ending = Ending::Training;
        render::conversation(self.tokenizer, shown, ending, config, &mut tokens, &mut spans)?;
        let (mut spans, speakers) = spans;
        for span in &mut spans {
            span.message =
                span.message.map(|index| if index < head { index } else { index - head + first });
        }
        Ok(Rendered { tokens, spans, speakers })
    }
}

/// The first token of the first message rendered that is not before `message`.
fn first_token(rendered: &Rendered, message: usize) -> usize {
    let mut spans = rendered.spans.iter();
    let behind = spans.find(|span| span.message.is_some_and(|index| index >= message));
    behind.map_or(rendered.tokens.len(), |span| span.start)
}

/// Rows come in order.
fn list_once(rows: &mut Vec<usize>, row: usize) {
    if rows.last() != Some(&row) {
        rows.push(row);
    }
}
