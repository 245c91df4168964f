//! Which tokens of each message the model samples.

use std::ops::Range;

use crate::chat::{FINAL, Role};
use crate::render::{self, Speaker};
use crate::span::MessageSpan;
use crate::tokenizer::{Rank, special};

/// The tokens of one message that the model samples: a range, since it goes on from where the
/// prompt ends until sampling stops. The header's are `start..content`, the stop token `stop..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sampled {
    pub(super) start: usize,
    pub(super) content: usize,
    pub(super) stop: usize,
    pub(super) end: usize,
}

impl Sampled {
    /// All that is sampled, with the header and the stop token or without.
    pub(super) fn range(self, headers: bool, stop_tokens: bool) -> Range<usize> {
        let start = if headers { self.start } else { self.content };
        let end = if stop_tokens { self.end } else { self.stop };
        start..end
    }
}

/// What is sampled of each message in turn, and whether sampling goes on after it.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    /// The model has ended a message, and nothing has stopped it yet.
    goes_on: bool,
}

impl Sampler {
    /// What is sampled of the next message; `None` if it is not the model's.
    pub(super) fn next(
        &mut self,
        tokens: &[Rank],
        span: &MessageSpan,
        speaker: &Speaker,
    ) -> Option<Sampled> {
        let goes_on = std::mem::take(&mut self.goes_on);
        if speaker.role != Role::Assistant || span.message.is_none() {
            return None;
        }
        let &MessageSpan { start, content, stop, end, .. } = span;
        let prompt = if goes_on { 0 } else { render::beginning_len(Role::Assistant) };
        let start = start.saturating_add(prompt);
        // What stood there when the model ended its answer was `<|return|>`.
        let is_written_over =
            tokens.get(stop) == Some(&special::END) && speaker.channel.as_deref() == Some(FINAL);
        let end = if is_written_over { stop } else { end };
        self.goes_on = tokens.get(stop) == Some(&special::END) && !is_written_over;
        Some(Sampled { start, content, stop, end })
    }
}
