//! What harmony cannot carry: an error in the newest message of the user, else a placeholder.

use openai_harmony::interop::{Dialect, Unsupported};
use serde_json::{Value, json};

use super::{RESPONSES, options, said};

/// A message with an image after its text.
fn with_image(dialect: Dialect, role: &str, text: &str) -> Value {
    let (kind, image) = match dialect {
        Dialect::Ollama => return json!({"role": role, "content": text, "images": ["aGk="]}),
        Dialect::Responses => ("input_text", json!({"type": "input_image", "image_url": "data:"})),
        Dialect::Anthropic => {
            let source = json!({"type": "base64", "media_type": "image/png", "data": "aGk="});
            ("text", json!({"type": "image", "source": source}))
        }
        _ => ("text", json!({"type": "image_url", "image_url": {"url": "data:"}})),
    };
    json!({"role": role, "content": [{"type": kind, "text": text}, image]})
}

fn body(dialect: Dialect, messages: &[Value]) -> Value {
    let key = if dialect == RESPONSES { "input" } else { "messages" };
    json!({key: messages})
}

const ROLES: [&str; 2] = ["user", "assistant"];

/// Every conversation of four messages of the two roles, with an image in one of them.
#[test]
fn only_in_the_newest_message_of_the_user_an_image_is_an_error() {
    for &dialect in Dialect::ALL {
        for roles in 0..16_usize {
            let role = |at: usize| ROLES[roles >> at & 1];
            let newest = (0..4).rposition(|at| role(at) == "user");
            for at in 0..4 {
                let message = |index: usize| {
                    if index == at {
                        return with_image(dialect, role(index), "A");
                    }
                    json!({"role": role(index), "content": "A"})
                };
                let body = body(dialect, &(0..4).map(message).collect::<Vec<_>>());
                let read = dialect.read(&body, &options());
                assert_eq!(read.is_err(), newest == Some(at), "{dialect} {body}");
                let strict = options().with_strict(true);
                assert!(dialect.read(&body, &strict).is_err(), "{dialect} {body}");
                for strict in [false, true] {
                    let all = options().with_unsupported(Unsupported::Placeholder);
                    let turn = dialect.read(&body, &all.with_strict(strict)).unwrap();
                    let prefill = turn.prefill.as_ref().and_then(|prefill| prefill.text.clone());
                    let text = said(&turn) + &prefill.unwrap_or_default();
                    assert!(text.contains("[image omitted]"), "{dialect} {body}: {text}");
                }
            }
        }
    }
}
