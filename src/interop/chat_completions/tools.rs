//! Tools and the choice among them.

use crate::error::Result;
use crate::interop::ReadOptions;
use crate::interop::choice::{Choice, Chosen};
use crate::interop::field::{BodyField, BodyObject};
use crate::interop::pairs::ToolId;
use crate::interop::request::Request;
use crate::json::Value;

/// Reads the functions of the old field.
pub(super) fn read_functions(functions: &BodyField<'_, '_>, request: &mut Request) -> Result<()> {
    for function in functions.items()? {
        request.tools.function(&function.object()?, "parameters", None, &mut request.unused)?;
        request.answer.function_call = true;
    }
    Ok(())
}

/// A function, nested or flat, a free-form tool, or a tool that servers run.
pub(crate) fn read_tool(
    tool: &BodyField<'_, '_>,
    options: &ReadOptions,
    request: &mut Request,
) -> Result<()> {
    let object = tool.object()?;
    let kind = object.text("type")?;
    let unused = &mut request.unused;
    match kind {
        Some("custom") => {
            let nested = nested(&object, "custom")?;
            let nested = nested.as_ref().map(BodyField::object).transpose()?;
            request.tools.custom(nested.as_ref().unwrap_or(&object), None, unused)
        }
        None | Some("function") => {
            let nested = nested(&object, "function")?;
            let nested = nested.as_ref().map(BodyField::object).transpose()?;
            let function = nested.as_ref().unwrap_or(&object);
            request.tools.function(function, "parameters", None, unused)
        }
        Some(kind) => {
            request.tools.server_tool(kind, tool, options, unused);
            Ok(())
        }
    }
}

/// The member that holds what a tool is: `None` for one that is flat. Without either, what is
/// missing is the member.
fn nested<'v, 's>(tool: &'s BodyObject<'v, '_>, key: &'s str) -> Result<Option<BodyField<'v, 's>>> {
    match tool.get(key) {
        None if tool.get("name").is_none() => tool.required(key).map(Some),
        nested => Ok(nested),
    }
}

pub(super) fn read_choice(choice: &BodyField<'_, '_>) -> Result<Choice> {
    if let Value::String(word) = choice.value() {
        let known = &["auto", "none", "required"];
        return Choice::word(word, choice).ok_or_else(|| choice.unknown("choice", word, known));
    }
    let object = choice.object()?;
    if object.text("type")? == Some("allowed_tools") {
        let nested = object.get("allowed_tools");
        let nested = nested.as_ref().map(BodyField::object).transpose()?;
        let allowed = nested.as_ref().unwrap_or(&object);
        let tools = allowed.required("tools")?;
        let tools =
            tools.items()?.map(|tool| read_chosen(&tool.object()?)).collect::<Result<_>>()?;
        return Ok(Choice::Allowed { tools, required: allowed.text("mode")? == Some("required") });
    }
    read_chosen(&object).map(Choice::Named)
}

/// `{"type": "function", "function": {"name": ...}}`, or flat as `function_call` has it.
fn read_chosen(chosen: &BodyObject<'_, '_>) -> Result<Chosen> {
    let key = if chosen.get("custom").is_some() { "custom" } else { "function" };
    let nested = nested(chosen, key)?;
    let nested = nested.as_ref().map(BodyField::object).transpose()?;
    let named = nested.as_ref().unwrap_or(chosen);
    let name = named.required("name")?;
    Ok(Chosen::tool(ToolId::new(name.text()?), &name))
}
