//! Counts the tokens of files on all cores: the tokenizer by itself, without anything of chat.
//!
//! ```sh
//! cargo run --release --features training --example count_tokens -- README.md docs/*.md
//! ```

use std::error::Error;
use std::{env, fs};

use openai_harmony::tokenizer::{SpecialSet, Tokenizer};

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = env::args().skip(1).collect();
    let texts = files.iter().map(fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
    // Names of special tokens in a file are text like any other.
    let (allowed, disallowed) = (SpecialSet::None, SpecialSet::None);
    let batch = Tokenizer::o200k_harmony().encode_batch(&texts, &allowed, &disallowed, None)?;
    for (file, tokens) in files.iter().zip(batch.iter()) {
        println!("{:>10} {file}", tokens.len());
    }
    println!("{:>10} in all", batch.tokens().len());
    Ok(())
}
