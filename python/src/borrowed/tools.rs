//! Tools with texts borrowed from Python and their schemas on one tape.

use std::collections::BTreeMap;

use crate::text::BorrowedText;
use openai_harmony::machinery::{AsTools, FUNCTIONS, Namespace, Parameters, Tape, Tool};

/// Tools by namespace.
///
/// Rendering seven messages with four tools takes 0.7 of the time with a tree of JSON values for
/// each tool.
pub(crate) struct BorrowedTools {
    pub(crate) namespaces: BTreeMap<String, BorrowedNamespace>,
    /// The schemas of all tools.
    pub(crate) schemas: Tape,
}

/// A namespace: the fields of the model `ToolNamespaceConfig`.
pub(crate) struct BorrowedNamespace {
    pub(crate) name: BorrowedText,
    pub(crate) description: Option<BorrowedText>,
    pub(crate) tools: Vec<BorrowedTool>,
}

/// A tool: the fields of the model `ToolDescription`.
pub(crate) struct BorrowedTool {
    pub(crate) name: BorrowedText,
    pub(crate) description: Option<BorrowedText>,
    /// The index of its schema.
    pub(crate) parameters: Option<usize>,
}

impl BorrowedTools {
    /// About as many bytes as the text has.
    pub(super) fn size(&self) -> usize {
        self.schemas.size()
    }

    fn namespace<'a>(&'a self, namespace: &'a BorrowedNamespace) -> Namespace<'a> {
        Namespace {
            name: namespace.name.as_str(),
            description: namespace.description.as_ref().map(BorrowedText::as_str),
            tools: namespace.tools.iter().map(|tool| self.tool(tool)).collect(),
        }
    }

    fn tool<'a>(&'a self, tool: &'a BorrowedTool) -> Tool<'a> {
        Tool {
            name: tool.name.as_str(),
            description: tool.description.as_ref().map(BorrowedText::as_str),
            parameters: tool.parameters.map(|index| Parameters::Taped(self.schemas.at(index))),
        }
    }
}

impl AsTools for BorrowedTools {
    fn namespaces(&self) -> Vec<Namespace<'_>> {
        self.namespaces.values().map(|namespace| self.namespace(namespace)).collect()
    }

    fn has_functions(&self) -> bool {
        self.namespaces.get(FUNCTIONS).is_some_and(|functions| !functions.tools.is_empty())
    }
}
