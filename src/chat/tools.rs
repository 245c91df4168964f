//! Tools: what the model may call.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A callable tool (guide, section "Defining available tools").
///
/// ```
/// # use openai_harmony::chat::ToolDescription;
/// let tool = ToolDescription::new("get_location", "Gets the location of the user.", None);
/// assert_eq!(tool.parameters, None);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDescription {
    /// The name within its namespace: `get_location` is called as `functions.get_location`.
    pub name: String,
    /// What the tool does; becomes the comment above its type. `None` writes no comment.
    #[serde(default)]
    pub description: Option<String>,
    /// JSON Schema of the arguments; `None` for a tool without arguments. The order of keys
    /// decides the tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
}

impl ToolDescription {
    /// A tool with a description.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Option<Value>,
    ) -> Self {
        Self { name: name.into(), description: Some(description.into()), parameters }
    }
}

/// Tools under one name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolNamespaceConfig {
    /// The name of the namespace, `functions` for a developer's own tools.
    pub name: String,
    /// What the tools have in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The tools. A namespace may be without tools, like `python`.
    pub tools: Vec<ToolDescription>,
}

impl ToolNamespaceConfig {
    /// A namespace of tools.
    pub fn new(
        name: impl Into<String>,
        description: Option<String>,
        tools: Vec<ToolDescription>,
    ) -> Self {
        Self { name: name.into(), description, tools }
    }

    /// The namespace `functions`, for a developer's own tools.
    pub fn functions(tools: Vec<ToolDescription>) -> Self {
        Self::new(FUNCTIONS, None, tools)
    }

    /// The browser that the model was trained with (guide, section "Browser tool").
    ///
    /// ```
    /// # use openai_harmony::chat::ToolNamespaceConfig;
    /// let names: Vec<_> =
    ///     ToolNamespaceConfig::browser().tools.into_iter().map(|tool| tool.name).collect();
    /// assert_eq!(names, ["search", "open", "find"]);
    /// ```
    pub fn browser() -> Self {
        let search = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "topn": {"type": "number", "default": 10},
                "source": {"type": "string"},
            },
            "required": ["query"],
        });
        let open = json!({
            "type": "object",
            "properties": {
                "id": {"type": ["number", "string"], "default": -1},
                "cursor": {"type": "number", "default": -1},
                "loc": {"type": "number", "default": -1},
                "num_lines": {"type": "number", "default": -1},
                "view_source": {"type": "boolean", "default": false},
                "source": {"type": "string"},
            },
        });
        let find = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "cursor": {"type": "number", "default": -1},
            },
            "required": ["pattern"],
        });
        Self::new(
            BROWSER,
            Some(BROWSER_TEXT.to_owned()),
            vec![
                ToolDescription::new("search", BROWSER_SEARCH, Some(search)),
                ToolDescription::new("open", BROWSER_OPEN, Some(open)),
                ToolDescription::new("find", BROWSER_FIND, Some(find)),
            ],
        )
    }

    /// The stateful notebook that the model was trained with (guide, section "Python tool").
    pub fn python() -> Self {
        Self::new(PYTHON, Some(PYTHON_TEXT.to_owned()), Vec::new())
    }
}

/// The namespace of the tools that are called on the commentary channel.
pub const FUNCTIONS: &str = "functions";

/// The namespaces of the tools that the model was trained with (guide, section "Built-in tools").
pub(crate) const BUILT_IN: [&str; 2] = [BROWSER, PYTHON];
/// It has the functions `search`, `open` and `find`.
pub const BROWSER: &str = "browser";
/// It has no functions, and is itself the recipient of its calls.
pub const PYTHON: &str = "python";

// The guide's own words: the model was trained on exactly these texts.

const BROWSER_TEXT: &str = "Tool for browsing.
The `cursor` appears in brackets before each browsing display: `[{cursor}]`.
Cite information from the tool using the following format:
`【{cursor}†L{line_start}(-L{line_end})?】`, for example: `【6†L9-L11】` or `【8†L3】`.
Do not quote more than 10 words directly from the tool output.
sources=web (default: web)";

const BROWSER_SEARCH: &str =
    "Searches for information related to `query` and displays `topn` results.";

const BROWSER_OPEN: &str = "Opens the link `id` from the page indicated by `cursor` starting at \
line number `loc`, showing `num_lines` lines.
Valid link ids are displayed with the formatting: `【{id}†.*】`.
If `cursor` is not provided, the most recent page is implied.
If `id` is a string, it is treated as a fully qualified URL associated with `source`.
If `loc` is not provided, the viewport will be positioned at the beginning of the document or \
centered on the most relevant passage, if available.
Use this function without `id` to scroll to a new location of an opened page.";

const BROWSER_FIND: &str =
    "Finds exact matches of `pattern` in the current page, or the page given by `cursor`.";

const PYTHON_TEXT: &str =
    "Use this tool to execute Python code in your chain of thought. The code \
will not be shown to the user. This tool should be used for internal reasoning, but not for code \
that is intended to be visible to the user (e.g. when creating plots, tables, or files).

When you send a message containing Python code to python, it will be executed in a stateful \
Jupyter notebook environment. python will respond with the output of the execution or time out \
after 120.0 seconds. The drive at '/mnt/data' can be used to save and persist user files. \
Internet access for this session is UNKNOWN. Depends on the cluster.";
