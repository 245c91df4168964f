//! JSON values as trees or on a tape.
//!
//! Users of the crate give schemas as [`Value`]s. The Python binding writes them on a [`Tape`],
//! which is faster to build and to drop. The code that reads schemas takes either.

mod tape;

use std::borrow::Cow;

use serde_json::Value;

pub(crate) use tape::{Array, Object, Tape, Taped};

/// A JSON value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Json<'a> {
    Value(&'a Value),
    #[cfg_attr(not(feature = "python"), expect(dead_code, reason = "the binding makes them"))]
    Taped(Taped<'a>),
}

impl<'a> Json<'a> {
    /// The same as a `Value`.
    pub(crate) fn to_value(self) -> Cow<'a, Value> {
        match self {
            Self::Value(value) => Cow::Borrowed(value),
            Self::Taped(taped) => Cow::Owned(taped.to_value()),
        }
    }
}
