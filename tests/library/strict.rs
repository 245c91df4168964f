//! Strict parsing of headers, row by row: what 0.0.8 was asked, and what is read better.
#![expect(clippy::unwrap_used, reason = "a test")]

mod spelled;

use openai_harmony::chat::{Author, Content, Message, Role};
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, ParserOptions, RepairKind, StreamState, StreamableParser,
    load_harmony_encoding,
};

use crate::lines::lines;

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

fn encode(text: &str) -> Vec<u32> {
    encoding().tokenizer().encode_with_special_tokens(text)
}

/// The fields of a message: `role[:name] [#channel] [to=recipient] [(content type)]`.
fn fields(message: &Message) -> String {
    let mut fields = message.author.role.as_str().to_owned();
    for (before, field, after) in [
        (":", &message.author.name, ""),
        (" #", &message.channel, ""),
        (" to=", &message.recipient, ""),
        (" (", &message.content_type, ")"),
    ] {
        if let Some(field) = field {
            fields += &[before, field, after].concat();
        }
    }
    fields
}

/// The fields of the messages, or the error, in full.
fn parse(text: &str, role: Option<Role>) -> String {
    match encoding().parse_messages_from_completion_tokens(encode(text), role) {
        Ok(messages) => messages.iter().map(fields).collect::<Vec<_>>().join(" | "),
        Err(error) => error.kind().to_string(),
    }
}

#[test]
fn headers_after_a_given_role_are_read_as_listed() {
    for (header, expected) in lines::<(String, String)>(include_str!("strict/given.txt")) {
        let text = format!("{header}<|message|>x<|end|>");
        assert_eq!(parse(&text, Some(Role::Assistant)), expected, "{header:?}");
    }
}

#[test]
fn headers_after_a_start_token_are_read_as_listed() {
    for (header, expected) in lines::<(String, String)>(include_str!("strict/named.txt")) {
        let text = format!("<|start|>{header}<|message|>x<|end|>");
        assert_eq!(parse(&text, None), expected, "{header:?}");
    }
}

/// The law of the round trip, without the option that refuses fields. Its one exception: a content type
/// without `<|constrain|>` and without a recipient is read as the recipient, as in 0.0.8, unless it is
/// `json`, `code` or `text` beside a channel.
#[test]
fn what_is_rendered_reads_back_unless_a_content_type_stands_for_a_recipient() {
    let authors = [
        Role::User.into(),
        Role::Assistant.into(),
        Author::new(Role::User, "bob"),
        Author::new(Role::Tool, "functions.f"),
    ];
    let channels = [None, Some("final"), Some("notes")];
    let recipients = [None, Some("functions.f"), Some("assistant"), Some("json")];
    let types =
        [None, Some("json"), Some("code"), Some("text"), Some("yaml"), Some("<|constrain|>json")];
    let mut exceptions = 0;
    for (author, channel) in authors.iter().flat_map(|author| channels.map(|c| (author, c))) {
        for (recipient, content_type) in recipients.iter().flat_map(|r| types.map(|t| (r, t))) {
            let mut message = Message::from_author_and_content(author.clone(), "x");
            message.channel = channel.map(str::to_owned);
            message.recipient = recipient.map(str::to_owned);
            message.content_type = content_type.map(str::to_owned);
            let tokens = encoding().render(&message, None).unwrap();
            let is_bare = content_type.is_some_and(|name| !name.starts_with("<|constrain|>"));
            let is_known = content_type != Some("yaml");
            if is_bare && recipient.is_none() && !(is_known && channel.is_some()) {
                message.recipient = message.content_type.take();
                exceptions += 1;
            }
            let parsed = encoding().parse_messages_from_completion_tokens(tokens, None);
            assert_eq!(parsed.unwrap(), [message]);
        }
    }
    assert_eq!(exceptions, 24);
}

/// What begins with `<|start|>` names its author; if it does not, the given role counts.
#[test]
fn a_start_token_overrides_the_given_role() {
    for (header, expected) in [
        ("user", "user"),
        ("f to=g", "tool:f to=g"),
        ("f<|channel|>final", "tool:f #final"),
        ("", "assistant"),
        ("<|channel|>final", "assistant #final"),
        ("final<|channel|>final", "assistant #final"),
        ("f", "assistant"),
        ("json", "assistant"),
        ("assistant json", "assistant to=json"),
        ("<|channel|>commentary to=f", "assistant #commentary to=f"),
    ] {
        let text = format!("<|start|>{header}<|message|>x<|end|>");
        assert_eq!(parse(&text, Some(Role::Assistant)), expected, "{header:?}");
    }
}

/// All that a parser raises, by the index of its token, and its messages.
fn skip_errors(tokens: &[u32], role: Option<Role>) -> (Vec<(usize, String)>, Vec<String>) {
    let mut parser = StreamableParser::new(encoding(), role).unwrap();
    let mut errors = Vec::new();
    for (index, &token) in tokens.iter().enumerate() {
        if let Err(error) = parser.process(token) {
            assert_eq!(error.token_index(), Some(index));
            errors.push((index, error.kind().to_string()));
        }
    }
    if let Err(error) = parser.process_eos() {
        errors.push((tokens.len(), error.kind().to_string()));
    }
    (errors, parser.messages().iter().map(fields).collect())
}

const EOS: &str = "Unexpected EOS while waiting for message header to complete";
/// What a `<|start|>` broke off is a message, as lenient parsing reads it. The last column is the error at `<|message|>`:
/// none if the header could have ended there, or if 0.0.8 can read both as one.
#[test]
fn a_start_token_inside_a_header_begins_a_new_one() {
    let assistant = Some(Role::Assistant);
    let left =
        |text: &str| format!("unexpected tokens remaining in message header: Some({text:?})");
    let none = String::new;
    let thought = "<|start|>assistant<|channel|>analysis<|message|>t<|end|>";
    let answer = "<|start|>assistant<|channel|>final<|message|>x<|return|>";
    for (text, given, expected, error) in [
        ("<|start|>user to=f<|start|>assistant<|message|>x<|end|>", None, "assistant", none()),
        ("<|start|>assistant<|start|>assistant<|message|>x<|end|>", None, "assistant", none()),
        ("<|start|> <|start|>assistant<|message|>x<|end|>", None, "assistant", none()),
        // Code that stops at its first error gets the thought and the answer.
        (
            &["commentary 2?<|end|>", thought, answer].concat(),
            assistant,
            "assistant #commentary | assistant #analysis | assistant #final",
            none(),
        ),
        (
            &["<|channel|>final", answer].concat(),
            assistant,
            "assistant #final | assistant #final",
            none(),
        ),
        // Words are left over, whatever 0.0.8 makes of the last of them.
        (
            &["I must refuse<|end|>", thought, answer].concat(),
            assistant,
            "assistant | assistant #analysis | assistant #final",
            left("I"),
        ),
        (
            &["<|channel|>analysis I must refuse<|end|>", thought].concat(),
            assistant,
            "assistant #analysis | assistant #analysis",
            left("I"),
        ),
        (
            "... Let's use the tool.<|end|><|start|>assistant to=f<|channel|>commentary json<|message|>{}<|call|>",
            assistant,
            "assistant | assistant #commentary to=f (json)",
            left("... Let's use the tool.<|end|><|start|>assistant"),
        ),
        // The next one names no author: it has the same author.
        ("<|start|>user<|start|><|channel|>final<|message|>x<|end|>", None, "user #final", none()),
        // The last one cannot be read.
        ("<|start|>user<|start|>final<|message|>x<|end|>", None, "user", none()),
        (
            "<|start|>assistant to=f<|channel|>commentary<|start|>assistant<|channel|><|message|>x<|end|>",
            None,
            "assistant",
            none(),
        ),
        ("<|start|>user<|start|>a b c d<|message|>x<|end|>", None, "tool:a", left("b")),
    ] {
        let tokens = encode(text);
        let (errors, messages) = skip_errors(&tokens, given);
        let message = tokens.iter().position(|&token| token == 200_008).unwrap();
        let expected_errors = if error.is_empty() { vec![] } else { vec![(message, error)] };
        assert_eq!(
            (errors, messages.join(" | ")),
            (expected_errors, expected.to_owned()),
            "{text}"
        );
    }
    // A prompt may end so, but not after an incomplete header.
    let tokens = encode("<|start|>user to=f<|start|>assistant");
    let (errors, _) = skip_errors(&tokens, None);
    assert_eq!(errors, [(6, EOS.to_owned())]);
    assert_eq!(skip_errors(&tokens[4..], None).0, []);
}

/// Up to the next header; from there on both are themselves.
#[test]
fn a_header_that_a_start_token_ends_is_read_as_by_lenient_parsing() {
    let next = "<|start|>assistant<|channel|>final<|message|>x<|return|>";
    for header in [
        "<|channel|>commentary to=functions.f <|constrain|>json{\"a\":1}",
        "commentary 2?<|end|><|end|>364",
        "<|channel|>final<|constrain|>Paris.<|return|>",
        "<|channel|>analysis We need more than thirty-two tokens of text here, so that lenient parsing takes them for content before it sees what ends the header: a marker, a stop token or the end.",
        "assistant",
        "assistant<|channel|> final answer",
    ] {
        let tokens = encode(&[header, next].concat());
        let read = |config: &ParserOptions| {
            let mut parser =
                StreamableParser::with_options(encoding(), Some(Role::Assistant), config).unwrap();
            let mut deltas = String::new();
            for &token in &tokens {
                if parser.process(token).is_ok() {
                    deltas += parser.delta().unwrap_or_default();
                }
            }
            (parser.messages().to_vec(), parser.repairs().to_vec(), deltas)
        };
        let (strict, lenient) = (read(&ParserOptions::strict()), read(&ParserOptions::lenient()));
        assert_eq!(strict, lenient, "{header}");
    }
}

/// 0.0.8 raised there, too, and not earlier.
#[test]
fn a_header_with_an_unknown_id_raises_at_its_message_token() {
    let begin = [encode("<|start|>user"), vec![300_000, 300_001], encode(" x")].concat();
    let raised = |index: usize| (index, "Invalid token for decoding: 300000".to_owned());
    assert_eq!(skip_errors(&begin, None).0, [(5, EOS.to_owned())]);

    let closed = [&begin[..], &encode("<|message|>")].concat();
    assert_eq!(skip_errors(&closed, None), (vec![raised(5)], vec![]));

    let broken_off = [&begin[..], &encode("<|start|>tool<|message|>x<|end|>")].concat();
    let (errors, messages) = skip_errors(&broken_off, None);
    assert_eq!(errors, [raised(7)]);
    assert_eq!(messages.last().unwrap(), "tool:tool");
}

#[test]
fn an_unknown_id_in_content_is_replaced_and_reported() {
    let begin = encode("<|channel|>final<|message|>a");
    let rest = encode("b<|end|>");
    let mut parser = StreamableParser::new(encoding(), Some(Role::Assistant)).unwrap();
    for token in [&begin[..], &[300_000], &rest].concat() {
        parser.process(token).unwrap();
    }
    assert_eq!(parser.messages()[0].content, [Content::from("a\u{FFFD}b")]);
    let repairs: Vec<_> =
        parser.repairs().iter().map(|r| (r.kind, &r.text[..], r.span.clone(), r.index)).collect();
    assert_eq!(repairs, [(RepairKind::UnknownToken, "300000", 4..5, Some(0))]);
}

/// After an error in the first header the given role waits for the next one that names none.
#[test]
fn a_given_role_is_used_after_an_error_in_the_first_header() {
    for (header, expected) in [
        ("<|channel|>final", "assistant #final"),
        ("f g", "assistant to=f (g)"),
        ("functions.f", "assistant to=functions.f"),
        ("user", "user"),
    ] {
        let tokens = encode(&format!("a b c<|message|><|start|>{header}<|message|>x<|end|>"));
        let (errors, messages) = skip_errors(&tokens, Some(Role::Assistant));
        assert_eq!(errors.len(), 1, "{header}: {errors:?}");
        assert_eq!(messages, [expected]);
    }
}

/// What a server sees between tokens: a header is a header until `<|message|>`.
#[test]
fn a_header_stays_a_header_until_its_message_token() {
    let mut parser = StreamableParser::new(encoding(), Some(Role::Assistant)).unwrap();
    let header = encode(" to=f<|channel|>commentary<|end|><|channel|>final");
    for &token in &header {
        parser.process(token).unwrap();
        assert_eq!(parser.state(), StreamState::Header);
        assert_eq!((parser.channel(), parser.recipient(), parser.delta()), (None, None, None));
    }
    for token in encode("<|message|>x") {
        parser.process(token).unwrap();
        assert_eq!(parser.state(), StreamState::Content);
        assert_eq!((parser.channel(), parser.recipient()), (Some("final"), Some("f")));
    }
    assert_eq!(parser.delta(), Some("x"));
}

#[test]
fn a_token_that_completes_no_character_has_no_delta() {
    let mut parser = StreamableParser::new(encoding(), Some(Role::Assistant)).unwrap();
    for token in encode("<|channel|>final<|message|>") {
        parser.process(token).unwrap();
    }
    let character = encode("\u{1F94E}");
    let (last, first) = character.split_last().unwrap();
    assert!(!first.is_empty());
    for &token in first {
        parser.process(token).unwrap();
        assert_eq!((parser.delta(), parser.content()), (None, ""));
    }
    parser.process(*last).unwrap();
    assert_eq!(parser.delta(), Some("\u{1F94E}"));
}
