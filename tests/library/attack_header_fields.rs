//! Attack: names with invisible characters, which look like other names. `validate` refuses
//! them in every field, and nothing that can be seen.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use openai_harmony::chat::{Author, Message, Role};
use openai_harmony::{
    ErrorKind, HarmonyEncodingName, HeaderStyle, ParseOptions, RenderConfig, Result,
    StreamableParser, load_harmony_encoding,
};
use regex_syntax::hir::{Class, HirKind};

fn render(message: &Message) -> Result<Vec<u32>> {
    let config = RenderConfig::new().with_validate(true);
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?.render_with(message, &config)
}

/// A call whose fields are all safe.
fn call() -> Message {
    Message::from_author_and_content(Author::new(Role::Assistant, "bob"), "{}")
        .with_channel("commentary")
        .with_recipient("functions.f")
        .with_content_type("<|constrain|>json")
}

/// The call with one field replaced by `value`, for each field by its name.
fn with_each_field(value: &str) -> [(&'static str, Message); 5] {
    [
        ("name", Message { author: Author::new(Role::Assistant, value), ..call() }),
        ("channel", call().with_channel(value)),
        ("recipient", call().with_recipient(value)),
        ("content_type", call().with_content_type(value)),
        ("content_type", call().with_content_type(format!("<|constrain|>{value}"))),
    ]
}

fn assert_refused(value: &str) {
    for (field, message) in with_each_field(value) {
        let error = render(&message).expect_err(value);
        let is_named = matches!(error.kind(), ErrorKind::UnsafeHeaderField { field: named, .. } if *named == field);
        assert!(is_named, "{field} {value:?}: {error}");
    }
}

#[test]
fn invisible_characters_are_refused_in_every_field() {
    for hidden in [
        '\u{61c}',
        '\u{180e}',
        '\u{206a}',
        '\u{206f}',
        '\u{fff9}',
        '\u{e0020}',
        '\u{e007f}',
        '\u{3164}',
        '\u{115f}',
        '\u{fe0f}',
        '\u{34f}',
        '\u{ad}',
        '\u{200b}',
        '\u{202e}',
        '\u{feff}',
        '\u{a0}',
        '\u{2028}',
        '\u{2029}',
        '\t',
        '\0',
        '\u{7f}',
        '\u{85}',
        '\u{e01ef}',
    ] {
        assert_refused(&format!("a{hidden}b"));
        assert_refused(&hidden.to_string());
    }
}

/// Only these are: a character that can be seen, is not assigned or for private use is not refused.
#[test]
fn exactly_the_invisible_characters_of_unicode_are_refused() {
    let classes = r"[\p{Cf}\p{Cc}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]";
    let hir = regex_syntax::parse(classes).expect("a valid pattern");
    let HirKind::Class(Class::Unicode(invisible)) = hir.kind() else { unreachable!("one class") };
    let is_invisible =
        |char| invisible.iter().any(|range| (range.start()..=range.end()).contains(&char));
    let neighbours = invisible.iter().flat_map(|range| {
        let before = char::from_u32(u32::from(range.start()).wrapping_sub(1));
        let after = char::from_u32(u32::from(range.end()) + 1);
        [before, Some(range.start()), Some(range.end()), after].into_iter().flatten()
    });
    for char in neighbours.chain(('\0'..=char::MAX).step_by(499)) {
        let result = render(&call().with_channel(format!("a{char}")));
        assert_eq!(result.is_err(), is_invisible(char), "{char:?}");
    }
}

/// Lenient parsing ends a name where a JSON value begins.
#[test]
fn names_in_which_a_value_begins_are_refused() {
    for value in ["a{\"b\":1}", "a[{\"b\":1}]", "a[\"b\"]", "a{", "a[", "a[{", "{\"b"] {
        assert_refused(value);
    }
    for value in ["a{b}", "a[0]", "a[{b}]", "a}", "\"a\""] {
        for (field, message) in with_each_field(value) {
            // No tool has a name with a value in it.
            let is_refused = field == "recipient" && value.contains('{');
            assert_eq!(render(&message).is_err(), is_refused, "{field} {value}");
        }
    }
}

#[test]
fn one_space_is_allowed_after_the_constrain_marker() {
    assert!(render(&call().with_content_type("<|constrain|> json")).is_ok());
    for content_type in
        ["<|constrain|>  json", "<|constrain|>\u{a0}json", " json", "json ", "<|constrain|>json "]
    {
        assert!(render(&call().with_content_type(content_type)).is_err(), "{content_type:?}");
    }
}

/// Whether every parser reads the header back as it was written, in every style.
fn reads_back(message: &Message) -> bool {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).expect("the encoding");
    [HeaderStyle::RecipientInRole, HeaderStyle::RecipientInChannel].into_iter().all(
        |header_style| {
            let config = RenderConfig::new().with_header_style(header_style);
            let tokens = encoding.render_with(message, &config).expect("tokens");
            [true, false].into_iter().all(|strict| {
                let options = ParseOptions { strict };
                let mut parser =
                    StreamableParser::new_with_options(encoding, None, options).expect("a parser");
                parser.feed(&tokens).is_ok()
                    && parser.finish().is_ok()
                    && parser.messages() == std::slice::from_ref(message)
                    && parser.repairs().is_empty()
            })
        },
    )
}

/// Of all headers of these words, those that are refused are those that would read as another.
#[test]
fn what_reads_back_is_not_refused() {
    let names = [
        None,
        Some("bob"),
        Some("functions.f"),
        Some("python"),
        Some("tool"),
        Some("user"),
        Some("tool:bob"),
        Some("user:bob"),
    ];
    let channels = [None, Some("final"), Some("commentary")];
    let recipients = [None, Some("functions.f"), Some("assistant"), Some("json")];
    let content_types = [None, Some("json"), Some("<|constrain|>json"), Some("<|constrain|> json")];
    for (role, name) in Role::ALL.into_iter().flat_map(|role| names.map(|name| (role, name))) {
        for (channel, recipient) in channels.iter().flat_map(|c| recipients.map(|r| (*c, r))) {
            for content_type in content_types {
                let author = Author { role, name: name.map(str::to_owned) };
                let message = Message {
                    channel: channel.map(str::to_owned),
                    recipient: recipient.map(str::to_owned),
                    content_type: content_type.map(str::to_owned),
                    ..Message::from_author_and_content(author, "x")
                };
                if role == Role::Tool && name.is_none() {
                    continue;
                }
                let refused = render(&message).err().map(|error| error.to_string());
                assert_eq!(refused.is_none(), reads_back(&message), "{refused:?} {message:?}");
            }
        }
    }
}
