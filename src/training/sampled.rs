//! Which tokens of each message the model samples.

use crate::chat::{FINAL, Role};
use crate::render::{self, Speaker};
use crate::span::MessageSpan;
use crate::tokenizer::{TokenId, special};

/// Finds, message by message, the part that is sampled, and tracks whether sampling continues.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    /// The model has ended a message, and nothing has stopped it yet.
    goes_on: bool,
}

impl Sampler {
    /// The sampled span of the next message, without the part that the prompt or the server wrote; `None` if the
    /// message is not the model's. It is one range, since sampling runs from the end of the prompt until it stops.
    pub(super) fn next(
        &mut self,
        tokens: &[TokenId],
        span: &MessageSpan,
        speaker: &Speaker,
    ) -> Option<MessageSpan> {
        let goes_on = std::mem::take(&mut self.goes_on);
        if speaker.role != Role::Assistant || span.message.is_none() {
            return None;
        }
        let mut sampled = *span;
        if !goes_on {
            sampled.start = span.start.saturating_add(render::beginning_len(Role::Assistant));
        }
        let is_ended = tokens.get(span.stop) == Some(&special::END);
        // When the model ended its answer, it wrote `<|return|>` here.
        let is_written_over = is_ended && speaker.channel.as_deref() == Some(FINAL);
        if is_written_over {
            sampled.end = span.stop;
        }
        self.goes_on = is_ended && !is_written_over;
        Some(sampled)
    }
}
