//! The `# Tools` section: namespaces, their comments and one `type` per tool.

use serde_json::Value;

use super::ToolSchemaStyle;
use super::comment::{write_comment, write_comment_as_is, write_one_line};
use super::depth::{MAX_DEPTH, check_depth};
use super::literal::write_json;
use super::names::{identifier, identifiers};
use super::schema::Schema;
use super::{compat, full, read};
use crate::error::{ErrorKind, Result};
use crate::json::{Json, Tape};

/// A namespace to be written.
pub(crate) struct Namespace<'a> {
    /// Its name, which need not be the key that it is sorted by.
    pub(crate) name: &'a str,
    /// What its tools have in common.
    pub(crate) description: Option<&'a str>,
    /// Its tools, in the order in which they are written.
    pub(crate) tools: Vec<Tool<'a>>,
}

/// A tool to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool<'a> {
    /// Its name within the namespace.
    pub(crate) name: &'a str,
    /// What it does; `None` and an empty text write no comment.
    pub(crate) description: Option<&'a str>,
    /// The schema of its arguments.
    pub(crate) parameters: Option<Json<'a>>,
}

/// Writes the heading `# Tools` and the namespaces, in the order given, without a final line end.
///
/// # Errors
///
/// [`ErrorKind::InvalidSchema`](crate::ErrorKind::InvalidSchema) names the tool whose schema
/// cannot be written. What has been written until then stays in `out`.
pub(crate) fn write_tool_section<'a>(
    out: &mut String,
    namespaces: impl IntoIterator<Item = Namespace<'a>>,
    style: ToolSchemaStyle,
) -> Result<()> {
    out.push_str("# Tools");
    for namespace in namespaces {
        out.push_str("\n\n");
        match style {
            ToolSchemaStyle::Compat => write_compat(out, namespace)?,
            ToolSchemaStyle::Full => write_full(out, namespace)?,
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
            Json::Taped(schema) => compat::write_type(out, schema, 0),
            Json::Value(schema) => {
                check_depth(tool.name, schema)?;
                let mut tape = Tape::default();
                tape.value(schema);
                compat::write_type(out, tape.at(0), 0);
            }
        }
    }
    out.push_str(") => any;\n\n");
    Ok(())
}

/// Writes a namespace that is one valid declaration with one `type` per tool, whatever the texts.
fn write_full(out: &mut String, namespace: Namespace<'_>) -> Result<()> {
    let Namespace { name, description, tools } = namespace;
    let description = description.unwrap_or_default();
    if name.is_empty() {
        return Err(invalid(name, "a namespace needs a name"));
    }
    out.push_str("## ");
    write_one_line(out, name);
    out.push('\n');
    if tools.is_empty() {
        write_full_prose(out, description);
        return Ok(());
    }
    out.push('\n');
    write_comment(out, description, 0);
    let declared = identifier(name);
    write_true_name(out, name, &declared);
    out.extend(["namespace ", &declared, " {\n\n"]);
    let names: Vec<_> = tools.iter().map(|tool| tool.name).collect();
    let declarations = identifiers(&names)
        .map_err(|name| invalid(name, "two tools of the namespace have this name"))?;
    for (tool, declared) in tools.iter().zip(&declarations) {
        write_full_tool(out, tool, declared)?;
    }
    out.extend(["} // namespace ", &declared]);
    Ok(())
}

/// Plain text, as the guide has it for `python`, unless it could be read as code: nothing can be
/// declared without a brace or an equals sign, and no section begun without a `#`.
fn write_full_prose(out: &mut String, description: &str) {
    if description.contains(['{', '}', '=', '#']) {
        out.push('\n');
        write_comment(out, description, 0);
        out.truncate(out.trim_end_matches('\n').len());
    } else {
        write_prose(out, description);
    }
}

fn write_full_tool(out: &mut String, tool: &Tool<'_>, declared: &str) -> Result<()> {
    if tool.name.is_empty() {
        return Err(invalid(tool.name, "a tool needs a name"));
    }
    let parameters = tool.parameters.map(Json::to_value).filter(|schema| !schema.is_null());
    let schema = parameters.as_deref().map(|schema| read_parameters(tool, schema)).transpose()?;
    write_comment(out, tool.description.unwrap_or_default(), 0);
    write_true_name(out, tool.name, declared);
    if let Some(schema) = &schema {
        full::write_comments(out, schema, 0, true);
    }
    out.extend(["type ", declared, " = ("]);
    if let Some(schema) = &schema {
        full::write_parameter(out, schema);
    }
    out.push_str(") => any;\n\n");
    Ok(())
}

/// The schema of a tool's parameters, without what the tool itself says already.
fn read_parameters<'a>(tool: &Tool<'_>, parameters: &'a Value) -> Result<Schema<'a>> {
    check_depth(tool.name, parameters)?;
    let mut schema = read::read(parameters).map_err(|read::TooDeep| {
        invalid(tool.name, &format!("references lead more than {MAX_DEPTH} levels deep"))
    })?;
    schema.notes.title = None;
    schema.notes.descriptions.retain(|text| Some(*text) != tool.description);
    Ok(schema)
}

/// Says how the tool or namespace is called, where that is no identifier.
fn write_true_name(out: &mut String, name: &str, declared: &str) {
    if name != declared {
        out.push_str("// name: ");
        write_json(out, name);
        out.push('\n');
    }
}

fn invalid(name: &str, reason: &str) -> crate::Error {
    ErrorKind::InvalidSchema { name: name.to_owned(), reason: reason.to_owned() }.into()
}
