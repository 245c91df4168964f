//! Attack: grammars and schemas of bodies that cost much. Whatever a body brings, reading and writing it allocates a bounded
//! number of bytes, together and at once: nothing else takes much time.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::System;
use std::fmt::Write as _;
use std::sync::Mutex;

use cap::Cap;
use openai_harmony::grammar::{
    GrammarForm, GrammarOptions, GrammarSyntax, GrammarTool, InputGrammar, TurnGrammar,
};
use serde_json::{Value, json};

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// What is allocated is counted for all tests together.
static ALONE: Mutex<()> = Mutex::new(());

const MIB: usize = 1 << 20;

/// As long a grammar as is read.
const LONGEST: usize = 1 << 16;

/// What of a grammar's texts may be in memory at once, and what may be allocated in all.
const MOST_AT_ONCE: usize = 100 * MIB;
const MOST: usize = 2000 * MIB;

/// The most bytes of a turn's grammar in one form.
const MOST_TEXT: usize = 8 * MIB;

/// Writes a turn of this tool in all forms; which of them loosen something.
fn written(name: &str, tool: impl FnOnce() -> GrammarTool) -> [bool; 3] {
    let _alone = ALONE.lock().unwrap();
    let (before, in_all) = (MEMORY.allocated(), MEMORY.total_allocated());
    let options = GrammarOptions::new().with_strict([""; 0]);
    let grammar = TurnGrammar::new([tool()], options).unwrap();
    let xgrammar = GrammarForm::Xgrammar { stop_token_ids: &[] };
    let loosened = [GrammarForm::Lark, xgrammar, GrammarForm::Gbnf].map(|form| {
        let written = grammar.write(form).unwrap();
        assert!(written.text.len() < MOST_TEXT, "{name} {form:?}: {}", written.text.len());
        !written.loosened.is_empty()
    });
    let in_all = MEMORY.total_allocated() - in_all;
    assert!(in_all < MOST, "{name}: {} MiB in all", in_all / MIB);
    let most = MEMORY.max_allocated() - before;
    assert!(most < MOST_AT_ONCE, "{name}: {} MiB at once", most / MIB);
    loosened
}

/// Each part, as often as there is room for it in the longest grammar.
fn filled(before: &str, part: impl Fn(usize) -> String, after: &str) -> String {
    let mut text = before.to_owned();
    for at in 0.. {
        let part = part(at);
        if text.len() + part.len() + after.len() > LONGEST {
            break;
        }
        text += &part;
    }
    text + after
}

fn of_input(syntax: GrammarSyntax, text: &str) -> GrammarTool {
    GrammarTool::of_input("functions.t", Some(InputGrammar::new(syntax, text).unwrap()))
}

/// Rules that name the next, and a last one.
fn chain(count: usize, rule: impl Fn(usize, usize) -> String, last: &str) -> String {
    let mut text = "start: r0\n".to_owned();
    for at in 0..count {
        _ = writeln!(text, "r{at}: {}", rule(at, at + 1));
    }
    text + &format!("r{count}: {last}")
}

#[test]
fn grammars_cost_little() {
    let texts =
        |part: &'static str| filled("start: \"x\"", move |at| format!(" | \"{part}{at}\""), "");
    for (name, text) in [
        ("doubling", chain(40, |_, next| format!("r{next} r{next}"), "\"a\"")),
        (
            "doubling in all places",
            chain(290, |_, next| format!("r{next} \"b\" r{next} | r{next}"), "\"a\""),
        ),
        ("doubling regardless of case", chain(40, |_, next| format!("r{next} r{next}"), "\"ab\"i")),
        ("doubling classes", chain(40, |_, next| format!("r{next} r{next}"), r"/\w/")),
        ("doubling and optional", chain(290, |_, next| format!("[r{next}] [r{next}]"), "\"a\"")),
        ("repeated", chain(290, |_, next| format!("r{next}~2..9"), "\"a\"")),
        (
            "doubling between itself",
            chain(290, |at, next| format!("r{at} r{next} r{at} | \"a\""), "\"a\""),
        ),
        (
            "circle",
            chain(
                290,
                |at, next| format!("r{next} \"a\" | \"b\" r{next} | r{}", at / 2),
                "start | \"x\"",
            ),
        ),
        ("texts", texts("w")),
        ("long texts", texts("some more words so that each is long")),
        ("texts regardless of case", filled("start: \"x\"", |at| format!(" | \"w{at}\"i"), "")),
        (
            "words regardless of case",
            filled("start: \"x\"", |at| format!(" | \"select{at}\"i"), ""),
        ),
        ("equal texts", filled("start: \"x\"", |_| " | \"w\"".to_owned(), "")),
        (
            "letters",
            filled(
                "start: ",
                |at| format!("/[a-{}]/ ", char::from(b'b' + u8::try_from(at % 20).unwrap())),
                "",
            ),
        ),
        ("words", filled("start: ", |_| r"/\w/ ".to_owned(), "")),
        ("optional itself", filled("start: \"x\" | ", |_| "[start] ".to_owned(), "")),
        (
            "options of itself",
            filled("start: \"x\" | (", |at| format!("\"w{at}\" | "), "start) \"y\""),
        ),
        (
            "options of itself, twice",
            filled("start: \"x\" | (\"a\" | start) (", |at| format!("\"w{at}\" | "), "start)"),
        ),
        ("optional texts, repeated", filled("start: (", |at| format!("\"w{at}\"? "), ")*")),
        (
            "optional texts, repeated again",
            filled("start: ((", |at| format!("\"w{at}\"? "), "\"b\"?)* \"a\"?)*"),
        ),
        ("itself in the middle", filled("start: \"x\" | \"a\" ", |_| "start ".to_owned(), "\"b\"")),
        (
            "a long rule of many",
            filled(
                "start: ",
                |at| format!("r{} ", at % 290),
                &(0..290).fold(String::new(), |all, at| format!("{all}\nr{at}: \"ab\"")),
            ),
        ),
        ("ignored", filled("%ignore /[ \\t]/\nstart: ", |at| format!("\"w{at}\" "), "")),
        ("ranges", filled("start: ", |_| "\"a\"..\"z\" ".to_owned(), "")),
        ("brackets", filled("start: ", |_| "(((((\"a\"))))) ".to_owned(), "")),
        ("a comment", filled("start: \"a\" //", |_| "x".to_owned(), "")),
        ("control characters", filled("start: \"", |_| "\u{1}".to_owned(), "\"")),
    ] {
        written(name, || of_input(GrammarSyntax::Lark, &text));
    }
    for (name, text) in [
        ("optional letters, repeated", filled("(", |_| "a?".to_owned(), ")*")),
        ("optional classes, repeated", filled("(", |_| "[ab]?".to_owned(), ")*")),
        ("repeated repetitions", filled("", |_| "(a{9}){9}".to_owned(), "")),
        ("repetitions within one another", "(".repeat(90) + "a" + &"{9}){9}".repeat(90)),
        ("any characters", filled("", |_| ".".to_owned(), "")),
        (
            "classes",
            filled(
                "",
                |at| format!("[{}]", char::from_u32(0x100 + u32::try_from(at).unwrap()).unwrap()),
                "",
            ),
        ),
        ("classes regardless of case", filled("(?i)", |_| "[а-я]".to_owned(), "")),
        ("letters of all scripts", filled("", |_| r"\pL".to_owned(), "")),
        ("alternatives", filled("a", |at| format!("|w{at}"), "")),
    ] {
        written(name, || of_input(GrammarSyntax::Regex, &text));
    }
}

/// Members, each with a schema.
fn members(count: usize, schema: impl Fn(usize) -> Value) -> Value {
    (0..count).map(|at| (format!("p{at}"), schema(at))).collect::<serde_json::Map<_, _>>().into()
}

fn all(count: usize, schema: &dyn Fn(usize) -> Value) -> Value {
    (0..count).map(schema).collect::<Vec<_>>().into()
}

/// Schemas that lead to later ones, and the last to the first.
fn ring(count: usize, schema: impl Fn(&dyn Fn(usize) -> Value) -> Value) -> Value {
    let of = |at: usize| json!({"$ref": format!("#/$defs/p{}", at % count)});
    json!({"allOf": [of(0)], "$defs": members(count, |at| schema(&|more| of(at * more + 1)))})
}

#[test]
fn schemas_that_lead_to_others_cost_little() {
    for (name, schema) in [
        (
            "what is asked of each level",
            ring(1, |at| json!({"items": {"allOf": [at(0), {"items": {"minimum": 1}}]}})),
        ),
        (
            "items that two ask for",
            ring(240, |at| json!({"items": {"allOf": [at(1), {"items": at(7)}]}})),
        ),
        (
            "members that two ask for",
            ring(240, |at| json!({"properties": {"a": {"allOf": [at(1), at(7)]}, "b": at(7)}})),
        ),
        (
            "first items that two ask for",
            ring(240, |at| json!({"prefixItems": [at(1), {"allOf": [at(7), at(1)]}]})),
        ),
        (
            "names that two ask for",
            ring(
                20,
                |at| json!({"patternProperties": {"^a": {"allOf": [at(1), at(7)]}}, "additionalProperties": at(7)}),
            ),
        ),
        (
            "either of two or what two ask for",
            ring(
                240,
                |at| json!({"anyOf": [{"type": "null"}, {"items": {"allOf": [at(1), at(7)]}}]}),
            ),
        ),
        (
            "the same reference many times",
            ring(60, |at| json!({"allOf": all(20, &|_| at(1)), "minimum": 1.5})),
        ),
        (
            "the same alternative many times",
            ring(60, |at| json!({"anyOf": all(20, &|_| at(1)), "minimum": 1.5})),
        ),
        (
            "bounds that many share",
            json!({"prefixItems": all(600, &|at| json!({"allOf": [{"$ref": "#/$defs/p0"}], "minimum": at})), "$defs": {"p0": {"allOf": all(600, &|at| json!({"maximum": at}))}}}),
        ),
        (
            "values of schemas that are apart",
            json!({"prefixItems": all(60, &|_| json!({"oneOf": all(100, &|at| json!({"$ref": format!("#/$defs/p{at}")}))})), "$defs": members(100, |at| json!({"enum": (at * 100..at * 100 + 100).collect::<Vec<_>>()}))}),
        ),
    ] {
        written(name, || GrammarTool::new("functions.t", schema));
    }
}

#[test]
fn schemas_cost_little() {
    let letters = r"\pL".repeat(80_000);
    let long = "a".repeat(200_000);
    let numbers = |from: usize| (from..from + 15_000).collect::<Vec<_>>();
    let patterns = |count| {
        (0..count).map(|at| (format!("^a{at}"), json!({}))).collect::<serde_json::Map<_, _>>()
    };
    for (name, schema) in [
        ("classes", json!({"pattern": letters})),
        (
            "a pattern of each value",
            json!({"pattern": "^(a|b|c)*d?$", "enum": all(20_000, &|at| format!("v{at}").into())}),
        ),
        (
            "patterns of names",
            json!({"patternProperties": patterns(5_000), "properties": members(5_000, |_| json!({})), "additionalProperties": true}),
        ),
        (
            "patterns of names that are combined",
            json!({"allOf": all(200, &|at| json!({"patternProperties": {format!("^p{at}"): {}}, "properties": {format!("p{at}"): {}}}))}),
        ),
        (
            "a long name beside others",
            json!({"properties": {long: {}}, "additionalProperties": {"type": "null"}}),
        ),
        (
            "names beside others",
            json!({"properties": members(10_000, |_| json!({})), "additionalProperties": {"type": "null"}}),
        ),
        (
            "required names",
            json!({"allOf": [{"required": all(9_000, &|at| format!("a{at}").into())}, {"required": all(9_000, &|at| format!("b{at}").into())}]}),
        ),
        (
            "values that are combined",
            json!({"allOf": [{"enum": numbers(0)}, {"enum": numbers(10_000)}]}),
        ),
        (
            "values that are apart",
            json!({"oneOf": [{"enum": numbers(0)}, {"enum": numbers(20_000)}]}),
        ),
        ("first items", json!({"prefixItems": all(60_000, &|_| json!({}))})),
        (
            "types",
            json!({"allOf": [{"type": all(10_000, &|_| "string".into())}, {"type": all(10_000, &|_| "null".into())}]}),
        ),
        (
            "alternatives with much in common",
            json!({"properties": members(5_000, |_| json!({})), "anyOf": all(5_000, &|at| json!({"maxProperties": at}))}),
        ),
        ("levels", (0..120).fold(json!({"enum": numbers(0)}), |inner, _| json!({"items": inner}))),
        (
            "ways",
            json!({"allOf": all(20, &|_| json!({"anyOf": [{"minimum": 1}, {"maximum": 9}, {"multipleOf": 2}]}))}),
        ),
        (
            "references that lead to two",
            json!({"$ref": "#/$defs/p0", "$defs": members(120, |at| json!({"properties": {"a": {"$ref": format!("#/$defs/p{}", at + 1)}, "b": {"$ref": format!("#/$defs/p{}", at + 1)}}}))}),
        ),
        (
            "names beside others that are combined",
            json!({"properties": members(600, |_| json!({})), "allOf": all(600, &|at| json!({"additionalProperties": {"minimum": at}}))}),
        ),
        (
            "items beside first ones",
            json!({"items": {"properties": members(1_200, |at| json!({"minimum": at}))}, "allOf": [{"prefixItems": all(1_200, &|_| json!({}))}]}),
        ),
        (
            "alternatives within one another",
            (0..60).fold(json!({"type": "null"}), |inner, at| json!({"anyOf": [inner, {"minimum": at}], "properties": members(120, |_| json!({"minimum": at}))})),
        ),
        (
            "bounds of many digits",
            json!({"properties": members(4_000, |_| json!({"type": "number", "minimum": 5e-324, "maximum": 1e308}))}),
        ),
        ("too large", json!({"properties": members(60_000, |_| json!({"type": "null"}))})),
    ] {
        let [lark, ..] = written(name, || GrammarTool::new("functions.t", schema));
        assert!(name != "too large" || lark);
    }
}
