//! The cases of `cases/`, which say how a case is written. `tests/python/test_interop_cases.py` drives the same files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use openai_harmony::Error;
use openai_harmony::interop::{
    Dialect, FinishReason, ReadOptions, ReplyOptions, Resolve, Turn, parse_body,
};
use serde_json::{Value, json};

use crate::reply::{plain_of, tokens, with};
use crate::reply_laws::{self, encoding};

/// What is given: the body, options, what is sampled, and how it ends.
struct Given<'a> {
    dialect: Dialect,
    body: &'a str,
    options: ReadOptions,
    within: usize,
    reply: ReplyOptions,
    sampled: Option<String>,
    reason: FinishReason,
}

impl<'a> Given<'a> {
    fn read(lines: &[&'a str]) -> Self {
        let line =
            |word: &str| lines.iter().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        let json = |word| line(word).map_or(json!({}), |text| serde_json::from_str(text).unwrap());
        let body = lines.iter().find(|line| !line.starts_with("# ")).unwrap();
        let (word, body) = body.split_once(' ').unwrap();
        let sampled = line("sampled")
            .map(|text| text.replace("\\\\", "\0").replace("\\n", "\n").replace('\0', "\\"));
        let builtin_tools: &[_] = if sampled.is_some() { &["browser", "python"] } else { &[] };
        let of_reading = json!({"date": "2025-06-28", "builtin_tools": builtin_tools});
        let of_answers = json!({"model": "gpt-oss-20b", "id": "id-1", "created": 1_751_112_000,
            "prompt_tokens": 100, "cached_tokens": 60});
        let reply: ReplyOptions = serde_json::from_value(with(of_answers, json("reply"))).unwrap();
        let options: ReadOptions =
            serde_json::from_value(with(of_reading, json("options"))).unwrap();
        let stored = json("stored");
        Self {
            dialect: *Dialect::ALL.iter().find(|dialect| dialect.as_str() == word).unwrap(),
            body,
            options: options.with_resolve(Resolve::new(move |id| stored.get(id).cloned())),
            within: line("within").map_or(usize::MAX, |tokens| tokens.parse().unwrap()),
            reply,
            sampled,
            reason: match line("ends") {
                None => FinishReason::Stop,
                Some("length") => FinishReason::Length,
                Some("abort") => FinishReason::Abort,
                Some(other) => panic!("no reason: {other}"),
            },
        }
    }
}

fn one_line(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

/// The members that are not as in another value.
fn less(value: Value, base: &Value) -> Value {
    let Value::Object(members) = value else { return value };
    let others = members.into_iter().filter(|(key, member)| base.get(key) != Some(member));
    others.map(|(key, member)| (key.clone(), less(member, &base[key]))).collect()
}

/// What a turn has besides its prompt, as far as it is not that of a plain body.
fn facts(turn: &Turn) -> Value {
    let plain = match turn.dialect {
        Dialect::Responses => json!({"input": [{"role": "user", "content": "Hi"}]}),
        _ => json!({"messages": [{"role": "user", "content": "Hi"}]}),
    };
    let base = json!(turn.dialect.read(plain, &ReadOptions::new()).unwrap());
    let mut facts = less(json!(turn), &base);
    for shown in ["conversation", "config", "unused", "prefill"] {
        facts.as_object_mut().unwrap().remove(shown);
    }
    for unmet in facts.get_mut("unmet").and_then(Value::as_array_mut).into_iter().flatten() {
        *unmet = unmet["path"].take();
    }
    for tool in facts.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
        let usual = json!({"namespace": null, "kind": "function", "offered": true, "declared": true,
            "client_runs": true, "strict": false, "input": null,
            "recipient": format!("functions.{}", tool["name"].as_str().unwrap())});
        *tool = less(tool.take(), &usual);
    }
    facts
}

/// What becomes of a body.
fn read(given: &Given<'_>, to: &mut String) -> Result<(), Error> {
    let turn = given.dialect.read(parse_body(given.body)?, &given.options)?;
    let tokens = turn.prompt_within(&encoding(), given.within)?;
    let prompt = encoding().tokenizer().decode_utf8(tokens).unwrap();
    let (system, said) = prompt.split_once("<|end|>").unwrap_or(("", &prompt));
    let said = said.strip_suffix("<|start|>assistant").map_or(format!("{said}…"), str::to_owned);
    writeln!(to, "= {}", one_line(&said)).unwrap();
    let usual = "Reasoning: medium\n\n# Valid channels: analysis, commentary, final.";
    let (_, system) = system.split_once("Current date: 2025-06-28\n\n").unwrap_or(("", system));
    let system =
        system.replacen(usual, "", 1).replace(" Channel must be included for every message.", "");
    if !system.is_empty() {
        writeln!(to, "~ {}", one_line(system.trim())).unwrap();
    }
    let facts = facts(&turn);
    if facts != json!({}) {
        writeln!(to, ". {facts}").unwrap();
    }
    for unused in &turn.unused {
        writeln!(to, "+ {}: {}", unused.path, unused.reason).unwrap();
    }
    Ok(())
}

/// What is answered.
fn answer(
    given: &Given<'_>,
    sampled: &str,
    expected: &[&str],
    to: &mut String,
) -> Result<(), Error> {
    let turn = given.dialect.read(parse_body(given.body)?, &given.options)?;
    let tokens = tokens(sampled);
    for size in [1, 3] {
        reply_laws::check_chunks(&turn, &tokens, size, given.reason);
    }
    let mut reply = turn.reply(&encoding(), given.reply.clone())?;
    let mut chunks = Vec::new();
    for token in &tokens {
        let logprobs = reply_laws::logprobs(&turn, &[*token]);
        chunks.extend(reply.feed(&[*token], logprobs.as_deref())?);
    }
    chunks.extend(reply.finish(given.reason, None)?);
    let (mut again, mut bytes) = (turn.reply(&encoding(), given.reply.clone())?, Vec::new());
    for token in &tokens {
        let logprobs = reply_laws::logprobs(&turn, &[*token]);
        again.feed_into(&[*token], logprobs.as_deref(), &mut bytes)?;
    }
    again.finish_into(given.reason, None, &mut bytes)?;
    let frames: Vec<u8> = chunks.iter().flat_map(|chunk| reply.frame(chunk)).collect();
    let bytes = reply_laws::without_durations(bytes);
    assert!(bytes.starts_with(&reply_laws::without_durations(frames)), "{bytes}");
    let is_shown = |sign: &str| expected.iter().any(|line| line.starts_with(sign));
    let mut base = reply_laws::response(&reply_laws::reply(
        &given.dialect.read(plain_of(given.dialect), &given.options)?,
    ));
    base["sequence_number"] = json!(0);
    if is_shown("- ") {
        for chunk in &chunks {
            let mut chunk = reply_laws::timeless(json!(chunk));
            if chunk.get("sequence_number").is_some() {
                chunk["sequence_number"] = json!(0);
            }
            if let Some(response) = chunk.get_mut("response") {
                *response = less(response.take(), &base);
            }
            writeln!(to, "- {}", less(chunk, &base)).unwrap();
        }
    }
    if is_shown("== ") {
        writeln!(to, "== {}", reply_laws::response(&reply)).unwrap();
    } else {
        writeln!(to, "= {}", less(reply_laws::response(&reply), &base)).unwrap();
    }
    for repair in reply.repairs() {
        writeln!(to, "* {}: {}", repair.kind.name(), one_line(&repair.text)).unwrap();
    }
    for call in reply.builtin_calls() {
        let cut = if call.is_complete { "" } else { "…" };
        writeln!(to, "& {}: {}{cut}", call.recipient, one_line(&call.text)).unwrap();
    }
    Ok(())
}

fn outcome(given: &Given<'_>, expected: &[&str]) -> String {
    let mut found = String::new();
    let done = match &given.sampled {
        Some(sampled) => answer(given, sampled, expected, &mut found),
        None => read(given, &mut found),
    };
    if let Err(error) = done {
        let text = one_line(&error.to_string());
        let path = error.kind().path().map(ToString::to_string).unwrap_or_default();
        let names_it = text.contains(&path) || given.within < usize::MAX;
        assert!(names_it, "{text} has the path {path}");
        writeln!(found, "! {text}").unwrap();
        if expected.iter().any(|line| line.starts_with("^ ")) {
            let (status, body) = given.dialect.error_answer(&error);
            writeln!(found, "^ {status} {body}").unwrap();
        }
    }
    found
}

#[test]
fn each_case_is_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("interop/cases");
    let (mut wrong, mut count) = (String::new(), 0);
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension() != Some("txt".as_ref()) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for case in text.split("\n## ").skip(1) {
            let lines: Vec<_> = case.trim_end_matches('\n').split('\n').collect();
            let is_expected = |line: &&str| line.starts_with(|sign| "=~.+!^-*&".contains(sign));
            let at = lines.iter().position(is_expected).unwrap_or(lines.len());
            let (given, expected) = lines.split_at(at);
            let found = outcome(&Given::read(&given[1..]), expected);
            if found.trim_end_matches('\n') != expected.join("\n") {
                let (path, given, expected) =
                    (path.display(), given.join("\n"), expected.join("\n"));
                write!(wrong, "\n{path}:\n## {given}\nexpected\n{expected}\nfound\n{found}")
                    .unwrap();
            }
            count += 1;
        }
    }
    assert!(count > 800, "only {count} were read");
    assert!(wrong.is_empty(), "{wrong}");
}
