//! Tools, and the choice of one, in Responses' form: flat, each with its type, some in namespaces.

use crate::error::Result;
use crate::interop::choice::Chosen;
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::names::ToolId;
use crate::interop::request::Request;
use crate::interop::{BuiltinTool, ToolKind, UnusedReason};
use crate::json::At;

/// When the functions and free-form tools of a list are declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loading {
    /// With the others: nothing could load them later.
    Now,
    /// As each says by `defer_loading`.
    AsEachSays,
    /// After the search that found them.
    Found,
}

impl Loading {
    /// That of a body's tools: only a search by the client can load some later.
    pub(super) fn of_body(body: &BodyObject<'_, '_>) -> Self {
        let tools = body.get("tools").and_then(|tools| tools.at().as_array());
        let is_search = |tool: At<'_>| {
            let word = |key| tool.get(key).and_then(At::as_str);
            (word("type"), word("execution")) == (Some("tool_search"), Some("client"))
        };
        let searches = tools.is_some_and(|tools| tools.iter().any(is_search));
        if searches { Self::AsEachSays } else { Self::Now }
    }
}

/// Reads the `tools` of a body, or of an item: functions, free-form tools, namespaces of such tools, and tools that
/// servers run. What a search found is in `found` and, as the model reads it, in `text`.
pub(super) struct Tools<'r, 'o> {
    request: &'r mut Request<'o>,
    loading: Loading,
    pub(super) found: Vec<ToolId>,
    pub(super) text: String,
}

impl<'r, 'o> Tools<'r, 'o> {
    pub(super) fn read(
        object: &BodyObject<'_, '_>,
        loading: Loading,
        request: &'r mut Request<'o>,
    ) -> Result<Self> {
        let mut tools = Self { request, loading, found: Vec::new(), text: String::new() };
        object.each("tools", |tool| tools.tool(tool))?;
        Ok(tools)
    }

    fn tool(&mut self, field: &BodyField<'_, '_>) -> Result<()> {
        let tool = field.object()?;
        match tool.required("type")?.text_unless_null()?.unwrap_or("function") {
            "namespace" => self.namespace(&tool),
            kind if is_own(kind) => self.own(kind, &tool, None),
            kind => {
                if let Some(kind) =
                    ToolKind::of_client(kind).filter(|kind| !is_hosted(*kind, &tool))
                {
                    return self.request.declare_client(kind, &tool);
                }
                self.request.server_tool(kind, field);
                Ok(())
            }
        }
    }

    /// The members of a namespace are tools like any other, under both names.
    fn namespace(&mut self, namespace: &BodyObject<'_, '_>) -> Result<()> {
        let field = namespace.required("name")?;
        let name = field.text()?;
        if name.is_empty() {
            return Err(field.invalid("a namespace needs a name"));
        }
        if let Some(description) = namespace.text("description")?.filter(|text| !text.is_empty()) {
            let line = format!("{name}: {description}");
            match self.loading {
                Loading::Found => self.line(&line),
                _ => self.request.tools.namespaces.push(line),
            }
        }
        for tool in namespace.required("tools")?.items()? {
            let object = tool.object()?;
            match object.text("type")?.unwrap_or("function") {
                kind if is_own(kind) => self.own(kind, &object, Some(name))?,
                kind => self.request.list(&tool, UnusedReason::ToolNotRun(kind.to_owned())),
            }
        }
        self.request.list_others(namespace, &["type", "name", "description", "tools"]);
        Ok(())
    }

    fn own(
        &mut self,
        kind: &str,
        tool: &BodyObject<'_, '_>,
        namespace: Option<&str>,
    ) -> Result<()> {
        self.request.list_beside(tool, kind);
        let tool = tool.object_or_self(kind)?;
        let is_deferred = match self.loading {
            Loading::Now => None,
            Loading::AsEachSays => Some(tool.bool("defer_loading")?.unwrap_or(false)),
            Loading::Found => {
                let name = tool.text("name")?.unwrap_or_default();
                self.line([namespace.unwrap_or_default(), name].join(".").trim_start_matches('.'));
                self.found.push(ToolId::within(namespace, name));
                if self.found.last().is_some_and(|id| self.request.tools.has(id)) {
                    return Ok(());
                }
                Some(true)
            }
        };
        if kind == "custom" {
            self.request.read_custom(&tool, namespace, is_deferred)
        } else {
            self.request.read_function(&tool, "parameters", namespace, is_deferred)
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(if self.text.is_empty() { "" } else { "\n" });
        self.text.push_str(line);
    }
}

/// Whether `OpenAI`'s servers run a tool: a shell in a container, a search of tools that is not the client's.
fn is_hosted(kind: ToolKind, tool: &BodyObject<'_, '_>) -> bool {
    if kind == ToolKind::ToolSearch {
        return tool.get("execution").and_then(|execution| execution.at().as_str())
            != Some("client");
    }
    let environment = tool.get("environment");
    let kind = environment.and_then(|environment| environment.at().get("type")?.as_str());
    kind.is_some_and(|kind| kind != "local")
}

/// Whether a tool of this type is the client's.
fn is_own(kind: &str) -> bool {
    matches!(kind, "function" | "custom")
}

/// The tool that a choice names: the client's by its name, one that servers run by its type.
pub(super) fn read_chosen(chosen: &BodyObject<'_, '_>) -> Result<Chosen> {
    let kind = chosen.required("type")?;
    let word = kind.text()?;
    if !is_own(word) {
        let left_out = kind.unused(UnusedReason::ToolNotRun(word.to_owned()));
        if ToolKind::of_client(word).is_some() {
            return Ok(Chosen::OfClient(ToolId::new(word), left_out));
        }
        return Ok(Chosen::Builtin(BuiltinTool::of_type(word), left_out));
    }
    let namespace = chosen.text("namespace")?;
    let named = chosen.object_or_self(word)?;
    let name = named.required("name")?;
    Ok(Chosen::tool(ToolId::within(namespace, name.text()?), &name))
}
