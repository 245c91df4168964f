//! The vocabulary itself: fetched from tiktoken-rs, checked, laid out for decoding.

use std::error::Error;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::Table;
use crate::special_names;

/// SHA-256 of the published `o200k_base.tiktoken`.
const CANONICAL_SHA256: [u8; 32] = [
    0x44, 0x6a, 0x95, 0x38, 0xcb, 0x6c, 0x34, 0x8e, 0x35, 0x16, 0x12, 0x0d, 0x7c, 0x08, 0xb0, 0x9f,
    0x57, 0xc3, 0x64, 0x95, 0xe2, 0xac, 0xff, 0xfe, 0x59, 0xa5, 0xbf, 0x8b, 0x0c, 0xfb, 0x1a, 0x2d,
];

/// The bytes of the ordinary tokens, by id.
pub(crate) fn load() -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let published = tiktoken_rs::o200k_base()?;
    let tokens = (0..special_names::FIRST)
        .map(|id| published.decode_bytes(&[id]))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| format!("an id is missing: {error:?}"))?;
    check(&tokens)?;
    Ok(tokens)
}

/// Compares with the published file: a line per token, its bytes in base64, a space, its id.
fn check(tokens: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    let mut hasher = Sha256::new();
    for (id, token) in tokens.iter().enumerate() {
        hasher.update(format!("{} {id}\n", STANDARD.encode(token)));
    }
    if hasher.finalize()[..] != CANONICAL_SHA256 {
        return Err("the vocabulary of tiktoken-rs is not the published one".into());
    }
    // The merging relies on this: the id of a byte alone is below that of any longer token.
    if tokens.iter().position(|token| token.len() > 1) != Some(256) {
        return Err("the first 256 ids are not the single bytes".into());
    }
    Ok(())
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
