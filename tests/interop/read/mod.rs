//! Bodies of requests -> prompts.

mod any_body;
mod calls;
mod chat_completions;
mod fitting;
mod images;
mod options;
mod prompts;
mod same_prompt;
mod server;
mod tools;
mod wrong;

use openai_harmony::interop::{Date, Dialect, ReadOptions, Turn};
use openai_harmony::{Error, HarmonyEncoding, HarmonyEncodingName, load_harmony_encoding};
use serde_json::Value;

const CHAT: Dialect = Dialect::ChatCompletions;
const RESPONSES: Dialect = Dialect::Responses;
const ANTHROPIC: Dialect = Dialect::Anthropic;
const OLLAMA: Dialect = Dialect::Ollama;

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

/// Options with a date that stays.
fn options() -> ReadOptions {
    ReadOptions::new().with_date(Date::Given("2025-06-28".to_owned()))
}

fn turn(dialect: Dialect, body: Value) -> Turn {
    dialect.read(&body, &options()).unwrap_or_else(|error| panic!("{error}\n{body}"))
}

fn error(dialect: Dialect, body: Value) -> Error {
    match dialect.read(&body, &options()) {
        Ok(turn) => panic!("{body} is read as {turn:?}"),
        Err(error) => error,
    }
}

/// The whole prompt as text.
pub(super) fn prompt(turn: &Turn) -> String {
    let encoding = encoding();
    encoding.tokenizer().decode_utf8(turn.prompt(&encoding).unwrap()).unwrap()
}

/// The prompt without the system message and without the assistant's beginning at its end.
fn said(turn: &Turn) -> String {
    let text = prompt(turn);
    let (_, said) = text.split_once("<|end|>").unwrap();
    said.strip_suffix("<|start|>assistant").unwrap_or(said).to_owned()
}

/// The text of the system message.
fn system(turn: &Turn) -> String {
    let text = prompt(turn);
    let (system, _) = text.split_once("<|end|>").unwrap();
    system.strip_prefix("<|start|>system<|message|>").unwrap().to_owned()
}

/// The paths of what nothing used.
fn unused(turn: &Turn) -> Vec<String> {
    turn.unused.iter().map(|unused| unused.path.to_string()).collect()
}
