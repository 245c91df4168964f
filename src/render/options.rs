//! Options of rendering.

use serde::{Deserialize, Serialize};

use super::history::ThoughtPolicy;
use crate::header::HeaderStyle;
use crate::options::options;
use crate::typescript::ToolSchemaStyle;

/// How to render a conversation: the options of `openai-harmony` 0.0.8. [`RenderConfig`] has the newer ones, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RenderConversationConfig {
    /// Which thoughts are rendered: if true, the default,
    /// [`ThoughtPolicy::DropBeforeFirstFinal`], otherwise [`ThoughtPolicy::Keep`].
    pub auto_drop_analysis: bool,
}

impl Default for RenderConversationConfig {
    fn default() -> Self {
        Self { auto_drop_analysis: true }
    }
}

/// How to render a single message: the options of `openai-harmony` 0.0.8. [`RenderConfig`] has the newer ones, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RenderOptions {
    /// Whether the message's conversation has function tools. If so, a system message states that their calls go to
    /// `commentary`.
    pub conversation_has_function_tools: bool,
}

options! {
    /// How to render: all options, of single messages and of conversations. The default renders what
    /// `openai-harmony` 0.0.8 does with its default config.
    ///
    /// ```
    /// use openai_harmony::{ThoughtPolicy, HeaderStyle, RenderConfig};
    ///
    /// let config = RenderConfig::new()
    ///     .with_thoughts(ThoughtPolicy::Drop)
    ///     .with_header_style(HeaderStyle::RecipientInChannel)
    ///     .with_validate(true);
    /// assert!(config.validate);
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct RenderConfig {
        /// Which of the assistant's earlier thoughts are rendered. It does not apply to a single message.
        pub thoughts: ThoughtPolicy => with_thoughts,
        /// Whether the conversation has function tools, which a system message then states. If this is
        /// false, a conversation has them if one of its own messages declares some.
        pub conversation_has_function_tools: bool => with_conversation_has_function_tools,
        /// Where the header of a call has its recipient.
        pub header_style: HeaderStyle => with_header_style,
        /// How the schemas of tools are written.
        pub tool_schema: ToolSchemaStyle => with_tool_schema,
        /// Whether header fields that could be read as another header are refused.
        pub validate: bool => with_validate,
    }
}

impl RenderConfig {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }
}

impl From<RenderConversationConfig> for RenderConfig {
    fn from(config: RenderConversationConfig) -> Self {
        Self::new().with_thoughts(ThoughtPolicy::of_auto_drop(config.auto_drop_analysis))
    }
}

impl From<RenderOptions> for RenderConfig {
    fn from(options: RenderOptions) -> Self {
        Self::new().with_conversation_has_function_tools(options.conversation_has_function_tools)
    }
}
