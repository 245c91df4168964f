//! Ids of answers, items and calls.

use super::options::MakeId;
use crate::error::{ErrorKind, Result};
use crate::path::Path;

/// Makes the ids of one answer. Unless the server supplies a function, they are derived from the answer's own id, so
/// setting that sets all of them; they are short, since APIs limit their length.
#[derive(Debug)]
pub(super) struct Ids {
    seed: String,
    index: usize,
    count: usize,
    make: Option<MakeId>,
    /// The ids that the server's function made, so that a resumed reply can repeat them.
    made: Vec<String>,
}

impl Ids {
    pub(super) fn new(reply_id: &str, index: usize, make: Option<MakeId>) -> Self {
        Self { seed: reply_id.to_owned(), index, count: 0, make, made: Vec::new() }
    }

    pub(super) fn made(&self) -> &[String] {
        &self.made
    }

    /// Continues after this many ids.
    pub(super) fn resume(&mut self, count: usize) {
        self.count = count;
    }

    /// Uses these ids first.
    pub(super) fn repeat(&mut self, made: Vec<String>) {
        self.made = made;
    }

    /// The next id with this prefix.
    pub(super) fn next(&mut self, prefix: &str) -> String {
        self.count += 1;
        if let Some(made) = self.made.get(self.count - 1) {
            return made.clone();
        }
        if let Some(make) = &self.make {
            let made = make.make(prefix);
            self.made.push(made.clone());
            return made;
        }
        let half = |salt| mixed(&self.seed, [self.index as u64, self.count as u64, salt]);
        spelled(prefix, half(0), half(1))
    }
}

/// An id that no other answer has, also in processes that a process has forked.
///
/// # Errors
///
/// The system has no random bytes, as `wasm32-unknown-unknown` has none.
pub(super) fn fresh(prefix: &str, make: Option<&MakeId>) -> Result<String> {
    if let Some(make) = make {
        return Ok(make.make(prefix));
    }
    let mut bytes = [0; 12];
    fill(&mut bytes)?;
    Ok(bytes.iter().fold(prefix.to_owned(), |id, byte| format!("{id}{byte:02x}")))
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| missing(&error.to_string()))
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn fill(_: &mut [u8]) -> Result<()> {
    Err(missing("this target has none"))
}

fn missing(why: &str) -> crate::Error {
    let reason = format!("an answer's id needs random bytes ({why}): give `id` or `make_id`");
    ErrorKind::InvalidRequest { path: Path::of("id"), reason: reason.into() }.into()
}

/// FNV-1a, and the last step of `MurmurHash3`. A resumed reply makes its ids again, in another process and perhaps
/// another version, between which a standard library hasher may change.
fn mixed(seed: &str, numbers: [u64; 3]) -> u64 {
    let numbers = numbers.into_iter().flat_map(u64::to_le_bytes);
    let mut hash = seed.bytes().chain(numbers).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ (hash >> 33)).wrapping_mul(factor);
    }
    hash ^ (hash >> 33)
}

fn spelled(prefix: &str, first: u64, second: u64) -> String {
    format!("{prefix}{first:016x}{:08x}", second >> 32)
}
