//! What a turn has of its body so that a server reads the body once.

use openai_harmony::interop::{Dialect, Resolve};
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, OLLAMA, RESPONSES, error, options, said, turn, unused};

#[test]
fn the_model() {
    for &dialect in Dialect::ALL {
        let key = if dialect == RESPONSES { "input" } else { "messages" };
        let named = turn(dialect, json!({"model": "m", key: []}));
        assert_eq!(named.model.as_deref(), Some("m"), "{dialect}");
        assert_eq!(turn(dialect, json!({"model": null, key: []})).model, None);
        let wrong = error(dialect, json!({"model": 3, key: []})).to_string();
        assert_eq!(wrong, "Invalid request: model: expected a string, got a number");
    }
}

#[test]
fn whether_tools_are_strict() {
    let function = json!({"name": "f", "strict": true});
    let other = json!({"name": "g", "strict": false});
    let nested = |function: &Value| json!({"type": "function", "function": function});
    let chat = |tool: Value| json!({"messages": [], "tools": [tool, nested(&other)]});
    let flat = json!({"type": "function", "name": "f", "strict": true});
    let custom = json!({"type": "custom", "name": "f", "strict": true});
    let member = json!({"type": "namespace", "name": "n", "tools": [flat]});
    let bodies = [
        (CHAT, chat(nested(&function))),
        (CHAT, chat(flat.clone())),
        (CHAT, chat(custom.clone())),
        (OLLAMA, chat(nested(&function))),
        (ANTHROPIC, json!({"messages": [], "tools": [function, other]})),
        (RESPONSES, json!({"input": [], "tools": [flat, {"type": "function", "name": "g"}]})),
        (RESPONSES, json!({"input": [], "tools": [member, {"type": "function", "name": "g"}]})),
        (RESPONSES, json!({"input": [], "tools": [custom, {"type": "function", "name": "g"}]})),
    ];
    for (dialect, body) in bodies {
        let turn = turn(dialect, body.clone());
        let strict: Vec<_> = turn.tools.iter().map(|tool| tool.strict).collect();
        assert_eq!(strict, [true, false], "{dialect} {body}");
        assert!(turn.unused.is_empty(), "{:?}", turn.unused);
    }
    for (word, strict) in [("true", true), ("false", false)] {
        let body = json!({"messages": [], "tools": [{"name": "f", "strict": word}]});
        assert_eq!(turn(CHAT, body).tools.iter().next().unwrap().strict, strict);
    }
    let wrong = error(CHAT, json!({"messages": [], "tools": [{"name": "f", "strict": "yes"}]}));
    let expected = "tools[0].strict: expected true or false, got a string";
    assert!(wrong.to_string().ends_with(expected), "{wrong}");
}

#[test]
fn whether_the_format_is_strict() {
    let schema = json!({"name": "n", "schema": {"type": "object"}, "strict": true});
    let mut flat = schema.clone();
    flat["type"] = json!("json_schema");
    let bodies = [
        (
            CHAT,
            json!({"messages": [], "response_format": {"type": "json_schema", "json_schema": schema}}),
        ),
        (CHAT, json!({"messages": [], "response_format": flat})),
        (RESPONSES, json!({"input": [], "text": {"format": flat}})),
        (ANTHROPIC, json!({"messages": [], "output_config": {"format": flat}})),
    ];
    for (dialect, body) in bodies {
        let turn = turn(dialect, body.clone());
        assert!(turn.strict_format && turn.unused.is_empty(), "{body}: {:?}", turn.unused);
        assert_eq!(turn.response_format.unwrap().name, "n");
        let loose = body.to_string().replace("true", "false");
        assert!(!super::turn(dialect, serde_json::from_str(&loose).unwrap()).strict_format);
    }
}

/// Schemas where servers of this model, and clients, have them; what is read nowhere is listed.
#[test]
fn schemas_of_answers() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let mut bare = schema.clone();
    bare["name"] = json!("n");
    bare["strict"] = json!(true);
    let cases = [
        (json!({"type": "json_object", "schema": schema}), "response", &[][..]),
        (json!({"type": "json_schema", "schema": schema}), "response", &[]),
        (json!({"type": "json_schema", "json_schema": schema}), "response", &[]),
        (json!({"type": "json_schema", "json_schema": bare}), "n", &[]),
        (
            json!({"type": "json_schema", "json_schema": {"schema": schema, "odd": 1}, "more": 2}),
            "response",
            &["response_format.more", "response_format.json_schema.odd"],
        ),
        (
            json!({"type": "json_object", "schema": schema, "odd": 1}),
            "response",
            &["response_format.odd"],
        ),
    ];
    for (format, name, lost) in cases {
        let turn = turn(CHAT, json!({"messages": [], "response_format": format}));
        let read = turn.response_format.clone().unwrap();
        assert_eq!((read.name.as_str(), &read.schema), (name, &schema), "{format}");
        assert_eq!(unused(&turn), lost, "{format}");
    }
    let named = json!({"type": "json_schema", "json_schema": {"name": "n"}});
    let read = turn(CHAT, json!({"messages": [], "response_format": named}));
    assert_eq!(read.response_format.unwrap().schema, json!({}), "any answer");
    let body = json!({"messages": [], "response_format": {"type": "text", "schema": {}}});
    assert_eq!(unused(&turn(CHAT, body)), ["response_format.schema"]);
}

#[test]
fn responses_are_kept_as_body_and_server_say() {
    let cases = [
        (None, None, None, None),
        (None, Some(true), Some(true), Some(true)),
        (None, Some(false), Some(false), Some(false)),
        (Some(true), None, Some(true), Some(true)),
        (Some(true), Some(false), Some(false), Some(false)),
        (Some(false), None, Some(false), Some(false)),
        (Some(false), Some(true), Some(false), Some(false)),
    ];
    for (stores, asked, store, repeated) in cases {
        let mut options = options();
        options.stores = stores;
        let turn = RESPONSES.read(json!({"input": [], "store": asked}), &options).unwrap();
        assert_eq!(turn.store, store, "{stores:?} {asked:?}");
        let answer = turn.answer.repeated.get("store").and_then(Value::as_bool);
        assert_eq!(answer, repeated, "{stores:?} {asked:?}");
    }
    let wrong = error(RESPONSES, json!({"input": [], "store": "no"})).to_string();
    assert_eq!(wrong, "Invalid request: store: expected true or false, got a string");
}

#[test]
fn what_was_said_up_to_a_response_is_found_by_its_id() {
    let items =
        json!([{"id": "m", "role": "user", "content": "A"}, {"role": "assistant", "content": "B"}]);
    let find = Resolve::new(move |id| (id == "resp_1").then(|| items.clone()));
    let options = options().with_previous(find);
    let body = json!({"input": [{"type": "item_reference", "id": "m"}, {"role": "user", "content": "C"}],
        "previous_response_id": "resp_1"});
    let turn = RESPONSES.read(&body, &options).unwrap();
    assert_eq!(turn.previous_response_id.as_deref(), Some("resp_1"));
    let text = said(&turn);
    assert!(text.find(">A<") < text.find(">B<") && text.find(">B<") < text.find(">C<"), "{text}");
    assert!(turn.unused.is_empty());
    let sources = (1..turn.conversation.messages.len()).map(|index| turn.source(index));
    let sources: Vec<_> = sources.map(|source| source.unwrap().to_string()).collect();
    assert_eq!(sources, ["history[0]", "history[1]", "input[1]"]);

    let unknown = RESPONSES.read(json!({"input": "A", "previous_response_id": "x"}), &options);
    let expected = "previous_response_id: no response with the id \"x\" is stored";
    assert!(unknown.unwrap_err().to_string().ends_with(expected));
    let without = super::turn(RESPONSES, json!({"input": "A", "previous_response_id": "x"}));
    assert_eq!(unused(&without), ["previous_response_id"]);
    assert_eq!(without.previous_response_id.as_deref(), Some("x"));
}

#[test]
fn messages_that_are_null_are_missing() {
    let cases = [
        (CHAT, "messages", "a list"),
        (ANTHROPIC, "messages", "a list"),
        (RESPONSES, "input", "a string or a list of items"),
    ];
    for (dialect, key, expected) in cases {
        let error = error(dialect, json!({key: null})).to_string();
        assert_eq!(error, format!("Invalid request: {key}: expected {expected}, got null"));
    }
}

#[test]
fn no_limit_of_tokens_is_a_negative_one() {
    let cases = [
        (CHAT, "max_tokens"),
        (CHAT, "max_completion_tokens"),
        (CHAT, "n_predict"),
        (RESPONSES, "max_output_tokens"),
        (ANTHROPIC, "max_tokens"),
    ];
    for (dialect, key) in cases {
        let messages = if dialect == RESPONSES { "input" } else { "messages" };
        for (value, most) in [(-1, None), (-2, None), (7, Some(7))] {
            let turn = turn(dialect, json!({messages: [], key: value}));
            assert_eq!(turn.sampling.max_tokens, most, "{dialect} {key}");
        }
        for value in [json!(-3), json!(0), json!("9")] {
            assert!(dialect.read(json!({messages: [], key: value}), &options()).is_err());
        }
    }
}
