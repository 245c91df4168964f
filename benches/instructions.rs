//! Runs one of the hottest stages a number of times, for benches/instructions.py to count its
//! instructions: `instructions STAGE PASSES`.

#![expect(clippy::unwrap_used, reason = "a bench on broken inputs should stop")]

mod inputs;

use std::hint::black_box;

use openai_harmony::chat::Role;
use openai_harmony::interop::{Dialect, FinishReason, ReadOptions, ReplyOptions};
use serde_json::json;

fn main() {
    let mut arguments = std::env::args().skip(1);
    // `cargo bench` runs every bench, with arguments of its own.
    let (Some(stage), Some(Ok(passes))) =
        (arguments.next(), arguments.next().map(|passes| passes.parse::<usize>()))
    else {
        println!("run benches/instructions.py");
        return;
    };
    let encoding = inputs::encoding();
    match stage.as_str() {
        "encode" => {
            let tokenizer = encoding.tokenizer();
            repeat(passes, || tokenizer.encode_ordinary(black_box(inputs::PROSE)));
        }
        "render" => {
            let conversation = inputs::hundred_and_two_messages();
            repeat(passes, || {
                let prompt = encoding.render_conversation_for_completion(
                    black_box(&conversation),
                    Role::Assistant,
                    None,
                );
                prompt.unwrap()
            });
        }
        "parse" => {
            let tokens = inputs::tokens();
            repeat(passes, || {
                let tokens = black_box(&tokens).iter().copied();
                encoding.parse_messages_from_completion_tokens(tokens, None).unwrap()
            });
        }
        stage => match Dialect::ALL.iter().find(|dialect| dialect.as_str() == stage) {
            Some(&dialect) => answer(passes, dialect),
            None => println!("no stage {stage}: see benches/instructions.py"),
        },
    }
}

/// Streams 1,000 tokens of prose, one at a time.
fn answer(passes: usize, dialect: Dialect) {
    let message = json!({"role": "user", "content": "Hi"});
    let body = json!({"input": [message], "messages": [message], "max_tokens": 9});
    let turn = dialect.read(body, &ReadOptions::default()).unwrap();
    let encoding = inputs::encoding();
    let mut tokens = encoding.tokenizer().encode_with_special_tokens("<|channel|>final<|message|>");
    tokens.extend(encoding.tokenizer().encode_ordinary(&inputs::PROSE[..5_000]));
    tokens.truncate(1_000);
    let mut bytes = Vec::new();
    repeat(passes, || {
        let options = ReplyOptions::new("gpt-oss-20b").with_prompt_tokens(70);
        let mut reply = turn.reply(&encoding, options).unwrap();
        bytes.clear();
        for &token in black_box(&tokens) {
            reply.feed_into(&[token], None, &mut bytes).unwrap();
        }
        reply.finish_into(FinishReason::Length, None, &mut bytes).unwrap();
        bytes.len()
    });
}

fn repeat<T>(passes: usize, mut stage: impl FnMut() -> T) {
    for _ in 0..passes {
        black_box(stage());
    }
}
