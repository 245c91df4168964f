//! Where a long text can be divided so that its parts, each encoded by itself, give the same tokens.
//!
//! No piece of the pattern (see `split`) reaches across these offsets, and the pieces before one are the same whether
//! more text follows or not. Within a piece:
//!
//! * a space is only first or after white space, so a piece begins at a space after anything else;
//! * nothing but white space and `/` follows a newline;
//! * letters are followed by letters, marks and contractions, digits by digits.
//!
//! Nor does a special token's name reach across one: it has neither white space nor a letter next to a
//! digit.

/// The last such offset in a text after `from`; `None` if there is none. Linear in the text after the
/// offset.
pub(super) fn chunk_end(text: &str, from: usize) -> Option<usize> {
    let mut after = None;
    for (index, char) in text.get(from..)?.char_indices().rev() {
        if after.is_some_and(|after| is_divided(char, after)) {
            return Some(from + index + char.len_utf8());
        }
        after = Some(char);
    }
    None
}

/// Whether a piece always ends between two characters, whatever is around them.
fn is_divided(before: char, after: char) -> bool {
    match after {
        ' ' => !before.is_whitespace(),
        '\n' | '、' | '。' | '，' => is_letter(before) || before.is_ascii_digit(),
        '0'..='9' => before == '\n' || before.is_ascii_alphabetic(),
        _ => {
            is_letter(after) && before == '\n'
                || after.is_ascii_alphabetic() && before.is_ascii_digit()
        }
    }
}

/// Whether a character is one of the letters that most long texts without spaces consist of.
fn is_letter(char: char) -> bool {
    matches!(char, 'a'..='z' | 'A'..='Z' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '一'..='鿿' | '가'..='힣')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::chunk_end;
    use crate::tokenizer::{SpecialSet, Tokenizer};

    /// Characters that the pattern treats differently, and those that look like others: a circled
    /// letter is not a letter, a Roman numeral is a number and a letter.
    const CHARS: &[char] = &[
        ' ', ' ', '\n', '\r', '\t', '\u{a0}', '\u{2028}', 'a', 'S', 't', '\'', '’', '1', '2', '/',
        '!', '|', '中', 'の', '한', '。', 'é', '\u{301}', 'Ⓐ', 'Ⅷ', '٣', '🤷', '\u{200d}', 'ſ',
        'ǅ', 'ʰ',
    ];

    fn encoded(text: &str) -> Vec<u32> {
        let mut tokens = Vec::new();
        let all = SpecialSet::All;
        let encoded = Tokenizer::o200k_harmony().encode_checked_into(
            text,
            &all,
            &SpecialSet::None,
            &mut tokens,
        );
        assert!(encoded.is_ok());
        tokens
    }

    proptest! {
        #[test]
        fn parts_have_the_tokens_of_the_whole(
            text in prop::collection::vec(
                prop_oneof![
                    20 => prop::sample::select(CHARS).prop_map(String::from),
                    1 => Just("<|reserved_200018|>".to_owned()),
                    1 => Just("<|end|>".to_owned()),
                ],
                0..40,
            ),
        ) {
            let text = text.concat();
            let whole = encoded(&text);
            // Each offset is the last one of some beginning of the text.
            for (end, _) in text.char_indices() {
                if let Some(offset) = chunk_end(&text[..end], 0) {
                    let (before, after) = text.split_at(offset);
                    prop_assert_eq!(&[encoded(before), encoded(after)].concat(), &whole, "{:?}", offset);
                }
            }
        }
    }

    #[test]
    fn the_last_offset_is_found() {
        for (text, from, offset) in [
            ("one two three", 0, Some(7)),
            ("one two three", 7, None),
            ("one two  ", 0, Some(7)),
            ("中文。中文", 0, Some(6)),
            ("a1b2", 0, Some(3)),
            ("line\nline", 0, Some(5)),
            ("aaaa", 0, None),
            ("!\n!\n", 0, None),
            ("", 0, None),
        ] {
            assert_eq!(chunk_end(text, from), offset, "{text:?}");
        }
    }
}
