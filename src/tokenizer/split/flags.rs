//! The character classes of the o200k pattern, one bit each, and how build.rs packs them. Shared with
//! build.rs, so it depends on nothing.

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: what may begin a word before its lowercase letters.
pub(crate) const WORD_HEAD: u8 = 1 << 0;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: what may end a word. Letters without case and marks are in both.
pub(crate) const WORD_TAIL: u8 = 1 << 1;
/// `\p{L}`: any letter. A mark is not a letter.
pub(crate) const LETTER: u8 = 1 << 2;
/// `\p{N}`.
pub(crate) const NUMBER: u8 = 1 << 3;
/// `\s`, the property `White_Space`.
pub(crate) const WHITE_SPACE: u8 = 1 << 4;
/// `[\r\n]`, which `\s` contains.
pub(crate) const NEWLINE: u8 = 1 << 5;

/// Code points per block of the table.
pub(crate) const BLOCK: usize = 128;
