//! Times the stages after the tokenizer: render, parse, stream. `cargo bench --bench stages`.

#![expect(clippy::unwrap_used, reason = "a bench on broken inputs should stop")]

mod inputs;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use openai_harmony::StreamableParser;
use openai_harmony::chat::{Conversation, Role};

/// A weather chat with four tools, one of them called.
const SEVEN_MESSAGES: &str = include_str!("corpus/seven_messages.json");

/// What `feed` gets at a time: what an engine may pass between two requests to the network.
const CHUNK: usize = 64;

fn main() {
    divan::main();
}

#[divan::bench]
fn encode_prose(bencher: Bencher) {
    let tokenizer = inputs::encoding().tokenizer();
    bencher
        .counter(BytesCount::of_str(inputs::PROSE))
        .bench(|| tokenizer.encode_ordinary(divan::black_box(inputs::PROSE)));
}

#[divan::bench]
fn render_7_messages_with_4_tools(bencher: Bencher) {
    render(bencher, &serde_json::from_str(SEVEN_MESSAGES).unwrap());
}

#[divan::bench]
fn render_102_messages(bencher: Bencher) {
    render(bencher, &inputs::hundred_and_two_messages());
}

fn render(bencher: Bencher, conversation: &Conversation) {
    let encoding = inputs::encoding();
    let render = || {
        encoding.render_conversation_for_completion(conversation, Role::Assistant, None).unwrap()
    };
    bencher.counter(ItemsCount::new(render().len())).bench(render);
}

#[divan::bench]
fn parse_whole(bencher: Bencher) {
    let (encoding, tokens) = (inputs::encoding(), inputs::tokens());
    bencher.counter(ItemsCount::new(tokens.len())).bench(|| {
        encoding.parse_messages_from_completion_tokens(tokens.iter().copied(), None).unwrap()
    });
}

#[divan::bench]
fn process_each(bencher: Bencher) {
    let (encoding, tokens) = (inputs::encoding(), inputs::tokens());
    bencher.counter(ItemsCount::new(tokens.len())).bench(|| {
        let mut parser = StreamableParser::new(encoding, None).unwrap();
        let mut received = 0;
        for &token in &tokens {
            parser.process(token).unwrap();
            received += parser.delta().map_or(0, str::len);
        }
        received
    });
}

#[divan::bench]
fn feed_chunks_of_64(bencher: Bencher) {
    let (encoding, tokens) = (inputs::encoding(), inputs::tokens());
    bencher.counter(ItemsCount::new(tokens.len())).bench(|| {
        let mut parser = StreamableParser::new(encoding, None).unwrap();
        let events = |chunk| parser.feed(chunk).unwrap().len();
        tokens.chunks(CHUNK).map(events).sum::<usize>()
    });
}
