//! Rows as trainers and data sets have them: what is trained of each, or its error.

use std::fmt::Write as _;

use openai_harmony::training::{Batch, Example, Markers, RowFormat, RowOptions, render};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::encoding;

const TABLE: &str = include_str!("shapes.txt");

/// The text of an example after its system message, the trained tokens in brackets.
fn shown(example: &Example<'_>) -> String {
    let first = example.spans[0].end;
    let tokens = example.tokens[first..].iter().zip(&example.loss_mask[first..]);
    let (mut text, mut is_open, mut run) = (String::new(), false, Vec::new());
    let decoded = |run: &mut Vec<u32>| {
        let text = encoding().tokenizer().decode_utf8(&*run).unwrap();
        run.clear();
        text
    };
    for (token, trained) in tokens {
        if is_open != (*trained == 1) {
            text += &decoded(&mut run);
            text.push(if is_open { '⟧' } else { '⟦' });
            is_open = !is_open;
        }
        run.push(*token);
    }
    text += &decoded(&mut run);
    if is_open {
        text.push('⟧');
    }
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

fn format(word: &str) -> RowFormat {
    match word {
        "chat" => RowFormat::Chat,
        "preference" => RowFormat::Preference,
        "anthropic" => RowFormat::Anthropic,
        "responses" => RowFormat::Responses,
        "harmony" => RowFormat::Harmony,
        _ => panic!("no format: {word}"),
    }
}

/// What becomes of a row, as the table has it.
fn outcome(batch: &Batch) -> String {
    let mut lines = String::new();
    for example in batch.iter() {
        writeln!(lines, "= {}", shown(&example)).unwrap();
    }
    for (_, error) in &batch.errors {
        writeln!(lines, "! {error}").unwrap();
    }
    for unused in batch.unused.keys() {
        writeln!(lines, "+ {unused}").unwrap();
    }
    lines
}

#[test]
fn each_row_of_the_table_trains_what_is_there() {
    let mut wrong = String::new();
    let mut count = 0;
    for case in TABLE.split("\n## ").skip(1) {
        let (title, case) = case.split_once('\n').unwrap();
        let (row, expected) = case.split_once('\n').unwrap();
        let (word, row) = row.split_once(' ').unwrap();
        let batch = render(&encoding(), [row], &RowOptions::new().with_format(format(word)));
        let found = outcome(&batch);
        if found.trim() != expected.trim() {
            write!(wrong, "\n## {title}\n{word} {row}\n{found}").unwrap();
        }
        count += 1;
    }
    assert!(count >= 160, "only {count} were read");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Marks of chat formats, of which none may be trained.
const MARKS: [&str; 12] = [
    "<|im_end|>",
    "<|im_start|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "<|channel|>",
    "<|message|>",
    "<|return|>",
    "<|start|>assistant",
    "<｜end▁of▁sentence｜>",
    "[/INST]",
    "<|begin_of_thought|>",
];

proptest! {
    /// Whatever an answer has, no mark of a chat format is trained as its text.
    #[test]
    fn no_mark_is_trained(
        pieces in prop::collection::vec(
            prop_oneof![
                select(&MARKS[..]),
                select(&["Hello.", " ", "\n\n", "final", "analysis", "assistantfinal", "<|end|>"][..]),
            ],
            1..6,
        ),
        has_thought in any::<bool>(),
        format in select(&[RowFormat::Chat, RowFormat::Harmony, RowFormat::Preference][..]),
    ) {
        let text = pieces.concat();
        let user = json!({"role": "user", "content": "Hi"});
        let mut answer = json!({"role": "assistant", "content": text});
        if has_thought && format != RowFormat::Harmony {
            answer["thinking"] = "Hm.".into();
        }
        if format == RowFormat::Harmony {
            answer["channel"] = "final".into();
        }
        let row = if format == RowFormat::Preference {
            json!({"prompt": [user], "chosen": [answer], "rejected": "No."})
        } else {
            json!({"messages": [user, answer]})
        };
        let batch = render(&encoding(), [row.clone()], &RowOptions::new().with_format(format));
        prop_assert!(!batch.is_empty() || !batch.errors.is_empty());
        for example in batch.iter() {
            for span in example.spans.iter().filter(|span| example.loss_mask[span.content] == 1) {
                let said = &example.tokens[span.content..span.stop];
                let said = encoding().tokenizer().decode_utf8(said).unwrap();
                prop_assert!(!MARKS.iter().any(|mark| said.contains(mark)), "{said:?} of {text:?}");
            }
        }
        // Unless it is asked for: then it is the text as it is.
        let as_text = RowOptions::new().with_format(RowFormat::Chat).with_markers(Markers::Text);
        let answer = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": format!("x{text}")}]);
        let batch = render(&encoding(), [answer], &as_text);
        if let Some(example) = batch.get(0) {
            let last = example.spans.last().unwrap();
            let said = encoding().tokenizer().decode_utf8(&example.tokens[last.content..last.stop]).unwrap();
            prop_assert_eq!(said, format!("x{text}"));
        }
    }

    /// A flag that is false or 0 leaves its message out, whatever it is called and wherever the message is.
    #[test]
    fn flags_of_all_names_leave_messages_out(
        name in select(&["weight", "train", "training", "trainable", "loss", "loss_scale", "loss_weight", "masked"][..]),
        is_number in any::<bool>(),
        format in select(&[RowFormat::Chat, RowFormat::Anthropic, RowFormat::Responses][..]),
        flags in prop::collection::vec(prop::option::of(any::<bool>()), 1..5),
    ) {
        let list = if format == RowFormat::Responses { "input" } else { "messages" };
        let flag = |trained: bool| {
            let set = trained != (name == "masked");
            if is_number { json!(i32::from(set)) } else { json!(set) }
        };
        let messages = flags.iter().enumerate().flat_map(|(index, trained)| {
            let mut answer = json!({"role": "assistant", "content": format!("answer {index}.")});
            if let Some(trained) = trained {
                answer[name] = flag(*trained);
            }
            [json!({"role": "user", "content": "Hi"}), answer]
        });
        let messages: Vec<_> = messages.collect();
        let mut row = json!({});
        row[list] = messages.into();
        let batch = render(&encoding(), [row], &RowOptions::new().with_format(format));
        prop_assert!(batch.unused.is_empty(), "{:?}", batch.unused);
        let text = batch.get(0).map_or(String::new(), |example| shown(&example));
        for (index, trained) in flags.iter().enumerate() {
            let is_trained = text.contains(&format!("⟦<|channel|>final<|message|>answer {index}."));
            prop_assert_eq!(is_trained, *trained != Some(false), "{}", text);
        }
    }
}

#[test]
fn flags_that_are_neither_are_errors() {
    for (flag, said) in [
        (json!({"loss": 0.5}), "loss: expected true, false, 0 or 1, got 0.5"),
        (json!({"trainable": "no"}), "trainable: expected true, false, 0 or 1, got \"no\""),
        (json!({"weight": 1, "train": false}), "train: contradicts `weight`"),
    ] {
        let mut answer = json!({"role": "assistant", "content": "Hi"});
        answer.as_object_mut().unwrap().extend(flag.as_object().unwrap().clone());
        for (format, list) in [
            (RowFormat::Chat, "messages"),
            (RowFormat::Anthropic, "messages"),
            (RowFormat::Responses, "input"),
        ] {
            let mut row = json!({});
            row[list] = json!([{"role": "user", "content": "Hi"}, answer]);
            let batch = render(&encoding(), [row], &RowOptions::new().with_format(format));
            assert_eq!(batch.errors[0].1.to_string(), format!("Invalid row: {list}[1].{said}"));
        }
    }
}

/// Names of a data set's own are mapped to those that are read.
const ANSWERED: &str = "= <|start|>user<|message|>Hi<|end|><|start|>assistant⟦<|channel|>final<|message|>Hello.<|return|>⟧";

#[test]
fn columns_are_mapped() {
    let rows = [
        (
            json!({"text_in": "Hi", "text_out": "Hello.", "messages": 3}),
            [("prompt", "text_in"), ("completion", "text_out")],
            "\n+ messages",
        ),
        (
            json!({"chat": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}], "x": 1}),
            [("messages", "chat"), ("system", "none")],
            "\n+ none: rows without the column\n+ x",
        ),
    ];
    for (row, map, note) in rows {
        let options = RowOptions::new().with_format(RowFormat::Chat).with_map(map);
        let batch = render(&encoding(), [row], &options);
        assert_eq!(outcome(&batch).trim(), format!("{ANSWERED}{note}"));
    }
}
