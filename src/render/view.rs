//! What rendering reads of a message, however the message is stored.
//!
//! The renderer takes [`Message`]s and everything else that implements [`AsMessage`]: the Python
//! binding lends Python's own strings, so that no text is copied before it is encoded.

use std::collections::BTreeMap;

use crate::chat::{
    ChannelConfig, Content, DeveloperContent, FUNCTIONS, HeaderFields, Message, ReasoningEffort,
    ResponseFormat, Role, SystemContent, ToolDescription, ToolNamespaceConfig,
};
use crate::typescript::{Namespace, Parameters, Tool};

/// A message to render.
pub trait AsMessage {
    /// Its header's fields.
    fn header(&self) -> HeaderFields<'_>;

    /// The parts of its content.
    fn parts(&self) -> impl Iterator<Item = ContentPart<'_>>;

    /// Whether it comes from this role.
    fn is_from(&self, role: Role) -> bool {
        self.header().role == role
    }

    /// Whether it is on this channel.
    fn is_on(&self, channel: &str) -> bool {
        self.header().channel == Some(channel)
    }
}

/// One part of a message's content.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "their names say it")]
pub enum ContentPart<'a> {
    Text(&'a str),
    System(SystemFields<'a>),
    Developer(DeveloperFields<'a>),
}

/// The fields of a system message, as in [`SystemContent`].
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "their names say it")]
pub struct SystemFields<'a> {
    pub model_identity: Option<&'a str>,
    pub reasoning_effort: Option<ReasoningEffort>,
    pub tools: Option<&'a dyn AsTools>,
    pub conversation_start_date: Option<&'a str>,
    pub knowledge_cutoff: Option<&'a str>,
    pub channel_config: Option<&'a ChannelConfig>,
}

/// The fields of a developer message, as in [`DeveloperContent`].
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "their names say it")]
pub struct DeveloperFields<'a> {
    pub instructions: Option<&'a str>,
    pub tools: Option<&'a dyn AsTools>,
    pub response_formats: &'a [ResponseFormat],
}

/// Tools by namespace.
pub trait AsTools {
    /// The namespaces in the order of their keys. A builder uses the name as the key.
    fn namespaces(&self) -> Vec<Namespace<'_>>;

    /// Whether the namespace under the key `functions` has tools.
    fn has_functions(&self) -> bool;
}

impl AsMessage for Message {
    fn header(&self) -> HeaderFields<'_> {
        self.header_fields()
    }

    fn parts(&self) -> impl Iterator<Item = ContentPart<'_>> {
        self.content.iter().map(ContentPart::from)
    }
}

impl<'a> From<&'a Content> for ContentPart<'a> {
    fn from(content: &'a Content) -> Self {
        match content {
            Content::Text(content) => Self::Text(&content.text),
            Content::SystemContent(content) => Self::System(content.into()),
            Content::DeveloperContent(content) => Self::Developer(content.into()),
        }
    }
}

impl<'a> From<&'a SystemContent> for SystemFields<'a> {
    fn from(content: &'a SystemContent) -> Self {
        Self {
            model_identity: content.model_identity.as_deref(),
            reasoning_effort: content.reasoning_effort,
            tools: content.tools.as_ref().map(|tools| tools as &dyn AsTools),
            conversation_start_date: content.conversation_start_date.as_deref(),
            knowledge_cutoff: content.knowledge_cutoff.as_deref(),
            channel_config: content.channel_config.as_ref(),
        }
    }
}

impl<'a> From<&'a DeveloperContent> for DeveloperFields<'a> {
    fn from(content: &'a DeveloperContent) -> Self {
        Self {
            instructions: content.instructions.as_deref(),
            tools: content.tools.as_ref().map(|tools| tools as &dyn AsTools),
            response_formats: &content.response_formats,
        }
    }
}

impl AsTools for BTreeMap<String, ToolNamespaceConfig> {
    fn namespaces(&self) -> Vec<Namespace<'_>> {
        self.values().map(namespace).collect()
    }

    fn has_functions(&self) -> bool {
        self.get(FUNCTIONS).is_some_and(|functions| !functions.tools.is_empty())
    }
}

fn namespace(config: &ToolNamespaceConfig) -> Namespace<'_> {
    Namespace {
        name: &config.name,
        description: config.description.as_deref(),
        tools: config.tools.iter().map(tool).collect(),
    }
}

fn tool(tool: &ToolDescription) -> Tool<'_> {
    Tool {
        name: &tool.name,
        description: tool.description.as_deref(),
        parameters: tool.parameters.as_ref().map(Parameters::Tree),
    }
}
