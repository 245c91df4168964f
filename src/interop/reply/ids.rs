//! Ids of answers, items and calls.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};

use super::options::MakeId;

/// Makes the ids of one answer. Without a function of the server's they follow from the answer's own
/// id, so that whoever sets that sets all; and they are short, since APIs limit their length.
#[derive(Debug)]
pub(super) struct Ids {
    seed: String,
    index: usize,
    count: usize,
    make: Option<MakeId>,
    /// Those that the server's function made, to give them again in a reply that is taken up.
    made: Vec<String>,
}

impl Ids {
    pub(super) fn new(reply_id: &str, index: usize, make: Option<MakeId>) -> Self {
        Self { seed: reply_id.to_owned(), index, count: 0, make, made: Vec::new() }
    }

    pub(super) fn made(&self) -> &[String] {
        &self.made
    }

    /// Gives these ids first.
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
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (&self.seed, self.index, self.count, salt).hash(&mut hasher);
            hasher.finish()
        };
        spelled(prefix, half(0), half(1))
    }
}

/// An id that no other answer has.
pub(super) fn fresh(prefix: &str, make: Option<&MakeId>) -> String {
    match make {
        Some(make) => make.make(prefix),
        // Each state has keys of its own.
        None => spelled(prefix, RandomState::new().hash_one(0), RandomState::new().hash_one(1)),
    }
}

fn spelled(prefix: &str, first: u64, second: u64) -> String {
    format!("{prefix}{first:016x}{:08x}", second >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_the_answers_own() {
        let ids = |id: &str, index| {
            let mut ids = Ids::new(id, index, None);
            [ids.next("call_"), ids.next("call_")]
        };
        assert_eq!(ids("a", 0), ids("a", 0));
        assert_ne!(ids("a", 0)[0], ids("a", 0)[1]);
        assert_ne!(ids("a", 0), ids("b", 0));
        assert_ne!(ids("a", 0), ids("a", 1));
        assert_eq!(ids("a", 0)[0].len(), "call_".len() + 24);
    }

    #[test]
    fn fresh_ids_differ() {
        assert_ne!(fresh("msg_", None), fresh("msg_", None));
        let make = MakeId::new(|prefix| format!("{prefix}7"));
        assert_eq!(fresh("msg_", Some(&make)), "msg_7");
        assert_eq!(Ids::new("x", 0, Some(make)).next("call_"), "call_7");
    }
}
