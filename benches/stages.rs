//! Times the stages after the tokenizer: render, parse, stream; and grammars. `cargo bench -p openai-harmony-checks --bench stages`.

#![expect(clippy::unwrap_used, reason = "a bench on broken inputs should stop")]

mod inputs;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use openai_harmony::StreamableParser;
use openai_harmony::chat::{Author, Conversation, Message, Role};
use openai_harmony::grammar::{GrammarOptions, GrammarTool, TurnGrammar};
use openai_harmony::rollout::{ExtendOptions, Rollout};
use serde_json::{Map, Value, json};

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

/// Tools of eight fields: a grammar made and written.
#[divan::bench(args = [1, 10, 50, 200])]
fn grammar_of_tools(bencher: Bencher, count: usize) {
    let field = json!({"type": "string", "description": "What it is."});
    let fields: Map<String, Value> =
        (0..8).map(|index| (format!("field_{index}"), field.clone())).collect();
    let schema = json!({"type": "object", "properties": fields, "required": ["field_0"]});
    let tool = |index| GrammarTool::new(format!("functions.tool_{index}"), schema.clone());
    bencher.counter(ItemsCount::new(count)).with_inputs(|| (0..count).map(tool)).bench_values(
        |tools| TurnGrammar::new(tools, GrammarOptions::new()).unwrap().to_lark().unwrap(),
    );
}

#[divan::bench]
fn grammar_accepts_text(bencher: Bencher) {
    let text = ["<|channel|>final<|message|>", inputs::PROSE, "<|return|>"].concat();
    let tokens = inputs::encoding().tokenizer().encode_with_special_tokens(&text);
    let grammar = TurnGrammar::new([], GrammarOptions::new()).unwrap();
    bencher.counter(ItemsCount::new(tokens.len())).bench(|| grammar.accepts(&tokens).ok);
}

/// One turn of an episode, the first or the hundredth: a call is sampled and its result added.
#[divan::bench(args = [1, 100])]
fn rollout_turn(bencher: Bencher, turn: usize) {
    let call = format!(
        "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>commentary \
         to=functions.rain<|message|>{{\"in\": \"Oslo\"}}<|call|>",
        "I look at it again. ".repeat(50)
    );
    let call = inputs::encoding().tokenizer().encode_with_special_tokens(&call);
    let result = [Message::from_author_and_content(
        Author::new(Role::Tool, "functions.rain"),
        "It rains. ".repeat(50),
    )];
    let question = [Message::from_role_and_content(Role::User, "Rain in Oslo?")];
    let go_on = |mut rollout: Rollout| {
        rollout.sampled(&call, None).unwrap();
        rollout.extend(&result).unwrap();
        rollout
    };
    let begin = Rollout::new(inputs::encoding(), question, ExtendOptions::new()).unwrap();
    let before = (1..turn).fold(begin, |rollout, _| go_on(rollout));
    // A clone shares the tokens, so that making it and letting it go is not the turn's cost.
    bencher.with_inputs(|| before.clone()).bench_values(go_on);
}
