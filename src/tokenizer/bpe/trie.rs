//! The longest token that a text begins with, and the token of two texts joined: walks down a trie of all ordinary
//! tokens.
//!
//! The trie is a double array in one: the child of a node for a byte is at the node's base XOR the
//! byte, if the node found there bears that byte; no two nodes share a base. Below a leaf there is only
//! one token, whose remaining bytes are compared at once, which halves the trie. The leaf holds three
//! of them, and most tokens have no more: else the look at the token itself would be a cache miss (Russian
//! takes 1.1 of the time without).

use super::layout::{self, node};
use crate::tokenizer::bits::low_32;
use crate::tokenizer::tables::table;
use crate::tokenizer::vocabulary::{self, TokenId};

table!(
    /// u64: see `TrieNode`. Those of the first bytes are at 0 to 255.
    NODES, 8, "trie_nodes.bin"
);

/// A node, packed by `layout::node`.
#[derive(Clone, Copy)]
struct TrieNode(u64);

impl TrieNode {
    /// The bits of the byte, and the one that only a hole has.
    const BYTE: u64 = 2 * node::HOLE - 1;

    #[inline]
    fn at(index: usize) -> Self {
        // In range: the table has all indices that differ from a node's base in the last byte.
        Self(u64::from_le_bytes(NODES[index]))
    }

    #[inline]
    fn child(self, byte: u8) -> Option<Self> {
        let child = Self::at((self.0 >> node::BASE_SHIFT) as usize ^ usize::from(byte));
        (child.0 & Self::BYTE == u64::from(byte)).then_some(child)
    }

    /// The token that ends here; at a leaf, the only one that begins with the bytes so far.
    #[inline]
    fn token(self) -> Option<TokenId> {
        let token = low_32(self.0 >> node::TOKEN_SHIFT) & layout::NO_TOKEN;
        (token != layout::NO_TOKEN).then_some(token)
    }

    #[inline]
    fn is_leaf(self) -> bool {
        self.0 & node::LEAF != 0
    }

    /// The length of the only token below a leaf, if `text`, whose first `depth` bytes led here, begins with it.
    #[inline]
    fn leaf_len(self, text: &[u8], token: TokenId, depth: usize) -> Option<usize> {
        let [_, _, _, _, remaining, first_three @ ..] = self.0.to_le_bytes();
        let remaining = usize::from(remaining);
        let len = depth + remaining;
        let rest = text.get(depth..len)?;
        let fits = rest.iter().zip(first_three).all(|(&byte, own)| byte == own)
            && (remaining <= 3 || vocabulary::token_bytes(token)?.get(depth + 3..)? == &rest[3..]);
        fits.then_some(len)
    }
}

/// The token of a single byte. Every byte is one, and ends at its node.
#[inline]
pub(in crate::tokenizer) fn byte_token(byte: u8) -> TokenId {
    TrieNode::at(byte.into()).token().unwrap_or_default()
}

/// The only token that may have the bytes of two texts, joined; the first is not empty. Bytes below a leaf are not
/// compared, so it may be another token: callers check it.
#[inline]
pub(super) fn candidate(first: &[u8], second: &[u8]) -> Option<TokenId> {
    let mut bytes = first.iter().chain(second);
    let node = TrieNode::at((*bytes.next()?).into());
    let walked = bytes.try_fold(
        node,
        |node, &byte| {
            if node.is_leaf() { Some(node) } else { node.child(byte) }
        },
    );
    walked?.token()
}

/// The longest token that `text` begins with, and its length; `None` for no text.
#[inline]
pub(super) fn longest_token(text: &[u8]) -> Option<(TokenId, usize)> {
    let (&first, rest) = text.split_first()?;
    let mut node = TrieNode::at(first.into());
    let mut best = (byte_token(first), 1);
    if node.is_leaf() {
        return Some(best);
    }
    for (&byte, depth) in rest.iter().zip(2..) {
        match node.child(byte) {
            None => return Some(best),
            Some(child) => node = child,
        }
        if node.is_leaf() {
            let token = node.token()?;
            return Some(node.leaf_len(text, token, depth).map_or(best, |len| (token, len)));
        }
        // Which nodes are tokens cannot be predicted.
        let token = node.token();
        best = std::hint::select_unpredictable(
            token.is_some(),
            (token.unwrap_or_default(), depth),
            best,
        );
    }
    Some(best)
}
