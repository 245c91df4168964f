//! Runs one of the hottest stages a number of times, for benches/instructions.py to count its
//! instructions: `instructions STAGE PASSES`.

#![expect(clippy::unwrap_used, reason = "a bench on broken inputs should stop")]

mod inputs;

use std::hint::black_box;

use openai_harmony::chat::Role;

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
        unknown => println!("no stage {unknown}: encode, render, parse"),
    }
}

fn repeat<T>(passes: usize, mut stage: impl FnMut() -> T) {
    for _ in 0..passes {
        black_box(stage());
    }
}
