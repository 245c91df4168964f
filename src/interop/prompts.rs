//! Which prompts a turn renders: this library's, or those of an engine that renders the same body itself.
//!
//! A router that scores engines by their cached tokens needs the engine's own tokens, not better ones. Each row of the
//! table below is something that an engine does differently; the readers and the history consult it.

use crate::chat::{ANALYSIS, COMMENTARY, FINAL, Message, Role};
use crate::{HeaderStyle, RenderConfig, ThoughtPolicy, ToolSchemaStyle};

/// Which prompts a turn renders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Prompts {
    /// This library's: for engines that are given the tokens.
    #[default]
    Harmony,
    /// The prompts that vLLM 0.33 makes of the same body: for routers in front of it, and for caches that it fills.
    Vllm0_33,
}

/// How an engine's prompts differ.
#[derive(Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "a table: each is a difference of its own")]
pub(super) struct PromptForm {
    /// The parts of a message are encoded one by one, and not joined by an empty line.
    pub(super) keeps_parts: bool,
    /// Images, audio and files leave no placeholder.
    pub(super) drops_images: bool,
    /// Messages keep the body's order; otherwise each result follows its call, and a thought precedes its preamble.
    pub(super) keeps_order: bool,
    /// A call may have no result.
    pub(super) allows_open_calls: bool,
    /// If several system messages lead, only the first shares its message with the tools.
    pub(super) has_one_instructions: bool,
    /// All text of Responses' messages of the assistant is an answer, none a preamble.
    pub(super) knows_no_preambles: bool,
    /// A schema without properties is written as it is, not as that of a function without arguments.
    pub(super) keeps_empty_schemas: bool,
    /// The prompt does not mention response formats, users' names or the message to be continued.
    pub(super) omits_formats: bool,
    pub(super) omits_names: bool,
    pub(super) never_prefills: bool,
    /// Tools are declared even if `tool_choice` is `none`.
    pub(super) declares_on_none: bool,
    /// The accepted words of `reasoning_effort`, which is then the only field that decides the effort; empty: all
    /// words.
    pub(super) efforts: &'static [&'static str],
    /// The content type of calls, in place of `<|constrain|>json`.
    pub(super) call_content_type: Option<&'static str>,
    /// Arguments that are an object are written as Python's `json.dumps` writes them.
    pub(super) spaces_arguments: bool,
    /// How to render, unless the server decides otherwise.
    pub(super) config: Option<RenderConfig>,
    /// Whether the thoughts before the last answer are dropped, no matter who speaks after it.
    pub(super) drops_before_last_answer: bool,
}

const HARMONY: PromptForm = PromptForm {
    keeps_parts: false,
    drops_images: false,
    keeps_order: false,
    allows_open_calls: false,
    has_one_instructions: false,
    knows_no_preambles: false,
    keeps_empty_schemas: false,
    omits_formats: false,
    omits_names: false,
    never_prefills: false,
    declares_on_none: false,
    efforts: &[],
    call_content_type: None,
    spaces_arguments: false,
    config: None,
    drops_before_last_answer: false,
};

const VLLM_0_33: PromptForm = PromptForm {
    keeps_parts: true,
    drops_images: true,
    keeps_order: true,
    allows_open_calls: true,
    has_one_instructions: true,
    knows_no_preambles: true,
    keeps_empty_schemas: true,
    omits_formats: true,
    omits_names: true,
    never_prefills: true,
    declares_on_none: true,
    efforts: &["low", "medium", "high"],
    call_content_type: Some("json"),
    spaces_arguments: true,
    config: Some(RenderConfig {
        thoughts: ThoughtPolicy::Keep,
        conversation_has_function_tools: false,
        header_style: HeaderStyle::ResultInChannel,
        tool_schema: ToolSchemaStyle::Compat,
        validate: false,
    }),
    drops_before_last_answer: true,
};

impl Prompts {
    pub(super) const fn form(self) -> &'static PromptForm {
        match self {
            Self::Harmony => &HARMONY,
            Self::Vllm0_33 => &VLLM_0_33,
        }
    }
}

impl PromptForm {
    /// Puts messages in the body's order, and drops what this engine's prompts do not have.
    pub(super) fn arrange(&self, sources: &mut Vec<Option<usize>>, messages: &mut Vec<Message>) {
        if *self == HARMONY {
            // The history is in this order already, and every request passes through here.
            return;
        }
        let mut placed: Vec<_> = sources.drain(..).zip(messages.drain(..)).collect();
        if self.keeps_order {
            let rank = |message: &Message| !is_preamble(message);
            placed.sort_by_key(|(source, message)| (source.unwrap_or(usize::MAX), rank(message)));
        }
        if let Some(content_type) = self.call_content_type {
            let calls = placed.iter_mut().filter(|(_, message)| is_call(message));
            calls.for_each(|(_, message)| message.content_type = Some(content_type.to_owned()));
        }
        if self.drops_before_last_answer {
            let is_answer = |(_, message): &(_, Message)| message.channel.as_deref() == Some(FINAL);
            let mut before = placed.iter().rposition(is_answer).unwrap_or(0);
            placed.retain(|(_, message)| {
                let is_before = before > 0;
                before = before.saturating_sub(1);
                !(is_before && message.channel.as_deref() == Some(ANALYSIS))
            });
        }
        (*sources, *messages) = placed.into_iter().unzip();
    }
}

fn is_call(message: &Message) -> bool {
    message.author.role == Role::Assistant && message.recipient.is_some()
}

fn is_preamble(message: &Message) -> bool {
    message.author.role == Role::Assistant
        && message.recipient.is_none()
        && message.channel.as_deref() == Some(COMMENTARY)
}
