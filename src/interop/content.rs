//! The content of messages: a text, or parts.
//!
//! Harmony carries text. An empty line joins the texts of one message; the options decide whether
//! anything else is an error or a placeholder.

use super::field::{BodyField, BodyObject};
use super::options::Unsupported;
use crate::error::Result;
use crate::json::Value;

/// What becomes of content that is not text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carrying {
    unsupported: Unsupported,
}

impl Carrying {
    /// In messages.
    pub(super) fn message(unsupported: Unsupported) -> Self {
        Self { unsupported }
    }

    /// In the results of tools, where it never ends a session.
    pub(super) fn result() -> Self {
        Self { unsupported: Unsupported::Placeholder }
    }

    /// The placeholder for something else: `[image omitted]`.
    pub(super) fn omitted(self, field: &BodyField<'_, '_>, what: &str) -> Result<String> {
        match self.unsupported {
            Unsupported::Placeholder => Ok(format!("[{what} omitted]")),
            Unsupported::Error if matches!(what, "audio" | "video") => Err(field.unsupported(what)),
            Unsupported::Error => Err(field.unsupported(format!("{what}s"))),
        }
    }

    /// The same for a part.
    pub(super) fn placeholder(self, part: &BodyObject<'_, '_>, what: &str) -> Result<String> {
        self.omitted(&payload(part), what)
    }
}

/// The member that holds what cannot be carried, or the part itself.
fn payload<'v, 's>(part: &'s BodyObject<'v, '_>) -> BodyField<'v, 's> {
    const PAYLOADS: [&str; 8] =
        ["image_url", "input_audio", "audio_url", "video_url", "file", "source", "image", "audio"];
    let payload = PAYLOADS.into_iter().find_map(|key| part.get(key));
    payload.unwrap_or_else(|| part.field())
}

/// Texts of one message.
#[derive(Debug, Default)]
pub(super) struct Texts(String);

impl Texts {
    /// Adds a text after an empty line; an empty one adds nothing.
    pub(super) fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push_str("\n\n");
        }
        self.0.push_str(text);
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// The text of a content: a text, or a list of parts as chat and Responses have them.
pub(super) fn read_content(content: &BodyField<'_, '_>, carrying: Carrying) -> Result<String> {
    match content.value() {
        Value::String(text) => return Ok(text.to_owned()),
        Value::Array(_) => {}
        _ => return Err(content.expected("a string or a list of parts")),
    }
    let mut texts = Texts::default();
    for part in content.items()? {
        match part.value() {
            Value::String(text) => texts.add(text),
            _ => texts.add(&read_part(&part.object()?, carrying)?),
        }
    }
    Ok(texts.into_text())
}

/// The text of a part.
pub(super) fn read_part(part: &BodyObject<'_, '_>, carrying: Carrying) -> Result<String> {
    let kind = part.required("type")?;
    let what = match kind.text()? {
        "text" | "input_text" | "output_text" | "reasoning_text" | "summary_text" => {
            return Ok(part.required("text")?.text()?.to_owned());
        }
        "refusal" => return Ok(part.required("refusal")?.text()?.to_owned()),
        "image_url" | "input_image" | "image" | "computer_screenshot" => "image",
        "input_audio" | "audio_url" | "audio" => "audio",
        "video_url" | "input_video" | "video" => "video",
        "file" | "input_file" => "file",
        other => return Err(kind.unknown("type of a part", other, &[])),
    };
    carrying.placeholder(part, what)
}
