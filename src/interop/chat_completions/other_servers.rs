//! Fields that bodies have for other servers: vLLM, `SGLang`, llama.cpp, `OpenRouter`. Each means here what it means
//! there.

use crate::chat::ReasoningEffort;
use crate::error::Result;
use crate::interop::common::{read_effort, read_thinking_budget};
use crate::interop::field::BodyObject;
use crate::interop::formats::{any_object, read_format_schema, response_format};
use crate::interop::request::Request;
use crate::interop::{ThoughtDisplay, UnusedReason};
use crate::json::Value;

/// Constraints on answers other than schemas. A client could not read an answer that ignores them.
const CONSTRAINTS: [&str; 6] =
    ["grammar", "regex", "ebnf", "guided_regex", "guided_choice", "guided_grammar"];

/// The constraints within `structured_outputs`.
const OF_STRUCTURED: [&str; 4] = ["regex", "choice", "grammar", "structural_tag"];

/// Fields that replace the prompt.
const PROMPTS: [&str; 2] = ["chat_template", "input_ids"];

/// Reads the fields.
pub(super) fn read(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    read_template(body, request)?;
    read_thinking(body, request)?;
    for key in ["thinking_token_budget", "thinking_budget_tokens"] {
        if let Some(most) = body.get(key)
            && most.integer()? >= 0
        {
            request.thinking_budget = read_thinking_budget(body, key)?;
        }
    }
    read_constraint(body, request)?;
    refuse(body, &PROMPTS, "the prompt is made of `messages` only")
}

/// Refuses the first of these fields that has a value.
fn refuse(object: &BodyObject<'_, '_>, keys: &[&str], reason: &'static str) -> Result<()> {
    let mut fields = keys.iter().filter_map(|key| object.get(key));
    match fields.find(|field| !matches!(field.value(), Value::String("") | Value::Bool(false))) {
        Some(field) => Err(field.invalid(reason)),
        None => Ok(()),
    }
}

/// `chat_template_kwargs`: arguments of the model's chat template.
fn read_template(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    let Some(given) = body.object("chat_template_kwargs")? else { return Ok(()) };
    if let Some(effort) = given.get("reasoning_effort")
        && body.get("reasoning_effort").is_none()
    {
        request.effort = Some(read_effort(&effort, request));
    }
    for key in ["enable_thinking", "thinking"] {
        if given.bool(key)? == Some(false) {
            switch_off(request);
        }
    }
    request.identity = given.text("model_identity")?.map(str::to_owned);
    let known = &["reasoning_effort", "enable_thinking", "thinking", "model_identity"];
    request.list_others(&given, known);
    Ok(())
}

/// Whether the model thinks, and whether its thoughts are shown.
fn read_thinking(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    if body.bool("include_reasoning")? == Some(false) {
        request.answer.thought_display = ThoughtDisplay::Hidden;
    }
    if let Some(reasoning) = body.object("reasoning")? {
        if reasoning.bool("exclude")? == Some(true) {
            request.answer.thought_display = ThoughtDisplay::Hidden;
        }
        if reasoning.bool("enabled")? == Some(false) {
            switch_off(request);
        }
    }
    if body.bool("enable_thinking")? == Some(false) {
        switch_off(request);
    }
    if let Some(think) = body.get("think") {
        match think.value() {
            Value::Bool(true) => {}
            Value::Bool(false) => switch_off(request),
            _ => request.effort = Some(read_effort(&think, request)),
        }
    }
    let Some(thinking) = body.get("thinking") else { return Ok(()) };
    if let Value::Bool(thinks) = thinking.value() {
        if !thinks {
            switch_off(request);
        }
        return Ok(());
    }
    let thinking = thinking.object()?;
    if request.word(&thinking, "type", &["enabled", "disabled", "auto", "adaptive"])?
        == Some("disabled")
    {
        switch_off(request);
    }
    let budget = read_thinking_budget(&thinking, "budget_tokens")?;
    request.thinking_budget = budget.or(request.thinking_budget);
    request.list_others(&thinking, &["type", "budget_tokens"]);
    Ok(())
}

/// The model always thinks; here as little as it can, and unseen.
fn switch_off(request: &mut Request<'_>) {
    request.effort = Some(ReasoningEffort::Low);
    request.answer.thought_display = ThoughtDisplay::Hidden;
}

/// A schema of the answer in a field of its own; `response_format` takes precedence.
fn read_constraint(body: &BodyObject<'_, '_>, request: &mut Request<'_>) -> Result<()> {
    const REASON: &str = "only `response_format` is enforced";
    refuse(body, &CONSTRAINTS, REASON)?;
    let mut format = None;
    for key in ["json_schema", "guided_json"] {
        if let Some(schema) = body.get(key) {
            format = Some(response_format(None, read_format_schema(&schema)?, None));
        }
    }
    if let Some(outputs) = body.get("structured_outputs") {
        if outputs.at().as_bool().is_some() {
            // A flag of `OpenRouter`'s.
            request.list(&outputs, UnusedReason::NotUsed);
        } else {
            let outputs = outputs.object()?;
            refuse(&outputs, &OF_STRUCTURED, REASON)?;
            if let Some(schema) = outputs.get("json") {
                format = Some(response_format(None, read_format_schema(&schema)?, None));
            } else if outputs.bool("json_object")? == Some(true) {
                format = Some(any_object());
            }
            request.list_others(&outputs, &["json", "json_object"]);
        }
    }
    request.response_format = request.response_format.take().or(format);
    Ok(())
}
