//! The table of `src/tokenizer/split/chars.rs`: the flags of every code point.

use std::collections::HashMap;
use std::error::Error;

use regex_syntax::hir::{Class, HirKind};

use crate::Table;
use crate::flags::{self, BLOCK};

/// The classes as the o200k pattern spells them.
const PATTERNS: [(&str, u8); 6] = [
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", flags::WORD_HEAD),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", flags::WORD_TAIL),
    (r"\p{L}", flags::LETTER),
    (r"\p{N}", flags::NUMBER),
    (r"\s", flags::WHITE_SPACE),
    (r"[\r\n]", flags::NEWLINE),
];

/// `char_blocks.bin`: the flags of code points, in blocks, none twice.
/// `char_block_of.bin`: u8 per 128 code points: the number of their block.
pub(crate) fn tables() -> Result<Vec<Table>, Box<dyn Error>> {
    let mut flags = vec![0; char::MAX as usize + 1];
    for (pattern, flag) in PATTERNS {
        for (first, last) in ranges(pattern)? {
            for code_point in first..=last {
                flags[code_point as usize] |= flag;
            }
        }
    }
    let mut numbers = HashMap::new();
    let mut blocks = Vec::new();
    let mut block_of = Vec::new();
    for block in flags.chunks(BLOCK) {
        let next = u8::try_from(numbers.len())?;
        let number = *numbers.entry(block).or_insert_with(|| {
            blocks.extend_from_slice(block);
            next
        });
        block_of.push(number);
    }
    Ok(vec![
        Table { name: "char_blocks.bin", bytes: blocks },
        Table { name: "char_block_of.bin", bytes: block_of },
    ])
}

/// The code points that a pattern of one character matches, as ranges.
fn ranges(pattern: &str) -> Result<Vec<(u32, u32)>, Box<dyn Error>> {
    let HirKind::Class(Class::Unicode(class)) = regex_syntax::parse(pattern)?.into_kind() else {
        return Err(format!("{pattern} is not a class").into());
    };
    Ok(class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect())
}
