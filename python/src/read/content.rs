//! The content of messages.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::own_json::part_via_own_json;
use super::tools::namespaces;
use super::values::{boolean, each, model, optional, optional_string, optional_text, string, text};
use crate::attributes::{Attributes, fields};
use crate::borrowed::{BorrowedDeveloper, BorrowedPart, BorrowedSystem};
use crate::errors::{InvalidArgument, Read, brief};
use crate::json;
use crate::text::BorrowedText;
use crate::types::Models;
use openai_harmony::chat::{ChannelConfig, ReasoningEffort, ResponseFormat};

/// The parts of a message. A string is a single text, as in validation.
pub(super) fn contents(object: &Bound<'_, PyAny>, models: &Models) -> Read<Vec<BorrowedPart>> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(vec![BorrowedPart::Text(BorrowedText::of(text)?)]);
    }
    each(object, |object| part(object, models))
}

fn part(object: &Bound<'_, PyAny>, models: &Models) -> Read<BorrowedPart> {
    let py = object.py();
    let class = object.get_type();
    if class.is(&models.text.class) {
        return text_content(object, models);
    }
    if class.is(&models.system) {
        return system(object, models);
    }
    if class.is(&models.developer) {
        return developer(object, models);
    }
    if let Some(own) = part_via_own_json(object, models)? {
        return part(&own, models);
    }
    // Subclasses, and objects of other classes that have the attributes of one of the three.
    if object.is_instance(models.system.bind(py))?
        || object.hasattr(intern!(py, "model_identity"))?
    {
        return system(object, models);
    }
    if object.is_instance(models.developer.bind(py))?
        || object.hasattr(intern!(py, "instructions"))?
    {
        return developer(object, models);
    }
    text_content(object, models)
}

fn text_content(object: &Bound<'_, PyAny>, models: &Models) -> Read<BorrowedPart> {
    let attributes = Attributes::new(object, &models.text.class, "a Content");
    attributes.field(intern!(object.py(), "text"), text).map(BorrowedPart::Text)
}

fn system(object: &Bound<'_, PyAny>, models: &Models) -> Read<BorrowedPart> {
    let content = fields!(
        Attributes::new(object, &models.system, "a SystemContent"),
        BorrowedSystem {
            model_identity: optional_text,
            reasoning_effort: |effort| optional(effort, reasoning_effort),
            tools: |tools| optional(tools, namespaces),
            conversation_start_date: optional_text,
            knowledge_cutoff: optional_text,
            channel_config: |config| optional(config, channel_config),
        }
    );
    Ok(BorrowedPart::System(Box::new(content)))
}

fn developer(object: &Bound<'_, PyAny>, models: &Models) -> Read<BorrowedPart> {
    let content = fields!(
        Attributes::new(object, &models.developer, "a DeveloperContent"),
        BorrowedDeveloper {
            instructions: optional_text,
            tools: |tools| optional(tools, namespaces),
            response_formats: |formats| each(formats, response_format),
        }
    );
    Ok(BorrowedPart::Developer(Box::new(content)))
}

pub(crate) fn reasoning_effort(object: &Bound<'_, PyAny>) -> Read<ReasoningEffort> {
    match string(object)?.as_str() {
        "Low" => Ok(ReasoningEffort::Low),
        "Medium" => Ok(ReasoningEffort::Medium),
        "High" => Ok(ReasoningEffort::High),
        other => {
            let shown = brief(other);
            Err(InvalidArgument::value(format!("Unknown reasoning effort: {shown}")))
        }
    }
}

fn channel_config(object: &Bound<'_, PyAny>) -> Read<ChannelConfig> {
    let class = &Models::get(object.py())?.channel_config;
    let object = &model(object, class)?;
    Ok(fields!(
        Attributes::new(object, class, "a ChannelConfig"),
        ChannelConfig {
            valid_channels: |channels| each(channels, string),
            channel_required: boolean,
        }
    ))
}

fn response_format(object: &Bound<'_, PyAny>) -> Read<ResponseFormat> {
    Ok(fields!(
        Attributes::any(object, "a ResponseFormat"),
        ResponseFormat { name: string, description: optional_string, schema: json::schema_tree }
    ))
}
