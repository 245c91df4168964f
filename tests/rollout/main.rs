//! Going on from sampled tokens: its laws over random conversations and damaged samples, and what is refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod laws;
#[path = "../lines/mod.rs"]
mod lines;
mod samples;

use openai_harmony::chat::{
    Author, DeveloperContent, Message, Role, ToolDescription, ToolNamespaceConfig,
};
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, ParserOptions, RenderConfig, RenderEnd, ThoughtPolicy,
    load_harmony_encoding,
};

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

fn tokens(text: &str) -> Vec<u32> {
    encoding().tokenizer().encode_with_special_tokens(text)
}

fn text(tokens: &[u32]) -> String {
    encoding().tokenizer().decode_utf8(tokens).unwrap()
}

fn user(text: &str) -> Message {
    Message::from_role_and_content(Role::User, text)
}

fn assistant(channel: &str, text: &str) -> Message {
    Message::from_role_and_content(Role::Assistant, text).with_channel(channel)
}

fn call(name: &str) -> Message {
    assistant("commentary", "{}").with_recipient(name).with_content_type("<|constrain|>json")
}

fn result(name: &str) -> Message {
    Message::from_author_and_content(Author::new(Role::Tool, name), "done")
        .with_channel("commentary")
        .with_recipient("assistant")
}

/// A message that declares the function `f`.
fn tools() -> Message {
    let tool = ToolDescription::new("f", "", None);
    let tools = ToolNamespaceConfig::new("functions", None, vec![tool]);
    Message::from_role_and_content(Role::Developer, DeveloperContent::new().with_tools(tools))
}

fn prompt(messages: &[Message], config: RenderConfig) -> Vec<u32> {
    let ending = RenderEnd::Completion(Role::Assistant);
    encoding().render_conversation_with(messages, ending, &config).unwrap()
}

/// What a model samples for messages, behind a prompt: as the renderer writes them, `<|return|>` after an answer.
fn sampled(messages: &[Message], config: RenderConfig) -> Vec<u32> {
    let config = config.with_thoughts(ThoughtPolicy::Keep);
    let mut written =
        encoding().render_conversation_with(messages, RenderEnd::Training, &config).unwrap();
    written.drain(..prompt(&[], config).len());
    written
}

fn parsed(tokens: &[u32]) -> Vec<Message> {
    encoding().parse_messages_with(tokens.iter().copied(), None, &ParserOptions::lenient()).unwrap()
}
