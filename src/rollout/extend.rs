//! The next prompt of tokens alone.

use super::breaks::{self, Break};
use super::config::ExtendConfig;
use super::sampled::{self, End, Sampled};
use crate::chat::{FINAL, Message, Role};
use crate::error::Result;
use crate::render::{self, AnalysisPolicy, RenderEnd, Rendered};
use crate::tokenizer::{TokenId, special};
use crate::{HarmonyEncoding, ParseConfig, StreamableParser};

/// The next prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extension {
    /// The prompt, the sampled tokens, and then these.
    Extended {
        /// The stop token if sampling was cut off, the new messages, and the beginning of the assistant's message.
        added: Vec<TokenId>,
    },
    /// The prompt cannot be extended.
    Broken {
        /// Why.
        reason: Break,
        /// The whole conversation, rendered anew.
        tokens: Vec<TokenId>,
    },
}

impl HarmonyEncoding {
    /// The prompt that follows a prompt, what was sampled behind it, and new messages: results of tools, questions.
    ///
    /// Both stay as they are wherever the format allows it. The cost is that of the open message, the sampled tokens
    /// and the new messages; where thoughts may have to be dropped, also that of the turn that ends, or, by
    /// 0.0.8's policy, of all up to the first answer.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRollout`](crate::ErrorKind::InvalidRollout): the prompt does not end with an open message
    /// of the assistant; nothing was sampled, an id that does not exist, or tokens behind a stop token; a message of
    /// the assistant, or a result without a call. Whatever rendering the new messages refuses.
    ///
    /// ```
    /// use openai_harmony::chat::{Author, Message, Role};
    /// use openai_harmony::rollout::{ExtendConfig, Extension};
    /// use openai_harmony::{RenderEnd, HarmonyEncodingName, RenderConfig, load_harmony_encoding};
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let question = [Message::from_role_and_content(Role::User, "Rain in Oslo?")];
    /// let ending = RenderEnd::Completion(Role::Assistant);
    /// let prompt = encoding.render_conversation_with(&question, ending, &RenderConfig::new())?;
    /// // A header that the renderer would spell otherwise stays.
    /// let sampled = encoding.tokenizer().encode_with_special_tokens(
    ///     r#"<|channel|>commentary to=functions.rain<|message|>{"in": "Oslo"}<|call|>"#,
    /// );
    /// let result = Message::from_author_and_content(Author::new(Role::Tool, "functions.rain"), "yes");
    /// let Extension::Extended { added } =
    ///     encoding.extend(&prompt, &sampled, &[result], &ExtendConfig::new())?
    /// else {
    ///     panic!("extended")
    /// };
    /// assert_eq!(
    ///     encoding.tokenizer().decode_utf8(added)?,
    ///     "<|start|>functions.rain<|message|>yes<|end|><|start|>assistant",
    /// );
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn extend(
        &self,
        prompt: &[TokenId],
        sampled: &[TokenId],
        messages: &[Message],
        config: &ExtendConfig,
    ) -> Result<Extension> {
        let open = sampled::open_message(prompt, *self)?;
        let read = sampled::read(&prompt[open..], sampled, &config.tools, *self)?;
        breaks::check(messages, &read)?;
        let before = &prompt[..open];
        let reason = breaks::of_end(read.end, messages, config)
            .map_or_else(
                || self.breaks(before, &read, messages, config).transpose(),
                |b| Some(Ok(b)),
            )
            .transpose()?;
        let Some(reason) = reason else {
            return Ok(Extension::Extended {
                added: self.added(read.end, messages, config)?.tokens,
            });
        };
        let mut conversation = self.read_prompt(before)?;
        if reason == Break::ToolsDeclared {
            conversation.iter_mut().for_each(render::announce_function_tools);
        }
        conversation.extend(read.messages.iter().chain(messages).cloned());
        let ending = RenderEnd::Completion(Role::Assistant);
        let tokens = self.render_conversation_with(&conversation, ending, &config.render)?;
        Ok(Extension::Broken { reason, tokens })
    }

    /// What of the conversation breaks the prompt. Only as much of it is read as the policy asks for.
    fn breaks(
        self,
        before: &[TokenId],
        sampled: &Sampled,
        new: &[Message],
        config: &ExtendConfig,
    ) -> Result<Option<Break>> {
        if new.iter().any(render::has_function_tools)
            && breaks::declares_tools(&self.read_prompt(before)?, new, config)
        {
            return Ok(Some(Break::ToolsDeclared));
        }
        let mut latest = sampled.messages.iter().rev();
        let is_answered =
            latest.find(|message| message.author.role == Role::Assistant).is_some_and(is_answer);
        // The model may have made one up.
        let has_user =
            sampled.messages.iter().chain(new).any(|message| message.author.role == Role::User);
        let before = match config.render.analysis {
            AnalysisPolicy::DropCompletedTurns if has_user => self.open_turn(before)?,
            AnalysisPolicy::DropBeforeFirstFinal if is_answered => {
                self.up_to_first_final(before)?
            }
            _ => return Ok(None),
        };
        let conversation: Vec<&Message> =
            before.iter().chain(&sampled.messages).chain(new).collect();
        Ok(breaks::drops_thoughts(&conversation, config).then_some(Break::ThoughtsDropped))
    }

    /// What goes behind the sampled tokens. Spans count from there, and messages among the new ones.
    pub(super) fn added(
        self,
        end: End,
        messages: &[Message],
        config: &ExtendConfig,
    ) -> Result<Rendered> {
        let render = config.render.with_analysis(AnalysisPolicy::KeepAll);
        let ending = RenderEnd::Completion(Role::Assistant);
        let mut rendered = self.render_with_spans(messages, ending, &render)?;
        if let End::CutOff(stop) = end {
            rendered.tokens.insert(0, stop);
            rendered.spans.iter_mut().for_each(|span| *span = span.behind(1));
        }
        Ok(rendered)
    }

    /// All messages of a prompt, or of a part of one.
    fn read_prompt(self, prompt: &[TokenId]) -> Result<Vec<Message>> {
        self.parse_messages_with(prompt.iter().copied(), None, &ParseConfig::lenient())
    }

    /// The messages of a part of a prompt that another message follows: malformed tokens at its end mean something
    /// else at the end of all.
    fn read_part(self, part: &[TokenId]) -> Result<Vec<Message>> {
        let mut parser = StreamableParser::with_config(self, None, &ParseConfig::lenient())?;
        parser.feed(part)?;
        parser.feed(&[special::START])?;
        Ok(parser.into_messages())
    }

    /// The messages of the turn that is open: from the question on behind which there is no answer, or from the last
    /// one, since nothing of what it answers was dropped yet.
    fn open_turn(self, before: &[TokenId]) -> Result<Vec<Message>> {
        let user = self.tokenizer().encode_ordinary(Role::User.as_str());
        let is_user = |&start: &usize| {
            before[start] == special::START && before[start + 1..].starts_with(&user)
        };
        let mut messages = Vec::new();
        let mut end = before.len();
        for start in (0..before.len()).rev().filter(is_user).chain([0]) {
            let mut earlier = self.read_part(&before[start..end])?;
            if end < before.len() && earlier.iter().any(is_answer) {
                break;
            }
            earlier.append(&mut messages);
            (messages, end) = (earlier, start);
        }
        Ok(messages)
    }

    /// The messages up to the first one on `final`.
    fn up_to_first_final(self, before: &[TokenId]) -> Result<Vec<Message>> {
        const AT_ONCE: usize = 4096;
        let mut parser = StreamableParser::with_config(self, None, &ParseConfig::lenient())?;
        for part in before.chunks(AT_ONCE) {
            parser.feed(part)?;
            if parser.messages().iter().any(|message| message.channel.as_deref() == Some(FINAL)) {
                return Ok(parser.into_messages());
            }
        }
        parser.finish()?;
        Ok(parser.into_messages())
    }
}

/// Whether it is the assistant's on `final`.
pub(super) fn is_answer(message: &Message) -> bool {
    message.author.role == Role::Assistant && message.channel.as_deref() == Some(FINAL)
}
