//! Which messages a row leaves out of the loss.

use crate::error::Result;
use crate::interop::{BodyField, BodyObject};
use crate::json::Value;

/// The flag's names in the formats of trainers, and whether a message with the flag set is trained: `weight` in
/// `OpenAI`'s fine-tuning files, axolotl's `train` and `training`, ms-swift's `loss` and `loss_scale`, LLaMA-Factory's
/// `loss_weight`, torchtune's `masked`.
const FLAGS: [(&str, bool); 8] = [
    ("weight", true),
    ("train", true),
    ("training", true),
    ("trainable", true),
    ("loss", true),
    ("loss_scale", true),
    ("loss_weight", true),
    ("masked", false),
];

/// Fields that mark only some parts of a message as trained, by character ranges.
const DETAIL: &str = "train_detail";

/// Whether a message's field of this name is such a flag.
pub(super) fn is_flag(name: &str) -> bool {
    name == DETAIL || FLAGS.iter().any(|(flag, _)| *flag == name)
}

/// Whether the row marks a message as trained; `None` where it does not say. `parts`: the parts of its content, which
/// may have flags, too.
///
/// # Errors
///
/// A value that is not a flag, two contradictory flags, and parts of which only some are trained.
pub(super) fn is_trained(message: &BodyObject<'_, '_>, content: &str) -> Result<Option<bool>> {
    let mut trained = of_object(message)?;
    let Some(content) = message.get(content) else { return Ok(trained) };
    if content.at().as_array().is_none() {
        return Ok(trained);
    }
    let mut first = None;
    for (index, part) in content.items()?.enumerate() {
        let of_part = part.object().map_or(Ok(None), |part| of_object(&part))?;
        let of_part = of_part.or(trained);
        if index > 0 && of_part.unwrap_or(true) != first.unwrap_or(true) {
            let reason = "a trained part next to an untrained one; make each its own message";
            return Err(part.invalid(reason));
        }
        first = of_part;
    }
    trained = first.or(trained);
    Ok(trained)
}

fn of_object(object: &BodyObject<'_, '_>) -> Result<Option<bool>> {
    // Most messages have no flag, which one pass over their members finds.
    if !object.members().iter().any(|(name, _)| is_flag(name)) {
        return Ok(None);
    }
    if let Some(detail) = object.get(DETAIL)
        && detail.at().as_array().is_none_or(|parts| !parts.is_empty())
    {
        let reason = "a message is trained or is not; make each part a message of its own";
        return Err(detail.invalid(reason));
    }
    let mut found: Option<(bool, &str)> = None;
    for (name, when_set) in FLAGS {
        let Some(flag) = object.get(name) else { continue };
        let trained = read_flag(&flag)? == when_set;
        match found {
            Some((other, by)) if other != trained => {
                return Err(flag.invalid(format!("contradicts `{by}`")));
            }
            _ => found = Some((trained, name)),
        }
    }
    Ok(found.map(|(trained, _)| trained))
}

/// A flag: true or false, or the number 1 or 0.
pub(super) fn read_flag(flag: &BodyField<'_, '_>) -> Result<bool> {
    let number = flag.number().ok();
    match flag.value() {
        Value::Bool(set) => Ok(set),
        Value::Number(_) if number == Some(0.0) => Ok(false),
        Value::Number(_) if number == Some(1.0) => Ok(true),
        _ => Err(flag.invalid(format!(
            "expected true, false, 0 or 1, got {}",
            crate::brief::Brief(&flag.at().to_json())
        ))),
    }
}
