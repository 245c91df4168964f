//! Options of rollouts.

use crate::chat::{Content, Message};
use crate::interop::Turn;
use crate::options::options;
use crate::render::RenderConfig;

options! {
    /// How to extend a prompt.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ExtendOptions {
        /// How the prompt was rendered, and how new messages are.
        pub config: RenderConfig => with_config,
        /// Whether a sampled `<|return|>` is kept when the conversation continues. The model was trained on `<|end|>`
        /// there; a trainer may prefer the sampled token. By default such a prompt breaks.
        pub keep_return: bool => with_keep_return,
        /// The offered tools, used to recognise malformed calls: `functions.get_weather`, `python`. A
        /// [`Rollout`](super::Rollout) adds the tools that its conversation declares.
        pub tools: Vec<String>
            => with_tools(tools: impl IntoIterator<Item = impl Into<String>>)
                tools.into_iter().map(Into::into).collect(),
    }
}

impl ExtendOptions {
    /// The default: the default [`RenderConfig`], `<|return|>` breaks, no tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rendering and the tools of a request's turn.
    pub fn of_turn(turn: &Turn) -> Self {
        Self::new().with_config(turn.config).with_tools(turn.tools.recipients())
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
        // A namespace that lists no tools is a tool itself: `python`.
        let itself = namespace.tools.is_empty().then(|| namespace.name.clone());
        let tools = namespace.tools.iter();
        itself.into_iter().chain(tools.map(|tool| format!("{}.{}", namespace.name, tool.name)))
    })
}
