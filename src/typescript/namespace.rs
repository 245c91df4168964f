//! The `# Tools` section: namespaces, their comments and one `type` per tool.

use std::borrow::Cow;

use serde_json::Value;

use super::ToolSchemaStyle;
use super::budget::{Budget, LIMIT};
use super::comment::{write_comment, write_comment_as_is};
use super::depth::{MAX_DEPTH, check_depth, invalid};
use super::schema::Schema;
use super::sink::{Limited, TextSink};
use super::{compat, full, names, read};
use crate::error::Result;
use crate::json::{At, Tape};

/// A namespace to write.
pub struct Namespace<'a> {
    /// Its name, which need not be the key that it is sorted by.
    pub name: &'a str,
    /// A description that its tools share.
    pub description: Option<&'a str>,
    /// Its tools, in the order in which they are written.
    pub tools: Vec<Tool<'a>>,
}

/// A tool to write.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'a> {
    /// Its name within the namespace.
    pub name: &'a str,
    /// What it does; `None` and an empty text write no comment.
    pub description: Option<&'a str>,
    /// The schema of its arguments.
    pub parameters: Option<Parameters<'a>>,
}

/// The schema of a tool's arguments.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Parameters<'a> {
    Tree(&'a Value),
    Taped(At<'a>),
}

impl<'a> Parameters<'a> {
    fn to_tree(self) -> Cow<'a, Value> {
        match self {
            Self::Tree(tree) => Cow::Borrowed(tree),
            Self::Taped(at) => Cow::Owned(at.to_tree()),
        }
    }
}

/// Writes the heading `# Tools` and the namespaces, in the order given, without a final line end.
///
/// # Errors
///
/// [`ErrorKind::InvalidSchema`](crate::ErrorKind::InvalidSchema) names the tool whose schema cannot be written, whose
/// name cannot be called, or that exceeds `budget`. Text written before the error stays in `out`.
pub(crate) fn write_tool_section<'a>(
    out: &mut String,
    namespaces: impl IntoIterator<Item = Namespace<'a>>,
    style: ToolSchemaStyle,
    budget: &mut Budget,
) -> Result<()> {
    out.push_str("# Tools");
    for namespace in namespaces {
        out.push_str("\n\n");
        match style {
            ToolSchemaStyle::Compat => write_compat(out, namespace)?,
            ToolSchemaStyle::Full => write_full(out, namespace, budget)?,
        }
    }
    Ok(())
}

fn write_compat(out: &mut String, namespace: Namespace<'_>) -> Result<()> {
    let Namespace { name, description, tools } = namespace;
    let description = description.unwrap_or_default();
    out.extend(["## ", name, "\n"]);
    if tools.is_empty() {
        write_prose(out, description);
        return Ok(());
    }
    out.push('\n');
    write_comment_as_is(out, description);
    out.extend(["namespace ", name, " {\n\n"]);
    for tool in &tools {
        write_compat_tool(out, tool)?;
    }
    out.extend(["} // namespace ", name]);
    Ok(())
}

/// A namespace without tools, such as `python`, is described in plain text.
fn write_prose(out: &mut String, description: &str) {
    for line in description.lines() {
        out.push('\n');
        out.push_str(line);
    }
}

fn write_compat_tool(out: &mut String, tool: &Tool<'_>) -> Result<()> {
    write_comment_as_is(out, tool.description.unwrap_or_default());
    out.extend(["type ", tool.name, " = ("]);
    if let Some(parameters) = tool.parameters {
        out.push_str("_: ");
        match parameters {
            Parameters::Taped(schema) => compat::write_type(out, schema, 0),
            Parameters::Tree(schema) => {
                check_depth(tool.name, schema)?;
                let mut tape = Tape::default();
                let index = tape.tree(schema, MAX_DEPTH);
                compat::write_type(out, tape.at(index), 0);
            }
        }
    }
    out.push_str(") => any;\n\n");
    Ok(())
}

/// Writes a namespace as one valid declaration with one `type` per tool, whatever its texts contain; names are declared
/// as they are called, valid or not.
fn write_full(out: &mut String, namespace: Namespace<'_>, budget: &mut Budget) -> Result<()> {
    let Namespace { name, description, tools } = namespace;
    names::check("namespace", name)?;
    names::check_unique(tools.iter().map(|tool| tool.name))?;
    let mut out = Limited::new(out, &mut budget.written);
    out.push_all(&["## ", name, "\n"]);
    let description = description.unwrap_or_default();
    if tools.is_empty() {
        write_full_prose(&mut out, description);
        return within_budget(&out, name);
    }
    out.push_str("\n");
    write_comment(&mut out, description, 0);
    out.push_all(&["namespace ", name, " {\n\n"]);
    within_budget(&out, name)?;
    for tool in &tools {
        write_full_tool(&mut out, tool, &mut budget.copied)?;
        within_budget(&out, tool.name)?;
    }
    out.push_all(&["} // namespace ", name]);
    within_budget(&out, name)
}

/// Refuses `name`, the tool that exceeds the limit of a rendering's tools.
fn within_budget(out: &Limited<'_>, name: &str) -> Result<()> {
    if out.is_over() {
        let reason = "with it, the tools of the rendering take more than";
        return Err(invalid(name, format!("{reason} {LIMIT} bytes of text")));
    }
    Ok(())
}

/// Plain text, as the guide writes it for `python`, unless it could be read as code: a declaration needs a brace or an
/// equals sign, and a section begins with `#`.
fn write_full_prose(out: &mut Limited<'_>, description: &str) {
    let mut text = String::new();
    if description.contains(['{', '}', '=', '#']) {
        text.push('\n');
        write_comment(&mut text, description, 0);
        text.truncate(text.trim_end_matches('\n').len());
    } else {
        write_prose(&mut text, description);
    }
    out.push_str(&text);
}

fn write_full_tool(out: &mut Limited<'_>, tool: &Tool<'_>, copied: &mut usize) -> Result<()> {
    names::check("tool", tool.name)?;
    let parameters = tool.parameters.map(Parameters::to_tree).filter(|schema| !schema.is_null());
    let schema = match parameters.as_deref() {
        Some(schema) => Some(read_parameters(tool, schema, copied)?),
        None => None,
    };
    write_comment(out, tool.description.unwrap_or_default(), 0);
    if let Some(schema) = &schema {
        full::write_comments(out, schema, 0, true);
    }
    out.push_all(&["type ", tool.name, " = ("]);
    if let Some(schema) = &schema {
        full::write_parameter(out, schema);
    }
    out.push_str(") => any;\n\n");
    Ok(())
}

/// The schema of a tool's parameters, without text that the tool itself has already.
fn read_parameters<'a>(
    tool: &Tool<'_>,
    parameters: &'a Value,
    copied: &mut usize,
) -> Result<Schema<'a>> {
    check_depth(tool.name, parameters)?;
    let mut schema = read::read(parameters, copied).map_err(|refused| {
        let reason = match refused {
            read::Refused::TooDeep => {
                format!("references lead more than {MAX_DEPTH} levels deep")
            }
            read::Refused::TooLarge => {
                format!("with it, references of the rendering's tools copy more than {LIMIT} bytes")
            }
        };
        invalid(tool.name, reason)
    })?;
    schema.notes.title = None;
    schema.notes.descriptions.retain(|text| Some(*text) != tool.description);
    Ok(schema)
}
