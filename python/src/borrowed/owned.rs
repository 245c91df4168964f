//! Messages that outlive the call, for rollouts.

use std::collections::BTreeMap;

use super::{
    BorrowedDeveloper, BorrowedMessage, BorrowedNamespace, BorrowedPart, BorrowedSystem,
    BorrowedTool, BorrowedTools,
};
use crate::text::BorrowedText;
use openai_harmony::chat::{
    Author, Content, DeveloperContent, Message, SystemContent, ToolDescription, ToolNamespaceConfig,
};

impl From<BorrowedMessage> for Message {
    fn from(message: BorrowedMessage) -> Self {
        let author =
            Author { role: message.author.role, name: owned(message.author.name.as_ref()) };
        Self {
            author,
            recipient: owned(message.recipient.as_ref()),
            content: message.content.iter().map(content).collect(),
            channel: owned(message.channel.as_ref()),
            content_type: owned(message.content_type.as_ref()),
        }
    }
}

fn owned(text: Option<&BorrowedText>) -> Option<String> {
    text.map(|text| text.as_str().to_owned())
}

fn content(part: &BorrowedPart) -> Content {
    match part {
        BorrowedPart::Text(text) => text.as_str().into(),
        BorrowedPart::System(content) => Content::SystemContent(system(content)),
        BorrowedPart::Developer(content) => Content::DeveloperContent(developer(content)),
    }
}

fn system(content: &BorrowedSystem) -> SystemContent {
    SystemContent {
        model_identity: owned(content.model_identity.as_ref()),
        reasoning_effort: content.reasoning_effort,
        tools: content.tools.as_ref().map(tools),
        conversation_start_date: owned(content.conversation_start_date.as_ref()),
        knowledge_cutoff: owned(content.knowledge_cutoff.as_ref()),
        channel_config: content.channel_config.clone(),
    }
}

fn developer(content: &BorrowedDeveloper) -> DeveloperContent {
    DeveloperContent {
        instructions: owned(content.instructions.as_ref()),
        tools: content.tools.as_ref().map(tools),
        response_formats: content.response_formats.clone(),
    }
}

fn tools(tools: &BorrowedTools) -> BTreeMap<String, ToolNamespaceConfig> {
    let described = |tool: &BorrowedTool| ToolDescription {
        name: tool.name.as_str().to_owned(),
        description: owned(tool.description.as_ref()),
        parameters: tool.parameters.map(|index| tools.schemas.at(index).to_tree()),
    };
    let namespace = |config: &BorrowedNamespace| ToolNamespaceConfig {
        name: config.name.as_str().to_owned(),
        description: owned(config.description.as_ref()),
        tools: config.tools.iter().map(described).collect(),
    };
    tools.namespaces.iter().map(|(key, config)| (key.clone(), namespace(config))).collect()
}
