//! Rows that are no conversations: what is said of them, and that others stay what they are.

use std::fmt::Write as _;

use openai_harmony::ErrorKind;
use openai_harmony::training::{ExampleUnit, Overflow, Row, RowFormat, RowOptions, render};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::encoding;
use crate::lines::lines;

const FORMATS: [RowFormat; 2] = [RowFormat::Harmony, RowFormat::Chat];

/// What becomes of a single row: "fine", "untrained", or the error.
fn outcome<'r>(row: impl Into<Row<'r>>, format: RowFormat) -> String {
    let batch = render(&encoding(), [row], &RowOptions::new().with_format(format));
    match &batch.errors[..] {
        [] => "fine".to_owned(),
        [(0, error)] if error.kind() == &ErrorKind::NothingToTrain => "untrained".to_owned(),
        [(0, error)] => error.to_string(),
        other => panic!("one row has one error: {other:?}"),
    }
}

#[test]
fn each_row_of_the_table_is_said_to_be_wrong_as_there() {
    const UNKNOWN: &str = "unknown field (known: role, name, content, channel, recipient, \
                           content_type); for chat messages use the format 'chat'";
    let cases = include_str!("bad_rows.txt").split("\nrow: ").skip(1);
    let (mut count, mut wrong) = (0, String::new());
    for case in cases {
        let (row, case) = case.split_once("\nharmony: ").unwrap();
        let (harmony, chat) = case.split_once("\nchat: ").unwrap();
        for (format, expected) in FORMATS.into_iter().zip([harmony, chat]) {
            let expected = expected.trim_end().replace("UNKNOWN", UNKNOWN);
            let found = outcome(row, format);
            if found != expected {
                writeln!(wrong, "{format:?}: {row}\n  {found}\n  {expected}").unwrap();
            }
            count += 1;
        }
    }
    assert!(count > 120, "only {count} were read");
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn values_nested_too_deeply_are_refused() {
    let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    for (format, levels) in FORMATS.into_iter().flat_map(|format| [(format, 100), (format, 200)]) {
        let row = json!({"messages": [{"role": "user", "content": nested(levels)}]});
        let from_text = outcome(&*row.to_string(), format);
        assert!(from_text.starts_with("Invalid row: "), "{from_text}");
        assert_eq!(from_text.contains("nested more than 127 levels deep at column"), levels == 200);
        let from_json = outcome(row, format);
        assert!(from_json.starts_with("Invalid row: "), "{from_json}");
    }
    let row = |parameters: Value| json!({"prompt": "Hi", "completion": "Hi", "tools": [{"name": "f", "parameters": parameters}]});
    let schema = |levels| {
        (0..levels).fold(
            json!({"type": "string"}),
            |inner, _| json!({"type": "object", "properties": {"x": inner}}),
        )
    };
    assert_eq!(outcome(row(schema(20)), RowFormat::Chat), "fine");
    let error = outcome(row(schema(200)), RowFormat::Chat);
    assert!(error.starts_with("Invalid row: nested more than 127 levels deep"), "{error}");
}

/// As JavaScript writes them where it cut a text inside an emoji.
#[test]
fn halves_of_surrogate_pairs_are_replaced() {
    for format in FORMATS {
        let channel = if format == RowFormat::Chat { "null" } else { "\"final\"" };
        let row = |text: &str| {
            format!(
                r#"[{{"role": "user", "content": "{text}"}},
                    {{"role": "assistant", "channel": {channel}, "content": "{text}"}}]"#
            )
        };
        let options = RowOptions::new().with_format(format);
        let rendered = |text| render(&encoding(), [row(text)], &options);
        assert_eq!(rendered("\\ud83d"), rendered("\u{FFFD}"));
        assert!(rendered("\\ud83d").errors.is_empty());
    }
}

/// A tool that is read but cannot be declared.
#[test]
fn a_tool_that_cannot_be_declared_is_an_error_of_the_row() {
    let tool = json!({"name": "f", "description": "x".repeat(2 << 20)});
    let row = json!({"prompt": "Hi", "completion": "Hi", "tools": [tool]});
    let expected = "Invalid row: Invalid schema of \"f\": with it, the tools of the rendering take \
                    more than 1048576 bytes of text";
    assert_eq!(outcome(row, RowFormat::Chat), expected);
}

/// JSON of the words that rows are made of, so that it gets far into the readers.
fn json() -> impl Strategy<Value = Value> {
    let word = select(lines::<String>(include_str!("bad_texts.txt")));
    let key = select(lines::<String>(include_str!("bad_names.txt")));
    let leaf = prop_oneof![
        4 => word.prop_map(Value::from),
        1 => any::<String>().prop_map(Value::from),
        1 => prop_oneof![Just(json!(null)), Just(json!(true)), Just(json!(1)), Just(json!(0.5))],
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        let fields = prop::collection::vec((key.clone(), inner.clone()), 0..5)
            .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()));
        prop_oneof![prop::collection::vec(inner, 0..4).prop_map(Value::from), fields]
    })
}

/// A row with messages, whatever these are.
fn row() -> impl Strategy<Value = Value> {
    let said = (
        select(&["user", "assistant", "tool", "system", "developer"][..]),
        prop::option::of(json()),
        prop::collection::vec(json(), 0..2),
    );
    let message = said.prop_map(|(role, content, more)| {
        let mut message = json!({"role": role, "content": content.unwrap_or("Hi".into())});
        for more in more {
            if let Value::Object(more) = more {
                message.as_object_mut().unwrap().extend(more);
            }
        }
        message
    });
    prop_oneof![
        1 => json(),
        2 => (prop::collection::vec(message, 0..5), json()).prop_map(|(messages, more)| {
            let mut row = json!({"messages": messages});
            if let Value::Object(more) = more {
                row.as_object_mut().unwrap().extend(more);
            }
            row
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(2000), ..ProptestConfig::default() })]

    /// No row panics, none changes its neighbours, and its text says the same as its JSON.
    #[test]
    fn a_row_changes_no_other(
        row in row(),
        format in select(&FORMATS[..]),
        examples in select(&[ExampleUnit::Conversation, ExampleUnit::Turns][..]),
        limit in prop::option::of(5_usize..200),
    ) {
        let good = || Row::from(r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi"}]"#);
        let mut options = RowOptions::new().with_format(format).with_examples(examples);
        if let Some(limit) = limit {
            options = options.with_max_tokens(limit, Overflow::TruncateTurns);
        }
        let rendered = |row: Row<'static>| render(&encoding(), [good(), row, good()], &options);
        let batch = rendered(row.clone().into());
        prop_assert_eq!(&batch, &rendered(row.to_string().into()));
        let alone = render(&encoding(), [good()], &options);
        let first = batch.get(0);
        let last = batch.len().checked_sub(1).and_then(|last| batch.get(last));
        for (example, neighbour) in [first, last].into_iter().zip([0, 2]) {
            let (Some(example), Some(alone)) = (example, alone.get(0)) else {
                // The good rows, too, are longer than the limit.
                prop_assert_eq!(batch.errors.first().map(|(row, _)| *row), Some(0));
                continue;
            };
            prop_assert_eq!(example.row, neighbour);
            prop_assert_eq!(example.tokens, alone.tokens);
            prop_assert_eq!(example.loss_mask, alone.loss_mask);
            prop_assert_eq!(example.spans, alone.spans);
        }
        let is_bad = batch.errors.iter().any(|(row, _)| *row == 1);
        let has_example = batch.row.contains(&1);
        prop_assert!(is_bad || has_example);
        // Of turns that are too long, the others are examples.
        prop_assert!(examples == ExampleUnit::Turns || !(is_bad && has_example));
    }
}
