//! The tables of `src/tokenizer/bpe`: which token has these bytes, and into which are two tokens merged?

use std::collections::HashMap;

use crate::Table;
use crate::layout::{Layout, NO_TOKEN, TOKEN_BITS, dictionary, low_merges};

/// Merges into tokens below this id are in `low_merges`, which has 128 KiB for them.
const LOW: u32 = 12_700;
/// A slot without a merge: `NO_TOKEN` three times.
const EMPTY: u64 = (1 << (3 * TOKEN_BITS)) - 1;

/// `byte_tokens.bin`: the token of each byte, a byte each.
/// `low_merge_pilots.bin`, `low_merges.bin`: see `layout::low_merges`; `dictionary_pilots.bin`, `dictionary.bin`: see
/// `layout::dictionary`.
pub(crate) fn tables(tokens: &[Vec<u8>], merges: &[Merge]) -> Result<Vec<Table>, String> {
    let mut byte_tokens = vec![0; 256];
    for (token, bytes) in (0..=u8::MAX).zip(tokens) {
        byte_tokens[usize::from(bytes[0])] = token;
    }
    let low = merges.iter().filter(|merge| merge.token < LOW).map(|merge| {
        let key = low_merges::key(merge.left, merge.right);
        (low_merges::hash(key), key << TOKEN_BITS | u64::from(merge.token))
    });
    let (low_pilots, low) = place(low, low_merges::LAYOUT, EMPTY)?;
    let all = tokens.iter().zip(0..).map(|(bytes, token)| {
        let hash = dictionary::hash(bytes);
        (hash, dictionary::tag(hash) << TOKEN_BITS | token)
    });
    let (pilots, all) = place(all, dictionary::LAYOUT, NO_TOKEN)?;
    Ok(vec![
        Table { name: "byte_tokens.bin", bytes: byte_tokens },
        Table { name: "low_merge_pilots.bin", bytes: low_pilots },
        Table {
            name: "low_merges.bin",
            bytes: low.into_iter().flat_map(u64::to_le_bytes).collect(),
        },
        Table { name: "dictionary_pilots.bin", bytes: pilots },
        Table {
            name: "dictionary.bin",
            bytes: all.into_iter().flat_map(u32::to_le_bytes).collect(),
        },
    ])
}

/// The pilots and the slots for entries with their hashes. Groups with the same pilot are placed by size, the largest
/// first, while most slots are free.
fn place<T: Copy>(
    entries: impl Iterator<Item = (u64, T)>,
    layout: Layout,
    empty: T,
) -> Result<(Vec<u8>, Vec<T>), String> {
    let mut groups = vec![vec![]; 1 << layout.pilot_bits];
    for (hash, entry) in entries {
        groups[layout.pilot(hash)].push((hash, entry));
    }
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&group| std::cmp::Reverse(groups[group].len()));
    let mut pilots = vec![0; groups.len()];
    let (mut slots, mut is_taken) =
        (vec![empty; 1 << layout.slot_bits], vec![false; 1 << layout.slot_bits]);
    for group in order {
        let slots_by = |pilot| groups[group].iter().map(move |&(hash, _)| layout.slot(hash, pilot));
        let fits = |&pilot: &u8| !slots_by(pilot).any(|slot| is_taken[slot]);
        // Two hashes that agree in the bits of the slot do so with any pilot.
        let pilot = (0..=u8::MAX).find(fits).ok_or("no pilot fits: other factors are needed")?;
        for (slot, &(_, entry)) in slots_by(pilot).zip(&groups[group]) {
            if std::mem::replace(&mut is_taken[slot], true) {
                return Err("two hashes have one slot: other factors are needed".into());
            }
            slots[slot] = entry;
        }
        pilots[group] = pilot;
    }
    Ok((pilots, slots))
}

/// Two tokens that are merged into a third.
pub(crate) struct Merge {
    pub(crate) token: u32,
    pub(crate) left: u32,
    pub(crate) right: u32,
}

/// The merge that leads to each token longer than a byte.
pub(crate) fn merges(tokens: &[Vec<u8>]) -> Result<Vec<Merge>, String> {
    let ids: HashMap<&[u8], u32> =
        tokens.iter().zip(0..).map(|(bytes, token)| (bytes.as_slice(), token)).collect();
    let longer = tokens.iter().zip(0..).filter(|(bytes, _)| bytes.len() > 1);
    longer
        .map(|(bytes, token)| {
            let (left, right) = last_merge(bytes, &ids)
                .ok_or_else(|| format!("merging the bytes of token {token} does not lead to it"))?;
            if left.max(right) >= token {
                return Err(format!("the id of token {token} is below that of an operand"));
            }
            Ok(Merge { token, left, right })
        })
        .collect()
}

/// The two parts that remain when a token's bytes are merged until there are two: always the adjacent pair
/// whose concatenation has the lowest id, of equals the leftmost.
fn last_merge(token: &[u8], ids: &HashMap<&[u8], u32>) -> Option<(u32, u32)> {
    // Where the parts begin and end.
    let mut ends: Vec<usize> = (0..=token.len()).collect();
    while ends.len() > 3 {
        let (_, first) = ends
            .windows(3)
            .enumerate()
            .filter_map(|(at, part)| Some((*ids.get(&token[part[0]..part[2]])?, at)))
            .min()?;
        ends.remove(first + 1);
    }
    let (left, right) = token.split_at(ends[1]);
    Some((*ids.get(left)?, *ids.get(right)?))
}
