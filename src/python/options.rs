//! Options of rendering and parsing, from Python's models.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::errors::{Misfit, Read, brief};
use super::read::boolean;
use super::source::Source;
use super::text::utf8;
use crate::{AnalysisPolicy, HeaderStyle, Prefill, RenderConfig, ToolSchemaStyle};

/// How to render a conversation. In Python, leaving the config out drops analysis.
pub(super) fn config(object: Option<&Bound<'_, PyAny>>) -> Read<RenderConfig> {
    let Some(object) = object else {
        return Ok(RenderConfig::new());
    };
    let source = Source::any(object, "a RenderConversationConfig");
    let auto_drop = source.field(intern!(source.py(), "auto_drop_analysis"), boolean)?;
    let analysis = source.field(intern!(source.py(), "analysis"), analysis_policy)?;
    let analysis = analysis.unwrap_or(AnalysisPolicy::of_auto_drop(auto_drop));
    shared_options(&source, RenderConfig::new().with_analysis(analysis))
}

/// How to render a single message.
pub(super) fn render_options(object: Option<&Bound<'_, PyAny>>) -> Read<RenderConfig> {
    let Some(object) = object else {
        return Ok(RenderConfig::new());
    };
    let source = Source::any(object, "a RenderOptions");
    let name = intern!(source.py(), "conversation_has_function_tools");
    let has_function_tools = source.field(name, boolean)?;
    let config = RenderConfig::new().with_conversation_has_function_tools(has_function_tools);
    shared_options(&source, config)
}

/// The options that both of Python's models have.
fn shared_options(source: &Source<'_, '_>, config: RenderConfig) -> Read<RenderConfig> {
    let py = source.py();
    Ok(config
        .with_header_style(source.field(intern!(py, "header_style"), header_style)?)
        .with_tool_schema(source.field(intern!(py, "tool_schema"), tool_schema)?)
        .with_validate(source.field(intern!(py, "validate"), boolean)?))
}

/// The beginning of the next message. Leaving it out is one of nothing.
pub(super) fn prefill(object: Option<&Bound<'_, PyAny>>) -> PyResult<Prefill> {
    let Some(object) = object else {
        return Ok(Prefill::new());
    };
    prefill_fields(object).map_err(|misfit| misfit.inside("prefill").raised(object.py()))
}

fn prefill_fields(object: &Bound<'_, PyAny>) -> Read<Prefill> {
    let source = Source::any(object, "a Prefill");
    let py = source.py();
    let mut prefill = Prefill::new();
    prefill.channel = source.field(intern!(py, "channel"), optional_string)?;
    prefill.recipient = source.field(intern!(py, "recipient"), optional_string)?;
    prefill.content_type = source.field(intern!(py, "content_type"), optional_string)?;
    prefill.text = source.field(intern!(py, "text"), optional_string)?;
    Ok(prefill)
}

fn optional_string(object: &Bound<'_, PyAny>) -> Read<Option<String>> {
    if object.is_none() {
        return Ok(None);
    }
    match object.cast::<PyString>() {
        Ok(text) => Ok(Some(utf8(text)?.into_owned())),
        Err(_) => Err(Misfit::type_of(object, "a string")),
    }
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
fn one_of<T: Copy>(object: &Bound<'_, PyAny>, kind: &str, choices: &[(&str, T)]) -> Read<T> {
    let Ok(word) = object.cast::<PyString>() else {
        return Err(Misfit::type_of(object, kind));
    };
    let word = utf8(word)?;
    choices.iter().find(|(name, _)| *name == word).map(|(_, choice)| *choice).ok_or_else(|| {
        Misfit::value(format!("expected {kind}, got {:?}", brief(word.into_owned())))
    })
}
