//! Options of rollouts.

use crate::chat::{Content, Message};
use crate::interop::Turn;
use crate::render::RenderConfig;

/// How to extend a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtendConfig {
    /// How the prompt was rendered, and the new messages are.
    pub render: RenderConfig,
    /// Whether a sampled `<|return|>` stays where the conversation goes on. The model was trained on `<|end|>` there;
    /// a trainer may prefer the token that was sampled. By default such a prompt breaks.
    pub keep_return: bool,
    /// The tools that were offered, by which malformed calls are recognised: `functions.get_weather`, `python`. A
    /// [`Rollout`](super::Rollout) adds those that its conversation declares.
    pub tools: Vec<String>,
}

impl ExtendConfig {
    /// The default: [`RenderConfig`]'s, `<|return|>` breaks, no tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// As a request's turn is rendered, with its tools.
    pub fn of_turn(turn: &Turn) -> Self {
        Self::new().with_render(turn.config).with_tools(turn.tools.recipients())
    }

    /// Sets how the prompt was rendered.
    #[must_use]
    pub fn with_render(mut self, render: RenderConfig) -> Self {
        self.render = render;
        self
    }

    /// Sets whether a sampled `<|return|>` stays.
    #[must_use]
    pub fn with_keep_return(mut self, keep_return: bool) -> Self {
        self.keep_return = keep_return;
        self
    }

    /// Replaces the tools that were offered.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = tools.into_iter().map(Into::into).collect();
        self
    }
}

/// The recipients of the tools that a message declares.
pub(super) fn declared_tools(message: &Message) -> impl Iterator<Item = String> {
    let namespaces = message.content.iter().filter_map(|content| match content {
        Content::SystemContent(content) => content.tools.as_ref(),
        Content::DeveloperContent(content) => content.tools.as_ref(),
        Content::Text(_) => None,
    });
    namespaces.flat_map(|tools| tools.values()).flat_map(|namespace| {
        // One that lists none is a tool itself: `python`.
        let itself = namespace.tools.is_empty().then(|| namespace.name.clone());
        let tools = namespace.tools.iter();
        itself.into_iter().chain(tools.map(|tool| format!("{}.{}", namespace.name, tool.name)))
    })
}
