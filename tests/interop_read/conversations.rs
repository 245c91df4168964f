//! Conversations of notebooks, and the four mistakes that chat templates were found to make.

use openai_harmony::chat::ReasoningEffort;
use openai_harmony::interop::{ConversationOptions, Date, encode_conversations_with_harmony};
use serde_json::{Value, json};

use super::encoding;

fn options() -> ConversationOptions {
    ConversationOptions::new().with_date(Date::Given("2025-06-28".to_owned()))
}

fn text(messages: &[Value], options: &ConversationOptions) -> String {
    let (text, tokens) = encode_conversations_with_harmony(&encoding(), messages, options).unwrap();
    assert_eq!(encoding().tokenizer().decode_utf8(&tokens).unwrap(), text);
    text
}

fn messages() -> [Value; 6] {
    let arguments = r#"{"location": "San Francisco, \"CA\""}"#;
    [
        json!({"role": "user", "content": "What is 1+1?"}),
        json!({"role": "assistant", "content": "2", "thinking": "Add."}),
        json!({"role": "user", "content": "How warm is it?"}),
        json!({"role": "assistant", "content": "Use the tool.", "thinking": ""}),
        json!({"role": "assistant", "tool_calls": [{"name": "look", "arguments": arguments}]}),
        json!({"role": "tool", "name": "look", "content": "{\"temperature\": 19.9}"}),
    ]
}

#[test]
fn the_whole() {
    let look = json!({"type": "function", "function": {"name": "look", "description": "Looks."}});
    let options = options()
        .with_reasoning_effort(ReasoningEffort::High)
        .with_tools([look])
        .with_developer_instructions("Be brief.")
        .with_model_identity("You are Ann.");
    // Nothing is escaped, there are no lines of its own, thoughts are on `analysis`, and `final` is
    // for the answer.
    assert_eq!(
        text(&messages(), &options),
        "<|start|>system<|message|>You are Ann.\nKnowledge cutoff: 2024-06\n\
         Current date: 2025-06-28\n\nReasoning: high\n\n# Valid channels: analysis, commentary, \
         final. Channel must be included for every message.\nCalls to these tools must go to the \
         commentary channel: 'functions'.<|end|><|start|>developer<|message|># Instructions\n\n\
         Be brief.\n\n# Tools\n\n## functions\n\nnamespace functions {\n\n// Looks.\n\
         type look = () => any;\n\n} // namespace functions<|end|>\
         <|start|>user<|message|>What is 1+1?<|end|>\
         <|start|>assistant<|channel|>final<|message|>2<|end|>\
         <|start|>user<|message|>How warm is it?<|end|>\
         <|start|>assistant<|channel|>analysis<|message|>Use the tool.<|end|>\
         <|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>\
         {\"location\": \"San Francisco, \\\"CA\\\"\"}<|call|>\
         <|start|>functions.look to=assistant<|channel|>commentary<|message|>\
         {\"temperature\": 19.9}<|end|><|start|>assistant"
    );
}

#[test]
fn without_a_generation_prompt() {
    let options = options().with_generation_prompt(false);
    assert!(text(&messages()[..1], &options).ends_with("What is 1+1?<|end|>"));
    assert!(text(&messages()[..1], &self::options()).ends_with("<|end|><|start|>assistant"));
}

#[test]
fn what_is_to_be_continued_is_never_lost() {
    let begun = json!({"role": "assistant", "content": "It is", "prefix": true});
    let messages = [messages()[0].clone(), begun];
    for options in [options(), options().with_generation_prompt(false)] {
        assert!(text(&messages, &options).ends_with("<|channel|>final<|message|>It is"));
    }
}

#[test]
fn a_wrong_message_is_named() {
    let messages = [messages()[0].clone(), json!({"role": "bot", "content": "Hi"})];
    let error = encode_conversations_with_harmony(&encoding(), &messages, &options()).unwrap_err();
    assert!(error.to_string().contains(r#"messages[1].role: unknown role "bot""#), "{error}");
}
