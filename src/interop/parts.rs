//! The content of a message: a text, or a list of parts.
//!
//! Harmony carries text. An empty line joins the texts of one message; the options decide whether anything else is an error
//! or a placeholder.

use super::Unsupported;
use super::field::{BodyField, BodyObject};
use super::texts::{TextPart, Texts};
use crate::error::Result;
use crate::json::Value;

impl Unsupported {
    /// The placeholder for something else than text: `[image omitted]`.
    pub(super) fn omitted(self, field: &BodyField<'_, '_>, what: &str) -> Result<TextPart> {
        match self {
            Self::Placeholder => {
                Ok(TextPart { text: format!("[{what} omitted]"), is_placeholder: true })
            }
            Self::Error if matches!(what, "audio" | "video") => Err(field.unsupported(what)),
            Self::Error => Err(field.unsupported(format!("{what}s"))),
        }
    }

    /// The same for a part.
    pub(super) fn placeholder(self, part: &BodyObject<'_, '_>, what: &str) -> Result<TextPart> {
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

/// The types of parts with their text in `text`.
pub(super) const TEXTS: [&str; 5] =
    ["text", "input_text", "output_text", "reasoning_text", "summary_text"];

/// The text of a content: a text, or a list of parts in the form of chat and Responses.
pub(super) fn read_content(content: &BodyField<'_, '_>, rules: Unsupported) -> Result<Texts> {
    if let Value::String(text) = content.value() {
        return Ok(text.into());
    }
    let mut texts = Texts::default();
    for part in content.items_or("a string or a list of parts")? {
        match part.value() {
            Value::String(text) => texts.add(text),
            _ => texts.add(read_part(&part.object()?, rules)?),
        }
    }
    Ok(texts)
}

/// The text of a part.
pub(super) fn read_part(part: &BodyObject<'_, '_>, rules: Unsupported) -> Result<TextPart> {
    let kind = part.required("type")?;
    let what = match kind.text()? {
        kind if TEXTS.contains(&kind) => return Ok(part.required("text")?.text()?.into()),
        "refusal" => return Ok(part.required("refusal")?.text()?.into()),
        "image_url" | "input_image" | "image" | "computer_screenshot" => "image",
        "input_audio" | "audio_url" | "audio" => "audio",
        "video_url" | "input_video" | "video" => "video",
        "file" | "input_file" => "file",
        other => return Err(kind.unknown("type of a part", other, &[])),
    };
    rules.placeholder(part, what)
}
