//! Headers whose ordinary tokens spell a marker.

use openai_harmony::chat::Role;

use super::{encode, encoding, fields};

/// Spelled in ordinary tokens: text, and in the way of nothing that 0.0.8 read.
#[test]
fn spelled_markers_are_text() {
    for (header, expected) in [
        (" to=f<|channel|>final", "assistant to=f<|channel|>final"),
        ("assistant<|channel|>final", "assistant"),
        ("assistant<|constrain|>", "assistant"),
        ("a <|channel|>final b", "assistant to=a (b)"),
    ] {
        let is_named = header.starts_with("assistant");
        let start = encode(if is_named { "<|start|>" } else { "" });
        let spelled = encoding().tokenizer().encode_ordinary(header);
        let tokens = [start, spelled, encode("<|message|>x<|end|>")].concat();
        let given = (!is_named).then_some(Role::Assistant);
        let messages = encoding().parse_messages_from_completion_tokens(tokens, given).unwrap();
        assert_eq!(messages.iter().map(fields).collect::<Vec<_>>(), [expected], "{header:?}");
    }
}

/// The author is the role before a spelled marker, as in 0.0.8, also where a channel or further words
/// would make a tool of any other word.
#[test]
fn a_role_ends_before_a_spelled_marker() {
    for (author, rest, expected) in [
        ("assistant<|constrain|>", "<|channel|>final", "assistant #final"),
        (
            "assistant<|constrain|>",
            "<|channel|>final <|constrain|>json",
            "assistant #final (<|constrain|>json)",
        ),
        (
            "assistant<|channel|>commentary",
            " to=f<|channel|>commentary",
            "assistant #commentary to=f",
        ),
        ("user<|channel|>", " to=f", "user to=f"),
        ("functions.f<|constrain|>", "<|channel|>final", "tool:functions.f<|constrain|> #final"),
    ] {
        let spelled = encoding().tokenizer().encode_ordinary(author);
        let tokens = [encode("<|start|>"), spelled, encode(&format!("{rest}<|message|>x<|end|>"))];
        let messages = encoding().parse_messages_from_completion_tokens(tokens.concat(), None);
        let read: Vec<_> = messages.unwrap().iter().map(fields).collect();
        assert_eq!(read, [expected], "{author:?}, {rest:?}");
    }
}

/// 0.0.8 took the spelled markers for markers, and reads some headers only so. What stands between `[` and
/// `]` is spelled.
#[test]
fn what_0_0_8_read_by_spelled_markers_raises_nothing() {
    let assistant = Some(Role::Assistant);
    for (header, role, expected) in [
        // Its channel is the spelled one, so that an empty one behind it is no error.
        (
            "a[<|channel|>final] <|constrain|><|channel|>",
            assistant,
            "assistant to=a (<|constrain|>)",
        ),
        ("[<|channel|>analysis]<|channel|><|call|>", assistant, "assistant"),
        ("[<|channel|>final]<|channel|> json", assistant, "assistant (json)"),
        (
            " to=f[<|channel|>.g]<|channel|><|channel|> <|constrain|>json",
            assistant,
            "assistant to=f (<|constrain|>json)",
        ),
        (
            "[<|channel|>]<|channel|>",
            assistant,
            "channel marker present but no channel value found in header",
        ),
        // A word of a tool's name, and one more.
        (
            "assistantassistant<|channel|>final[<|constrain|>]",
            None,
            "tool:assistantassistant #final",
        ),
        ("<|channel|>a<|channel|>[<|constrain|>b]", None, "tool:tool #a"),
        ("[<|constrain|>final<|constrain|>]", None, "tool:tool"),
        ("[\u{b}<|constrain|>x<|constrain|>]", None, "tool:tool"),
        ("[<|channel|>a\u{b}user]", None, "user"),
        // One word to 0.0.8 too.
        ("[<|constrain|>final]", None, "Unknown role: <|constrain|>final"),
        ("[<|channel|>final<|constrain|>]", None, "Unknown role: <|channel|>final<|constrain|>"),
    ] {
        let mut tokens = encode(if role.is_none() { "<|start|>" } else { "" });
        for (index, part) in header.split(['[', ']']).enumerate() {
            let is_spelled = index % 2 == 1;
            tokens.extend(if is_spelled {
                encoding().tokenizer().encode_ordinary(part)
            } else {
                encode(part)
            });
        }
        tokens.extend(encode("<|message|>x<|end|>"));
        let read = match encoding().parse_messages_from_completion_tokens(tokens, role) {
            Ok(messages) => messages.iter().map(fields).collect::<Vec<_>>().join(", "),
            Err(error) => error.kind().to_string(),
        };
        assert!(read.starts_with(expected), "{header:?}: {read}");
    }
}
