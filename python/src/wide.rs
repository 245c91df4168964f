//! Strings with characters beyond Latin-1 to UTF-8.
//!
//! Python stores their characters in two or four bytes each, and converts them one by one. This module copies sixteen
//! at a time if they are ASCII, as most are even in a text with a single typographic quotation mark: prose and JSON
//! take a quarter of the time, Chinese two thirds. The string also does not keep the UTF-8 for its lifetime.

use std::ops::BitOr;

use pyo3::prelude::*;
use pyo3::types::PyString;
#[cfg(target_endian = "little")]
use pyo3::types::string::PyStringData;

/// Characters that are looked at together.
const TOGETHER: usize = 16;

/// The text of a string of such characters. `None` for other strings, and if there are surrogates among them.
pub(super) fn utf8(string: &Bound<'_, PyString>) -> Option<String> {
    Units::of(string)?.utf8()
}

/// A string of such characters, which can be converted with the GIL released.
pub(super) struct WideString {
    units: Units<'static>,
    string: Py<PyString>,
}

impl WideString {
    /// `None` for other strings.
    pub(super) fn of(string: &Bound<'_, PyString>) -> Option<Self> {
        let units = Units::of(string)?;
        // SAFETY: the string neither changes nor moves, and lives as long as the reference to it, which is kept with
        // the units. They are not given away.
        let units = unsafe { std::mem::transmute::<Units<'_>, Units<'static>>(units) };
        Some(Self { units, string: string.clone().unbind() })
    }

    pub(super) fn string<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        self.string.bind(py)
    }

    /// Its bytes, as Python keeps them.
    pub(super) fn size(&self) -> usize {
        match self.units {
            Units::Two(units) => size_of_val(units),
            Units::Four(units) => size_of_val(units),
        }
    }

    /// The text. `None` if there are surrogates in it.
    pub(super) fn utf8(&self) -> Option<String> {
        self.units.utf8()
    }
}

#[derive(Clone, Copy)]
enum Units<'a> {
    Two(&'a [u16]),
    Four(&'a [u32]),
}

impl<'a> Units<'a> {
    #[cfg(target_endian = "little")]
    fn of(string: &'a Bound<'_, PyString>) -> Option<Self> {
        // SAFETY: a string never changes, and lives longer than what is read of it here. PyO3 asks for tests that it
        // reads the width right on each platform: `test_text.py` encodes every character in strings of each width.
        match unsafe { string.data() } {
            Ok(PyStringData::Ucs2(units)) => Some(Self::Two(units)),
            Ok(PyStringData::Ucs4(units)) => Some(Self::Four(units)),
            _ => None,
        }
    }

    /// The width is read right on these platforms only.
    #[cfg(not(target_endian = "little"))]
    fn of(_: &'a Bound<'_, PyString>) -> Option<Self> {
        None
    }

    fn utf8(self) -> Option<String> {
        match self {
            Self::Two(units) => text_of(units),
            Self::Four(units) => text_of(units),
        }
    }
}

fn text_of<U>(units: &[U]) -> Option<String>
where
    U: Copy + From<u8> + Into<u32> + BitOr<Output = U> + Ord,
{
    // Room for characters of three bytes each; the system provides only the part that is written to.
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
