//! Headers with bytes that are not UTF-8: places in a lossy text are no places among the bytes.

use openai_harmony::chat::Role;
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, ParserOptions, StreamableParser, load_harmony_encoding,
};

/// A token of one byte that no UTF-8 text has by itself.
const BROKEN: u32 = 176;

const BEFORE: [&str; 12] = [
    "",
    "<|constrain|>",
    "<|channel|>",
    "<|channel|>analysis<|constrain|>",
    "<|channel|>analysis<|constrain|> ",
    "<|channel|>commentary to=",
    "<|channel|>commentary to=functions.bash<|constrain|>",
    "<|channel|>commentary to=functions.bash ",
    "<|channel|>functions.bash",
    "to=functions.bash",
    "final",
    " to=functions.bash code<|channel|>",
];

/// What follows, and what of it is content whatever stands before.
const BEHIND: [(&str, &str); 8] = [
    ("", ""),
    ("{", "{"),
    ("{\"abcdefghij\":\"klmnopqrstuvwxyz\"}", "{\"abcdefghij\":\"klmnopqrstuvwxyz\"}"),
    ("json{\"a\":1}", "{\"a\":1}"),
    ("é{\"a\":1}", "{\"a\":1}"),
    (" json{\"a\":1}", "{\"a\":1}"),
    ("[1]<|end|>", "[1]"),
    ("final Yes.<|return|>", "Yes."),
];

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

/// Parses tokens in chunks of one and of all, with and without tools; the first message of each reading.
fn read(tokens: &[u32]) -> Vec<String> {
    let mut read = Vec::new();
    for tools in [&[][..], &super::TOOLS] {
        let config = ParserOptions::lenient().with_tools(tools.iter().copied());
        for chunk in [1, tokens.len().max(1)] {
            let role = Some(Role::Assistant);
            let mut parser = StreamableParser::with_options(encoding(), role, &config).unwrap();
            for part in tokens.chunks(chunk) {
                parser.feed(part).unwrap();
            }
            parser.finish().unwrap();
            read.push(parser.messages().iter().map(super::shown).collect::<Vec<_>>().join("\n"));
        }
    }
    read
}

/// A header becomes longer than headers are while it is read, so what is beyond is content.
#[test]
fn no_header_of_broken_bytes_loses_the_value_behind_it() {
    let tokenizer = encoding().tokenizer();
    for before in BEFORE {
        for (behind, kept) in BEHIND {
            for count in (0..48).chain([100, 300]) {
                let tokens = [
                    &tokenizer.encode_with_special_tokens(before)[..],
                    &vec![BROKEN; count],
                    &tokenizer.encode_with_special_tokens(behind),
                ]
                .concat();
                for read in read(&tokens) {
                    assert!(read.contains(kept), "{before:?} {behind:?} {count}: {read}");
                }
            }
        }
    }
}

/// No type has such bytes, so what follows the marker is content, however long.
#[test]
fn broken_bytes_are_no_content_type() {
    let tokenizer = encoding().tokenizer();
    let text =
        "{\"abcdefghij\":\"klmnopqrstuvwxyz klmnopqrstuvwxyz klmnopqrstuvwxyz abcdefghijk\"}";
    let value = tokenizer.encode_with_special_tokens(text);
    let header = tokenizer.encode_with_special_tokens("<|channel|>analysis<|constrain|>");
    for count in 1..9 {
        let tokens = [&header[..], &vec![BROKEN; count], &value].concat();
        let word = "\u{FFFD}".repeat(count);
        for read in read(&tokens) {
            assert_eq!(read, ["analysis: ", &word, text].concat());
        }
    }
}
