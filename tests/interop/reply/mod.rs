//! Sampled tokens -> answers.

mod anthropic;
mod chat_completions;
mod client_tools;
mod derender;
mod laws;
mod logprobs;
mod meant;
mod mended;
mod pieces;
mod prefix;
mod responses;
mod saved;
mod spelled;
mod thinking;

use openai_harmony::interop::{BuiltinTool, Date, Dialect, FinishReason, ReadOptions, Reply, Turn};
use serde_json::{Value, json};

use crate::reply_laws::{self, encoding, reply};

const CHAT: Dialect = Dialect::ChatCompletions;
const RESPONSES: Dialect = Dialect::Responses;
const ANTHROPIC: Dialect = Dialect::Anthropic;
const OLLAMA: Dialect = Dialect::Ollama;

const THOUGHT: &str = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant";
const PREAMBLE: &str = "<|channel|>commentary<|message|>Let me look.<|end|><|start|>assistant";
const CALL: &str = "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\":\"Oslo\"}<|call|>";
const ANSWER: &str = "<|channel|>final<|message|>Sunny.<|return|>";

pub(super) fn tokens(text: &str) -> Vec<u32> {
    encoding().tokenizer().encode_with_special_tokens(text)
}

fn options() -> ReadOptions {
    ReadOptions::new()
        .with_date(Date::Omitted)
        .with_builtin_tools([BuiltinTool::Browser, BuiltinTool::Python])
}

fn turn(dialect: Dialect, body: &Value) -> Turn {
    dialect.read(body, &options()).unwrap_or_else(|error| panic!("{error}\n{body}"))
}

/// The answer to a request, of sampled text that ends for a reason.
fn ended(dialect: Dialect, body: &Value, sampled: &[&str], reason: FinishReason) -> Reply {
    let mut reply = reply(&turn(dialect, body));
    for token in tokens(&sampled.concat()) {
        reply.feed(&[token], None).unwrap();
    }
    reply.finish(reason, None).unwrap();
    reply
}

fn answered(dialect: Dialect, body: &Value, sampled: &[&str]) -> Value {
    reply_laws::response(&ended(dialect, body, sampled, FinishReason::Stop))
}

/// All that is sent, the tokens fed one by one.
fn sent(dialect: Dialect, body: &Value, sampled: &[&str], reason: FinishReason) -> Vec<Value> {
    reply_laws::stream(&turn(dialect, body), &tokens(&sampled.concat()), 1, reason).0
}

fn parameters() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}})
}

/// A question in a dialect.
pub(super) fn plain_of(dialect: Dialect) -> Value {
    if dialect == RESPONSES {
        return json!({"input": "Hi"});
    }
    json!({"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]})
}

pub(super) fn with(mut body: Value, more: Value) -> Value {
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    body
}

/// The answer as it goes over the wire.
fn sent_whole(dialect: Dialect, body: &Value, sampled: &[&str]) -> String {
    let mut bytes = Vec::new();
    ended(dialect, body, sampled, FinishReason::Stop).response_into(&mut bytes);
    reply_laws::without_durations(bytes)
}

/// What was streamed, as it goes over the wire.
fn sent_stream(dialect: Dialect, body: &Value, sampled: &[&str]) -> String {
    let mut reply = reply(&turn(dialect, body));
    let mut bytes = Vec::new();
    reply.feed_into(&tokens(&sampled.concat()), None, &mut bytes).unwrap();
    reply.finish_into(FinishReason::Stop, None, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}
