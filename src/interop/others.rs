//! Lists the fields of objects within a body that are not read.

use super::field::{BodyField, BodyObject};
use super::parts::TEXTS;
use super::request::Request;
use crate::error::Result;
use crate::options::words;

/// The fields that a part with a text may have; those that are not read mean nothing to the model.
const OF_TEXT: &[&str] = words!(
    "type text refusal thinking reasoning summary id index annotations citations logprobs"
    "signature cache_control"
);

/// The fields that a choice may have, and those of the objects within it.
const OF_CHOICE: &[&str] = words!(
    "type name namespace function custom allowed_tools mode tools disable_parallel_tool_use"
);

impl Request<'_> {
    /// Lists the fields that are not read of a content's text parts. Nothing is read of other parts.
    pub(super) fn list_others_of_parts(&mut self, content: &BodyField<'_, '_>) -> Result<()> {
        if content.at().as_array().is_none() {
            return Ok(());
        }
        for part in content.items()? {
            if let Some(part) = part.object().ok().filter(has_text) {
                self.list_others(&part, OF_TEXT);
            }
        }
        Ok(())
    }

    /// Lists the fields that are not read of a choice and of the tools within it.
    pub(super) fn list_others_of_choice(&mut self, choice: &BodyField<'_, '_>) {
        let Ok(choice) = choice.object() else { return };
        self.list_others(&choice, OF_CHOICE);
        let nested = ["function", "custom", "allowed_tools"].into_iter();
        for nested in nested.filter_map(|key| choice.get(key)) {
            self.list_others_of_choice(&nested);
        }
        let tools = choice.get("tools");
        for tool in tools.iter().flat_map(|tools| tools.items()).flatten() {
            self.list_others_of_choice(&tool);
        }
    }
}

fn has_text(part: &BodyObject<'_, '_>) -> bool {
    let kind = part.get("type");
    let kind = kind.as_ref().and_then(|kind| kind.at().as_str()).unwrap_or_default();
    TEXTS.contains(&kind) || matches!(kind, "refusal" | "thinking" | "reasoning")
}
