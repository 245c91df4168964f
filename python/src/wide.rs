//! Strings with characters beyond Latin-1 to UTF-8.
//!
//! Python keeps their characters in two or four bytes each, and its own conversion goes from one to the next. Here
//! sixteen at a time are copied if they are ASCII, as most are even where a single quotation mark is not: prose and
//! JSON take a quarter of the time, Chinese two thirds. Nor does the string keep the UTF-8 as long as it lives.

use std::ops::BitOr;

use pyo3::prelude::*;
use pyo3::types::PyString;

/// Characters that are looked at together.
const TOGETHER: usize = 16;

/// The text of a string of such characters. `None` for other strings, and if there are surrogates among them.
#[cfg(target_endian = "little")]
pub(super) fn utf8(string: &Bound<'_, PyString>) -> Option<String> {
    use pyo3::types::string::PyStringData;

    // SAFETY: a string never changes, and lives longer than what is read of it here. PyO3 asks for tests that it
    // reads the width right on each platform: `test_text.py` encodes every character in strings of each width.
    match unsafe { string.data() } {
        Ok(PyStringData::Ucs2(units)) => text_of(units),
        Ok(PyStringData::Ucs4(units)) => text_of(units),
        _ => None,
    }
}

/// The width is read right on these platforms only.
#[cfg(not(target_endian = "little"))]
pub(super) fn utf8(_: &Bound<'_, PyString>) -> Option<String> {
    None
}

fn text_of<U>(units: &[U]) -> Option<String>
where
    U: Copy + From<u8> + Into<u32> + BitOr<Output = U> + Ord,
{
    // Room for characters of three bytes each, of which the system provides what is written to.
    let mut text = String::with_capacity(3 * units.len());
    let (blocks, rest) = units.as_chunks::<TOGETHER>();
    for block in blocks {
        if block.iter().fold(U::from(0), |all, &unit| all | unit) < U::from(0x80) {
            let bytes = block.map(low_byte);
            // SAFETY: the bytes are ASCII. Checking it again takes four times as long as all the rest.
            text.push_str(unsafe { str::from_utf8_unchecked(&bytes) });
        } else {
            push_all(block, &mut text)?;
        }
    }
    push_all(rest, &mut text)?;
    Some(text)
}

/// Appends characters one by one; `None` at a surrogate.
fn push_all<U: Copy + Into<u32>>(units: &[U], text: &mut String) -> Option<()> {
    for &unit in units {
        text.push(char::from_u32(unit.into())?);
    }
    Some(())
}

#[expect(clippy::cast_possible_truncation, reason = "it is ASCII")]
fn low_byte(unit: impl Into<u32>) -> u8 {
    unit.into() as u8
}
