use openai_harmony::interop::{ThoughtDisplay, ToolKind};
use serde_json::{Value, json};

use super::{OLLAMA, prompt, said, system, turn, unused};

fn read(messages: Value) -> openai_harmony::interop::Turn {
    turn(OLLAMA, json!({"messages": messages}))
}

#[test]
fn the_jobs_of_the_template() {
    let turn = turn(
        OLLAMA,
        json!({
            "tools": [{"type": "function", "function": {
                "name": "get_weather", "description": "The weather.",
                "parameters": {"type": "object", "required": ["city"], "properties": {
                    "city": {"type": "string", "description": "Where"},
                    "days": {"type": ["number", "string"]},
                }},
            }}],
            "think": "high",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "A"},
                {"role": "assistant", "thinking": "T", "content": "I look.", "tool_calls": [
                    {"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}]},
                {"role": "tool", "tool_name": "get_weather", "content": "rain"},
            ],
        }),
    );
    assert!(system(&turn).contains("Reasoning: high\n\n# Valid channels"));
    assert!(
        system(&turn)
            .ends_with("Calls to these tools must go to the commentary channel: 'functions'.")
    );
    assert_eq!(
        said(&turn),
        "<|start|>developer<|message|># Instructions\n\nBe brief.\n\n# Tools\n\n## functions\n\n\
         namespace functions {\n\n// The weather.\ntype get_weather = (_: {\n// Where\ncity: string,\n\
         days?: number | string,\n}) => any;\n\n} // namespace functions<|end|>\
         <|start|>user<|message|>A<|end|>\
         <|start|>assistant<|channel|>analysis<|message|>T<|end|>\
         <|start|>assistant<|channel|>commentary<|message|>I look.<|end|>\
         <|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>\
         {\"city\":\"Oslo\"}<|call|>\
         <|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>rain<|end|>"
    );
}

#[test]
fn tools_named_as_the_models_own_are_the_models_own() {
    let tool = |name: &str| json!({"type": "function", "function": {"name": name}});
    let turn = turn(
        OLLAMA,
        json!({
            "tools": [tool("browser.search"), tool("python")],
            "messages": [
                {"role": "user", "content": "A"},
                {"role": "assistant", "content": "", "tool_calls": [
                    {"function": {"name": "python", "arguments": {"code": "print(1)"}}},
                    {"function": {"name": "browser.search", "arguments": {"query": "x"}}}]},
                {"role": "tool", "tool_name": "python", "content": "1"},
                {"role": "tool", "tool_name": "browser.search", "content": "y"},
            ],
        }),
    );
    let text = system(&turn);
    assert!(text.contains("namespace browser {") && text.contains("type search = "), "{text}");
    assert!(
        !text.contains("type open = ") && text.contains("## python\n\nUse this tool"),
        "{text}"
    );
    assert!(!text.contains("Calls to these tools must go"), "{text}");
    assert_eq!(
        said(&turn),
        "<|start|>user<|message|>A<|end|>\
         <|start|>assistant<|channel|>analysis to=python code<|message|>print(1)<|call|>\
         <|start|>python to=assistant<|channel|>analysis<|message|>1<|end|>\
         <|start|>assistant<|channel|>analysis to=browser.search <|constrain|>json<|message|>\
         {\"query\":\"x\"}<|call|>\
         <|start|>browser.search to=assistant<|channel|>analysis<|message|>y<|end|>"
    );
    let python = turn.tools.by_recipient("python").unwrap();
    assert!(python.kind == ToolKind::Builtin && python.client_runs && python.declared);
    assert_eq!(turn.tools.by_recipient("functions.python"), None);
}

#[test]
fn think_is_a_switch_or_a_level() {
    let think = |value: Value| turn(OLLAMA, json!({"messages": [], "think": value}));
    assert!(system(&think(json!(null))).contains("Reasoning: medium\n"));
    assert!(system(&think(json!(true))).contains("Reasoning: medium\n"));
    assert!(system(&think(json!("low"))).contains("Reasoning: low\n"));
    let off = think(json!(false));
    assert!(!system(&off).contains("Reasoning"), "{}", system(&off));
    assert!(system(&off).contains("Current date: 2025-06-28\n\n# Valid channels"));
    assert_eq!(off.answer.thought_display, ThoughtDisplay::Hidden);
    assert_eq!(think(json!(true)).answer.thought_display, ThoughtDisplay::Shown);
}

#[test]
fn formats() {
    let format = |value: Value| turn(OLLAMA, json!({"messages": [], "format": value}));
    assert!(said(&format(json!("json"))).contains("## response\n\n{\"type\":\"object\"}"));
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    assert_eq!(format(schema.clone()).response_format.unwrap().schema, schema);
    assert_eq!(format(json!("")).response_format, None);
}

#[test]
fn options_are_sampling() {
    let turn = turn(
        OLLAMA,
        json!({
            "model": "m", "keep_alive": "5m", "messages": [],
            "options": {"temperature": 0.2, "top_k": 5, "top_p": 0.5, "min_p": 0.1, "seed": 7, "num_predict": 20,
                "repeat_penalty": 1.2, "presence_penalty": 0.1, "frequency_penalty": 0.2, "stop": ["x"],
                "num_ctx": 4096},
        }),
    );
    let sampling = &turn.sampling;
    assert_eq!(
        (sampling.temperature, sampling.top_k, sampling.top_p, sampling.min_p),
        (0.2, 5, 0.5, 0.1)
    );
    assert_eq!((sampling.seed, sampling.max_tokens), (Some(7), Some(20)));
    assert_eq!(sampling.repetition_penalty, Some(1.2));
    assert_eq!((sampling.presence_penalty, sampling.frequency_penalty), (Some(0.1), Some(0.2)));
    assert_eq!(turn.stop_strings, ["x"]);
    assert_eq!(unused(&turn), ["options.num_ctx"]);
    let endless = super::turn(OLLAMA, json!({"messages": [], "options": {"num_predict": -1}}));
    assert_eq!(endless.sampling.max_tokens, None);
}

#[test]
fn answers_are_streamed_unless_told_otherwise() {
    assert!(turn(OLLAMA, json!({"messages": []})).answer.stream);
    assert!(!turn(OLLAMA, json!({"messages": [], "stream": false})).answer.stream);
}

#[test]
fn a_last_assistant_message_is_continued() {
    let turn = read(json!([
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": "B"},
        {"role": "user", "content": "C"},
        {"role": "assistant", "thinking": "T", "content": "It is"},
    ]));
    // The template leaves out `<|end|>` of every message of the assistant here.
    assert!(prompt(&turn).ends_with(
        "final<|message|>B<|end|><|start|>user<|message|>C<|end|>\
         <|start|>assistant<|channel|>analysis<|message|>T<|end|>\
         <|start|>assistant<|channel|>final<|message|>It is"
    ));
    let thought = read(json!([
        {"role": "user", "content": "A"}, {"role": "assistant", "content": "", "thinking": "T"},
    ]));
    assert!(prompt(&thought).ends_with("<|start|>assistant<|channel|>analysis<|message|>T"));
}

#[test]
fn images_are_not_text() {
    let body = json!({"messages": [{"role": "user", "content": "A", "images": ["aGk="]}]});
    let text = super::error(OLLAMA, body).to_string();
    assert!(text.contains("messages[0].images[0]"), "{text}");
}

#[test]
fn the_last_message_is_continued_if_flagged() {
    let call = json!({"function": {"name": "f", "arguments": {"a": 1}}});
    let called = read(json!([
        {"role": "user", "content": "A"},
        {"role": "assistant", "tool_calls": [call], "prefix": true},
    ]));
    assert!(prompt(&called).ends_with("<|message|>{\"a\":1}"), "{}", prompt(&called));
    let of_user = read(json!([{"role": "user", "content": "A", "prefix": true}]));
    assert_eq!(unused(&of_user), ["messages[0].prefix"]);
}
