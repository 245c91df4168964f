//! The content of a message: text, or the structured content of system and developer messages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::channels::CHANNELS;
use super::tools::{ToolDescription, ToolNamespaceConfig};

/// One part of a message's content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Plain text.
    Text(TextContent),
    /// Only in a message of [`Role::System`](super::Role::System).
    SystemContent(SystemContent),
    /// Only in a message of [`Role::Developer`](super::Role::Developer).
    DeveloperContent(DeveloperContent),
}

impl<T: Into<String>> From<T> for Content {
    fn from(text: T) -> Self {
        Self::Text(TextContent { text: text.into() })
    }
}

impl From<TextContent> for Content {
    fn from(text: TextContent) -> Self {
        Self::Text(text)
    }
}

impl From<SystemContent> for Content {
    fn from(system: SystemContent) -> Self {
        Self::SystemContent(system)
    }
}

impl From<DeveloperContent> for Content {
    fn from(developer: DeveloperContent) -> Self {
        Self::DeveloperContent(developer)
    }
}

/// Text, always rendered as ordinary tokens, even if it spells markers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextContent {
    /// The text.
    pub text: String,
}

/// How long the model thinks (guide, section "Reasoning").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ReasoningEffort {
    /// `Reasoning: low`
    Low,
    /// `Reasoning: medium`, the default.
    Medium,
    /// `Reasoning: high`
    High,
}

impl ReasoningEffort {
    /// The word in the system message.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The channels that the system message names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelConfig {
    /// The channels, in the order in which the message names them.
    pub valid_channels: Vec<String>,
    /// Whether every message must be on one of them.
    pub channel_required: bool,
}

impl ChannelConfig {
    /// These channels, and every message must be on one.
    pub fn require_channels(channels: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            valid_channels: channels.into_iter().map(Into::into).collect(),
            channel_required: true,
        }
    }
}

/// The content of a system message (guide, section "System message format"). `None` leaves a line out. In JSON it is
/// null if the field has a default, which readers use for a missing field.
///
/// ```
/// # use openai_harmony::chat::{ReasoningEffort, SystemContent};
/// let content = SystemContent::new()
///     .with_reasoning_effort(ReasoningEffort::High)
///     .with_conversation_start_date("2025-06-28");
/// assert_eq!(content.knowledge_cutoff.as_deref(), Some("2024-06"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemContent {
    /// Who the model is.
    #[serde(default)]
    pub model_identity: Option<String>,
    /// `Reasoning: medium`.
    #[serde(default)]
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Built-in tools by namespace, rendered in the order of the keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<BTreeMap<String, ToolNamespaceConfig>>,
    /// `Current date: 2025-06-28`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_start_date: Option<String>,
    /// `Knowledge cutoff: 2024-06`.
    #[serde(default)]
    pub knowledge_cutoff: Option<String>,
    /// `# Valid channels: …`.
    #[serde(default)]
    pub channel_config: Option<ChannelConfig>,
}

impl Default for SystemContent {
    fn default() -> Self {
        Self {
            model_identity: Some(
                "You are ChatGPT, a large language model trained by OpenAI.".to_owned(),
            ),
            reasoning_effort: Some(ReasoningEffort::Medium),
            tools: None,
            conversation_start_date: None,
            knowledge_cutoff: Some("2024-06".to_owned()),
            channel_config: Some(ChannelConfig::require_channels(CHANNELS)),
        }
    }
}

impl SystemContent {
    /// The guide's identity, cutoff and channels, medium reasoning, no date.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the identity.
    #[must_use]
    pub fn with_model_identity(mut self, model_identity: impl Into<String>) -> Self {
        self.model_identity = Some(model_identity.into());
        self
    }

    /// Sets the reasoning effort.
    #[must_use]
    pub fn with_reasoning_effort(mut self, effort: ReasoningEffort) -> Self {
        self.reasoning_effort = Some(effort);
        self
    }

    /// Sets the current date, as the guide writes it: `2025-06-28`.
    #[must_use]
    pub fn with_conversation_start_date(mut self, date: impl Into<String>) -> Self {
        self.conversation_start_date = Some(date.into());
        self
    }

    /// Replaces the knowledge cutoff.
    #[must_use]
    pub fn with_knowledge_cutoff(mut self, cutoff: impl Into<String>) -> Self {
        self.knowledge_cutoff = Some(cutoff.into());
        self
    }

    /// Replaces the channels.
    #[must_use]
    pub fn with_channel_config(mut self, config: ChannelConfig) -> Self {
        self.channel_config = Some(config);
        self
    }

    /// Replaces the channels and requires them.
    #[must_use]
    pub fn with_required_channels(
        self,
        channels: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.with_channel_config(ChannelConfig::require_channels(channels))
    }

    /// Adds a namespace of tools, or replaces the one with the same name.
    #[must_use]
    pub fn with_tools(mut self, namespace: ToolNamespaceConfig) -> Self {
        insert_namespace(&mut self.tools, namespace);
        self
    }

    /// Adds the browser (guide, section "Browser tool").
    #[must_use]
    pub fn with_browser_tool(self) -> Self {
        self.with_tools(ToolNamespaceConfig::browser())
    }

    /// Adds the notebook (guide, section "Python tool").
    #[must_use]
    pub fn with_python_tool(self) -> Self {
        self.with_tools(ToolNamespaceConfig::python())
    }
}

/// The content of a developer message (guide, section "Developer message format").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeveloperContent {
    /// The instructions, which other formats call the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Tools by namespace, rendered in the order of the keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<BTreeMap<String, ToolNamespaceConfig>>,
    /// Formats that an answer may have to follow, in the order of rendering.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub response_formats: Vec<ResponseFormat>,
}

impl DeveloperContent {
    /// Empty content.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the instructions.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds a namespace of tools, or replaces the one of its name.
    #[must_use]
    pub fn with_tools(mut self, namespace: ToolNamespaceConfig) -> Self {
        insert_namespace(&mut self.tools, namespace);
        self
    }

    /// Sets the tools of the namespace `functions` (guide, section "Function calling").
    #[must_use]
    pub fn with_function_tools(self, tools: Vec<ToolDescription>) -> Self {
        self.with_tools(ToolNamespaceConfig::functions(tools))
    }

    /// Adds a response format (guide, section "Structured output").
    #[must_use]
    pub fn with_response_format(
        mut self,
        name: impl Into<String>,
        schema: Value,
        description: Option<String>,
    ) -> Self {
        self.response_formats.push(ResponseFormat { name: name.into(), description, schema });
        self
    }
}

/// A named JSON Schema that an answer may have to follow (guide, section "Structured output").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResponseFormat {
    /// The format's name, unique within its message.
    pub name: String,
    /// What the format is for; becomes a comment above the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema, written out compactly with its keys in their order.
    pub schema: Value,
}

fn insert_namespace(
    tools: &mut Option<BTreeMap<String, ToolNamespaceConfig>>,
    namespace: ToolNamespaceConfig,
) {
    tools.get_or_insert_with(BTreeMap::new).insert(namespace.name.clone(), namespace);
}
