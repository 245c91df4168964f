//! The messages of a conversation, each rendered once: how many tokens some of its turns have, which of them fit into
//! a limit, and examples to train on, put together of them.
//!
//! The tokens of a message are the same wherever it stands. With an example for each turn, rendering
//! every example anew would encode a message as often as there are turns after it.

use std::cell::OnceCell;
use std::ops::Range;

use super::turns::TurnRanges;
use super::{AnalysisPolicy, history};
use super::{AsMessage, RenderConfig, Rendered};
use crate::error::Result;
use crate::tokenizer::Tokenizer;
use crate::tokenizer::special;

/// The messages of a conversation in their turns, and the tokens of each message.
pub(crate) struct Pieces<'m, M> {
    tokenizer: Tokenizer,
    config: RenderConfig,
    messages: &'m [M],
    pub(crate) turns: TurnRanges,
    /// Where functions are declared, the system message says more. Only a row that declares some
    /// after its first turn needs both.
    without_functions: OnceCell<Result<Rendered>>,
    with_functions: OnceCell<Result<Rendered>>,
    /// `least[n]`: a lower bound of the tokens of the head and the first `n` turns.
    least: OnceCell<Vec<usize>>,
}

/// What is rendered of the head and some turns.
pub(crate) struct Shown<'p> {
    all: &'p Rendered,
    /// The messages that the policy keeps, by their indices.
    pub(crate) kept: Vec<usize>,
    /// How many tokens they have.
    pub(crate) tokens: usize,
    ends_in_answer: bool,
}

impl<'m, M: AsMessage> Pieces<'m, M> {
    pub(crate) fn new(
        tokenizer: Tokenizer,
        config: RenderConfig,
        messages: &'m [M],
        turns: TurnRanges,
    ) -> Self {
        Self {
            tokenizer,
            config,
            messages,
            turns,
            without_functions: OnceCell::new(),
            with_functions: OnceCell::new(),
            least: OnceCell::new(),
        }
    }

    /// The head and a range of turns. Costs a look at each of their messages.
    pub(crate) fn show(&self, turns: Range<usize>) -> Result<Shown<'_>> {
        let range = self.turns.messages(turns);
        let head = self.turns.head.clone();
        let indices = || head.clone().chain(range.clone());
        let messages: Vec<&M> = indices().map(|index| &self.messages[index]).collect();
        let all = self.all(messages.iter().copied().any(super::has_function_tools))?;
        let index_of = |(at, _)| if at < head.len() { at } else { at - head.len() + range.start };
        let kept: Vec<usize> = super::kept(&messages, self.config.analysis).map(index_of).collect();
        let tokens = kept.iter().map(|&index| length(all, index)).sum();
        Ok(Shown {
            all,
            kept,
            tokens,
            ends_in_answer: super::ends_in_answer(messages.last().copied()),
        })
    }

    /// As many of the last turns before `end` as fit beside the head, but not all of them; none if not even one
    /// does. More turns in front are more tokens, so that few numbers need be tried.
    pub(crate) fn last_turns(&self, end: usize, max_tokens: usize) -> Result<Range<usize>> {
        let last = |count: usize| end - count..end;
        let fits = |count| Ok(self.show(last(count))?.tokens <= max_tokens);
        Ok(last(largest(end.saturating_sub(1), fits)?))
    }

    /// All messages, whatever the policy.
    fn all(&self, has_functions: bool) -> Result<&Rendered> {
        let has_functions = has_functions || self.config.conversation_has_function_tools;
        let cell = if has_functions { &self.with_functions } else { &self.without_functions };
        cell.get_or_init(|| {
            let mut config = self.config;
            config.conversation_has_function_tools = has_functions;
            let (mut tokens, mut spans) = (Vec::new(), (Vec::new(), Vec::new()));
            super::all_messages(self.tokenizer, self.messages, config, &mut tokens, &mut spans)?;
            let (spans, speakers) = spans;
            Ok(Rendered { tokens, spans, speakers })
        })
        .as_ref()
        .map_err(Clone::clone)
    }
}

impl<M: AsMessage> Pieces<'_, M> {
    /// Whether the head and the turns before `end` have more tokens than that, as far as can be told
    /// without a look at each message.
    pub(crate) fn surely_exceeds(&self, end: usize, max_tokens: usize) -> Result<bool> {
        if let Some(least) = self.least.get() {
            return Ok(least[end] > max_tokens);
        }
        let least = self.count_least()?;
        Ok(self.least.get_or_init(|| least)[end] > max_tokens)
    }

    /// Counts the tokens that are rendered wherever the conversation ends.
    fn count_least(&self) -> Result<Vec<usize>> {
        // All examples have the head; without functions in it, the system message is the shorter one.
        let head = &self.messages[self.turns.head.clone()];
        let all = self.all(head.iter().any(super::has_function_tools))?;
        let mut is_sure = vec![false; self.messages.len()];
        if self.config.analysis == AnalysisPolicy::DropBeforeFirstFinal {
            // What it drops of a part may be kept in the whole.
            for (message, is_sure) in self.messages.iter().zip(&mut is_sure) {
                *is_sure = !history::is_analysis(message);
            }
        } else {
            // The longer the conversation, the more is dropped.
            let messages: Vec<&M> = self.messages.iter().collect();
            for (index, _) in super::kept(&messages, self.config.analysis) {
                is_sure[index] = true;
            }
        }
        let mut sums = vec![0];
        sums.extend(is_sure.iter().enumerate().scan(0, |sum, (index, &is_sure)| {
            *sum += if is_sure { length(all, index) } else { 0 };
            Some(*sum)
        }));
        let ends = self.turns.turns.iter().map(|turn| turn.end);
        Ok([self.turns.head.end].into_iter().chain(ends).map(|end| sums[end]).collect())
    }
}

impl Shown<'_> {
    /// Puts it together, as an example to train on ends.
    pub(crate) fn rendered(&self) -> Rendered {
        let mut tokens = Vec::with_capacity(self.tokens);
        let mut spans = Vec::with_capacity(self.kept.len());
        for &index in &self.kept {
            let mut span = self.all.spans[index];
            let from = tokens.len();
            tokens.extend_from_slice(&self.all.tokens[span.start..span.end]);
            for place in [&mut span.content, &mut span.stop, &mut span.end] {
                *place = *place - span.start + from;
            }
            span.start = from;
            spans.push(span);
        }
        if self.ends_in_answer
            && let Some(last) = tokens.last_mut()
        {
            *last = special::RETURN;
        }
        let speakers = self.kept.iter().map(|&index| self.all.speakers[index].clone()).collect();
        Rendered { tokens, spans, speakers }
    }
}

/// How many tokens a message has.
fn length(all: &Rendered, index: usize) -> usize {
    let span = &all.spans[index];
    span.end - span.start
}

/// The largest number up to `most` that fits, where all smaller ones do, too; 0 if 1 does not.
fn largest(most: usize, mut fits: impl FnMut(usize) -> Result<bool>) -> Result<usize> {
    let (mut fitting, mut too_large, mut next) = (0, most + 1, 1);
    while fitting + 1 < too_large {
        if fits(next)? {
            fitting = next;
        } else {
            too_large = next;
        }
        next = if too_large > most {
            // Trying a number costs as much as it is large.
            (2 * fitting).clamp(fitting + 1, most.max(fitting + 1))
        } else {
            fitting.midpoint(too_large)
        };
    }
    Ok(fitting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_that_fits_is_found() {
        for most in 0..40 {
            for limit in 0..=most {
                let mut tried = Vec::new();
                let found = largest(most, |count| {
                    tried.push(count);
                    assert!((1..=most).contains(&count));
                    Ok(count <= limit)
                });
                assert_eq!(found, Ok(limit), "of {most}");
                assert!(tried.iter().all(|&count| count <= 2 * limit.max(1)), "{tried:?}");
            }
        }
    }
}
