//! Stages of the tokenizer: `cargo bench -p openai-harmony-checks --bench tokenizer`.

#[path = "corpus/mod.rs"]
mod corpus;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use openai_harmony::tokenizer::{SpecialSet, Tokenizer};

const TOKENIZER: Tokenizer = Tokenizer::o200k_harmony();
/// Bytes of text: a short message, a long one, a document, a data set.
const SIZES: [usize; 4] = [100, 400, 10_000, 2_000_000];

fn main() {
    divan::main();
}

/// Each round reads another part of the text, if there is more than one.
fn bench_encode(bencher: Bencher, kind: corpus::Kind, size: usize) {
    let text = corpus::text(kind, 2_000_000);
    let mut parts = corpus::parts(&text, size);
    // What is left at the end is shorter.
    parts.retain(|part| part.len() >= size);
    let mut next = parts.iter().cycle();
    let mut tokens = Vec::new();
    bencher.counter(BytesCount::new(size)).bench_local(|| {
        tokens.clear();
        if let Some(part) = next.next() {
            TOKENIZER.encode_ordinary_into(black_box(part), &mut tokens);
        }
        tokens.len()
    });
}

#[divan::bench(args = SIZES)]
fn encode_prose(bencher: Bencher, size: usize) {
    bench_encode(bencher, corpus::Kind::Prose, size);
}

#[divan::bench(args = SIZES)]
fn encode_code(bencher: Bencher, size: usize) {
    bench_encode(bencher, corpus::Kind::Code, size);
}

#[divan::bench(args = SIZES)]
fn encode_cjk(bencher: Bencher, size: usize) {
    bench_encode(bencher, corpus::Kind::Cjk, size);
}

#[divan::bench(args = SIZES)]
fn encode_json(bencher: Bencher, size: usize) {
    bench_encode(bencher, corpus::Kind::Json, size);
}

#[divan::bench(args = SIZES)]
fn encode_mixed(bencher: Bencher, size: usize) {
    bench_encode(bencher, corpus::Kind::Mixed, size);
}

/// What is repeated in texts that make other tokenizers slow, the last one mixed emoji.
const HOSTILE: [&str; 10] = ["-", "=", "a", "ab", " ", "\n", "7", "一", "🙂", "🤷🏽‍♀️🇩🇪🙂👨‍👩‍👧"];

/// The time doubles with the size, counted in characters.
#[divan::bench(args = HOSTILE, consts = [20_000, 40_000])]
fn encode_hostile<const CHARS: usize>(bencher: Bencher, unit: &str) {
    let text: String = unit.chars().cycle().take(CHARS).collect();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| TOKENIZER.encode_ordinary(black_box(&text)));
}

/// The search for special names, on text with none and on text full of them.
#[divan::bench(args = ["some text with a < b and c > d. ", "<|start|>user<|message|>hi<|end|>"])]
fn encode_with_rules(bencher: Bencher, unit: &str) {
    let text = unit.repeat(1000);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        TOKENIZER
            .encode_checked(black_box(&text), &SpecialSet::All, &SpecialSet::All)
            .map(|t| t.len())
    });
}

#[divan::bench]
fn decode_mixed(bencher: Bencher) {
    let tokens = TOKENIZER.encode_ordinary(&corpus::text(corpus::Kind::Mixed, 2_000_000));
    bencher
        .counter(BytesCount::new(2_000_000_usize))
        .bench_local(|| TOKENIZER.decode_utf8(black_box(&tokens)).map(|text| text.len()));
}
