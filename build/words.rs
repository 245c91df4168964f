//! The tables of `src/tokenizer/words.rs`: short tokens by their bytes.

use std::error::Error;

use crate::{Table, perfect_hash, pilots};

/// Longest token in the table: behind it a slot has room for the rank.
const LONGEST: usize = 12;

/// `word_slots.bin`: 16 bytes per slot: the token's bytes, padded with zeros to 12, then u32 with
/// its rank and, in the last byte, its length; a free slot has length 0.
/// `word_pilots.bin`: u16 per bucket.
pub(crate) fn tables(tokens: &[Vec<u8>]) -> Result<Vec<Table>, Box<dyn Error>> {
    let words: Vec<(usize, &[u8])> = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.len() <= LONGEST)
        .map(|(rank, token)| (rank, token.as_slice()))
        .collect();
    let hashes: Vec<u64> = words.iter().map(|(_, word)| hash(word)).collect();
    let placement = pilots::place(&hashes)?;

    let mut bytes = Vec::with_capacity(placement.slots.len() * 16);
    for slot in &placement.slots {
        let (rank, word) = slot.map_or((0, &[][..]), |key| words[key]);
        bytes.extend(padded(word));
        bytes.extend(u32::try_from(rank | word.len() << 24)?.to_le_bytes());
    }
    Ok(vec![
        Table { name: "word_slots.bin", bytes },
        Table::of_u16("word_pilots.bin", &placement.pilots),
    ])
}

fn hash(word: &[u8]) -> u64 {
    let key = padded(word);
    let mut low = [0; 8];
    low.copy_from_slice(&key[..8]);
    let mut high = [0; 8];
    high[..4].copy_from_slice(&key[8..]);
    let high = u64::from_le_bytes(high) | (word.len() as u64) << 56;
    perfect_hash::hash(u64::from_le_bytes(low), high)
}

fn padded(word: &[u8]) -> [u8; LONGEST] {
    let mut key = [0; LONGEST];
    key[..word.len()].copy_from_slice(word);
    key
}
