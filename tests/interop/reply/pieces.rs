//! Inputs of custom tools, which are decoded as their arguments arrive, and stop strings: in any pieces.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The text in pieces of some characters.
fn cut(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

fn ordinary(text: &str) -> Vec<u32> {
    encoding().tokenizer().encode_ordinary(text)
}

/// How much of a call's input each piece of its arguments gives, and at last the end of the call.
fn inputs(pieces: &[impl AsRef<str>]) -> Vec<String> {
    let tool = json!({"type": "custom", "custom": {"name": "c"}});
    let body = with(plain_of(CHAT), json!({"stream": true, "tools": [tool]}));
    let mut reply = reply(&turn(CHAT, &body));
    reply.feed(&tokens("<|channel|>commentary to=functions.c code<|message|>"), None).unwrap();
    let mut input = |tokens: &[u32]| -> String {
        let chunks = reply.feed(tokens, None).unwrap();
        let chunks = chunks.iter().map(|chunk| chunk.to_value()["choices"][0]["delta"].clone());
        let inputs = chunks.map(|delta| delta["tool_calls"][0]["custom"]["input"].clone());
        inputs.filter_map(|input| Some(input.as_str()?.to_owned())).collect()
    };
    let mut said: Vec<_> = pieces.iter().map(|piece| input(&ordinary(piece.as_ref()))).collect();
    said.push(input(&tokens("<|call|>")));
    said
}

#[test]
fn inputs_are_decoded() {
    let cases = [
        (r#"{"input": "ls -l"}"#, "ls -l"),
        (r#" { "input" : "a\n\"b\"é😀" } "#, "a\n\"b\"é😀"),
        (r#"{"input":"","other":1}"#, ""),
        (r#"{"other":1,"input":"x"}"#, "x"),
        // Quotes that should have been escaped.
        (r#"{"input": "print("a", "b")"}"#, r#"print("a", "b")"#),
        (r#"{"input": "f({"a"})"}"#, r#"f({"a"})"#),
        // Not an object, or not the declared one: the text is the input.
        ("ls -l", "ls -l"),
        ("[1]", "[1]"),
        (r#""x""#, r#""x""#),
        (r#"{"input": 5}"#, r#"{"input": 5}"#),
        ("{ code }", "{ code }"),
        ("", ""),
        // Cut-off arguments.
        (r#"{"inp"#, r#"{"inp"#),
        (r#"{"input": "ab"#, "ab"),
        (r#"{"input": "ab""#, "ab"),
        (r#"{"input": "a\u00"#, r"a\u00"),
        (r#"{"input": "a\ud83d"#, "a\u{FFFD}"),
        (r#"{"input": "a\"#, r"a\"),
        (r#"{"input": "a\}"#, r"a\}"),
        // Text that only looks like an escape.
        (r#"{"input": "\d+\u12g"}"#, r"\d+\u12g"),
        (r#"{"input": "\ud83dx\udc00"}"#, "\u{FFFD}x\u{FFFD}"),
        // Two escapes of one character, which a piece may end between.
        (r#"{"input": "a\ud83d\ude00b"}"#, "a😀b"),
    ];
    for (arguments, input) in cases {
        for size in [1, 2, 3, usize::MAX] {
            let said = inputs(&cut(arguments, size));
            assert_eq!(said.concat(), input, "{arguments} in pieces of {size}");
        }
    }
}

#[test]
fn inputs_stream() {
    // A complete pair is emitted at once.
    let pieces = [r#"{"input": "ls"#, r" -l\", "n", r"\ud83d\ude00", "\"}"];
    assert_eq!(inputs(&pieces), ["ls", " -l", "\n", "😀", "", ""]);
}

/// A quote belongs to the input if more blanks, or a longer key, follow it than the look-ahead of 256 covers.
#[test]
fn the_end_of_an_input_is_not_waited_for_without_end() {
    for (end, repeated, waits) in [("\"", " ", 256), ("\"}", " ", 255), ("\", \"", "k", 256)] {
        for count in [waits - 1, waits] {
            let after = repeated.repeat(count);
            let [said, rest] = &inputs(&[format!("{{\"input\": \"a{end}{after}")])[..] else {
                panic!("{end} {count}")
            };
            let is_end = count < waits;
            let input = if is_end { "a".to_owned() } else { format!("a{end}{after}") };
            assert_eq!(*said, input, "{end} {count}");
            // A key that is cut off belongs to the input after all.
            assert_eq!(rest.is_empty(), !is_end || repeated == " ", "{end} {count}");
        }
    }
}

/// The answer whose text comes in pieces, and the string that stopped it.
fn stopped(strings: &[impl AsRef<str>], pieces: &[impl AsRef<str>]) -> (String, Option<String>) {
    let strings: Vec<_> = strings.iter().map(AsRef::as_ref).collect();
    let mut reply = reply(&turn(CHAT, &with(plain_of(CHAT), json!({"stop": strings}))));
    reply.feed(&tokens("<|channel|>final<|message|>"), None).unwrap();
    for piece in pieces {
        reply.feed(&ordinary(piece.as_ref()), None).unwrap();
    }
    reply.finish(FinishReason::Stop, None).unwrap();
    let text = reply.response()["choices"][0]["message"]["content"].clone();
    (text.as_str().unwrap_or_default().to_owned(), reply.stop_sequence().map(str::to_owned))
}

#[test]
fn stop_strings_are_found_across_pieces() {
    for (strings, pieces, text, string) in [
        (&["END"][..], &["a E", "N", "D b"][..], "a ", Some("END")),
        (&["END"], &["a E", "N", "X"], "a ENX", None),
        (&["aab"], &["aa", "ab"], "a", Some("aab")),
        (&["END"], &["EN"], "EN", None),
        // The first to be complete counts.
        (&["abcd", "bc"], &["abcd"], "a", Some("bc")),
        (&["c", "abc"], &["ab", "c"], "", Some("abc")),
        (&["", "é"], &["né"], "n", Some("é")),
    ] {
        let expected = (text.to_owned(), string.map(str::to_owned));
        assert_eq!(stopped(strings, pieces), expected, "{strings:?}");
    }
}

#[test]
fn the_end_of_a_text_is_no_beginning_of_a_stop_string_in_the_next() {
    let sampled = ["<|channel|>commentary<|message|>a<|end|><|start|>assistant", ANSWER];
    let body = with(plain_of(CHAT), json!({"stop": ["aS"]}));
    assert_eq!(ended(CHAT, &body, &sampled, FinishReason::Stop).stop_sequence(), None);
}

/// What stops a text, by comparing at each offset.
fn expected(strings: &[String], text: &str) -> (String, Option<String>) {
    for end in 0..=text.len() {
        let ending = strings.iter().filter(|string| {
            !string.is_empty() && text.as_bytes()[..end].ends_with(string.as_bytes())
        });
        if let Some(longest) = ending.max_by_key(|string| string.len()) {
            return (text[..end - longest.len()].to_owned(), Some(longest.clone()));
        }
    }
    (text.to_owned(), None)
}

proptest! {
    #[test]
    fn what_json_writes_comes_back(input in any::<String>(), size in 1_usize..8) {
        let arguments = json!({"input": input}).to_string();
        prop_assert_eq!(inputs(&cut(&arguments, size)).concat(), input);
    }

    #[test]
    fn the_pieces_of_arguments_do_not_matter(
        text in r#"(\{"input": ?")?[a"\\,:{} nud83c0é]{0,40}"#,
        size in 1_usize..8,
    ) {
        prop_assert_eq!(inputs(&cut(&text, size)).concat(), inputs(&[text]).concat());
    }

    #[test]
    fn the_pieces_of_a_text_do_not_matter(
        strings in prop::collection::vec("[abéè]{0,4}", 0..4),
        pieces in prop::collection::vec("[abcéè]{0,3}", 0..12),
    ) {
        prop_assert_eq!(stopped(&strings, &pieces), expected(&strings, &pieces.concat()));
    }
}
