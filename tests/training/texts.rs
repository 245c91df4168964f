//! Many texts at once: as one by one, whatever the threads.

use std::error::Error;
use std::num::NonZeroUsize;

use openai_harmony::ErrorKind;
use openai_harmony::tokenizer::{SpecialSet, TokenBatch};
use proptest::prelude::*;
use proptest::sample::select;

use crate::encoding;
use crate::lines::lines;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zé \n]{0,40}",
        2 => any::<String>(),
        1 => select(&["<|end|>", "a<|start|>b", "<|nothing|>", ""][..]).prop_map(str::to_owned),
    ]
}

const NAMES: &[&str] = &["<|end|>"];

fn set() -> impl Strategy<Value = SpecialSet<'static>> {
    select(&[SpecialSet::None, SpecialSet::All, SpecialSet::Names(NAMES)][..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(100), ..ProptestConfig::default() })]

    #[test]
    fn many_texts_are_encoded_as_one_by_one(
        texts in prop::collection::vec(text(), 0..120),
        allowed in set(),
        disallowed in set(),
    ) {
        let tokenizer = encoding().tokenizer();
        let encoded: Vec<_> =
            texts.iter().map(|text| tokenizer.encode_checked(text, &allowed, &disallowed)).collect();
        for threads in [None, Some(1), Some(3)] {
            let threads = threads.and_then(NonZeroUsize::new);
            let batch = tokenizer.encode_batch(&texts, &allowed, &disallowed, threads);
            if let Some(index) = encoded.iter().position(Result::is_err) {
                let error = batch.unwrap_err();
                prop_assert_eq!(error.index, index);
                prop_assert_eq!(&Err(error.error), &encoded[index]);
                continue;
            }
            let batch = batch.unwrap();
            let expected: Vec<&[u32]> = encoded.iter().flatten().map(Vec::as_slice).collect();
            prop_assert_eq!(batch.iter().collect::<Vec<_>>(), &expected[..]);
            prop_assert_eq!((batch.len(), batch.offsets().len()), (texts.len(), texts.len() + 1));
            for (index, &tokens) in expected.iter().enumerate() {
                prop_assert_eq!(batch.get(index), Some(tokens));
            }
            prop_assert_eq!(batch.get(texts.len()), None);
            prop_assert_eq!(tokenizer.decode_batch(&batch, threads).unwrap(), &texts[..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(20), ..ProptestConfig::default() })]

    /// One that is divided, somewhere in what is repeated.
    #[test]
    fn a_long_text_is_encoded_as_a_whole(units in prop::collection::vec(select(lines::<String>(include_str!("units.txt"))), 1..40)) {
        let unit = units.concat();
        let text = unit.repeat(100_000 / unit.len());
        let (tokenizer, all, none) = (encoding().tokenizer(), SpecialSet::All, SpecialSet::None);
        let batch = tokenizer.encode_batch(&[&text], &all, &none, NonZeroUsize::new(1)).unwrap();
        prop_assert_eq!(batch.tokens(), tokenizer.encode_checked(&text, &all, &none).unwrap());
    }
}

/// Threads encode parts of them: some that can be divided anywhere, some nowhere, and names of special tokens all over.
#[test]
fn long_texts_are_encoded_as_one_by_one() {
    let words = "A word, 中国的猫。 1234\r\n don't  naïve 🤷🏽‍♀️\n\n";
    let texts = [
        words.repeat(5000),
        String::new(),
        "x".repeat(150_000),
        "short".to_owned(),
        "中".repeat(70_000),
        format!("{words}<|end|>").repeat(3000),
        " ".repeat(200_000),
        "🙂".repeat(50_000) + " a",
    ];
    let tokenizer = encoding().tokenizer();
    for (allowed, disallowed) in [
        (SpecialSet::All, SpecialSet::None),
        (SpecialSet::None, SpecialSet::None),
        (SpecialSet::Names(NAMES), SpecialSet::All),
        (SpecialSet::None, SpecialSet::Names(&["no such name"])),
    ] {
        let encode = |text: &String| tokenizer.encode_checked(text, &allowed, &disallowed).unwrap();
        let expected: Vec<Vec<u32>> = texts.iter().map(encode).collect();
        for threads in [None, Some(1), Some(3)] {
            let threads = threads.and_then(NonZeroUsize::new);
            let batch = tokenizer.encode_batch(&texts, &allowed, &disallowed, threads).unwrap();
            assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn of_many_errors_the_first_is_named() {
    let tokenizer = encoding().tokenizer();
    let mut texts = vec!["Hi"; 200];
    texts[130] = "<|end|>";
    texts[190] = "<|call|>";
    let (none, all) = (SpecialSet::None, SpecialSet::All);
    let error = tokenizer.encode_batch(&texts, &none, &all, NonZeroUsize::new(4)).unwrap_err();
    assert_eq!(error.index, 130);
    assert!(error.to_string().starts_with("text 130: Encountered text"), "{error}");
    assert_eq!(error.source().unwrap().to_string(), error.error.to_string());

    let tokens: Vec<u32> = (0..200).map(|id| if id == 77 { 999_999 } else { id }).collect();
    let batch = TokenBatch::new(tokens, (0..=200).collect()).unwrap();
    let error = tokenizer.decode_batch(&batch, None).unwrap_err();
    assert_eq!((error.index, error.error.token_index()), (77, Some(0)));
    assert_eq!(error.error.kind(), &ErrorKind::InvalidToken { token: 999_999 });
}

#[test]
fn a_batch_is_two_arrays() {
    let (tokens, offsets) = (vec![12194, 13225, 11, 2375], vec![0, 1, 1, 4]);
    let (none, texts) = (SpecialSet::None, ["Hi", "", "Hello, world"]);
    let batch = encoding().tokenizer().encode_batch(&texts, &none, &none, None).unwrap();
    assert_eq!((batch.tokens(), batch.offsets()), (&tokens[..], &offsets[..]));
    assert!(!batch.is_empty());
    assert_eq!(batch.get(usize::MAX), None);
    assert_eq!(batch.into_arrays(), (tokens, offsets));
}

#[test]
fn offsets_that_are_none_are_refused() {
    let of = |offsets: &[usize]| TokenBatch::new(vec![1, 2, 3], offsets.to_vec());
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[0, 2, 1]), None);
    assert_eq!(of(&[0, 4]), None);
    assert_eq!(of(&[1, 3]).unwrap().get(0), Some(&[2, 3][..]));
    assert!(of(&[2]).unwrap().is_empty());
    assert_eq!(TokenBatch::default().into_arrays(), (vec![], vec![0]));
}
