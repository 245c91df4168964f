//! The messages of a conversation, each rendered once, to count the tokens of some exchanges, to find those that fit
//! into a limit, and to assemble training examples.
//!
//! The tokens of a message are the same wherever it is. With an example for each exchange, rendering every example
//! again would encode a message once for each exchange after it.

use std::ops::Range;

use super::exchanges::ExchangeRanges;
use super::{AsMessage, RenderConfig, Rendered};
use super::{ThoughtPolicy, history};
use crate::error::Result;
use crate::tokenizer::Tokenizer;
use crate::tokenizer::special;

/// The messages of a conversation in their exchanges, and the tokens of each message.
pub(crate) struct Pieces<'m, M> {
    messages: &'m [M],
    pub(crate) exchanges: ExchangeRanges,
    thoughts: ThoughtPolicy,
    /// All messages, whatever the policy, as rendered if only the head declares functions.
    all: Rendered,
    /// The same if an exchange declares functions and the head does not: the system message then has one more line.
    with_functions: Option<Rendered>,
    /// `least[n]`: a lower bound of the tokens of the head and the first `n` exchanges.
    least: Vec<usize>,
}

/// The rendered messages of the head and some exchanges.
pub(crate) struct Selection<'p> {
    all: &'p Rendered,
    /// The messages that the policy keeps, by their indices.
    pub(crate) kept: Vec<usize>,
    /// How many tokens they have.
    pub(crate) tokens: usize,
    ends_in_answer: bool,
}

impl<'m, M: AsMessage> Pieces<'m, M> {
    /// Renders each message; a second time if only an exchange declares functions.
    pub(crate) fn new(
        tokenizer: Tokenizer,
        config: RenderConfig,
        messages: &'m [M],
        exchanges: ExchangeRanges,
    ) -> Result<Self> {
        let render = |has_functions| -> Result<Rendered> {
            let mut config = config;
            config.conversation_has_function_tools |= has_functions;
            super::all_messages(tokenizer, messages, config)
        };
        let declares = |messages: &[M]| messages.iter().any(super::has_function_tools);
        let has_functions = declares(&messages[exchanges.head.clone()]);
        let needs_both = !has_functions
            && !config.conversation_has_function_tools
            && declares(&messages[exchanges.head.end..]);
        let all = render(has_functions)?;
        let with_functions = needs_both.then(|| render(true)).transpose()?;
        let least = least_tokens(messages, &exchanges, config.thoughts, &all);
        Ok(Self { messages, exchanges, thoughts: config.thoughts, all, with_functions, least })
    }

    /// Selects the head and a range of exchanges, in linear time in their messages.
    pub(crate) fn select(&self, exchanges: Range<usize>) -> Selection<'_> {
        let range = self.exchanges.messages(exchanges);
        let head = self.exchanges.head.clone();
        let indices = || head.clone().chain(range.clone());
        let messages: Vec<&M> = indices().map(|index| &self.messages[index]).collect();
        let all = match &self.with_functions {
            Some(all) if messages.iter().copied().any(super::has_function_tools) => all,
            _ => &self.all,
        };
        let index_of = |(at, _)| if at < head.len() { at } else { at - head.len() + range.start };
        let kept: Vec<usize> = super::kept(&messages, self.thoughts).map(index_of).collect();
        let tokens = kept.iter().map(|&index| length(all, index)).sum();
        Selection {
            all,
            kept,
            tokens,
            ends_in_answer: super::ends_in_answer(messages.last().copied()),
        }
    }

    /// The number of last exchanges before `end` that fit together with the head, but never all of them; 0 if not even
    /// one fits. More exchanges have more tokens, so a binary search finds it.
    pub(crate) fn last_exchanges(&self, end: usize, max_tokens: usize) -> Range<usize> {
        let last = |count: usize| end - count..end;
        let fits = |count| self.select(last(count)).tokens <= max_tokens;
        last(largest(end.saturating_sub(1), fits))
    }

    /// Whether the lower bound shows that the head and the exchanges before `end` have more tokens than that.
    pub(crate) fn surely_exceeds(&self, end: usize, max_tokens: usize) -> bool {
        self.least[end] > max_tokens
    }
}

impl Selection<'_> {
    /// Joins the pieces into a training example, with its ending.
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

/// Counts, for the head and each number of exchanges, the tokens that are rendered wherever the conversation ends.
fn least_tokens<M: AsMessage>(
    messages: &[M],
    exchanges: &ExchangeRanges,
    thoughts: ThoughtPolicy,
    all: &Rendered,
) -> Vec<usize> {
    let mut is_sure = vec![false; messages.len()];
    if thoughts == ThoughtPolicy::DropBeforeFirstFinal {
        // A message dropped from a part may be kept in the whole conversation.
        for (message, is_sure) in messages.iter().zip(&mut is_sure) {
            *is_sure = !history::is_analysis(message);
        }
    } else {
        // The longer the conversation, the more is dropped.
        let messages: Vec<&M> = messages.iter().collect();
        for (index, _) in super::kept(&messages, thoughts) {
            is_sure[index] = true;
        }
    }
    let mut sums = vec![0];
    sums.extend(is_sure.iter().enumerate().scan(0, |sum, (index, &is_sure)| {
        *sum += if is_sure { length(all, index) } else { 0 };
        Some(*sum)
    }));
    let ends = exchanges.exchanges.iter().map(|exchange| exchange.end);
    [exchanges.head.end].into_iter().chain(ends).map(|end| sums[end]).collect()
}

/// How many tokens a message has.
fn length(all: &Rendered, index: usize) -> usize {
    let span = &all.spans[index];
    span.end - span.start
}

/// The largest number up to `most` that fits, if all smaller ones do, too; 0 if 1 does not.
fn largest(most: usize, mut fits: impl FnMut(usize) -> bool) -> usize {
    let (mut fitting, mut too_large, mut next) = (0, most + 1, 1);
    while fitting + 1 < too_large {
        if fits(next) {
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
    fitting
}
