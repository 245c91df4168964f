//! Loss masks, and options that narrow them.

use super::sampled::Sampler;
use crate::chat::Role;
use crate::options::{choices, options};
use crate::render::{Rendered, Speaker};
use crate::span::MessageSpan;

/// Which of the model's turns are trained. A turn ends at a message of the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Turns {
    /// All of them.
    #[default]
    All,
    /// Everything after the last rendered message of the user, or everything if there is none. If the conversation ends
    /// with a user's message, this leaves nothing.
    Last,
}

choices! {
    Turns, "'all' or 'last'": "all" All, "last" Last;
}

options! {
    /// Which of the tokens that the model samples are trained. The default is all of them, and each option excludes
    /// some; no option adds a token that the model does not sample.
    ///
    /// ```
    /// use openai_harmony::chat::{Message, Role};
    /// use openai_harmony::training::{LossMask, Turns};
    /// use openai_harmony::{ThoughtPolicy, RenderEnd, HarmonyEncodingName, RenderConfig};
    ///
    /// let encoding = openai_harmony::load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let conversation = [
    ///     Message::from_role_and_content(Role::User, "2 + 2?"),
    ///     Message::from_role_and_content(Role::Assistant, "Easy.").with_channel("analysis"),
    ///     Message::from_role_and_content(Role::Assistant, "Four.").with_channel("final"),
    /// ];
    /// let config = RenderConfig::new().with_thoughts(ThoughtPolicy::Drop);
    /// let rendered = encoding.render_with_spans(&conversation, RenderEnd::Training, &config)?;
    /// let trained = |mask: &LossMask| {
    ///     let mask = rendered.loss_mask(mask);
    ///     let tokens = rendered.tokens.iter().zip(mask).filter(|(_, mask)| *mask == 1);
    ///     encoding.tokenizer().decode_utf8(tokens.map(|(token, _)| *token).collect::<Vec<_>>())
    /// };
    /// assert_eq!(
    ///     trained(&LossMask::new())?,
    ///     "<|channel|>analysis<|message|>Easy.<|end|>\
    ///      <|start|>assistant<|channel|>final<|message|>Four.<|return|>",
    /// );
    /// let answer = LossMask::new().with_channels(["final"]).with_turns(Turns::Last);
    /// assert_eq!(
    ///     trained(&answer)?,
    ///     "<|start|>assistant<|channel|>final<|message|>Four.<|return|>",
    /// );
    /// assert_eq!(trained(&answer.with_headers(false).with_stop_tokens(false))?, "Four.");
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    pub struct LossMask {
        /// The channels of the messages that are trained; `None` for all messages, including those without a channel.
        pub channels: Option<Vec<String>>
            => with_channels(names: impl IntoIterator<Item = impl Into<String>>)
                Some(names.into_iter().map(Into::into).collect()),
        /// Which turns are trained.
        pub turns: Turns => with_turns,
        /// Whether headers are trained: channel, recipient and content type, from where sampling begins to
        /// `<|message|>`.
        pub headers: bool = true => with_headers,
        /// Whether stop tokens are trained.
        pub stop_tokens: bool = true => with_stop_tokens,
    }
}

impl LossMask {
    /// All tokens that the model samples.
    pub fn new() -> Self {
        Self::default()
    }

    fn takes(&self, speaker: &Speaker) -> bool {
        let Some(channels) = &self.channels else { return true };
        speaker.channel.as_ref().is_some_and(|channel| channels.iter().any(|one| one == channel))
    }
}

impl Rendered {
    /// The loss mask: a byte for each token, 1 if the model would have sampled the token and `mask` includes it, else
    /// 0. See [`training`](crate::training) for which tokens these are.
    ///
    /// A mask may leave nothing: check it with `contains(&1)`. It follows `tokens` and `spans`, even if a caller has
    /// changed them; spans outside the tokens are skipped. Costs a write for each token.
    ///
    /// ```
    /// use openai_harmony::chat::{Message, Role};
    /// use openai_harmony::training::LossMask;
    /// use openai_harmony::{RenderEnd, HarmonyEncodingName, RenderConfig};
    ///
    /// let encoding = openai_harmony::load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let conversation = [
    ///     Message::from_role_and_content(Role::User, "Hi"),
    ///     Message::from_role_and_content(Role::Assistant, "Hi").with_channel("final"),
    /// ];
    /// let config = RenderConfig::new();
    /// let rendered = encoding.render_with_spans(&conversation, RenderEnd::Training, &config)?;
    /// // <|start|>user<|message|>Hi<|end|><|start|>assistant, then the model's own tokens.
    /// assert_eq!(rendered.loss_mask(&LossMask::new()), [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn loss_mask(&self, mask: &LossMask) -> Vec<u8> {
        let first_span = match mask.turns {
            Turns::All => 0,
            Turns::Last => self.last_user(),
        };
        let mut bytes = vec![0; self.tokens.len()];
        let mut rule = Sampler::default();
        for (index, (span, speaker)) in self.spans.iter().zip(&self.speakers).enumerate() {
            // Runs for every message, since what is sampled depends on the one before.
            let Some(sampled) = rule.next(&self.tokens, span, speaker) else { continue };
            if index < first_span || !mask.takes(speaker) {
                continue;
            }
            let start = if mask.headers { sampled.start } else { sampled.content };
            let end = if mask.stop_tokens { sampled.end } else { sampled.stop };
            if let Some(trained) = bytes.get_mut(start..end) {
                trained.fill(1);
            }
        }
        bytes
    }

    /// The span of the user's last message, which the model does not sample; one that has only begun does not count.
    fn last_user(&self) -> usize {
        let is_user = |(span, speaker): (&MessageSpan, &Speaker)| {
            speaker.role == Role::User && span.message.is_some()
        };
        self.spans.iter().zip(&self.speakers).rposition(is_user).unwrap_or(0)
    }
}
