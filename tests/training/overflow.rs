//! Limits, told by example. The laws are in `examples`.

use openai_harmony::ErrorKind;
use openai_harmony::chat::{Conversation, Message, Role};
use openai_harmony::training::{
    Batch, ExampleUnit, LossMask, Overflow, RowFormat, RowOptions, Turns, render,
};

use serde_json::json;

use crate::encoding;

fn message(role: Role, text: &str) -> Message {
    let message = Message::from_role_and_content(role, text);
    if role == Role::Assistant { message.with_channel("final") } else { message }
}

/// Turns of which each has 12 tokens.
fn turns(count: usize) -> Conversation {
    let turn = [message(Role::User, "Hi"), message(Role::Assistant, "Hi")];
    Conversation::from_messages(std::iter::repeat_n(turn, count).flatten())
}

fn rendered(row: Conversation, options: &RowOptions) -> Batch {
    render(&encoding(), [row], options)
}

#[test]
fn the_first_turns_stay_where_all_are_trained_and_the_last_where_it_alone_is() {
    for (mask, first_message) in [(Turns::All, 0), (Turns::Last, 2)] {
        let options = RowOptions::new()
            .with_mask(LossMask::new().with_turns(mask))
            .with_max_tokens(24, Overflow::TruncateTurns);
        let batch = rendered(turns(3), &options);
        let messages: Vec<_> = batch.spans.iter().map(|span| span.message.unwrap()).collect();
        assert_eq!(messages, (first_message..first_message + 4).collect::<Vec<_>>());
        assert_eq!((batch.tokens.len(), batch.truncated), (24, vec![0]));
    }
}

/// One token fewer and it would not.
#[test]
fn an_example_that_just_fits_stays() {
    for examples in [ExampleUnit::Conversation, ExampleUnit::Turns] {
        for overflow in [Overflow::Error, Overflow::Drop, Overflow::TruncateTurns] {
            for (count, tokens) in [(1, vec![12]), (2, vec![12, 24])] {
                let options =
                    RowOptions::new().with_examples(examples).with_max_tokens(12 * count, overflow);
                let batch = rendered(turns(count), &options);
                let lengths: Vec<_> =
                    batch.offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
                let all = examples == ExampleUnit::Turns;
                assert_eq!(lengths, if all { &tokens[..] } else { &tokens[count - 1..] });
                assert!(batch.errors.is_empty() && batch.dropped.is_empty());
                assert!(batch.truncated.is_empty());
            }
        }
    }
}

#[test]
fn one_turn_that_does_not_fit_is_an_error_of_its_row() {
    for examples in [ExampleUnit::Conversation, ExampleUnit::Turns] {
        for overflow in [Overflow::Error, Overflow::TruncateTurns] {
            let options = RowOptions::new().with_examples(examples).with_max_tokens(5, overflow);
            let batch = rendered(turns(1), &options);
            let expected = ErrorKind::TooManyTokens {
                tokens: 12,
                max_tokens: 5,
                turn: (examples == ExampleUnit::Turns).then_some(0),
                later: 0,
                is_single_turn: overflow == Overflow::TruncateTurns,
            };
            assert_eq!(batch.errors, [(0, expected.into())]);
            assert!(batch.is_empty());
        }
        let options = RowOptions::new().with_examples(examples).with_max_tokens(5, Overflow::Drop);
        let batch = rendered(turns(1), &options);
        assert_eq!((batch.errors.len(), batch.dropped), (0, vec![0]));
    }
}

/// What is unused of a row is counted, whether or not its answers fit.
#[test]
fn answers_that_do_not_fit_are_dropped_together() {
    let row = json!({
        "prompt": [{"role": "user", "content": "Hi", "mood": "glad"}],
        "chosen": "Hi",
        "rejected": "Hi Hi",
    });
    let options = RowOptions::new().with_format(RowFormat::Preference);
    let whole = render(&encoding(), [row.clone()], &options);
    let longest = whole.iter().map(|example| example.tokens.len()).max().unwrap();
    for (most, examples, dropped) in [(longest - 1, 0, vec![0]), (longest, 2, vec![])] {
        let options = options.clone().with_max_tokens(most, Overflow::Drop);
        let batch = render(&encoding(), [row.clone()], &options);
        assert_eq!((batch.len(), &batch.dropped), (examples, &dropped), "{:?}", batch.errors);
        assert!(batch.unused.keys().any(|field| field.ends_with("mood")), "{:?}", batch.unused);
    }
}

/// With an example for each turn, a row can have examples and be listed as dropped.
#[test]
fn examples_that_fit_stay_where_others_of_the_row_are_dropped() {
    let options =
        RowOptions::new().with_examples(ExampleUnit::Turns).with_max_tokens(30, Overflow::Drop);
    let batch = rendered(turns(5), &options);
    assert_eq!((batch.row, batch.dropped), (vec![0, 0], vec![0, 0, 0]));
}

/// Of a row's turns, those that are too long are in one error, and the others are examples.
#[test]
fn a_turn_that_is_too_long_leaves_the_others() {
    let long = "Hi ".repeat(20);
    let mut conversation = turns(4);
    conversation.messages[2] = message(Role::User, &long);
    conversation.messages[6] = message(Role::User, &long);
    let rows = [conversation, turns(1)];
    let errors = |overflow| {
        let options =
            RowOptions::new().with_examples(ExampleUnit::Turns).with_max_tokens(30, overflow);
        let batch = render(&encoding(), rows.clone(), &options);
        let errors: Vec<_> =
            batch.errors.iter().map(|(row, error)| (*row, error.to_string())).collect();
        (batch.row, batch.truncated, errors)
    };
    let said = |text: &str| vec![(0, format!("Too many tokens: {text}"))];
    let expected = "44 in the example of turns[1], more than max_tokens=30; 2 later turns are too long as well";
    assert_eq!(errors(Overflow::Error), (vec![0, 1], vec![], said(expected)));
    // The third turn is short, and loses the second.
    let expected = "32 in the example of turns[1], more than max_tokens=30; it is a single turn, and \
                    truncate_turns leaves out whole turns only; 1 later turn is too long as well";
    assert_eq!(errors(Overflow::TruncateTurns), (vec![0, 0, 1], vec![0], said(expected)));
}

/// What cannot be rendered is not a matter of one turn.
#[test]
fn with_any_other_error_a_row_has_no_examples() {
    let mut conversation = turns(3);
    conversation.messages[4] = Message::from_role_and_content(Role::Tool, "Hi");
    for overflow in [Overflow::Error, Overflow::Drop, Overflow::TruncateTurns] {
        let options =
            RowOptions::new().with_examples(ExampleUnit::Turns).with_max_tokens(5, overflow);
        let batch = rendered(conversation.clone(), &options);
        assert_eq!((batch.len(), batch.dropped.len(), batch.errors.len()), (0, 0, 1));
        assert!(matches!(batch.errors[0].1.kind(), ErrorKind::InvalidRow { .. }));
    }
}

/// Were every example rendered anew, or all turns tried for each, this would take hours.
#[test]
fn a_row_of_a_hundred_thousand_messages() {
    let options = RowOptions::new().with_examples(ExampleUnit::Turns);
    let overflows = [(Overflow::TruncateTurns, 50_000), (Overflow::Drop, 8), (Overflow::Error, 8)];
    for (overflow, examples) in overflows {
        let options = options.clone().with_max_tokens(100, overflow);
        let batch = rendered(turns(50_000), &options);
        assert_eq!(batch.len(), examples);
        let tokens = (1..=examples).map(|turns| 12 * turns.min(8)).sum::<usize>();
        assert_eq!(batch.tokens.len(), tokens);
    }
    let options = RowOptions::new().with_max_tokens(100, Overflow::TruncateTurns);
    assert_eq!(rendered(turns(50_000), &options).tokens.len(), 96);
}
