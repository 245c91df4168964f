//! Options of rendering, from Python's models.

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::errors::{Misfit, Read};
use super::read::boolean;
use super::source::{Source, fields};
use super::text::utf8;
use crate::{
    AnalysisPolicy, HeaderStyle, RenderConversationConfig, RenderOptions, ToolSchemaStyle,
};

/// How to render a conversation. In Python, leaving the config out drops analysis.
pub(super) fn config(object: Option<&Bound<'_, PyAny>>) -> Read<RenderConversationConfig> {
    let Some(object) = object else {
        return Ok(RenderConversationConfig::default());
    };
    Ok(fields!(
        Source::any(object, "a RenderConversationConfig"),
        RenderConversationConfig {
            auto_drop_analysis: boolean,
            analysis: analysis_policy,
            header_style: header_style,
            tool_schema: tool_schema,
            validate: boolean,
        }
    ))
}

/// How to render a single message.
pub(super) fn render_options(object: Option<&Bound<'_, PyAny>>) -> Read<RenderOptions> {
    let Some(object) = object else {
        return Ok(RenderOptions::default());
    };
    Ok(fields!(
        Source::any(object, "a RenderOptions"),
        RenderOptions {
            conversation_has_function_tools: boolean,
            header_style: header_style,
            tool_schema: tool_schema,
            validate: boolean,
        }
    ))
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
    choices
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, choice)| *choice)
        .ok_or_else(|| Misfit::value(format!("expected {kind}, got {word:?}")))
}
