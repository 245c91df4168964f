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
            for code_point in u32::from(first)..=last.into() {
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

/// Unicode's control, format and separator characters, and those that a font without a glyph shows as nothing. The blank
/// is among them: a header may have it between words, never within one.
const INVISIBLE: &str = r"[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]";

/// `invisible.rs`: their ranges, for `src/names`.
pub(crate) fn invisible() -> Result<Table, Box<dyn Error>> {
    let bytes = format!("{:?}", ranges(INVISIBLE)?).into_bytes();
    Ok(Table { name: "invisible.rs", bytes })
}

/// The characters that a pattern of one character matches, as ranges.
fn ranges(pattern: &str) -> Result<Vec<(char, char)>, Box<dyn Error>> {
    let HirKind::Class(Class::Unicode(class)) = regex_syntax::parse(pattern)?.into_kind() else {
        return Err(format!("{pattern} is not a class").into());
    };
    Ok(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
}
