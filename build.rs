//! Writes the tables of the tokenizer to `OUT_DIR`, from the published vocabulary in `build/` and from the
//! Unicode tables of regex-syntax, which are those of tiktoken-rs's own pattern. Each file in `build/` bears
//! the name of the file in `src/tokenizer` that reads its tables in place, and says how they are laid out.

#[path = "build/boundaries.rs"]
mod boundaries;
#[path = "src/tokenizer/bpe/boundary_bits.rs"]
mod boundary_bits;
#[path = "build/bpe.rs"]
mod bpe;
#[path = "build/chars.rs"]
mod chars;
#[path = "src/tokenizer/split/flags.rs"]
mod flags;
#[path = "src/tokenizer/bpe/layout.rs"]
mod layout;
#[path = "src/tokenizer/special_names.rs"]
#[expect(unreachable_pub, reason = "the crate exports the ids")]
mod special_names;
#[path = "build/vocabulary.rs"]
mod vocabulary;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let shared = ["bpe/boundary_bits.rs", "bpe/layout.rs", "split/flags.rs", "special_names.rs"];
    let shared = shared.map(|file| format!("src/tokenizer/{file}"));
    for input in ["build.rs", "build"].into_iter().chain(shared.iter().map(String::as_str)) {
        println!("cargo::rerun-if-changed={input}");
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let tokens = vocabulary::load()?;
    let merges = bpe::merges(&tokens)?;
    let tables = [
        vocabulary::tables(&tokens)?,
        bpe::tables(&tokens, &merges)?,
        vec![boundaries::table(&merges, &tokens)],
        chars::tables()?,
        vec![chars::invisible()?],
    ];
    for Table { name, bytes } in tables.into_iter().flatten() {
        fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

/// A file of `OUT_DIR`: all numbers in it are little-endian.
struct Table {
    name: &'static str,
    bytes: Vec<u8>,
}
