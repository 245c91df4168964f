//! The content of messages: a text, or parts.
//!
//! Harmony carries text. An empty line joins the texts of one message; the options decide whether
//! anything else is an error or a placeholder.

use super::field::{BodyField, BodyObject};
use super::options::Unsupported;
use crate::error::Result;
use crate::json::Value;

impl Unsupported {
    /// The placeholder for something else: `[image omitted]`.
    pub(super) fn omitted(self, field: &BodyField<'_, '_>, what: &str) -> Result<String> {
        match self {
            Self::Placeholder => Ok(format!("[{what} omitted]")),
            Self::Error if matches!(what, "audio" | "video") => Err(field.unsupported(what)),
            Self::Error => Err(field.unsupported(format!("{what}s"))),
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
pub(super) fn read_content(
    content: &BodyField<'_, '_>,
    unsupported: Unsupported,
) -> Result<String> {
    if let Value::String(text) = content.value() {
        return Ok(text.to_owned());
    }
    let mut texts = Texts::default();
    for part in content.items_or("a string or a list of parts")? {
        match part.value() {
            Value::String(text) => texts.add(text),
            _ => texts.add(&read_part(&part.object()?, unsupported)?),
        }
    }
    Ok(texts.into_text())
}

/// The text of a part.
pub(super) fn read_part(part: &BodyObject<'_, '_>, unsupported: Unsupported) -> Result<String> {
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
    unsupported.placeholder(part, what)
}
