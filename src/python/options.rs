//! Options of rendering and parsing, from Python's models.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::attributes::Attributes;
use super::errors::{InvalidArgument, Read, quoted};
use super::read::values::{boolean, optional_string};
use super::text::utf8;
use crate::{AnalysisPolicy, HeaderStyle, Prefill, RenderConfig, ToolSchemaStyle};

/// How to render a conversation. In Python, leaving the config out drops analysis.
pub(super) fn config(object: Option<&Bound<'_, PyAny>>) -> Read<RenderConfig> {
    let Some(object) = object else {
        return Ok(RenderConfig::new());
    };
    let attributes = Attributes::any(object, "a RenderConversationConfig");
    let auto_drop = attributes.field(intern!(attributes.py(), "auto_drop_analysis"), boolean)?;
    let analysis = attributes.field(intern!(attributes.py(), "analysis"), analysis_policy)?;
    let analysis = analysis.unwrap_or(AnalysisPolicy::of_auto_drop(auto_drop));
    shared_options(&attributes, RenderConfig::new().with_analysis(analysis))
}

/// How to render a single message.
pub(super) fn render_options(object: Option<&Bound<'_, PyAny>>) -> Read<RenderConfig> {
    let Some(object) = object else {
        return Ok(RenderConfig::new());
    };
    let attributes = Attributes::any(object, "a RenderOptions");
    let name = intern!(attributes.py(), "conversation_has_function_tools");
    let has_function_tools = attributes.field(name, boolean)?;
    let config = RenderConfig::new().with_conversation_has_function_tools(has_function_tools);
    shared_options(&attributes, config)
}

/// The options that both of Python's models have.
fn shared_options(attributes: &Attributes<'_, '_>, config: RenderConfig) -> Read<RenderConfig> {
    let py = attributes.py();
    Ok(config
        .with_header_style(attributes.field(intern!(py, "header_style"), header_style)?)
        .with_tool_schema(attributes.field(intern!(py, "tool_schema"), tool_schema)?)
        .with_validate(attributes.field(intern!(py, "validate"), boolean)?))
}

/// The beginning of the next message. Leaving it out is one of nothing.
pub(super) fn prefill(object: Option<&Bound<'_, PyAny>>) -> PyResult<Prefill> {
    let Some(object) = object else {
        return Ok(Prefill::new());
    };
    prefill_fields(object).map_err(|invalid| invalid.inside("prefill").raised(object.py()))
}

fn prefill_fields(object: &Bound<'_, PyAny>) -> Read<Prefill> {
    let attributes = Attributes::any(object, "a Prefill");
    let py = attributes.py();
    let mut prefill = Prefill::new();
    prefill.channel = attributes.field(intern!(py, "channel"), optional_string)?;
    prefill.recipient = attributes.field(intern!(py, "recipient"), optional_string)?;
    prefill.content_type = attributes.field(intern!(py, "content_type"), optional_string)?;
    prefill.text = attributes.field(intern!(py, "text"), optional_string)?;
    Ok(prefill)
}

fn analysis_policy(object: &Bound<'_, PyAny>) -> Read<Option<AnalysisPolicy>> {
    if object.is_none() {
        return Ok(None);
    }
    let policies = [
        ("keep_all", AnalysisPolicy::KeepAll),
        ("drop_before_first_final", AnalysisPolicy::DropBeforeFirstFinal),
        ("drop_completed_turns", AnalysisPolicy::DropCompletedTurns),
    ];
    one_of(object, "an AnalysisPolicy", &policies).map(Some)
}

fn header_style(object: &Bound<'_, PyAny>) -> Read<HeaderStyle> {
    let styles = [
        ("recipient_in_role", HeaderStyle::RecipientInRole),
        ("recipient_in_channel", HeaderStyle::RecipientInChannel),
    ];
    one_of(object, "a HeaderStyle", &styles)
}

fn tool_schema(object: &Bound<'_, PyAny>) -> Read<ToolSchemaStyle> {
    let styles = [("compat", ToolSchemaStyle::Compat), ("full", ToolSchemaStyle::Full)];
    one_of(object, "a ToolSchemaStyle", &styles)
}

/// The choice of this word, which is the value of a Python enumeration's member.
pub(super) fn one_of<T: Copy>(
    object: &Bound<'_, PyAny>,
    kind: &str,
    choices: &[(&str, T)],
) -> Read<T> {
    let Ok(word) = object.cast::<PyString>() else {
        return Err(InvalidArgument::type_of(object, kind));
    };
    let word = utf8(word)?;
    choices.iter().find(|(name, _)| *name == word).map(|(_, choice)| *choice).ok_or_else(|| {
        InvalidArgument::value(format!("expected {kind}, got {}", quoted(object.py(), &word)))
    })
}
