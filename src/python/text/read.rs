//! Strings to UTF-8.

use std::borrow::Cow;
use std::hint::select_unpredictable;

use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::types::string::PyStringData;

/// The text of a string. Lone surrogates, which UTF-8 cannot say, become U+FFFD; a pair of them
/// becomes the character that it stands for.
///
/// Python keeps the UTF-8 of a string that was asked for it, as long as it keeps the string.
pub(in crate::python) fn utf8<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    match string.to_str() {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) => Ok(Cow::Owned(Chars::units(string)?.utf8().into_owned())),
    }
}

/// Characters from which on a string is long.
const LONG: usize = 1_000;

/// The characters of a string as Python has them, to be made UTF-8 later and without the
/// interpreter's lock.
///
/// For long texts that is better than what Python does, which looks at each character by itself
/// and keeps the result: 2 MB of code with a few arrows in it take 0.4 ms in place of 2.9, and
/// encoding it a tenth less in all.
pub(in crate::python) enum Chars<'a> {
    /// UTF-8 that the string has, as short ones and those of ASCII do.
    Utf8(&'a str),
    /// None above U+00FF.
    One(&'a [u8]),
    /// None above U+FFFF.
    Two(&'a [u16]),
    Four(&'a [u32]),
}

impl<'a> Chars<'a> {
    pub(in crate::python) fn of(string: &'a Bound<'_, PyString>) -> PyResult<Self> {
        let chars = Self::units(string)?;
        // Not where there are surrogates.
        if (string.len()? < LONG || chars.is_ascii())
            && let Ok(text) = string.to_str()
        {
            return Ok(Self::Utf8(text));
        }
        Ok(chars)
    }

    /// The characters without a look for UTF-8.
    pub(super) fn units(string: &'a Bound<'_, PyString>) -> PyResult<Self> {
        // SAFETY: strings do not change, and the data is looked at only as long as the string is
        // borrowed. On how Python lays it out PyO3 answers for CPython, the only one built for.
        Ok(match unsafe { string.data() }? {
            PyStringData::Ucs1(units) => Self::One(units),
            PyStringData::Ucs2(units) => Self::Two(units),
            PyStringData::Ucs4(units) => Self::Four(units),
        })
    }

    /// Whether the text is ASCII, and Python has its UTF-8 therefore.
    pub(super) fn is_ascii(&self) -> bool {
        match self {
            Self::Utf8(text) => text.is_ascii(),
            Self::One(units) => units.is_ascii(),
            // Python has no more bytes to a character than the text needs.
            Self::Two(_) | Self::Four(_) => false,
        }
    }

    /// In how many bytes Python has the text, about as many as it has in UTF-8.
    pub(in crate::python) fn size(&self) -> usize {
        match self {
            Self::Utf8(text) => text.len(),
            Self::One(units) => units.len(),
            Self::Two(units) => size_of_val(*units),
            Self::Four(units) => size_of_val(*units),
        }
    }

    /// The text, with surrogates as [`utf8`] has them.
    pub(in crate::python) fn utf8(&self) -> Cow<'a, str> {
        match self {
            Self::Utf8(text) => Cow::Borrowed(text),
            Self::One(units) => Cow::Owned(joined(units)),
            Self::Two(units) => Cow::Owned(joined(units)),
            Self::Four(units) => Cow::Owned(joined(units)),
        }
    }
}

fn joined<T: Copy + Into<u32>>(units: &[T]) -> String {
    whole(units).unwrap_or_else(|| mended(units))
}

/// Characters that are made UTF-8 together: in other languages' code and prose most stretches of
/// this length are ASCII.
const BLOCK: usize = 32;

/// The text of characters; `None` if there is a surrogate among them.
fn whole<T: Copy + Into<u32>>(units: &[T]) -> Option<String> {
    let mut out = Vec::with_capacity(units.len() + units.len() / 4);
    let mut text = [0; 4 * BLOCK];
    for block in units.chunks(BLOCK) {
        if block.iter().fold(0, |all, &unit| all | unit.into()) < 0x80 {
            out.extend(block.iter().map(|&unit| unit.into().to_le_bytes()[0]));
            continue;
        }
        // No branch depends on the characters: text that is not ASCII alternates between it and
        // something else, nobody can foresee where.
        let (mut len, mut has_surrogate) = (0, false);
        for &unit in block {
            let (bytes, count) = encoded(unit.into());
            text[len..len + 4].copy_from_slice(&bytes.to_le_bytes());
            len += count;
            has_surrogate |= (0xd800..0xe000).contains(&unit.into());
        }
        if has_surrogate {
            return None;
        }
        out.extend_from_slice(&text[..len]);
    }
    // SAFETY: these are the bytes of whole characters as `encoded` gives them, none of them a
    // surrogate, and none above U+10FFFF, as Python has no such characters. Having them checked
    // takes a third of the time of making them.
    Some(unsafe { String::from_utf8_unchecked(out) })
}

/// The UTF-8 of a character, the first byte lowest, and how many bytes it has.
#[inline]
fn encoded(char: u32) -> (u32, usize) {
    let tail = |shift: u32| 0x80 | (char >> shift & 0x3f);
    let two = 0xc0 | char >> 6 | tail(0) << 8;
    let three = 0xe0 | char >> 12 | tail(6) << 8 | tail(0) << 16;
    let four = 0xf0 | char >> 18 | tail(12) << 8 | tail(6) << 16 | tail(0) << 24;
    let bytes = select_unpredictable(char < 0x1_0000, three, four);
    let bytes = select_unpredictable(char < 0x800, two, bytes);
    let bytes = select_unpredictable(char < 0x80, char, bytes);
    let more = u8::from(char >= 0x80) + u8::from(char >= 0x800) + u8::from(char >= 0x1_0000);
    (bytes, 1 + usize::from(more))
}

/// The text of characters of which some are surrogates.
#[cold]
fn mended<T: Copy + Into<u32>>(units: &[T]) -> String {
    let mut units = units.iter().map(|&unit| unit.into()).peekable();
    let mut text = String::new();
    while let Some(unit) = units.next() {
        let low = |next: &u32| (0xd800..0xdc00).contains(&unit) && (0xdc00..0xe000).contains(next);
        let code_point = match units.next_if(low) {
            Some(low) => 0x1_0000 + ((unit & 0x3ff) << 10 | low & 0x3ff),
            None => unit,
        };
        text.push(char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    text
}
