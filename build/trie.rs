//! The table of `src/tokenizer/bpe/trie.rs`: the ordinary tokens as a trie over their bytes.

use std::collections::VecDeque;

use crate::Table;
use crate::layout::{self, node};

/// A token and its id.
type Numbered<'t> = (&'t [u8], u64);

/// `trie_nodes.bin`: u64 per node, see `layout::node`. The child of a node for a byte is at its base XOR the byte,
/// if the node there has that byte. The nodes of the first bytes are at 0 to 255.
pub(crate) fn tables(tokens: &[Vec<u8>]) -> Vec<Table> {
    let mut sorted: Vec<Numbered> = tokens.iter().map(Vec::as_slice).zip(0..).collect();
    sorted.sort_unstable();

    let mut nodes = Nodes::default();
    // Nodes whose children are to be placed: index, depth, and the tokens below.
    let mut queue = VecDeque::new();
    nodes.reserve(255);
    for (byte, below) in children(&sorted, 0) {
        queue.push_back((nodes.put(byte as usize, byte), 1, below));
    }
    while let Some((index, depth, below)) = queue.pop_front() {
        let (first, token) = below[0];
        let ends_here = first.len() == depth;
        if below.len() == 1 {
            nodes.finish(index, token, node::LEAF | remaining(&first[depth..]) << node::BASE_SHIFT);
            continue;
        }
        let children = children(&below[usize::from(ends_here)..], depth);
        let bytes: Vec<u8> = children.iter().map(|(byte, _)| *byte).collect();
        let base = nodes.find_base(&bytes);
        let token = if ends_here { token } else { layout::NO_TOKEN.into() };
        nodes.finish(index, token, (base as u64) << node::BASE_SHIFT);
        for (byte, below) in children {
            queue.push_back((nodes.put(base ^ byte as usize, byte), depth + 1, below));
        }
    }
    vec![Table::of_u64("trie_nodes.bin", &nodes.slots)]
}

/// How many bytes of a token remain below a leaf, and the first three of them.
fn remaining(bytes: &[u8]) -> u64 {
    let first = bytes.iter().take(3).rev().fold(0, |first, &byte| first << 8 | u64::from(byte));
    first << 8 | bytes.len() as u64
}

/// Groups tokens that agree up to `depth` by the byte there.
fn children<'a, 't>(tokens: &'a [Numbered<'t>], depth: usize) -> Vec<(u8, &'a [Numbered<'t>])> {
    tokens
        .chunk_by(|(a, _), (b, _)| a[depth] == b[depth])
        .map(|group| (group[0].0[depth], group))
        .collect()
}

/// The growing array of nodes.
#[derive(Default)]
struct Nodes {
    slots: Vec<u64>,
    /// For a free slot its own index; for a taken one a later index, at most that of the next free slot.
    next_free: Vec<usize>,
    /// Whether a base is in use: no two nodes may share one, or they would share children.
    bases: Vec<bool>,
}

impl Nodes {
    /// Grows the array to hold the index and all others that differ from it in the last byte.
    fn reserve(&mut self, index: usize) {
        let len = self.slots.len().max((index | 255) + 1);
        self.slots.resize(len, node::HOLE);
        self.next_free.extend(self.next_free.len()..=len);
        self.bases.resize(len, false);
        // Base 0 belongs only to the root.
        self.bases[0] = true;
    }

    fn put(&mut self, index: usize, byte: u8) -> usize {
        self.slots[index] = byte.into();
        self.next_free[index] = index + 1;
        index
    }

    fn finish(&mut self, index: usize, token: u64, rest: u64) {
        self.slots[index] |= token << node::TOKEN_SHIFT | rest;
    }

    /// The first free slot from an index on; what it passes will lead there in fewer steps.
    fn free_from(&mut self, mut index: usize) -> usize {
        while self.next_free[index] != index {
            self.next_free[index] = self.next_free[self.next_free[index]];
            index = self.next_free[index];
        }
        if index == self.slots.len() {
            self.reserve(index);
        }
        index
    }

    /// A base that no node has and that leads all bytes to free nodes.
    fn find_base(&mut self, bytes: &[u8]) -> usize {
        let mut index = self.free_from(0);
        loop {
            let base = index ^ bytes[0] as usize;
            let is_free = |byte: &u8| {
                let child = base ^ *byte as usize;
                self.next_free[child] == child
            };
            if !self.bases[base] && bytes.iter().all(is_free) {
                self.bases[base] = true;
                return base;
            }
            index = self.free_from(index + 1);
        }
    }
}
