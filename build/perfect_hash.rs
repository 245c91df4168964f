//! The pilots of a perfect hash table; `src/tokenizer/hash.rs` says what they are.

use std::cmp::Reverse;

use crate::hash;

/// Keys per pilot: more make the pilots' table smaller and the search longer.
const KEYS_PER_BUCKET: usize = 5;
/// Keys in a hundred slots.
const FILL: usize = 93;

/// Pilots, and for each slot the key (its index in `hashes`) that it belongs to.
pub(crate) struct Placement {
    pub(crate) pilots: Vec<u16>,
    pub(crate) slots: Vec<Option<usize>>,
}

/// Gives each of the hashes, all different, a slot of its own.
pub(crate) fn place(hashes: &[u64]) -> Result<Placement, String> {
    let mut pilots = vec![0; hashes.len() / KEYS_PER_BUCKET];
    let mut slots = vec![None; hashes.len() * 100 / FILL];
    let mut buckets = vec![Vec::new(); pilots.len()];
    for (key, &hash) in hashes.iter().enumerate() {
        buckets[hash::bucket(hash, pilots.len())].push(key);
    }
    // The fullest first, while there are many free slots.
    let mut order: Vec<usize> = (0..buckets.len()).collect();
    order.sort_by_key(|&bucket| Reverse(buckets[bucket].len()));
    for bucket in order {
        let keys = &buckets[bucket];
        let pilot = (0..=u16::MAX)
            .find(|&pilot| fits(keys.iter().map(|&key| hashes[key]), pilot, &slots))
            .ok_or("no pilot fits a bucket: change the constants of the hash")?;
        pilots[bucket] = pilot;
        for &key in keys {
            let slot = hash::slot(hashes[key], pilot, slots.len());
            slots[slot] = Some(key);
        }
    }
    Ok(Placement { pilots, slots })
}

/// Whether the pilot leads all hashes to free slots, each to its own.
fn fits(hashes: impl Iterator<Item = u64>, pilot: u16, slots: &[Option<usize>]) -> bool {
    let mut taken: Vec<usize> = Vec::new();
    for hash in hashes {
        let slot = hash::slot(hash, pilot, slots.len());
        if slots[slot].is_some() || taken.contains(&slot) {
            return false;
        }
        taken.push(slot);
    }
    true
}
