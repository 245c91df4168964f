//! Every short word in each field of a header: what validation lets through reads back as it was written, which random
//! words meet too rarely (`assistantto=f`).
//!
//! `cargo test` tries all of up to three pieces, `make test` of two; `SMALL_WORLDS`, less two, says of how many.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use openai_harmony::chat::{Author, Message, Role};
use openai_harmony::{
    HarmonyEncodingName, HeaderStyle, ParserOptions, RenderConfig, StreamableParser,
    load_harmony_encoding,
};

/// What means something in a header, and what does not.
const PIECES: [&str; 29] = [
    "assistant",
    "user",
    "system",
    "developer",
    "tool",
    "analysis",
    "commentary",
    "final",
    "to=",
    "json",
    "code",
    "functions.",
    "python",
    "browser",
    "all",
    "<|constrain|>",
    ":",
    "{",
    "\"",
    "(",
    ".",
    "_",
    "-",
    "–",
    "=",
    " ",
    "x",
    "X",
    "1",
];

fn words() -> Vec<String> {
    let most = std::env::var("SMALL_WORLDS").map_or(5, |text| text.parse::<usize>().unwrap());
    let (mut words, mut longest) = (Vec::new(), vec![String::new()]);
    for _ in 2..most.min(6) {
        longest =
            longest.iter().flat_map(|word| PIECES.map(|piece| format!("{word}{piece}"))).collect();
        words.extend(longest.iter().cloned());
    }
    words
}

/// Messages with the word in one field, beside others.
fn messages(word: &str) -> Vec<Message> {
    let by = |role, name: &str| Message::from_author_and_content(Author::new(role, name), "t");
    let mut found = Vec::new();
    for message in [by(Role::Tool, word), by(Role::User, word), by(Role::Assistant, word)] {
        let answer = message.clone().with_channel("commentary");
        found.push(answer.clone().with_recipient("assistant"));
        found.push(message.clone().with_recipient("assistant"));
        found.push(message.clone().with_channel("final").with_recipient("functions.f"));
        found.extend([message, answer]);
    }
    for message in
        [Message::from_role_and_content(Role::Assistant, "t"), by(Role::Tool, "functions.f")]
    {
        let to = message.clone().with_recipient(word);
        let call = to.clone().with_channel("commentary");
        found.push(call.clone().with_content_type("<|constrain|>json"));
        found.push(to.clone().with_content_type("code"));
        found.extend([to, call]);
        let inside = message.clone().with_channel(word);
        found.extend([inside.clone().with_recipient("functions.f"), inside]);
        let typed = message.with_content_type(word);
        found.push(typed.clone().with_channel("final"));
        found.push(typed.clone().with_recipient("python").with_channel("analysis"));
        found.push(typed);
    }
    found
}

#[test]
fn what_is_rendered_parses_back() {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let options = ParserOptions::lenient();
    let styles = [HeaderStyle::RecipientInRole, HeaderStyle::RecipientInChannel]
        .map(|style| RenderConfig::new().with_header_style(style).with_validate(true));
    let (mut written, mut wrong) = (0, Vec::new());
    for mut message in words().iter().flat_map(|word| messages(word)) {
        for config in &styles {
            let Ok(tokens) = encoding.render_with(&message, config) else { continue };
            written += 1;
            let mut parser = StreamableParser::with_options(encoding, None, &options).unwrap();
            parser.feed(&tokens).unwrap();
            parser.finish().unwrap();
            // It is never written.
            message.recipient = message.recipient.filter(|recipient| recipient != "all");
            if parser.messages() != [message.clone()] || !parser.repairs().is_empty() {
                wrong.push(format!("{message:?}\n{:?}", parser.repairs()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are read otherwise, as\n{}", wrong.len(), wrong[0]);
    assert!(written > 30_000, "only {written} were written");
}
