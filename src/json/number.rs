//! Numbers as the text that they are.

use serde::{Serialize, Serializer, ser};
use serde_json::Number;
use serde_json::value::RawValue;

/// An integer of up to this many digits fits an `f64`, rounded if need be.
pub(super) const SURELY_FINITE: usize = 308;

/// Whether a number fits an `f64`, rounded if need be.
pub(crate) fn is_finite(digits: &str) -> bool {
    digits.parse().is_ok_and(f64::is_finite)
}

/// Whether the text of a number is `NaN` or an infinity.
#[cfg(feature = "training")]
pub(crate) fn is_not_a_number(digits: &str) -> bool {
    digits.ends_with(char::is_alphabetic)
}

/// A number of 64 bits: the integer, else the nearest float.
pub(crate) fn read(digits: &str) -> Option<Number> {
    if let Ok(integer) = digits.parse::<i64>() {
        return Some(integer.into());
    }
    if let Ok(integer) = digits.parse::<u64>() {
        return Some(integer.into());
    }
    Number::from_f64(digits.parse().ok()?)
}

/// Writes a number with all its digits: `serde_json` passes them on as they are.
pub(super) fn serialize<S: Serializer>(digits: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let digits: &RawValue = serde_json::from_str(digits).map_err(ser::Error::custom)?;
    digits.serialize(serializer)
}
