//! The main job on one conversation: render a prompt, parse the answer, stream it.
//!
//! Run it with `cargo run --example chat`.

use openai_harmony::chat::{
    Author, Conversation, DeveloperContent, Message, ReasoningEffort, Role, SystemContent,
    ToolDescription,
};
use openai_harmony::{
    Event, HarmonyEncoding, HarmonyEncodingName, RenderConversationConfig, Result,
    StreamableParser, load_harmony_encoding,
};
use serde_json::json;

/// What a model might answer: a chain of thought, then the words for the user.
const SAMPLED: &str = "<|channel|>analysis<|message|>The tool says 20 degrees and sunny. Answer \
    briefly.<|end|><|start|>assistant<|channel|>final<|message|>It is 20 °C and sunny in Tokyo \
    ☀️.<|return|>";

fn main() -> Result<()> {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    let conversation = weather_conversation();
    let config = RenderConversationConfig::default();
    let prompt = encoding.render_conversation_for_completion(
        &conversation,
        Role::Assistant,
        Some(&config),
    )?;
    let answer = encoding.tokenizer().encode_with_special_tokens(SAMPLED);
    show_prompt(encoding, &prompt)?;
    show_messages(encoding, &answer)?;
    show_stream(encoding, &answer)
}

/// System, developer with two tools, user, analysis, tool call, tool result.
fn weather_conversation() -> Conversation {
    let system = SystemContent::new()
        .with_reasoning_effort(ReasoningEffort::High)
        .with_conversation_start_date("2025-06-28");
    let developer = DeveloperContent::new()
        .with_instructions("Answer in one sentence.")
        .with_function_tools(vec![
            ToolDescription::new("get_location", "Gets the location of the user.", None),
            weather_tool(),
        ]);
    let thought = "The user asks for the weather; call the tool.";
    let call = Message::from_role_and_content(Role::Assistant, r#"{"location": "Tokyo"}"#)
        .with_channel("commentary")
        .with_recipient("functions.get_current_weather")
        .with_content_type("<|constrain|>json");
    let tool = Author::new(Role::Tool, "functions.get_current_weather");
    let result = Message::from_author_and_content(tool, r#"{"temperature": 20, "sunny": true}"#)
        .with_recipient("assistant")
        .with_channel("commentary");
    Conversation::from_messages([
        Message::from_role_and_content(Role::System, system),
        Message::from_role_and_content(Role::Developer, developer),
        Message::from_role_and_content(Role::User, "What is the weather in Tokyo?"),
        Message::from_role_and_content(Role::Assistant, thought).with_channel("analysis"),
        call,
        result,
    ])
}

fn weather_tool() -> ToolDescription {
    ToolDescription::new(
        "get_current_weather",
        "Gets the current weather in the provided location.",
        Some(json!({
            "type": "object",
            "properties": {
                "location": {
                    "type": "string",
                    "description": "The city and state, e.g. San Francisco, CA",
                },
                "format": {
                    "type": "string",
                    "enum": ["celsius", "fahrenheit"],
                    "default": "celsius",
                },
            },
            "required": ["location"],
        })),
    )
}

/// The rendered text, its special tokens visible, and the token ids.
fn show_prompt(encoding: HarmonyEncoding, prompt: &[u32]) -> Result<()> {
    let text = encoding.tokenizer().decode_utf8(prompt)?;
    // A line break before each message, for the reader; the model sees none.
    println!("== The prompt, as the model reads it{}", text.replace("<|start|>", "\n<|start|>"));
    println!("\n== The same as {} token ids\n{prompt:?}", prompt.len());
    Ok(())
}

/// The model's tokens, parsed into messages.
fn show_messages(encoding: HarmonyEncoding, answer: &[u32]) -> Result<()> {
    println!("\n== The model's {} tokens, parsed into messages", answer.len());
    let tokens = answer.iter().copied();
    for message in encoding.parse_messages_from_completion_tokens(tokens, Some(Role::Assistant))? {
        println!("{message:?}");
    }
    Ok(())
}

/// The model's tokens, read one at a time as they arrive.
fn show_stream(encoding: HarmonyEncoding, answer: &[u32]) -> Result<()> {
    println!("\n== The same tokens as a stream, one bar per token of text");
    let mut parser = StreamableParser::new(encoding, Some(Role::Assistant))?;
    for token in answer {
        for event in parser.feed(&[*token])? {
            show_event(&event);
        }
    }
    parser.finish()?;
    Ok(())
}

fn show_event(event: &Event) {
    match event {
        Event::MessageStart { channel, .. } => {
            print!("[{}] ", channel.as_deref().unwrap_or("no channel"));
        }
        Event::ContentDelta { text, .. } => print!("{text}|"),
        Event::MessageEnd { stop_token, .. } => println!(" (stopped by {stop_token:?})"),
        Event::Repair(repair) => println!(" (repaired: {:?})", repair.kind),
        _ => {}
    }
}
