//! The next prompt, from tokens only.

use super::breaks::{self, Break};
use super::options::ExtendOptions;
use super::sampled::{self, End};
use crate::chat::{Message, Role};
use crate::error::Result;
use crate::render::{self, RenderEnd, Rendered, ThoughtPolicy};
use crate::tokenizer::{TokenId, special};
use crate::{HarmonyEncoding, ParserOptions, StreamableParser};

/// The next prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extension {
    /// The next prompt is the prompt, the sampled tokens, and then `added`.
    Extended {
        /// The stop token if sampling was cut off, the new messages, and the beginning of the assistant's message.
        added: Vec<TokenId>,
    },
    /// The prompt cannot be extended.
    Broken {
        /// Why.
        reason: Break,
        /// The whole conversation, rendered again.
        tokens: Vec<TokenId>,
    },
}

impl HarmonyEncoding {
    /// The prompt that follows a prompt, the tokens sampled after it, and new messages: tool results, questions.
    ///
    /// Prompt and sampled tokens stay unchanged wherever the format allows it. The cost depends on the open message,
    /// the sampled tokens and the new messages; where thoughts may have to be dropped, after an answer or before a
    /// question, the whole prompt is read, too.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRollout`](crate::ErrorKind::InvalidRollout): the prompt does not end with an open message of
    /// the assistant; nothing was sampled, an id does not exist, or tokens follow a stop token; a new message is the
    /// assistant's, or a result without a call. Also whatever rendering the new messages refuses.
    ///
    /// ```
    /// use openai_harmony::chat::{Author, Message, Role};
    /// use openai_harmony::rollout::{ExtendOptions, Extension};
    /// use openai_harmony::{RenderEnd, HarmonyEncodingName, RenderConfig, load_harmony_encoding};
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let question = [Message::from_role_and_content(Role::User, "Rain in Oslo?")];
    /// let ending = RenderEnd::Completion(Role::Assistant);
    /// let prompt = encoding.render_conversation_with(&question, ending, &RenderConfig::new())?;
    /// // A header that the renderer would write differently is kept.
    /// let sampled = encoding.tokenizer().encode_with_special_tokens(
    ///     r#"<|channel|>commentary to=functions.rain<|message|>{"in": "Oslo"}<|call|>"#,
    /// );
    /// let result = Message::from_author_and_content(Author::new(Role::Tool, "functions.rain"), "yes")
    ///     .with_recipient("assistant")
    ///     .with_channel("commentary");
    /// let Extension::Extended { added } =
    ///     encoding.extend(&prompt, &sampled, &[result], &ExtendOptions::new())?
    /// else {
    ///     panic!("extended")
    /// };
    /// assert_eq!(
    ///     encoding.tokenizer().decode_utf8(added)?,
    ///     "<|start|>functions.rain to=assistant<|channel|>commentary<|message|>yes<|end|><|start|>assistant",
    /// );
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn extend(
        &self,
        prompt: &[TokenId],
        sampled: &[TokenId],
        messages: &[Message],
        options: &ExtendOptions,
    ) -> Result<Extension> {
        let open = sampled::open_message(prompt, *self)?;
        sampled::check(sampled, *self)?;
        let read = sampled::read(&prompt[open..], sampled, &options.tools, *self)?;
        breaks::check(messages, &read, options)?;
        let held = || self.read_held(&prompt[..open]);
        let Some(reason) = breaks::find(&read, messages, options, held)? else {
            let added = self.added(read.end, messages, options)?.tokens;
            return Ok(Extension::Extended { added });
        };
        let mut conversation = held()?;
        if reason == Break::ToolsDeclared {
            conversation.first_mut().into_iter().for_each(render::announce_function_tools);
        }
        conversation.extend(read.messages.iter().chain(messages).cloned());
        let ending = RenderEnd::Completion(Role::Assistant);
        let render = options.config.with_validate(false);
        let tokens = self.render_conversation_with(&conversation, ending, &render)?;
        Ok(Extension::Broken { reason, tokens })
    }

    /// The tokens after the sampled ones. Spans count from there, and their messages among the new ones, which were
    /// checked.
    pub(super) fn added(
        self,
        end: End,
        messages: &[Message],
        options: &ExtendOptions,
    ) -> Result<Rendered> {
        let render = options.config.with_thoughts(ThoughtPolicy::Keep).with_validate(false);
        let ending = RenderEnd::Completion(Role::Assistant);
        let mut rendered = self.render_with_spans(messages, ending, &render)?;
        if let End::CutOff(stop) = end {
            rendered.tokens.insert(0, stop);
            rendered.spans.iter_mut().for_each(|span| *span = span.behind(1));
        }
        Ok(rendered)
    }

    /// The messages of a prompt before its open one. After malformed tokens it matters that a message follows.
    fn read_held(self, before: &[TokenId]) -> Result<Vec<Message>> {
        let mut parser = StreamableParser::with_options(self, None, &ParserOptions::lenient())?;
        parser.feed(before)?;
        parser.feed(&[special::START])?;
        Ok(parser.into_messages())
    }
}
