//! What all dialects say in much the same way: sampling, effort, stop strings, response formats.

use serde_json::{Value as Tree, json};

use super::field::{BodyField, BodyObject};
use super::request::Request;
use super::{Sampling, UnusedReason};
use crate::chat::{ReasoningEffort, ResponseFormat};
use crate::error::Result;
use crate::json::Value;

/// The effort that a word means; more and less than the model knows are its most and its least.
pub(super) fn read_effort(field: &BodyField<'_, '_>, request: &mut Request<'_>) -> ReasoningEffort {
    match field.at().as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
        "none" | "minimal" | "low" => ReasoningEffort::Low,
        "medium" => ReasoningEffort::Medium,
        "high" | "xhigh" | "max" | "ultra" => ReasoningEffort::High,
        _ => {
            request.list(field, UnusedReason::UnknownEffort);
            ReasoningEffort::Medium
        }
    }
}

/// Reads the `reasoning` of Responses and of some clients of chat: effort, the most tokens of thoughts, and whether
/// those of all turns stay.
pub(super) fn read_reasoning(
    reasoning: &BodyObject<'_, '_>,
    request: &mut Request<'_>,
) -> Result<()> {
    if let Some(effort) = reasoning.get("effort") {
        request.effort = Some(read_effort(&effort, request));
    }
    let budget = read_thinking_budget(reasoning, "max_tokens")?;
    request.thinking_budget = budget.or(request.thinking_budget);
    request.keep_thoughts |= reasoning.text("context")? == Some("all_turns");
    request.list_others(reasoning, &["effort", "max_tokens", "context"]);
    Ok(())
}

/// A format without a name of its own.
const UNNAMED: &str = "response";

/// A response format under its name.
pub(super) fn response_format(
    name: Option<&str>,
    schema: Tree,
    description: Option<&str>,
) -> ResponseFormat {
    ResponseFormat {
        name: name.unwrap_or(UNNAMED).to_owned(),
        description: description.map(str::to_owned),
        schema,
    }
}

/// Any JSON object.
pub(super) fn any_object() -> ResponseFormat {
    response_format(None, json!({"type": "object"}), None)
}

const FORMATS: &[&str] = &["text", "json_object", "json_schema"];

/// Reads `{"type": ...}`: `text`, `json_object`, or `json_schema`, whose fields stand in the object
/// or, as chat has it, in a member `json_schema`.
pub(super) fn read_response_format(format: &BodyField<'_, '_>) -> Result<Option<ResponseFormat>> {
    let format = format.object()?;
    let kind = format.required("type")?;
    match kind.text()? {
        "text" => return Ok(None),
        "json_object" => return Ok(Some(any_object())),
        "json_schema" => {}
        other => return Err(kind.unknown("response format", other, FORMATS)),
    }
    let described = format.object_or_self("json_schema")?;
    if format.get("json_schema").is_none() && format.get("schema").is_none() {
        return Err(kind.invalid("json_schema is missing"));
    }
    let name = described.get("name").map(|name| read_format_name(&name)).transpose()?;
    let schema = match described.get("schema") {
        Some(schema) => read_format_schema(&schema)?,
        None => json!({}),
    };
    Ok(Some(response_format(name, schema, described.text("description")?)))
}

fn read_format_name<'v>(name: &BodyField<'v, '_>) -> Result<&'v str> {
    let text = name.text()?;
    if text.trim().is_empty() {
        return Err(name.invalid("a response format needs a name"));
    }
    if text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}', '\u{0B}', '\u{0C}']) {
        return Err(name.invalid("the name of a response format must be one line"));
    }
    Ok(text)
}

/// A schema of an answer; JSON Schema allows `true` for anything, too.
pub(super) fn read_format_schema(schema: &BodyField<'_, '_>) -> Result<Tree> {
    match schema.value() {
        Value::Object(_) | Value::Bool(_) => Ok(schema.at().to_tree()),
        _ => Err(schema.expected("a schema")),
    }
}

/// How many stop strings a body may have, and how many bytes all of them together. What clients send is far
/// below; a search for so many takes some milliseconds to build.
const MAX_STOP_STRINGS: usize = 1_024;
const MAX_STOP_BYTES: usize = 131_072;

/// Reads stop strings: one, or a list.
pub(super) fn read_stop(
    body: &BodyObject<'_, '_>,
    key: &str,
    request: &mut Request<'_>,
) -> Result<()> {
    let Some(stop) = body.get(key) else { return Ok(()) };
    let strings = &mut request.stop_strings;
    let mut add = |field: &BodyField<'_, '_>| -> Result<()> {
        match field.text()? {
            "" => request.unused.push(field.unused(UnusedReason::EmptyStopString)),
            text => strings.push(text.to_owned()),
        }
        Ok(())
    };
    if stop.at().as_str().is_some() {
        add(&stop)?;
    } else {
        stop.items()?.try_for_each(|item| add(&item))?;
    }
    let bytes: usize = strings.iter().map(String::len).sum();
    let (what, most, count) = match strings.len() {
        count if count > MAX_STOP_STRINGS => ("stop strings", MAX_STOP_STRINGS, count),
        _ if bytes > MAX_STOP_BYTES => ("bytes of stop strings", MAX_STOP_BYTES, bytes),
        _ => return Ok(()),
    };
    Err(stop.invalid(format!("expected at most {most} {what}, got {count}")))
}

/// Reads the fields of sampling that chat, Responses and Anthropic have under the same names.
pub(super) fn read_sampling(body: &BodyObject<'_, '_>, sampling: &mut Sampling) -> Result<()> {
    let read = |key, most| read_within(body, key, most);
    sampling.temperature = read("temperature", None)?.unwrap_or(sampling.temperature);
    sampling.top_p = read("top_p", Some(1.0))?.unwrap_or(sampling.top_p);
    sampling.min_p = read("min_p", Some(1.0))?.unwrap_or(sampling.min_p);
    if let Some(top_k) = body.get("top_k") {
        sampling.top_k = read_top_k(&top_k)?;
    }
    Ok(())
}

/// 0 and -1 are off.
fn read_top_k(top_k: &BodyField<'_, '_>) -> Result<u64> {
    let value = top_k.integer()?;
    if value < -1 {
        return Err(top_k.invalid("expected a whole number of at least -1"));
    }
    Ok(u64::try_from(value).unwrap_or(0))
}

/// Reads the fields of sampling that chat and Ollama have under the same names.
pub(super) fn read_penalties(body: &BodyObject<'_, '_>, sampling: &mut Sampling) -> Result<()> {
    sampling.presence_penalty = body.number("presence_penalty")?;
    sampling.frequency_penalty = body.number("frequency_penalty")?;
    sampling.seed = body.get("seed").map(|seed| seed.integer()).transpose()?;
    Ok(())
}

/// The most tokens of thoughts: `budget_tokens` of Anthropic's `thinking`, `max_tokens` in the `reasoning` of some
/// clients of chat and Responses.
pub(super) fn read_thinking_budget(
    thinking: &BodyObject<'_, '_>,
    key: &str,
) -> Result<Option<usize>> {
    let most = read_count(thinking, key)?;
    Ok(most.map(|most| usize::try_from(most).unwrap_or(usize::MAX)))
}

/// Reads a count of at least one.
pub(super) fn read_count(body: &BodyObject<'_, '_>, key: &str) -> Result<Option<u64>> {
    let Some(field) = body.get(key) else { return Ok(None) };
    let count = field.integer()?;
    match u64::try_from(count) {
        Ok(count @ 1..) => Ok(Some(count)),
        _ => Err(field.invalid(format!("expected a whole number of at least 1, got {count}"))),
    }
}

/// Reads a number of at least 0.
fn read_within(body: &BodyObject<'_, '_>, key: &str, most: Option<f64>) -> Result<Option<f64>> {
    let Some(field) = body.get(key) else { return Ok(None) };
    let value = field.number()?;
    if value >= 0.0 && most.is_none_or(|most| value <= most) {
        return Ok(Some(value));
    }
    let range = match most {
        Some(most) => format!("from 0 to {most}"),
        None => "of at least 0".to_owned(),
    };
    Err(field.invalid(format!("expected a number {range}, got {value}")))
}

/// Reads `logprobs` and `top_logprobs`, which chat and Ollama have: how many alternatives of each token are asked for, if
/// log-probabilities are. Some clients give the count as `logprobs`, as the old completions had it.
pub(super) fn read_logprobs(body: &BodyObject<'_, '_>) -> Result<Option<usize>> {
    let top = read_top_logprobs(body)?;
    let logprobs = body.get("logprobs");
    let count = match &logprobs {
        None => None,
        Some(field) if matches!(field.value(), Value::Number(_)) => {
            Some(read_alternatives(field)?).filter(|&count| count > 0)
        }
        Some(field) => field.bool()?.then_some(0),
    };
    match (count, top) {
        (None, None | Some(0)) => Ok(None),
        (None, Some(_)) => {
            Err(body.required("top_logprobs")?.invalid("needs `logprobs` to be true"))
        }
        (Some(count), top) => Ok(Some(top.unwrap_or(count))),
    }
}

/// `top_logprobs`, a count of alternatives.
pub(super) fn read_top_logprobs(body: &BodyObject<'_, '_>) -> Result<Option<usize>> {
    body.get("top_logprobs").map(|field| read_alternatives(&field)).transpose()
}

/// The most alternatives of a token, by the specification of chat completions; engines have the same limit.
const MAX_ALTERNATIVES: i64 = 20;

fn read_alternatives(field: &BodyField<'_, '_>) -> Result<usize> {
    let count = field.integer()?;
    let known = usize::try_from(count).ok().filter(|_| count <= MAX_ALTERNATIVES);
    known.ok_or_else(|| {
        field.invalid(format!("expected a whole number from 0 to {MAX_ALTERNATIVES}, got {count}"))
    })
}
