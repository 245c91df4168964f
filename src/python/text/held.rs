//! Strings whose UTF-8 can wait.

use std::mem;
use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::read::{Chars, ascii};

/// The text of a string, with a reference to the string.
///
/// Text that is not ASCII becomes UTF-8 when it is first looked at, which may be without the
/// interpreter's lock. Making it by Python is a tenth of rendering new conversations, with the
/// lock held, and Python keeps it as long as the string.
pub(in crate::python) enum HeldText {
    Ascii(Ascii),
    Other(Box<Other>),
}

pub(in crate::python) struct Ascii {
    /// That of `string`.
    text: &'static str,
    #[expect(dead_code, reason = "keeps the text")]
    string: Py<PyString>,
}

pub(in crate::python) struct Other {
    /// Those of `string`.
    chars: Chars<'static>,
    utf8: OnceLock<String>,
    #[expect(dead_code, reason = "keeps the characters")]
    string: Py<PyString>,
}

impl HeldText {
    pub(in crate::python) fn of(string: &Bound<'_, PyString>) -> PyResult<Self> {
        // SAFETY: the characters live, and stay as they are, as long as the string does, to which
        // the same struct gets a reference. It gives them to nobody for longer than it lives itself.
        let chars = unsafe { mem::transmute::<Chars<'_>, Chars<'static>>(Chars::units(string)?) };
        let owned = string.clone().unbind();
        Ok(match ascii(string, &chars) {
            Some(text) => Self::Ascii(Ascii { text, string: owned }),
            None => Self::Other(Box::new(Other { chars, utf8: OnceLock::new(), string: owned })),
        })
    }

    /// The UTF-8, with surrogates as [`super::utf8`] has them.
    pub(in crate::python) fn as_str(&self) -> &str {
        match self {
            Self::Ascii(ascii) => ascii.text,
            Self::Other(other) => other.utf8.get_or_init(|| other.chars.utf8().into_owned()),
        }
    }

    /// About as many bytes as it has in UTF-8.
    pub(in crate::python) fn size(&self) -> usize {
        match self {
            Self::Ascii(ascii) => ascii.text.len(),
            Self::Other(other) => other.chars.size(),
        }
    }
}
