//! Bodies that are not what their API says: an error with its path, never a panic.

use openai_harmony::interop::parse_body;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, Dialect, OLLAMA, RESPONSES, error, turn};

#[test]
fn there_may_be_so_many_stop_strings() {
    let most = [json!(["a".repeat(131_072)]), json!(vec!["a"; 1_024])];
    for stop in most {
        let read =
            turn(CHAT, json!({"messages": [{"role": "user", "content": "Hi"}], "stop": stop}));
        assert_eq!(json!(read.stop_strings), stop);
    }
    let many = error(ANTHROPIC, json!({"messages": [], "stop_sequences": vec!["a"; 1_025]}));
    let expected = "stop_sequences: expected at most 1024 stop strings, got 1025";
    assert!(many.to_string().ends_with(expected), "{many}");
    let long = json!({"options": {"stop": ["a".repeat(131_000), "b".repeat(73)]}});
    let expected = "options.stop: expected at most 131072 bytes of stop strings, got 131073";
    assert!(error(OLLAMA, long).to_string().ends_with(expected));
}

#[test]
fn deep_and_long_bodies() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(parse_body(&deep).is_err());
    let mut nested = json!("x");
    for _ in 0..1_000 {
        nested = Value::Array(vec![nested]);
    }
    for &dialect in Dialect::ALL {
        let error = dialect.read(&nested, &super::options()).unwrap_err().to_string();
        assert_eq!(error, "Invalid request: nested more than 127 levels deep");
    }
    let history = super::options().with_history([nested]);
    let text = CHAT.read(json!({"messages": []}), &history).unwrap_err().to_string();
    assert!(text.contains("history[0]: nested more than"), "{text}");
    let messages: Vec<_> = (0..100_000).map(|_| json!({"role": "user", "content": "A"})).collect();
    for (dialect, key) in
        [(CHAT, "messages"), (ANTHROPIC, "messages"), (OLLAMA, "messages"), (RESPONSES, "input")]
    {
        assert_eq!(turn(dialect, json!({key: messages})).conversation.messages.len(), 100_001);
    }
}
