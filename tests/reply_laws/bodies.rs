//! Requests that between them ask for every form of an answer.

use std::sync::LazyLock;

use openai_harmony::interop::{
    BuiltinTool, Date, ReadOptions, Turn, anthropic, chat_completions, ollama, responses,
};
use serde_json::{Value, json};

fn parameters() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
}

fn chat_tools() -> Value {
    json!([
        {"type": "function", "function": {"name": "get_weather", "parameters": parameters()}},
        {"type": "custom", "custom": {"name": "shell"}},
    ])
}

fn user() -> Value {
    json!([{"role": "user", "content": "Weather?"}])
}

fn with(mut body: Value, more: Value) -> Value {
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    body
}

fn chat() -> Vec<Value> {
    let body = json!({"messages": user()});
    let tools = with(body.clone(), json!({"tools": chat_tools()}));
    let format = json!({"type": "json_object"});
    let function = json!({"name": "get_weather", "parameters": parameters()});
    let prefix = json!([
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "It is", "prefix": true},
    ]);
    let named = json!({"type": "function", "function": {"name": "get_weather"}});
    vec![
        body.clone(),
        tools.clone(),
        with(tools.clone(), json!({"tool_choice": "none"})),
        with(tools.clone(), json!({"tool_choice": named})),
        with(tools, json!({"response_format": format, "stream_options": {"include_usage": true}})),
        with(body.clone(), json!({"functions": [function]})),
        with(body.clone(), json!({"stop": ["ab", "b c", "\n\n"]})),
        with(body.clone(), json!({"messages": prefix})),
        with(body.clone(), json!({"logprobs": true, "top_logprobs": 1})),
        with(body.clone(), json!({"logprobs": true, "stop": ["ab", "b c", "\n\n"]})),
        with(body.clone(), json!({"return_token_ids": true, "include_reasoning": false})),
        with(body.clone(), json!({"return_token_ids": true, "logprobs": true, "stop": ["ab"]})),
        with(body, json!({"return_tokens_as_token_ids": true, "logprobs": true})),
    ]
}

fn of_responses() -> Vec<Value> {
    let body = json!({"input": "Weather?"});
    let tools = json!([
        {"type": "function", "name": "get_weather", "parameters": parameters()},
        {"type": "custom", "name": "shell"},
        {"type": "namespace", "name": "crm", "description": "Customers", "tools": [
            {"type": "function", "name": "find", "parameters": parameters()},
        ]},
        {"type": "code_interpreter", "container": {"type": "auto"}},
    ]);
    let include = json!(["reasoning.encrypted_content"]);
    let tools = with(body.clone(), json!({"tools": tools}));
    let cut = |item: Value| json!([with(item, json!({"call_id": "a", "status": "incomplete"}))]);
    let call =
        cut(json!({"type": "function_call", "name": "get_weather", "arguments": "{\"city\":\"O"}));
    let custom = cut(json!({"type": "custom_tool_call", "name": "shell", "input": "ls \""}));
    vec![
        body.clone(),
        with(tools.clone(), json!({"include": include})),
        with(tools.clone(), json!({"input": call})),
        with(tools, json!({"input": custom})),
        with(body.clone(), json!({"text": {"format": {"type": "json_object"}}})),
        with(body, json!({"include": ["message.output_text.logprobs"], "top_logprobs": 2})),
    ]
}

fn of_anthropic() -> Vec<Value> {
    let body = json!({"max_tokens": 100, "messages": user()});
    let tools = json!({"tools": [{"name": "get_weather", "input_schema": parameters()}]});
    let thinking = json!({"type": "enabled", "budget_tokens": 4000});
    let omitted = json!({"type": "adaptive", "display": "omitted"});
    vec![
        body.clone(),
        with(body.clone(), json!({"thinking": thinking})),
        with(with(body.clone(), tools), json!({"thinking": thinking})),
        with(body.clone(), json!({"thinking": omitted})),
        with(body, json!({"stop_sequences": ["ab", "b c"], "thinking": thinking})),
    ]
}

fn of_ollama() -> Vec<Value> {
    let body = json!({"messages": user()});
    let function = json!({"name": "get_weather", "parameters": parameters()});
    vec![
        body.clone(),
        with(body.clone(), json!({"tools": [{"type": "function", "function": function}]})),
        with(body.clone(), json!({"think": false, "format": "json"})),
        with(body.clone(), json!({"options": {"stop": ["ab", "b c"]}})),
        with(body, json!({"logprobs": true, "top_logprobs": 2})),
    ]
}

/// A turn of each request.
pub(crate) fn turns() -> &'static [Turn] {
    static TURNS: LazyLock<Vec<Turn>> = LazyLock::new(read);
    &TURNS
}

fn read() -> Vec<Turn> {
    let options = ReadOptions::new()
        .with_date(Date::Omitted)
        .with_builtin_tools([BuiltinTool::Browser, BuiltinTool::Python]);
    let chat = chat().into_iter().map(|body| chat_completions::read(&body, &options));
    let of_responses = of_responses().into_iter().map(|body| responses::read(&body, &options));
    let of_anthropic = of_anthropic().into_iter().map(|body| anthropic::read(&body, &options));
    let of_ollama = of_ollama().into_iter().map(|body| ollama::read(&body, &options));
    let all = chat.chain(of_responses).chain(of_anthropic).chain(of_ollama);
    all.map(|turn| turn.expect("the requests are well-formed")).collect()
}
