//! Examples are those of `render_with_spans` and `loss_mask`, whatever the options, the number of
//! threads, and the parts that rows come in.

use std::num::NonZeroUsize;
use std::ops::Range;

use openai_harmony::chat::{Conversation, Message, Role};
use openai_harmony::training::{
    Batch, ExampleUnit, LossMask, Overflow, Row, RowOptions, Turns, render,
};
use openai_harmony::{ErrorKind, MessageSpan, RenderEnd};
use proptest::prelude::*;

use crate::conversations::{conversation, options};
use crate::encoding;

/// Where a conversation's turns are, behind its head.
pub(crate) fn turns(messages: &[Message]) -> (usize, Vec<Range<usize>>) {
    let role = |index: usize| messages[index].author.role;
    let count = messages.len();
    let is_head = |&index: &usize| matches!(role(index), Role::System | Role::Developer);
    let head = (0..count).take_while(is_head).count();
    let is_others = |&index: &usize| is_head(&index) || role(index) == Role::User;
    let mut turns: Vec<Range<usize>> = Vec::new();
    for index in head..count {
        let mut run = (index..count).take_while(is_others);
        let asks = run.any(|index| role(index) == Role::User);
        let is_first = index == head || !is_others(&(index - 1));
        match turns.last_mut() {
            Some(turn) if !(asks && is_first) => turn.end = index + 1,
            _ => turns.push(index..index + 1),
        }
    }
    (head, turns)
}

/// An example, or why there is none.
type Made = Result<(Vec<u32>, Vec<u8>, Vec<MessageSpan>), ErrorKind>;

/// Renders the head and some turns, as single conversations are.
fn made(messages: &[Message], turns: Range<usize>, options: &RowOptions) -> Made {
    let (head, all) = self::turns(messages);
    let kept = &all[turns];
    let range = kept.first().map_or(0..0, |first| first.start..kept[kept.len() - 1].end);
    let shown: Vec<Message> =
        messages[..head].iter().chain(&messages[range.clone()]).cloned().collect();
    let rendered =
        encoding().render_with_spans(&shown, RenderEnd::Training, &options.config).unwrap();
    let mut spans = rendered.spans.clone();
    for span in &mut spans {
        span.message = span.message.map(|at| if at < head { at } else { at - head + range.start });
    }
    let mut mask: LossMask = options.mask.clone();
    if options.examples == ExampleUnit::Turns {
        mask.turns = Turns::Last;
    }
    let loss_mask = rendered.loss_mask(&mask);
    match options.max_tokens {
        Some(max_tokens) if rendered.tokens.len() > max_tokens => {
            Err(too_many(rendered.tokens.len(), max_tokens, options))
        }
        _ if !loss_mask.contains(&1) => Err(ErrorKind::NothingToTrain),
        _ => Ok((rendered.tokens, loss_mask, spans)),
    }
}

/// The error of an example that is too long, without its turn.
fn too_many(tokens: usize, max_tokens: usize, options: &RowOptions) -> ErrorKind {
    let is_single_turn = options.overflow == Overflow::TruncateTurns;
    ErrorKind::TooManyTokens { tokens, max_tokens, turn: None, later: 0, is_single_turn }
}

/// The example that ends with the turn before `end`, by trying all that may be left out.
fn truncated(messages: &[Message], end: usize, options: &RowOptions) -> Made {
    let keeps_last = options.examples == ExampleUnit::Turns || options.mask.turns == Turns::Last;
    let candidates = (1..end).map(|count| if keeps_last { count..end } else { 0..end - count });
    let mut last = made(messages, 0..end, options);
    for candidate in candidates {
        last = made(messages, candidate, options);
        if !matches!(last, Err(ErrorKind::TooManyTokens { .. })) {
            break;
        }
    }
    last
}

/// The whole batch of one conversation, told as the documentation does.
fn expected(messages: &[Message], options: &RowOptions) -> Batch {
    let (_, turns) = turns(messages);
    let is_answered = |turn: &Range<usize>| {
        messages[turn.clone()].iter().any(|m| m.author.role == Role::Assistant)
    };
    let ends: Vec<usize> = match options.examples {
        ExampleUnit::Turns => {
            (1..=turns.len()).filter(|end| is_answered(&turns[end - 1])).collect()
        }
        _ => vec![turns.len()],
    };
    let mut batch = Batch::default();
    let mut error: Option<ErrorKind> = None;
    for end in ends {
        let whole = made(messages, 0..end, options);
        let is_overlong = matches!(whole, Err(ErrorKind::TooManyTokens { .. }));
        let example = match options.overflow {
            Overflow::Drop if is_overlong => {
                batch.dropped.push(0);
                continue;
            }
            Overflow::TruncateTurns if is_overlong => truncated(messages, end, options),
            _ => whole,
        };
        match example {
            Ok((tokens, mask, spans)) => {
                if is_overlong {
                    batch.truncated.push(0);
                } else if options.examples == ExampleUnit::Conversation {
                    let is_shown = |at| spans.iter().any(|span| span.message == Some(at));
                    let thoughts = messages.iter().enumerate().filter(|(at, message)| {
                        message.channel.as_deref() == Some("analysis") && !is_shown(*at)
                    });
                    batch.dropped_thoughts += thoughts.count();
                }
                batch.tokens.extend(tokens);
                batch.loss_mask.extend(mask);
                batch.spans.extend(spans);
                batch.offsets.push(batch.tokens.len());
                batch.span_offsets.push(batch.spans.len());
                batch.row.push(0);
            }
            Err(ErrorKind::NothingToTrain) => {}
            Err(mut kind) => match &mut error {
                Some(ErrorKind::TooManyTokens { later, .. }) => *later += 1,
                first => {
                    if let ErrorKind::TooManyTokens { turn, .. } = &mut kind {
                        *turn = (options.examples == ExampleUnit::Turns).then(|| end - 1);
                    }
                    *first = Some(kind);
                }
            },
        }
    }
    if error.is_none() && batch.is_empty() && batch.dropped.is_empty() {
        error = Some(ErrorKind::NothingToTrain);
    }
    batch.errors.extend(error.map(|kind| (0, kind.into())));
    batch
}

fn thousands_of_cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.max(3000), ..config }
}

fn is_ascending(list: impl IntoIterator<Item = usize>, strictly: bool) -> bool {
    list.into_iter().is_sorted_by(|a, b| if strictly { a < b } else { a <= b })
}

proptest! {
    #![proptest_config(thousands_of_cases())]

    #[test]
    fn examples_are_those_of_the_renderer(conversation in conversation(), options in options()) {
        let batch = render(&encoding(), [conversation.clone()], &options);
        prop_assert_eq!(batch, expected(&conversation.messages, &options));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: (ProptestConfig::default().cases / 4).min(1024), ..ProptestConfig::default() })]

    #[test]
    fn threads_and_parts_change_nothing(
        conversations in prop::collection::vec(prop_oneof![
            9 => conversation().prop_map(Some),
            1 => Just(None),
        ], 0..64),
        options in options(),
        part in 1_usize..50,
    ) {
        let row = |conversation: &Option<Conversation>| match conversation {
            Some(conversation) => Row::from(conversation.clone()),
            None => Row::from("no JSON"),
        };
        let rows = || conversations.iter().map(row);
        let options = options.with_first_row(3);
        let whole = render(&encoding(), rows(), &options);
        for threads in [1, 2, 7] {
            let options = options.clone().with_threads(NonZeroUsize::new(threads).unwrap());
            prop_assert_eq!(&render(&encoding(), rows(), &options), &whole);
        }
        let mut joined = Batch::default();
        for (index, part_of) in conversations.chunks(part).enumerate() {
            let options = options.clone().with_first_row(3 + index * part);
            joined.append(&mut render(&encoding(), part_of.iter().map(row), &options));
        }
        prop_assert_eq!(&joined, &whole);

        // Each row is accounted for, in order.
        let failed = |row: usize| whole.errors.iter().any(|(index, _)| *index == row);
        for row in 3..3 + conversations.len() {
            let has_example = whole.row.contains(&row);
            let is_dropped = whole.dropped.contains(&row);
            prop_assert!(failed(row) || has_example || is_dropped);
            let is_one_of = options.examples == ExampleUnit::Turns;
            prop_assert!(is_one_of || !(failed(row) && (has_example || is_dropped)));
            prop_assert!(has_example || !whole.truncated.contains(&row));
        }
        prop_assert!(is_ascending(whole.row.iter().copied(), false));
        prop_assert!(is_ascending(whole.errors.iter().map(|(row, _)| *row), true));
        prop_assert!(is_ascending(whole.dropped.iter().copied(), false));
        prop_assert!(is_ascending(whole.truncated.iter().copied(), false));
        prop_assert_eq!(whole.iter().count(), whole.len());
    }
}
