//! What system and developer messages hold.

use super::tools::BorrowedTools;
use crate::text::BorrowedText;
use openai_harmony::chat::{ChannelConfig, ReasoningEffort, ResponseFormat};
use openai_harmony::machinery::{AsTools, DeveloperFields, SystemFields};

/// The content of a system message: the fields of the model `SystemContent`.
pub(crate) struct BorrowedSystem {
    pub(crate) model_identity: Option<BorrowedText>,
    pub(crate) reasoning_effort: Option<ReasoningEffort>,
    pub(crate) tools: Option<BorrowedTools>,
    pub(crate) conversation_start_date: Option<BorrowedText>,
    pub(crate) knowledge_cutoff: Option<BorrowedText>,
    pub(crate) channel_config: Option<ChannelConfig>,
}

/// The content of a developer message: the fields of the model `DeveloperContent`.
pub(crate) struct BorrowedDeveloper {
    pub(crate) instructions: Option<BorrowedText>,
    pub(crate) tools: Option<BorrowedTools>,
    pub(crate) response_formats: Vec<ResponseFormat>,
}

impl BorrowedSystem {
    /// About as many bytes as the text has.
    pub(super) fn size(&self) -> usize {
        /// Without tools.
        const LINES: usize = 500;
        LINES + self.tools.as_ref().map_or(0, BorrowedTools::size)
    }
}

impl BorrowedDeveloper {
    /// About as many bytes as the text has.
    pub(super) fn size(&self) -> usize {
        /// Of a schema.
        const SCHEMA: usize = 500;
        self.instructions.as_ref().map_or(0, |text| text.as_str().len())
            + self.tools.as_ref().map_or(0, BorrowedTools::size)
            + self.response_formats.len() * SCHEMA
    }
}

impl<'a> From<&'a BorrowedSystem> for SystemFields<'a> {
    fn from(content: &'a BorrowedSystem) -> Self {
        Self {
            model_identity: content.model_identity.as_ref().map(BorrowedText::as_str),
            reasoning_effort: content.reasoning_effort,
            tools: content.tools.as_ref().map(|tools| tools as &dyn AsTools),
            conversation_start_date: content
                .conversation_start_date
                .as_ref()
                .map(BorrowedText::as_str),
            knowledge_cutoff: content.knowledge_cutoff.as_ref().map(BorrowedText::as_str),
            channel_config: content.channel_config.as_ref(),
        }
    }
}

impl<'a> From<&'a BorrowedDeveloper> for DeveloperFields<'a> {
    fn from(content: &'a BorrowedDeveloper) -> Self {
        Self {
            instructions: content.instructions.as_ref().map(BorrowedText::as_str),
            tools: content.tools.as_ref().map(|tools| tools as &dyn AsTools),
            response_formats: &content.response_formats,
        }
    }
}
