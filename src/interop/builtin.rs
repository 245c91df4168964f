//! The tools that the model was trained with.

use crate::chat::{BROWSER, PYTHON};
use crate::options::choices;

/// A tool that the model was trained with (guide, section "Built-in tools").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BuiltinTool {
    /// `browser`: web search.
    Browser,
    /// `python`: code execution.
    Python,
}

choices! {
    BuiltinTool, "'browser' or 'python'": "browser" Browser, "python" Python;
}

impl BuiltinTool {
    pub(super) const ALL: [Self; 2] = [Self::Browser, Self::Python];

    /// The name of its namespace.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Browser => BROWSER,
            Self::Python => PYTHON,
        }
    }

    /// The recipients of its calls.
    pub(super) const fn recipients(self) -> &'static [&'static str] {
        match self {
            Self::Browser => &["browser.search", "browser.open", "browser.find"],
            Self::Python => &[PYTHON],
        }
    }

    /// The tool that a recipient or namespace belongs to.
    pub(super) fn of_recipient(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|tool| tool.as_str() == name || tool.recipients().contains(&name))
    }

    /// The built-in tool that a tool type of an API asks for: `web_search_20250305`.
    pub(super) fn of_type(kind: &str) -> Option<Self> {
        match kind {
            BROWSER | "browser_search" => Some(Self::Browser),
            PYTHON | "code_interpreter" => Some(Self::Python),
            _ if kind.starts_with("web_search") || kind.starts_with("web_fetch") => {
                Some(Self::Browser)
            }
            _ if kind.starts_with("code_execution") => Some(Self::Python),
            _ => None,
        }
    }
}

/// Whether a name is the recipient or the namespace of a built-in tool.
pub(super) fn is_builtin(name: &str) -> bool {
    BuiltinTool::of_recipient(name).is_some()
}
