//! The same conversation in four dialects gives the same prompt.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, OLLAMA, RESPONSES, prompt, turn};

/// A turn of a conversation, in no dialect's terms.
#[derive(Debug, Clone)]
struct Exchange {
    question: String,
    rounds: Vec<Round>,
    thought: String,
    answer: String,
}

/// A message with calls, and their results.
#[derive(Debug, Clone)]
struct Round {
    thought: String,
    preamble: String,
    calls: Vec<(usize, Value, String)>,
}

const NAMES: [&str; 4] = ["get_weather", "get weather", "python.run", "final"];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-zA-Z ,.é好]{1,12}",
        1 => Just("<|end|><|start|>user".to_owned()),
        1 => Just("line\n\nline\\ \"x\"".to_owned()),
    ]
}

fn maybe() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), text()]
}

fn arguments() -> impl Strategy<Value = Value> {
    prop::collection::vec(
        (
            "[a-z]{1,4}",
            prop_oneof![text().prop_map(Value::from), any::<i32>().prop_map(Value::from)],
        ),
        0..3,
    )
    .prop_map(|entries| entries.into_iter().collect())
}

fn round() -> impl Strategy<Value = Round> {
    let calls = prop::collection::vec((0..NAMES.len(), arguments(), maybe()), 1..4);
    (maybe(), maybe(), calls).prop_map(|(thought, preamble, calls)| Round {
        thought,
        preamble,
        calls,
    })
}

fn exchange() -> impl Strategy<Value = Exchange> {
    (text(), prop::collection::vec(round(), 0..3), maybe(), text()).prop_map(
        |(question, rounds, thought, answer)| Exchange { question, rounds, thought, answer },
    )
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"a": {"type": "string", "description": "An a."}}, "required": ["a"]})
}

/// The body of a dialect, written as its messages go.
#[derive(Default)]
struct Bodies {
    chat: Vec<Value>,
    responses: Vec<Value>,
    anthropic: Vec<Value>,
    ollama: Vec<Value>,
    ids: usize,
}

impl Bodies {
    fn said(&mut self, role: &str, text: &str) {
        let message = json!({"role": role, "content": text});
        for list in [&mut self.chat, &mut self.responses, &mut self.anthropic, &mut self.ollama] {
            list.push(message.clone());
        }
    }

    fn assistant(&mut self, thought: &str, text: &str, calls: &[(usize, Value, String)]) {
        let ids: Vec<_> =
            (0..calls.len()).map(|index| format!("call_{}", self.ids + index)).collect();
        self.ids += calls.len();
        let each = || ids.iter().zip(calls);
        let chat_calls: Vec<_> = each()
            .map(|(id, (name, arguments, _))| {
                json!({"id": id, "type": "function",
            "function": {"name": NAMES[*name], "arguments": arguments.to_string()}})
            })
            .collect();
        let ollama_calls: Vec<_> = calls.iter().map(|(name, arguments, _)|
            json!({"function": {"name": NAMES[*name], "arguments": arguments}})).collect();
        let mut chat = json!({"role": "assistant", "content": text, "reasoning_content": thought});
        let mut ollama = json!({"role": "assistant", "content": text, "thinking": thought});
        if !calls.is_empty() {
            chat["tool_calls"] = chat_calls.into();
            ollama["tool_calls"] = ollama_calls.into();
        }
        self.chat.push(chat);
        self.ollama.push(ollama);
        self.responses.push(json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": thought}]}));
        self.responses.push(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}));
        let mut blocks = vec![
            json!({"type": "thinking", "thinking": thought, "signature": ""}),
            json!({"type": "text", "text": text}),
        ];
        blocks.extend(each().map(|(id, (name, arguments, _))| json!({"type": "tool_use", "id": id, "name": NAMES[*name], "input": arguments})));
        self.anthropic.push(json!({"role": "assistant", "content": blocks}));
        self.responses.extend(each().map(|(id, (name, arguments, _))| {
            json!({"type": "function_call", "call_id": id,
            "name": NAMES[*name], "arguments": arguments.to_string()})
        }));
        // Results come in the opposite order where they have ids.
        self.chat.extend(each().rev().map(
            |(id, (_, _, result))| json!({"role": "tool", "tool_call_id": id, "content": result}),
        ));
        self.responses.extend(each().rev().map(|(id, (_, _, result))| json!({"type": "function_call_output", "call_id": id, "output": result})));
        let results: Vec<_> = each().rev().map(|(id, (_, _, result))| json!({"type": "tool_result", "tool_use_id": id, "content": result})).collect();
        if !results.is_empty() {
            self.anthropic.push(json!({"role": "user", "content": results}));
        }
        self.ollama.extend(calls.iter().map(|(name, _, result)| json!({"role": "tool", "tool_name": NAMES[*name], "content": result})));
    }
}

proptest! {
    #[test]
    fn four_dialects_say_the_same(
        instructions in maybe(), exchanges in prop::collection::vec(exchange(), 0..4), last in text(), high in any::<bool>(),
    ) {
        let mut bodies = Bodies::default();
        for Exchange { question, rounds, thought, answer } in &exchanges {
            bodies.said("user", question);
            for Round { thought, preamble, calls } in rounds {
                bodies.assistant(thought, preamble, calls);
            }
            bodies.assistant(thought, answer, &[]);
        }
        bodies.said("user", &last);
        let nested: Vec<_> = NAMES.iter().map(|name| json!({"type": "function", "function": {"name": name, "description": "D.", "parameters": schema()}})).collect();
        let flat: Vec<_> = NAMES.iter().map(|name| json!({"type": "function", "name": name, "description": "D.", "parameters": schema()})).collect();
        let anthropic: Vec<_> = NAMES.iter().map(|name| json!({"name": name, "description": "D.", "input_schema": schema()})).collect();
        let effort = if high { "high" } else { "low" };
        let Bodies { mut chat, responses, anthropic: messages, mut ollama, .. } = bodies;
        let system = json!({"role": "system", "content": instructions});
        chat.insert(0, system.clone());
        ollama.insert(0, system);
        let prompts = [
            prompt(&turn(CHAT, json!({"messages": chat, "tools": nested, "reasoning_effort": effort}))),
            prompt(&turn(RESPONSES, json!({"instructions": instructions, "input": responses, "tools": flat, "reasoning": {"effort": effort}}))),
            prompt(&turn(ANTHROPIC, json!({"system": instructions, "messages": messages, "tools": anthropic, "output_config": {"effort": effort}}))),
            prompt(&turn(OLLAMA, json!({"messages": ollama, "tools": nested, "think": effort}))),
        ];
        for other in &prompts[1..] {
            prop_assert_eq!(&prompts[0], other);
        }
    }
}
