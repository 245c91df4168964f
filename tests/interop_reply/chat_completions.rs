use openai_harmony::interop::{FinishReason, ReasoningField, ReplyOptions};
use serde_json::{Value, json};

use super::*;

fn plain() -> Value {
    json!({"messages": [{"role": "user", "content": "Weather?"}]})
}

fn with_tools() -> Value {
    let function = json!({"name": "get_weather", "parameters": parameters()});
    let tools = json!([
        {"type": "function", "function": function},
        {"type": "custom", "custom": {"name": "shell"}},
    ]);
    with(plain(), json!({"tools": tools}))
}

fn message(body: &Value, sampled: &[&str]) -> Value {
    answered(CHAT, body, sampled)["choices"][0]["message"].clone()
}

fn finish_reason(body: &Value, sampled: &[&str], reason: FinishReason) -> Value {
    ended(CHAT, body, sampled, reason).response()["choices"][0]["finish_reason"].clone()
}

#[test]
fn a_whole_answer() {
    assert_eq!(
        answered(CHAT, &plain(), &[THOUGHT, ANSWER]),
        json!({
            "id": "id-1",
            "object": "chat.completion",
            "created": 1_751_112_000,
            "model": "gpt-oss-20b",
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Sunny.",
                    "refusal": null,
                    "reasoning_content": "Hm.",
                },
                "logprobs": null,
                "finish_reason": "stop",
            }],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 14,
                "total_tokens": 114,
                "prompt_tokens_details": {"cached_tokens": 60},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
        })
    );
}

#[test]
fn a_streamed_answer() {
    let usage = json!({"stream_options": {"include_usage": true}});
    let chunks = sent(CHAT, &with(plain(), usage), &[THOUGHT, ANSWER], FinishReason::Stop);
    let deltas: Vec<_> = chunks.iter().map(|chunk| chunk["choices"][0]["delta"].clone()).collect();
    assert_eq!(
        deltas,
        [
            json!({"role": "assistant", "content": ""}),
            json!({"reasoning_content": "Hm"}),
            json!({"reasoning_content": "."}),
            json!({"content": "Sunny"}),
            json!({"content": "."}),
            json!({}),
            Value::Null,
        ]
    );
    assert_eq!(chunks[5]["choices"][0]["finish_reason"], "stop");
    assert_eq!(chunks[6]["choices"], json!([]));
    assert_eq!(chunks[6]["usage"]["completion_tokens"], 14);
    assert_eq!(chunks[0]["usage"], Value::Null);
}

#[test]
fn a_call_streams_as_it_is_sampled() {
    let chunks = sent(CHAT, &with_tools(), &[CALL], FinishReason::Stop);
    let calls: Vec<_> =
        chunks.iter().map(|chunk| chunk["choices"][0]["delta"]["tool_calls"][0].clone()).collect();
    assert_eq!(calls[0], Value::Null);
    assert_eq!(
        calls[1],
        json!({
            "index": 0,
            "id": calls[1]["id"],
            "type": "function",
            "function": {"name": "get_weather", "arguments": ""},
        })
    );
    assert_eq!(calls[2], json!({"index": 0, "function": {"arguments": "{\""}}));
    assert_eq!(calls[3], json!({"index": 0, "function": {"arguments": "city"}}));
    assert!(calls[1]["id"].as_str().unwrap().starts_with("call_"));
}

#[test]
fn a_whole_call() {
    let message = message(&with_tools(), &[CALL]);
    assert_eq!(message["content"], Value::Null);
    assert_eq!(
        message["tool_calls"],
        json!([{
            "id": message["tool_calls"][0]["id"],
            "type": "function",
            "function": {"name": "get_weather", "arguments": "{\"city\":\"Oslo\"}"},
        }])
    );
}

#[test]
fn the_reasons() {
    let (stop, length, abort) = (FinishReason::Stop, FinishReason::Length, FinishReason::Abort);
    let cut = &CALL[..CALL.len() - "lo\"}<|call|>".len()];
    let named = json!({"tool_choice": {"type": "function", "function": {"name": "get_weather"}}});
    let cases = [
        (with_tools(), ANSWER, stop, "stop"),
        (with_tools(), CALL, stop, "tool_calls"),
        // Engines that keep the stop token to themselves.
        (with_tools(), CALL.strip_suffix("<|call|>").unwrap(), stop, "tool_calls"),
        (with(with_tools(), named), "{}<|call|>", stop, "tool_calls"),
        (with_tools(), cut, length, "length"),
        (with_tools(), cut, abort, "length"),
        (with_tools(), &format!("{cut}<|start|>assistant{ANSWER}"), stop, "stop"),
        // The model had ended when the limit was reached.
        (with_tools(), CALL, length, "tool_calls"),
        (plain(), "<|channel|>final<|message|>Sun", length, "length"),
    ];
    for (body, sampled, reason, expected) in cases {
        assert_eq!(finish_reason(&body, &[sampled], reason), expected, "{sampled} {reason:?}");
    }
}

/// Whatever a thought's channel is spelled like, no user sees it.
#[test]
fn a_channel_in_capitals_is_the_same() {
    let sampled = "<|channel|>Analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>A<|return|>";
    let message = message(&plain(), &[sampled]);
    assert_eq!((&message["content"], &message["reasoning_content"]), (&json!("A"), &json!("Hm.")));
}

#[test]
fn the_old_form_of_a_call() {
    let functions = json!([{"name": "get_weather", "parameters": parameters()}]);
    let body = with(plain(), json!({"functions": functions}));
    let two = [CALL, "<|start|>assistant", CALL];
    let call = json!({"name": "get_weather", "arguments": "{\"city\":\"Oslo\"}"});
    assert_eq!(message(&body, &[CALL])["function_call"], call);
    assert_eq!(finish_reason(&body, &[CALL], FinishReason::Stop), "function_call");
    // There is room for one call only.
    let message = message(&body, &two);
    assert_eq!(message["function_call"], call);
    assert_eq!(message["content"], "{\"city\":\"Oslo\"}");
    assert_eq!(message.get("tool_calls"), None);
    // It knows no free text.
    let custom = json!({"tools": [{"type": "custom", "custom": {"name": "c"}}]});
    let sampled = "<|channel|>commentary to=functions.c<|message|>{\"input\": \"x\"}<|call|>";
    let called = &self::message(&with(body, custom), &[sampled])["function_call"];
    assert_eq!(*called, json!({"name": "c", "arguments": "x"}));
}

#[test]
fn texts_of_one_field_are_joined_by_an_empty_line() {
    let message = message(&plain(), &[THOUGHT, THOUGHT, PREAMBLE, ANSWER]);
    assert_eq!(message["reasoning_content"], "Hm.\n\nHm.");
    assert_eq!(message["content"], "Let me look.\n\nSunny.");
}

#[test]
fn with_a_response_format_preambles_are_thoughts() {
    let body = with(plain(), json!({"response_format": {"type": "json_object"}}));
    let message = message(&body, &[THOUGHT, PREAMBLE, "<|channel|>final<|message|>{}<|return|>"]);
    assert_eq!(message["reasoning_content"], "Hm.\n\nLet me look.");
    assert_eq!(message["content"], "{}");
}

#[test]
fn bytes_are_the_frames_of_the_chunks() {
    use ReasoningField::{Both, Omitted, Reasoning, ReasoningContent};
    let bodies = [plain(), with(plain(), json!({"stream_options": {"include_usage": true}}))];
    let sampled =
        tokens(&[THOUGHT, "<|channel|>final<|message|>\"é\"\n\u{2028}<|return|>"].concat());
    for field in [ReasoningContent, Reasoning, Both, Omitted] {
        for body in &bodies {
            let options = ReplyOptions::new("m\"é").with_id("a").with_created(5).with_index(2);
            let reply = || {
                let options = options.clone().with_reasoning_field(field);
                turn(CHAT, body).reply(&encoding(), options).unwrap()
            };
            let (mut chunked, mut fed) = (reply(), reply());
            let (mut frames, mut bytes) = (Vec::new(), Vec::new());
            for piece in sampled.chunks(2) {
                for chunk in chunked.feed(piece, None).unwrap() {
                    chunked.frame_into(&chunk, &mut frames);
                }
                fed.feed_into(piece, None, &mut bytes).unwrap();
            }
            assert_eq!(String::from_utf8(bytes), String::from_utf8(frames), "{field:?}");
        }
    }
}

#[test]
fn the_field_of_thoughts_is_the_servers_choice() {
    let field = |reasoning_field| {
        let options = ReplyOptions::new("m").with_reasoning_field(reasoning_field);
        let mut reply = turn(CHAT, &plain()).reply(&encoding(), options).unwrap();
        reply.feed(&tokens(&[THOUGHT, ANSWER].concat()), None).unwrap();
        let message = reply.response()["choices"][0]["message"].clone();
        (message["reasoning_content"].clone(), message["reasoning"].clone())
    };
    let hm = json!("Hm.");
    assert_eq!(field(ReasoningField::ReasoningContent), (hm.clone(), Value::Null));
    assert_eq!(field(ReasoningField::Reasoning), (Value::Null, hm.clone()));
    assert_eq!(field(ReasoningField::Both), (hm.clone(), hm));
    assert_eq!(field(ReasoningField::Omitted), (Value::Null, Value::Null));
}

#[test]
fn unknown_recipients() {
    let call = CALL.replace("get_weather", "get_news");
    let message_of = |body: &Value| message(body, &[&call]);
    let called = message_of(&with_tools());
    assert_eq!(called["tool_calls"][0]["function"]["name"], "get_news");
    // Without tools, or where none may be called, the call's text is content.
    for body in [plain(), with(with_tools(), json!({"tool_choice": "none"}))] {
        let message = message_of(&body);
        assert_eq!(message["content"], "{\"city\":\"Oslo\"}");
        assert_eq!(message.get("tool_calls"), None);
    }
    let reply = ended(CHAT, &plain(), &[&call], FinishReason::Stop);
    assert_eq!(reply.repairs()[0].kind.name(), "call_as_text");
}

#[test]
fn names_come_back_as_the_client_spells_them() {
    let function = json!({"name": "get weather", "parameters": parameters()});
    let tools = json!([{"type": "function", "function": function}]);
    let body = with(plain(), json!({"tools": tools}));
    let recipient = turn(CHAT, &body).tools.by_name("get weather", None).unwrap().recipient.clone();
    let call = CALL.replace("functions.get_weather", &recipient);
    assert_eq!(message(&body, &[&call])["tool_calls"][0]["function"]["name"], "get weather");
}

#[test]
fn custom_tools_get_their_input_decoded() {
    let call = |input| {
        format!(
            "<|channel|>commentary to=functions.shell <|constrain|>json<|message|>{input}<|call|>"
        )
    };
    let cases = [
        (r#"{"input": "ls\n\"a\""}"#, "ls\n\"a\""),
        (r#"{"input": "echo "a""}"#, "echo \"a\""),
        ("ls -l", "ls -l"),
    ];
    for (arguments, input) in cases {
        let message = message(&with_tools(), &[&call(arguments)]);
        let call = &message["tool_calls"][0];
        assert_eq!(call["type"], "custom");
        assert_eq!(call["custom"], json!({"name": "shell", "input": input}), "{arguments}");
    }
    let chunks = sent(CHAT, &with_tools(), &[&call(r#"{"input": "ls -l"}"#)], FinishReason::Stop);
    let first = &chunks[1]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(first["custom"], json!({"name": "shell", "input": ""}));
    let second = &chunks[2]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(second["custom"], json!({"input": "ls"}));
}

#[test]
fn arguments_are_passed_on_as_sampled() {
    for (arguments, expected) in [("{ \"a\" : 1.0 }", "{ \"a\" : 1.0 }"), ("[1", "[1"), ("", "{}")]
    {
        let call = CALL.replace("{\"city\":\"Oslo\"}", arguments);
        let message = message(&with_tools(), &[&call]);
        assert_eq!(message["tool_calls"][0]["function"]["arguments"], expected);
    }
}

#[test]
fn a_header_that_broke_off_is_no_call() {
    let begun = "<|channel|>commentary to=functions.get_weather";
    let reply = ended(CHAT, &with_tools(), &[begun], FinishReason::Length);
    let choice = &reply.response()["choices"][0];
    assert_eq!(choice["message"].get("tool_calls"), None);
    assert_eq!(choice["finish_reason"], "length");
    assert_eq!(reply.repairs()[0].kind.name(), "truncated_header");
}

#[test]
fn built_in_calls_are_the_servers() {
    let call = "<|channel|>analysis to=python code<|message|>print(1)<|call|>";
    let asked = with(plain(), json!({"tools": [{"type": "code_interpreter"}]}));
    let reply = ended(CHAT, &asked, &[THOUGHT, call], FinishReason::Stop);
    let [call] = reply.builtin_calls() else { panic!("{:?}", reply.builtin_calls()) };
    assert_eq!((&*call.recipient, &*call.text, call.is_complete), ("python", "print(1)", true));
    assert_eq!(reply.response()["choices"][0]["message"]["content"], "");
    // A function of that name is the client's.
    let tools = json!([{"type": "function", "function": {"name": "python"}}]);
    let body = with(plain(), json!({"tools": tools}));
    let call = "<|channel|>commentary to=python <|constrain|>json<|message|>{}<|call|>";
    assert_eq!(message(&body, &[call])["tool_calls"][0]["function"]["name"], "python");
    let custom = json!({"tools": [{"type": "custom", "custom": {"name": "python"}}]});
    let called = &message(&with(plain(), custom), &[call])["tool_calls"][0];
    assert_eq!(called["custom"], json!({"name": "python", "input": "{}"}));
    // So is one whose name is that of another built-in tool's namespace, which nothing calls.
    let tools =
        json!([{"type": "function", "function": {"name": "browser"}}, {"type": "browser_search"}]);
    let call = "<|channel|>commentary to=browser <|constrain|>json<|message|>{}<|call|>";
    let called = message(&with(plain(), json!({"tools": tools})), &[call])["tool_calls"].take();
    assert_eq!(called[0]["function"]["name"], "browser");
    // Another of them is not the one that the request asks for.
    let search = "<|channel|>analysis to=browser.search<|message|>{}<|call|>";
    assert_eq!(message(&asked, &[search])["content"], "{}");
}

#[test]
fn an_answer_has_the_time_at_which_it_began() {
    let turn = turn(CHAT, &plain());
    let created = |options| turn.reply(&encoding(), options).unwrap().response()["created"].take();
    assert_eq!(created(ReplyOptions::new("m").with_created(7)), 7);
    assert!(created(ReplyOptions::new("m")).as_u64().unwrap() > 1_700_000_000);
}

#[test]
fn a_failure_says_what_failed() {
    for &dialect in Dialect::ALL {
        let failed = || reply(&turn(dialect, &plain_of(dialect)));
        let says = |said: &str| assert!(said.contains("engine gone"), "{dialect}: {said}");
        says(&json!(failed().fail("engine gone", 502).unwrap()).to_string());
        let mut bytes = Vec::new();
        failed().fail_into("engine gone", 502, &mut bytes).unwrap();
        says(&String::from_utf8(bytes).unwrap());
    }
}

#[test]
fn messages_of_others_are_reported_as_their_headers_have_them() {
    for (header, author) in [
        ("user", "user"),
        ("user:bob", "user:bob"),
        ("functions.f to=assistant<|channel|>commentary", "functions.f"),
    ] {
        let sampled =
            format!("<|channel|>final<|message|>A<|end|><|start|>{header}<|message|>B<|end|>");
        let reply = ended(CHAT, &plain(), &[&sampled], FinishReason::Stop);
        let [repair] = reply.repairs() else { panic!("{:?}", reply.repairs()) };
        assert_eq!((repair.kind.name(), &*repair.text), ("foreign_author", author));
    }
}

#[test]
fn stop_strings_end_visible_text_only() {
    let body = with(plain(), json!({"stop": ["Hm", "ny. W"]}));
    let long = "<|channel|>final<|message|>Sunny. Warm.<|return|>";
    let mut reply = reply(&turn(CHAT, &body));
    let mut chunks = Vec::new();
    for token in tokens(&[THOUGHT, long].concat()) {
        chunks.extend(reply.feed(&[token], None).unwrap());
    }
    assert_eq!(reply.stop_sequence(), Some("ny. W"));
    reply.finish(FinishReason::Length, None).unwrap();
    let choice = &reply.response()["choices"][0];
    assert_eq!(choice["message"]["reasoning_content"], "Hm.");
    assert_eq!(choice["message"]["content"], "Sun");
    assert_eq!(choice["finish_reason"], "stop");
    let said: String = chunks
        .iter()
        .filter_map(|chunk| {
            json!(chunk)["choices"][0]["delta"]["content"].as_str().map(str::to_owned)
        })
        .collect();
    assert_eq!(said, "Sun");
}

#[test]
fn what_has_no_place_is_content() {
    for (sampled, content) in [
        ("Just text.", "Just text."),
        ("<|channel|>other<|message|>a<|end|>", "a"),
        // A built-in tool that this server could run, and the request did not ask for.
        ("<|channel|>analysis to=python code<|message|>print(1)<|call|>", "print(1)"),
        ("", ""),
    ] {
        assert_eq!(message(&plain(), &[sampled])["content"], content, "{sampled}");
    }
}

#[test]
fn ids_and_choices() {
    let options = |index| ReplyOptions::new("m").with_id("x").with_index(index);
    let call_id = |index| {
        let mut reply = turn(CHAT, &with_tools()).reply(&encoding(), options(index)).unwrap();
        reply.feed(&tokens(CALL), None).unwrap();
        let choice = reply.response()["choices"][0].clone();
        assert_eq!(choice["index"], index);
        choice["message"]["tool_calls"][0]["id"].clone()
    };
    assert_eq!(call_id(0), call_id(0));
    assert_ne!(call_id(0), call_id(1));
    let fresh = || {
        let reply = turn(CHAT, &plain()).reply(&encoding(), ReplyOptions::new("m")).unwrap();
        reply.response()["id"].as_str().unwrap().to_owned()
    };
    assert!(fresh().starts_with("chatcmpl-"));
    assert_ne!(fresh(), fresh());
}

#[test]
fn tokens_of_the_prompt_are_counted_if_not_given() {
    let turn = turn(CHAT, &plain());
    let options = ReplyOptions::new("m");
    let reply = turn.reply(&encoding(), options).unwrap();
    assert_eq!(reply.usage().prompt_tokens, turn.prompt(&encoding()).unwrap().len());
}

#[test]
fn tokens_of_an_open_thought_are_counted() {
    let mut reply = reply(&turn(CHAT, &plain()));
    let mut counts = Vec::new();
    for token in tokens("<|channel|>analysis<|message|>Hm, yes.<|end|><|start|>assistant") {
        reply.feed(&[token], None).unwrap();
        counts.push(reply.usage().reasoning_tokens);
    }
    assert_eq!(counts, [0, 0, 0, 1, 2, 3, 4, 4, 4, 4]);
}

#[test]
fn a_continued_answer_holds_what_follows() {
    let messages = json!([
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "It is", "prefix": true},
    ]);
    let body = json!({"messages": messages});
    let reply = ended(CHAT, &body, &[" sunny.<|return|>"], FinishReason::Stop);
    assert_eq!(reply.response()["choices"][0]["message"]["content"], " sunny.");
    assert_eq!(reply.usage().completion_tokens, 3);
    assert_eq!(reply.repairs(), []);
}

/// Whoever's server the client has in mind: thoughts are sampled, and not sent.
#[test]
fn thoughts_are_left_out_where_a_request_wants_none() {
    let fields = [
        json!({"include_reasoning": false}),
        json!({"reasoning": {"exclude": true, "effort": "high"}}),
        json!({"reasoning": {"enabled": false}}),
        json!({"enable_thinking": false}),
        json!({"thinking": {"type": "disabled"}}),
        json!({"thinking": false}),
        json!({"chat_template_kwargs": {"enable_thinking": false}}),
        json!({"chat_template_kwargs": {"thinking": false}}),
    ];
    for fields in fields {
        let body = with(plain(), fields);
        let message = message(&body, &[THOUGHT, ANSWER]);
        assert_eq!(message["content"], "Sunny.", "{body}");
        assert!(message.get("reasoning_content").is_none(), "{body}");
    }
    let shown = [
        json!({"include_reasoning": true}),
        json!({"reasoning": {"exclude": false, "enabled": true}}),
        json!({"enable_thinking": true, "thinking": {"type": "enabled"}}),
        json!({"chat_template_kwargs": {"enable_thinking": true}}),
    ];
    for fields in shown {
        let message = message(&with(plain(), fields), &[THOUGHT, ANSWER]);
        assert_eq!(message["reasoning_content"], "Hm.");
    }
}

#[test]
fn no_call_follows_a_stop_string() {
    let body = with(with_tools(), json!({"stop": ["look"]}));
    let answer = answered(CHAT, &body, &[PREAMBLE, CALL]);
    let choice = &answer["choices"][0];
    assert_eq!(choice["message"]["content"], "Let me ");
    assert_eq!(choice["message"].get("tool_calls"), None, "{choice}");
    assert_eq!(choice["finish_reason"], "stop");
    for dialect in [ANTHROPIC, OLLAMA] {
        let tool = json!({"name": "get_weather", "input_schema": parameters(), "function": {"name": "get_weather"}});
        let body = with(plain_of(dialect), json!({"tools": [tool]}));
        let mut turn = turn(dialect, &body);
        turn.stop_strings = vec!["look".to_owned()];
        let mut reply = reply(&turn);
        reply.feed(&tokens(&[PREAMBLE, CALL].concat()), None).unwrap();
        reply.finish(FinishReason::Stop, None).unwrap();
        let whole = reply.response().to_string();
        assert!(whole.contains("Let me ") && !whole.contains("Oslo"), "{whole}");
    }
}

#[test]
fn a_built_in_call_that_was_cut_off_has_its_code() {
    let asked = with(plain(), json!({"tools": [{"type": "code_interpreter"}]}));
    let cut = "<|channel|>analysis to=python code<|message|>print(1";
    let reply = ended(CHAT, &asked, &[cut], FinishReason::Length);
    let [call] = reply.builtin_calls() else { panic!("{:?}", reply.builtin_calls()) };
    assert_eq!((&*call.recipient, &*call.text, call.is_complete), ("python", "print(1", false));
    // The client's own notebook: half of its code is no call, and no text is lost.
    let tools = json!([{"type": "code_execution_20250825", "name": "code_execution"}]);
    let body = with(plain_of(ANTHROPIC), json!({"tools": tools}));
    let reply = ended(ANTHROPIC, &body, &[cut], FinishReason::Length);
    let [call] = reply.builtin_calls() else { panic!("{:?}", reply.builtin_calls()) };
    assert!(!call.is_complete);
}

#[test]
fn to_everybody_or_a_role_is_no_call() {
    for (sampled, field) in [
        ("<|channel|>commentary to=assistant<|message|>a<|end|>", "content"),
        (" to=tool<|channel|>final<|message|>a<|end|>", "content"),
        ("<|channel|>final to=all<|message|>a<|end|>", "content"),
        ("<|channel|>commentary to=all<|message|>a<|end|>", "content"),
        ("<|channel|>analysis to=all<|message|>a<|end|>", "reasoning_content"),
    ] {
        let answer = message(&with_tools(), &[sampled]);
        assert_eq!(answer[field], "a", "{sampled}");
        assert_eq!(answer.get("tool_calls"), None, "{sampled}");
    }
}

/// `functions.python` is the client's, and `python` the model's own, where both are declared.
#[test]
fn a_function_may_be_named_like_a_built_in_tool() {
    let function =
        json!({"type": "function", "function": {"name": "python", "parameters": parameters()}});
    let both = json!({"tools": [function, {"type": "code_interpreter"}]});
    let call = |to: &str| {
        format!("<|channel|>commentary to={to} <|constrain|>json<|message|>{{}}<|call|>")
    };
    let own = ended(CHAT, &with(plain(), both.clone()), &[&call("python")], FinishReason::Stop);
    assert_eq!(own.builtin_calls().len(), 1);
    assert_eq!(own.response()["choices"][0]["message"].get("tool_calls"), None);
    let theirs =
        ended(CHAT, &with(plain(), both), &[&call("functions.python")], FinishReason::Stop);
    assert_eq!(theirs.builtin_calls(), []);
    assert_eq!(
        theirs.response()["choices"][0]["message"]["tool_calls"][0]["function"]["name"],
        "python"
    );
}
