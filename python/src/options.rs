//! Options of Python's callers: keyword arguments, and the attributes of models.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::attributes::Attributes;
use super::errors::{InvalidArgument, OrRaiseAt, Read, quoted};
use super::read::values::{boolean, count, each, optional, optional_string, string};
use super::text::utf8;
use openai_harmony::machinery::{Choice, SetByName, SetFrom};
use openai_harmony::{HeaderStyle, Prefill, RenderConfig, ThoughtPolicy, ToolSchemaStyle};

/// What a caller gave for an option.
#[derive(Clone, Copy)]
pub(super) struct Given<'a, 'py> {
    pub(super) value: &'a Bound<'py, PyAny>,
    /// For options that are functions.
    pub(super) failed: Option<&'a Failed>,
}

impl Given<'_, '_> {
    /// A function, and where to keep its exception; nothing for `None`.
    pub(super) fn function(self) -> Read<Option<(Py<PyAny>, Failed)>> {
        if self.value.is_none() {
            return Ok(None);
        }
        if !self.value.is_callable() {
            return Err(InvalidArgument::type_of(self.value, "a function"));
        }
        Ok(Some((self.value.clone().unbind(), self.failed.cloned().unwrap_or_default())))
    }
}

/// The exception of Python code that Rust code called.
#[derive(Clone, Default)]
pub(super) struct Failed(Arc<Mutex<Option<PyErr>>>);

impl Failed {
    pub(super) fn keep(&self, error: PyErr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// Whether one of the caller's functions can still raise.
    pub(super) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(super) fn check(&self) -> PyResult<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// Options that Python sets by their names.
pub(super) trait OfPython: for<'a, 'py> SetByName<Given<'a, 'py>, InvalidArgument> {}

impl<T: for<'a, 'py> SetByName<Given<'a, 'py>, InvalidArgument>> OfPython for T {}

/// Sets an option.
pub(super) fn set(options: &mut impl OfPython, name: &str, given: Given<'_, '_>) -> Read<()> {
    let unknown = || Err(InvalidArgument::value("unknown option"));
    options.set(name, given).unwrap_or_else(unknown)
}

/// Sets options from keyword arguments, each by `set`.
pub(super) fn set_all<T>(
    mut options: T,
    given: Option<&Bound<'_, PyDict>>,
    failed: Option<&Failed>,
    set: impl Fn(&mut T, &str, Given<'_, '_>) -> Read<()>,
) -> PyResult<T> {
    for (name, value) in given.into_iter().flatten() {
        let name = name.extract::<String>()?;
        set(&mut options, &name, Given { value: &value, failed }).or_raise_at(value.py(), name)?;
    }
    Ok(options)
}

/// Sets options from the attributes of the same names, except for a missing one.
pub(super) fn set_from_attributes<T: OfPython>(
    mut options: T,
    attributes: &Attributes<'_, '_>,
    missing: Option<&str>,
) -> Read<T> {
    for name in T::NAMES.iter().filter(|name| missing != Some(**name)) {
        attributes.field(&PyString::intern(attributes.py(), name), |value| {
            set(&mut options, name, Given { value, failed: None })
        })?;
    }
    Ok(options)
}

/// How Python's values become options of these types.
macro_rules! set_from {
    ($($type:ty: $read:expr),+ $(,)?) => {$(
        impl openai_harmony::machinery::SetFrom<$crate::options::Given<'_, '_>, $crate::errors::InvalidArgument>
            for $type
        {
            fn set_from(
                &mut self,
                given: $crate::options::Given<'_, '_>,
            ) -> $crate::errors::Read<()> {
                let read: $crate::errors::Read<$type> = ($read)(given.value);
                *self = read?;
                Ok(())
            }
        }
    )+};
}

pub(super) use set_from;

set_from! {
    bool: boolean,
    usize: count,
    String: string,
    Option<usize>: |value| optional(value, count),
    Option<u64>: |value| optional(value, count),
    Option<String>: optional_string,
    Option<Vec<u32>>: |value| optional(value, |ids| each(ids, count)),
    Option<Vec<String>>: |value| optional(value, |names| each(names, string)),
    Option<RenderConfig>: |value| optional(value, |config| self::config(Some(config))),
    HeaderStyle: HeaderStyle::read,
    ToolSchemaStyle: ToolSchemaStyle::read,
}

impl SetFrom<Given<'_, '_>, InvalidArgument> for ThoughtPolicy {
    /// `None` is the policy of `auto_drop_analysis`.
    fn set_from(&mut self, given: Given<'_, '_>) -> Read<()> {
        *self = optional(given.value, Self::read)?.unwrap_or(*self);
        Ok(())
    }
}

/// How to render a conversation. In Python, leaving the config out drops analysis.
pub(super) fn config(object: Option<&Bound<'_, PyAny>>) -> Read<RenderConfig> {
    let Some(object) = object else {
        return Ok(RenderConfig::new());
    };
    let attributes = Attributes::any(object, "a RenderConversationConfig");
    let auto_drop = attributes.field(intern!(attributes.py(), "auto_drop_analysis"), boolean)?;
    let config = RenderConfig::new().with_thoughts(ThoughtPolicy::of_auto_drop(auto_drop));
    set_from_attributes(config, &attributes, Some("conversation_has_function_tools"))
}

/// How to render a single message.
pub(super) fn render_options(object: Option<&Bound<'_, PyAny>>) -> Read<RenderConfig> {
    let Some(object) = object else {
        return Ok(RenderConfig::new());
    };
    let attributes = Attributes::any(object, "a RenderOptions");
    set_from_attributes(RenderConfig::new(), &attributes, Some("thoughts"))
}

/// The beginning of the next message; empty if left out.
pub(super) fn prefill(object: Option<&Bound<'_, PyAny>>) -> PyResult<Prefill> {
    let Some(object) = object else {
        return Ok(Prefill::new());
    };
    prefill_fields(object).or_raise_at(object.py(), "prefill")
}

/// The fields of a `Prefill`.
pub(super) fn prefill_fields(object: &Bound<'_, PyAny>) -> Read<Prefill> {
    set_from_attributes(Prefill::new(), &Attributes::any(object, "a Prefill"), None)
}

/// Reads a choice from its word, which may be the value of an enumeration.
pub(super) trait ReadChoice: Choice {
    fn read(object: &Bound<'_, PyAny>) -> Read<Self> {
        let Ok(word) = object.cast::<PyString>() else {
            return Err(InvalidArgument::type_of(object, Self::EXPECTED));
        };
        let word = utf8(word)?;
        let found = Self::ALL.iter().find(|(name, _)| *name == word);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let (expected, got) = (Self::EXPECTED, quoted(object.py(), &word));
            InvalidArgument::value(format!("expected {expected}, got {got}"))
        })
    }
}

impl<T: Choice> ReadChoice for T {}
