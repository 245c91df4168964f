//! Arguments whose defaults are not `None`, and their allowed values.

use std::convert::Infallible;
use std::ffi::CString;

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::errors::{InvalidArgument, OrRaiseAt, type_name, unless_raised, wrong_type};
use super::options;
use super::read;
use super::read::values::{self, boolean, each};
use super::text::utf8;
use openai_harmony::ParserOptions;
use openai_harmony::chat::Role;
use openai_harmony::tokenizer::SpecialSet;

/// What a caller gave, or [`LEFT_OUT`]. An `Option` could not distinguish `None` from that.
pub(super) struct Argument<'py>(Option<Bound<'py, PyAny>>);

/// An argument that the caller left out.
pub(super) const LEFT_OUT: Argument<'static> = Argument(None);

impl<'py> FromPyObject<'_, 'py> for Argument<'py> {
    type Error = Infallible;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(Self(Some(object.to_owned())))
    }
}

impl Argument<'_> {
    /// Whether to parse strictly; `None` is the default too.
    fn strict(self, default: bool) -> PyResult<bool> {
        let Some(strict) = self.0.filter(|strict| !strict.is_none()) else { return Ok(default) };
        boolean(&strict).or_raise_at(strict.py(), "strict")
    }

    /// The option of lenient parsing; by default markers are not read where they are spelled.
    fn spelled_markers(self, options: ParserOptions) -> PyResult<ParserOptions> {
        let Some(object) = self.0 else { return Ok(options) };
        let invalid =
            |invalid: InvalidArgument| invalid.inside("spelled_markers").raised(object.py());
        match boolean(&object).map_err(invalid)? {
            true if options.strict => Err(invalid(InvalidArgument::value(
                "only lenient parsing (strict=False) reads them",
            ))),
            are_read => Ok(options.with_spelled_markers(are_read)),
        }
    }

    /// What to do with bytes that are not UTF-8; by default they are replaced.
    pub(super) fn errors(self) -> PyResult<CString> {
        match &self.0 {
            None => Ok(c"replace".to_owned()),
            Some(errors) => Ok(CString::new(&*utf8(string(errors, "errors")?)?)?),
        }
    }

    /// The special tokens whose names are encoded as the tokens; none by default.
    fn allowed_special(self) -> PyResult<SpecialNames> {
        match &self.0 {
            None => Ok(SpecialNames::Set(SpecialSet::None)),
            Some(names) => SpecialNames::read(names, "allowed_special"),
        }
    }

    /// The special tokens that are refused; all by default. A falsy value refuses none.
    fn disallowed_special(self) -> PyResult<SpecialNames> {
        match &self.0 {
            None => Ok(SpecialNames::Set(SpecialSet::All)),
            Some(names) if !names.is_truthy()? => Ok(SpecialNames::Set(SpecialSet::None)),
            Some(names) => SpecialNames::read(names, "disallowed_special"),
        }
    }
}

/// How to parse: strictly by default, with the tools that the model was offered and the prefill of the prompt.
pub(super) fn parser_options(
    strict: Argument<'_>,
    tools: Option<&Bound<'_, PyAny>>,
    prefill: Option<&Bound<'_, PyAny>>,
    spelled_markers: Argument<'_>,
) -> PyResult<ParserOptions> {
    let options = with_tools(strict.strict(true)?, tools)?.with_prefill(options::prefill(prefill)?);
    spelled_markers.spelled_markers(options)
}

/// The same, leniently by default.
pub(super) fn lenient_parser_options(
    strict: Argument<'_>,
    tools: Option<&Bound<'_, PyAny>>,
) -> PyResult<ParserOptions> {
    with_tools(strict.strict(false)?, tools)
}

fn with_tools(strict: bool, tools: Option<&Bound<'_, PyAny>>) -> PyResult<ParserOptions> {
    let options = if strict { ParserOptions::strict() } else { ParserOptions::lenient() };
    match tools {
        Some(tools) => Ok(options.with_tools(tool_names(tools)?)),
        None => Ok(options),
    }
}

pub(super) fn tool_names(tools: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    each(tools, values::string).or_raise_at(tools.py(), "tools")
}

/// The role that is the argument of this name.
pub(super) fn role(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<Role> {
    read::role(object).or_raise_at(object.py(), argument)
}

/// The string that is the argument of this name.
pub(super) fn string<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
    argument: &str,
) -> PyResult<&'a Bound<'py, PyString>> {
    match object.cast::<PyString>() {
        Ok(string) => Ok(string),
        Err(_) => {
            Err(InvalidArgument::type_of(object, "a string").inside(argument).raised(object.py()))
        }
    }
}

/// Encodes with the arguments `allowed_special` and `disallowed_special`.
pub(super) fn with_special<T>(
    allowed: Argument<'_>,
    disallowed: Argument<'_>,
    encode: impl FnOnce(&SpecialSet<'_>, &SpecialSet<'_>) -> PyResult<T>,
) -> PyResult<T> {
    let (allowed, disallowed) = (allowed.allowed_special()?, disallowed.disallowed_special()?);
    encode(&allowed.set(&allowed.borrowed()), &disallowed.set(&disallowed.borrowed()))
}

/// The names of special tokens that a caller gives.
enum SpecialNames {
    /// The set that a word or a default means.
    Set(SpecialSet<'static>),
    Listed(Vec<String>),
}

impl SpecialNames {
    /// `"all"`, or any iterable of names. Any other string is an iterable of its letters, as in 0.0.8, so `"none"`
    /// names no token.
    fn read(names: &Bound<'_, PyAny>, argument: &str) -> PyResult<Self> {
        let expected = format!("{argument}: expected 'all' or names of special tokens, got");
        let refused = |object: &Bound<'_, PyAny>, place: &str| {
            wrong_type(object.py(), format!("{expected} {place}{}", type_name(object)))
        };
        if let Ok(word) = names.cast::<PyString>()
            && utf8(word)? == "all"
        {
            return Ok(Self::Set(SpecialSet::All));
        }
        let name = |item: PyResult<Bound<'_, PyAny>>| {
            let item = item?;
            match item.cast::<PyString>() {
                Ok(name) => Ok(utf8(name)?.into_owned()),
                Err(_) => Err(refused(&item, "one that is of type ")),
            }
        };
        let items =
            names.try_iter().map_err(|error| unless_raised(error, names, || refused(names, "")))?;
        items.map(name).collect::<PyResult<_>>().map(Self::Listed)
    }

    /// The names, for [`Self::set`].
    fn borrowed(&self) -> Vec<&str> {
        match self {
            Self::Set(_) => Vec::new(),
            Self::Listed(names) => names.iter().map(String::as_str).collect(),
        }
    }

    /// The set, over what [`Self::borrowed`] returned.
    fn set<'a>(&self, borrowed: &'a [&'a str]) -> SpecialSet<'a> {
        match self {
            Self::Set(set) => *set,
            Self::Listed(_) => SpecialSet::Names(borrowed),
        }
    }
}
