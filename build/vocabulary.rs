//! The vocabulary itself: read from the published file, laid out for decoding.

use std::error::Error;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::Table;
use crate::special_names;

/// The file as it is published for tiktoken; `tests/library/tokenizer.rs` compares its SHA-256.
const PUBLISHED: &str = include_str!("o200k_base.tiktoken");

/// The bytes of the ordinary tokens, by id. A line of the file has those of a token in base64, a space, its id.
pub(crate) fn load() -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let token = |(id, line): (usize, &str)| -> Result<Vec<u8>, Box<dyn Error>> {
        match line.split_once(' ') {
            Some((bytes, number)) if number.parse() == Ok(id) => Ok(STANDARD.decode(bytes)?),
            _ => Err(format!("o200k_base.tiktoken:{}: not the token {id}", id + 1).into()),
        }
    };
    let tokens = PUBLISHED.lines().enumerate().map(token).collect::<Result<Vec<_>, _>>()?;
    if tokens.len() != special_names::FIRST as usize {
        return Err(format!("o200k_base.tiktoken has {} tokens", tokens.len()).into());
    }
    // The merging relies on this: the id of a single byte is below that of any longer token.
    if tokens.iter().position(|token| token.len() > 1) != Some(256) {
        return Err("the first 256 ids are not the single bytes".into());
    }
    Ok(tokens)
}

/// `token_slots.bin`: sixteen bytes for each token by id, special ones by their names: up to
/// fifteen bytes of it, zeros, and its length; or, for longer ones, u32 where it begins in
/// `long_tokens.bin`, u32 its length, zeros, and `LONG`.
/// `long_tokens.bin`: the bytes of the longer ones, one after the other.
pub(crate) fn tables(tokens: &[Vec<u8>]) -> Result<Vec<Table>, Box<dyn Error>> {
    const LONG: u8 = 0xff;
    let specials = (special_names::FIRST..=special_names::LAST).map(|id| special_name(id).into());
    let (mut slots, mut long) = (Vec::new(), Vec::new());
    for token in tokens.iter().cloned().chain(specials) {
        let mut slot = [0; 16];
        if token.len() < slot.len() {
            slot[..token.len()].copy_from_slice(&token);
            slot[15] = u8::try_from(token.len())?;
        } else {
            slot[..4].copy_from_slice(&u32::try_from(long.len())?.to_le_bytes());
            slot[4..8].copy_from_slice(&u32::try_from(token.len())?.to_le_bytes());
            slot[15] = LONG;
            long.extend(token);
        }
        slots.extend(slot);
    }
    Ok(vec![
        Table { name: "token_slots.bin", bytes: slots },
        Table { name: "long_tokens.bin", bytes: long },
    ])
}

fn special_name(id: u32) -> String {
    match special_names::NAMED.iter().find(|(_, named)| *named == id) {
        Some((name, _)) => (*name).to_owned(),
        None => format!("{}{id}{}", special_names::RESERVED_PREFIX, special_names::SUFFIX),
    }
}
