//! What harmony cannot carry: an error in the newest message of the user, else a placeholder.

use openai_harmony::interop::{Dialect, Unsupported};
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, OLLAMA, RESPONSES, error, options, said};

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

/// Clients look for these words and paths, take the content out, and ask again.
#[test]
fn each_api_has_its_own_words_and_paths() {
    let kinds = [
        (
            CHAT,
            json!({"type": "image_url", "image_url": {"url": "data:"}}),
            "image_url is only supported by certain models",
        ),
        (
            CHAT,
            json!({"type": "video_url", "video_url": {"url": "data:"}}),
            "video_url is only supported by certain models",
        ),
        (CHAT, json!({"type": "input_audio", "input_audio": {}}), "input_audio is only supported"),
        (CHAT, json!({"type": "file", "file": {}}), "file is only supported by certain models"),
        (
            RESPONSES,
            json!({"type": "input_image", "image_url": "data:"}),
            "The image data you provided does not represent a valid image",
        ),
        (RESPONSES, json!({"type": "input_file", "file_id": "f"}), "input_file is only supported"),
        (RESPONSES, json!({"type": "input_audio", "data": ""}), "input_audio is only supported"),
        (
            RESPONSES,
            json!({"type": "input_video", "video_url": ""}),
            "input_video is only supported",
        ),
        (ANTHROPIC, json!({"type": "image", "source": {}}), "messages.1.content.1.image.source: "),
        (
            ANTHROPIC,
            json!({"type": "document", "source": {"type": "base64"}}),
            "messages.1.content.1.document.source: ",
        ),
        (
            ANTHROPIC,
            json!({"type": "container_upload", "file_id": "f"}),
            "messages.1.content.1.container_upload: ",
        ),
    ];
    for (dialect, part, words) in kinds {
        let text = if dialect == RESPONSES { "input_text" } else { "text" };
        let user = json!({"role": "user", "content": [{"type": text, "text": "A"}, part]});
        let error = error(dialect, body(dialect, &[json!({"role": "user", "content": "A"}), user]));
        let (status, answer) = dialect.error_answer(&error);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(status == 400 && message.contains(words), "{answer}");
    }
    let error = error(OLLAMA, body(OLLAMA, &[with_image(OLLAMA, "user", "A")]));
    let (_, answer) = OLLAMA.error_answer(&error);
    let expected = "messages[0].images[0]: this model is missing data required for image input";
    assert_eq!(answer["error"], expected);
}
