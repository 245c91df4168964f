//! Numbers as the text that they are.

use serde::{Serialize, Serializer, ser};
use serde_json::Number;
use serde_json::value::RawValue;

/// Up to so many digits an integer fits an `f64`, rounded if need be.
pub(super) const SURELY_FINITE: usize = 308;

/// Whether a number fits an `f64`, rounded if need be.
pub(crate) fn is_finite(digits: &str) -> bool {
    digits.parse().is_ok_and(f64::is_finite)
}

/// Whether what stands for a number is `NaN` or an infinity.
#[cfg(feature = "training")]
pub(crate) fn is_not_a_number(digits: &str) -> bool {
    digits.ends_with(char::is_alphabetic)
}

/// A number of 64 bits: an integer that is longer is the nearest float. Read as 0.0.8 reads the numbers of schemas,
/// which takes the nearest float but one now and then.
pub(crate) fn read(digits: &str) -> Option<Number> {
    serde_json::from_str(digits).ok()
}

/// A number of 64 bits: the integer, else the nearest float.
pub(crate) fn read_exactly(digits: &str) -> Option<Number> {
    if let Ok(integer) = digits.parse::<i64>() {
        return Some(integer.into());
    }
    if let Ok(integer) = digits.parse::<u64>() {
        return Some(integer.into());
    }
    Number::from_f64(digits.parse().ok()?)
}

/// A number that is serialized with all its digits: `serde_json` writes them as they are.
pub(crate) struct Digits<'a>(pub(crate) &'a str);

impl Digits<'_> {
    /// What they are called when they are serialized, by which a serializer can know them.
    const TYPE: &'static str = "openai_harmony::Digits";

    /// Whether a newtype of this name is a number's digits.
    #[cfg(feature = "python")]
    pub(crate) fn is_type(name: &str) -> bool {
        name == Self::TYPE
    }
}

impl Serialize for Digits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits: &RawValue = serde_json::from_str(self.0).map_err(ser::Error::custom)?;
        serializer.serialize_newtype_struct(Self::TYPE, digits)
    }
}
