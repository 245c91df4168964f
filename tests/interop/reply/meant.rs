//! What was meant: the answer is what the assistant says, and calls are those that it meant. Random turns against a model
//! that knows nothing of parsing.

use openai_harmony::interop::{Dialect, FinishReason, ReadOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, OLLAMA, RESPONSES, plain_of, reply, reply_laws, tokens, with};

/// A message as it is sampled, and what it means.
#[derive(Debug, Clone)]
enum Sampled {
    /// On a channel, behind one of the two markers.
    Said { marker: &'static str, text: String },
    /// Of another author.
    Foreign { header: &'static str, text: String },
    /// A call of a tool with one required string, of one without, of a built-in tool that nobody offered.
    Call { recipient: &'static str, arguments: String },
}

use Sampled::{Call, Foreign, Said};

/// What an answer has: text, or a call's name and arguments.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Called(String, Value),
}

impl Sampled {
    fn spelled(&self) -> String {
        match self {
            Said { marker, text } => format!("assistant<|channel|>final{marker}{text}<|end|>"),
            Foreign { header, text } => format!("{header}<|message|>{text}<|end|>"),
            Call { recipient, arguments } => {
                format!(
                    "assistant<|channel|>commentary to={recipient}<|message|>{arguments}<|call|>"
                )
            }
        }
    }

    fn text(&self) -> &str {
        match self {
            Said { text, .. } | Foreign { text, .. } => text,
            Call { arguments, .. } => arguments,
        }
    }

    /// What it is in an answer, and the repair that the API reports.
    fn parts(&self, dialect: Dialect, has_tools: bool) -> (Vec<Part>, Option<&'static str>) {
        let (recipient, arguments) = match self {
            Said { text, .. } => return (vec![Part::Text(text.clone())], None),
            Foreign { .. } => return (Vec::new(), Some("foreign_author")),
            Call { recipient, arguments } => (*recipient, arguments.as_str()),
        };
        if !has_tools {
            return (vec![Part::Text(arguments.to_owned())], Some("call_as_text"));
        }
        let name = recipient.strip_prefix("functions.").unwrap_or(recipient);
        let called = |arguments: Value| Part::Called(name.to_owned(), arguments);
        if dialect == CHAT || dialect == RESPONSES {
            let arguments = if arguments.is_empty() { "{}" } else { arguments };
            return (vec![called(json!(arguments))], None);
        }
        let read = serde_json::from_str::<Value>(arguments);
        match (name, read) {
            (_, _) if arguments.is_empty() => (vec![called(json!({}))], None),
            ("multi_tool_use.parallel", Ok(both)) => {
                let uses = both["tool_uses"].as_array().unwrap().iter();
                let call = |one: &Value| {
                    let name = one["recipient_name"].as_str().unwrap();
                    Part::Called(name.replace("functions.", ""), one["parameters"].clone())
                };
                (uses.map(call).collect(), Some("repaired_arguments"))
            }
            (_, Ok(object @ Value::Object(_))) => (vec![called(object)], None),
            ("run", Ok(Value::Array(items))) if items[0].get("code").is_none() => {
                (vec![Part::Text(arguments.to_owned())], Some("call_as_text"))
            }
            (_, Ok(Value::Array(items))) if items.len() == 1 && items[0].is_object() => {
                (vec![called(items[0].clone())], Some("repaired_arguments"))
            }
            ("run", Ok(Value::String(code))) => {
                (vec![called(json!({"code": code}))], Some("repaired_arguments"))
            }
            ("run", Err(_)) if !arguments.starts_with(['{', '[']) => {
                (vec![called(json!({"code": arguments}))], Some("repaired_arguments"))
            }
            _ => (vec![Part::Text(arguments.to_owned())], Some("call_as_text")),
        }
    }
}

/// The answer's texts as one, and its calls.
fn answer(parts: impl Iterator<Item = Part>) -> (String, Vec<Part>) {
    let (texts, calls): (Vec<_>, Vec<_>) = parts.partition(|part| matches!(part, Part::Text(_)));
    let texts = texts.into_iter().map(|part| match part {
        Part::Text(text) => text,
        Part::Called(..) => String::new(),
    });
    (texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n"), calls)
}

/// The same of a response.
fn answered(dialect: Dialect, response: &Value) -> (String, Vec<Part>) {
    let text = |value: &Value| Part::Text(value.as_str().unwrap_or_default().to_owned());
    let named = |value: &Value, arguments: &Value| {
        Part::Called(value.as_str().unwrap().to_owned(), arguments.clone())
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let function = |call: &Value| named(&call["function"]["name"], &call["function"]["arguments"]);
    let message = match dialect {
        Dialect::ChatCompletions => &response["choices"][0]["message"],
        _ => &response["message"],
    };
    let parts: Vec<Part> = match dialect {
        Dialect::Responses => list(&response["output"])
            .iter()
            .map(|item| match item["type"].as_str() {
                Some("message") => text(&item["content"][0]["text"]),
                _ => named(&item["name"], &item["arguments"]),
            })
            .collect(),
        Dialect::Anthropic => list(&response["content"])
            .iter()
            .map(|block| match block["type"].as_str() {
                Some("text") => text(&block["text"]),
                _ => named(&block["name"], &block["input"]),
            })
            .collect(),
        _ => {
            let calls = list(&message["tool_calls"]);
            [text(&message["content"])].into_iter().chain(calls.iter().map(function)).collect()
        }
    };
    answer(parts.into_iter())
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Z][a-z]{0,6}[.!?]?",
        "[A-Z][a-z]{1,4}( [a-z]{1,9}|é|好){1,60}",
        Just("(x)".to_owned())
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    let object = "[a-z]{0,5}".prop_map(|city| json!({"city": city}).to_string());
    let code = prop_oneof![
        Just("print(1)\nprint(2)".to_owned()),
        Just(r#"echo "a" | tr a b"#.to_owned()),
        Just(r#""ls -l""#.to_owned()),
        Just(r#"{"city": "a" "b"}"#.to_owned()),
        Just("[1, 2]".to_owned()),
        Just("[{},{}]".to_owned()),
        Just("null".to_owned()),
        Just(String::new()),
        word(),
    ];
    prop_oneof![object.clone(), object.prop_map(|object| format!(" [{object}]\n")), code]
}

fn sampled() -> impl Strategy<Value = Sampled> {
    let foreign = prop::sample::select(vec![
        "user",
        "user:bob",
        "user<|channel|>final",
        "system",
        "developer",
        "functions.get_weather to=assistant<|channel|>commentary",
        "python<|channel|>analysis",
        "bob",
    ]);
    let recipient = prop::sample::select(vec![
        "functions.get_weather",
        "functions.run",
        "functions.unknown",
        "python",
        "browser.search",
    ]);
    let parallel = prop::collection::vec(("[a-z]{0,5}", any::<bool>()), 1..3).prop_map(|calls| {
        let uses: Vec<Value> = calls
            .iter()
            .map(|(text, is_run)| match is_run {
                true => json!({"recipient_name": "functions.run", "parameters": {"code": text}}),
                false => json!({"recipient_name": "get_weather", "parameters": {"city": text}}),
            })
            .collect();
        let arguments = json!({"tool_uses": uses}).to_string();
        Call { recipient: "multi_tool_use.parallel", arguments }
    });
    let marker = prop::sample::select(vec!["<|message|>", "<|constrain|>"]);
    prop_oneof![
        3 => (marker, word()).prop_map(|(marker, text)| Said { marker, text }),
        3 => (foreign, word()).prop_map(|(header, text)| Foreign { header, text }),
        3 => (recipient, arguments())
            .prop_map(|(recipient, arguments)| Call { recipient, arguments }),
        1 => parallel,
    ]
}

/// A request with a tool that takes one string and one that takes any, or with none.
fn body(dialect: Dialect, has_tools: bool) -> Value {
    let run =
        json!({"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]});
    let tool = |name: &str, schema: &Value| match dialect {
        Dialect::Anthropic => json!({"name": name, "input_schema": schema}),
        Dialect::Responses => json!({"type": "function", "name": name, "parameters": schema}),
        _ => json!({"type": "function", "function": {"name": name, "parameters": schema}}),
    };
    let tools = json!([tool("run", &run), tool("get_weather", &super::parameters())]);
    if has_tools { with(plain_of(dialect), json!({"tools": tools})) } else { plain_of(dialect) }
}

fn check(all: &[Sampled], size: usize, has_tools: bool) {
    let spelled: Vec<String> = all.iter().map(Sampled::spelled).collect();
    let spelled = spelled.join("<|start|>");
    // The prompt ends behind the first author's role, if that is the assistant's.
    let sampled = match spelled.strip_prefix("assistant") {
        Some(rest) => tokens(rest),
        None => tokens(&format!("<|channel|>analysis<|message|>Hm.<|end|><|start|>{spelled}")),
    };
    for dialect in [CHAT, RESPONSES, ANTHROPIC, OLLAMA] {
        let turn = dialect.read(body(dialect, has_tools), &ReadOptions::new()).unwrap();
        let meant = all.iter().map(|one| one.parts(dialect, has_tools));
        let (parts, mut repairs): (Vec<_>, Vec<_>) = meant.unzip();
        let mut reply = reply(&turn);
        for piece in sampled.chunks(size) {
            reply.feed(piece, None).unwrap();
        }
        reply.finish(FinishReason::Stop, None).unwrap();
        let (texts, calls) = answered(dialect, &without_thoughts(dialect, reply.response()));
        assert_eq!((texts, calls), answer(parts.into_iter().flatten()), "{dialect}: {spelled}");
        repairs.retain(Option::is_some);
        let of_answers = ["foreign_author", "call_as_text", "repaired_arguments"];
        let reported = reply.repairs().iter().map(|repair| repair.kind.name());
        let reported: Vec<_> =
            reported.filter(|kind| of_answers.contains(kind)).map(Some).collect();
        assert_eq!(reported, repairs, "{dialect}: {spelled}");
        let said: Vec<String> = reply.messages().iter().map(reply_laws::said).collect();
        let said = said.strip_prefix(&["Hm.".to_owned()][..]).unwrap_or(&said);
        assert_eq!(said, all.iter().map(Sampled::text).collect::<Vec<_>>(), "{dialect}: {spelled}");
        reply_laws::check(&turn, &sampled, size, FinishReason::Stop);
    }
}

/// The thought in front of a first message of another author is not what is compared.
fn without_thoughts(dialect: Dialect, mut response: Value) -> Value {
    if dialect == RESPONSES
        && let Some(items) = response["output"].as_array_mut()
    {
        items.retain(|item| item["type"] != "reasoning");
    }
    response
}

/// What people reported.
#[test]
fn reports() {
    let said = |text: &str| Said { marker: "<|message|>", text: text.to_owned() };
    let foreign = |header, text: &str| Foreign { header, text: text.to_owned() };
    let call = |recipient, arguments: &str| Call { recipient, arguments: arguments.to_owned() };
    let result = "functions.get_weather to=assistant<|channel|>commentary";
    for all in [
        vec![said("Could you confirm?"), foreign("user", "Sure, 4711.")],
        vec![
            call("functions.get_weather", r#"{"city":"Oslo"}"#),
            foreign(result, "Sunny."),
            said("Sunny."),
        ],
        vec![foreign("system", "Be brief."), said("Yes.")],
        vec![Said { marker: "<|constrain|>", text: "Paris.".to_owned() }],
        vec![call("python", "print(1)")],
        vec![call("functions.run", "import os\nos.listdir()")],
        vec![call("functions.run", r#"[{"code": "ls"}]"#)],
        vec![call("functions.run", r#""ls -l""#)],
    ] {
        for has_tools in [true, false] {
            check(&all, 1, has_tools);
        }
    }
}

/// `null` and the like are no arguments rather than a text.
#[test]
fn what_looks_like_no_arguments_is_no_text() {
    for (arguments, is_call) in [("null", false), ("true", false), ("nil", true), ("7", true)] {
        let parameters = json!({"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]});
        let tools = json!([{"name": "run", "input_schema": parameters}]);
        let body = with(plain_of(ANTHROPIC), json!({"tools": tools}));
        let call = format!("<|channel|>commentary to=functions.run<|message|>{arguments}<|call|>");
        let reply = super::ended(ANTHROPIC, &body, &[&call], FinishReason::Stop);
        let response = reply.response();
        let [block] = &response["content"].as_array().unwrap()[..] else { panic!("{response}") };
        assert_eq!(block["type"], if is_call { "tool_use" } else { "text" }, "{block}");
    }
}

proptest! {
    #[test]
    fn the_answer_is_what_the_assistant_meant(
        all in prop::collection::vec(sampled(), 1..6),
        size in 1_usize..9,
        has_tools in any::<bool>(),
    ) {
        check(&all, size, has_tools);
    }
}
