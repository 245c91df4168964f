//! Characters of UTF-8 text and their classes.

use super::flags::BLOCK;
use crate::tokenizer::tables::table;

table!(
    /// Flags of code points, in blocks. The first block is that of ASCII.
    BLOCKS, 1, "char_blocks.bin"
);
table!(
    /// The number of the block that 128 code points have.
    BLOCK_OF, 1, "char_block_of.bin"
);

/// The flags of an ASCII byte.
#[inline]
pub(super) fn ascii_flags(byte: u8) -> u8 {
    BLOCKS[usize::from(byte & 0x7f)][0]
}

/// A character: its classes, and how many bytes it has.
#[derive(Clone, Copy)]
pub(super) struct Char {
    pub(super) flags: u8,
    pub(super) len: usize,
}

impl Char {
    /// The character that begins at `at`, which no character reaches across; `None` at the end.
    #[inline]
    pub(super) fn at(text: &[u8], at: usize) -> Option<Self> {
        let first = *text.get(at)?;
        if first < 0x80 {
            return Some(Self { flags: ascii_flags(first), len: 1 });
        }
        let next = |n| text.get(at + n).map_or(0, |byte| u32::from(byte & 0x3f));
        let (code_point, len) = match first {
            0x80..0xe0 => (u32::from(first & 0x1f) << 6 | next(1), 2),
            0xe0..0xf0 => (u32::from(first & 0x0f) << 12 | next(1) << 6 | next(2), 3),
            _ => (u32::from(first & 0x07) << 18 | next(1) << 12 | next(2) << 6 | next(3), 4),
        };
        Some(Self { flags: flags(code_point as usize), len })
    }

    /// Whether the character is in any of the classes.
    #[inline]
    pub(super) fn is(self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Whether the character is in all of the classes.
    #[inline]
    pub(super) fn is_all(self, flags: u8) -> bool {
        self.flags & flags == flags
    }
}

#[inline]
fn flags(code_point: usize) -> u8 {
    let block = BLOCK_OF.get(code_point / BLOCK).map_or(0, |block| usize::from(block[0]));
    BLOCKS.get(block * BLOCK + code_point % BLOCK).map_or(0, |flags| flags[0])
}
