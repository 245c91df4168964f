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
