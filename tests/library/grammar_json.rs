//! Which texts a grammar's state takes for JSON: those that `serde_json` reads.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use openai_harmony::Prefill;
use openai_harmony::grammar::{GrammarOptions, GrammarTool, JsonSpace, TurnGrammar};
use openai_harmony::tokenizer::Tokenizer;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The grammar of an answer of any JSON, after its header.
fn any_json(space: JsonSpace) -> TurnGrammar {
    let options = GrammarOptions::new().with_json_space(space).with_response_schema(json!(true));
    let prefill = Prefill::new().with_channel("final").with_text("");
    TurnGrammar::new([], options.with_prefill(prefill)).unwrap()
}

fn takes(grammar: &TurnGrammar, text: &str) -> bool {
    let text = format!("{text}<|return|>");
    grammar.accepts(Tokenizer::o200k_harmony().encode_with_special_tokens(&text)).ok
}

/// Whether a text is JSON; `None` of what `serde_json` refuses although it is: half a pair, and numbers beyond a double.
fn is_json(text: &str) -> Option<bool> {
    let Err(error) = serde_json::from_str::<Value>(text) else { return Some(true) };
    let said = error.to_string();
    let is_beyond = ["surrogate", "out of range", "lone", "unexpected end of hex escape"];
    (!is_beyond.iter().any(|part| said.contains(part))).then_some(false)
}

fn check(grammar: &TurnGrammar, text: &str) {
    if let Some(expected) = is_json(text) {
        assert_eq!(takes(grammar, text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn texts_that_are_nearly_json(text in r#"[\[\]{}:, "\\u0-9a-f.eE+\-tn]{0,12}|\{"a": ?(true|null|-?[0-9.]{1,4}|"x\\[nu"x]{1,3}")\}"#) {
        check(&any_json(JsonSpace::Any), &text);
    }
}

/// All texts of up to so many of these pieces.
fn every(pieces: &[&str], most: usize, mut check: impl FnMut(&str)) {
    let mut texts = vec![String::new()];
    for _ in 0..most {
        let longer = |text: &String| pieces.iter().map(|piece| format!("{text}{piece}")).collect();
        texts = texts.iter().flat_map::<Vec<_>, _>(longer).collect();
        for text in &texts {
            check(text);
        }
    }
}

#[test]
fn every_short_text() {
    let grammar = any_json(JsonSpace::Any);
    let pieces = ["[", "]", "{", "}", ":", ",", "\"", "\\", "n", "/", "1", "\"a\"", "\u{1f}", " "];
    every(&pieces, 4, |text| check(&grammar, text));
    every(&["0", "1", ".", "e", "+", "-"], 5, |text| {
        for (before, after) in [("", ""), ("[", "]"), ("[", ",1]")] {
            check(&grammar, &format!("{before}{text}{after}"));
        }
    });
    let rows = [r#""\u00e9""#, r#""\u00E90""#, r#""\u00e""#, r#""\u00g9""#, r#""\x00""#, "\"\0\""];
    for text in rows {
        check(&grammar, text);
    }
    for word in ["true", "false", "null"] {
        check(&grammar, word);
        for (at, _) in word.char_indices() {
            check(&grammar, &word[..at]);
            check(&grammar, &format!("{}x{}", &word[..at], &word[at + 1..]));
        }
    }
}

#[test]
fn blanks_up_to_a_limit() {
    let blanks = |count| format!("[1,{}2]", " ".repeat(count));
    for (text, space, is_taken) in [
        ("[1, \"a  b\"]", JsonSpace::Compact, false),
        ("[1,\"a  b\"]", JsonSpace::Compact, true),
        (&blanks(32), JsonSpace::Bounded, true),
        (" [1 ,  2]\n", JsonSpace::Bounded, true),
        (&blanks(33), JsonSpace::Bounded, false),
        (&blanks(33), JsonSpace::Any, true),
    ] {
        assert_eq!(takes(&any_json(space), text), is_taken, "{text} {space:?}");
    }
}

#[test]
fn calls_take_an_object() {
    let prefill = Prefill::new().with_channel("commentary").with_recipient("functions.t");
    let options = GrammarOptions::new().with_prefill(prefill.with_text(""));
    let tool = GrammarTool::new("functions.t", json!({}));
    let grammar = TurnGrammar::new([tool], options).unwrap();
    for (text, is_taken) in [("{}", true), (" {\"a\": [1]}\n", true), ("[]", false), ("1", false)] {
        let text = format!("{text}<|call|>");
        let tokens = Tokenizer::o200k_harmony().encode_with_special_tokens(&text);
        assert_eq!(grammar.accepts(tokens).ok, is_taken, "{text}");
    }
}
