//! Numbers as digits, of any size: the bounds of integers and of other numbers.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

/// A number without an exponent. Zero has no sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::grammar) struct Decimal {
    pub(in crate::grammar) is_negative: bool,
    /// Without zeros in front.
    pub(in crate::grammar) whole: String,
    /// Without zeros at the end.
    pub(in crate::grammar) fraction: String,
}

impl Decimal {
    pub(in crate::grammar) fn of(number: &Number) -> Self {
        // The standard library writes doubles without exponents, whole ones with all their digits only if asked to.
        let text = match number.as_f64().filter(|_| number.is_f64()) {
            Some(double) if double.fract() == 0.0 => format!("{double:.0}"),
            Some(double) => double.to_string(),
            None => number.to_string(),
        };
        let digits = text.trim_start_matches('-');
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        Self::new(text.starts_with('-'), whole, fraction)
    }

    /// An integer of one digit.
    pub(in crate::grammar) fn digit(digit: &str) -> Self {
        Self::new(false, digit, "")
    }

    fn new(is_negative: bool, whole: &str, fraction: &str) -> Self {
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        let fraction = fraction.trim_end_matches('0');
        let is_zero = whole == "0" && fraction.is_empty();
        let (whole, fraction) = (whole.to_owned(), fraction.to_owned());
        Self { is_negative: is_negative && !is_zero, whole, fraction }
    }

    /// What decides how far it is from zero.
    fn digits(&self) -> (usize, &str, &str) {
        (self.whole.len(), &self.whole, &self.fraction)
    }

    /// Its distance from zero.
    pub(in crate::grammar) fn size(&self) -> Self {
        Self { is_negative: false, ..self.clone() }
    }

    /// Whether it is a multiple of a number, whose digits up to the last place of both have to fit 64 bits.
    pub(in crate::grammar) fn is_multiple(&self, of: &Self) -> bool {
        let places = self.fraction.len().max(of.fraction.len());
        let digits = |one: &Self| format!("{}{:0<places$}", one.whole, one.fraction);
        let Ok(divisor) = digits(of).parse::<u64>().map(u128::from) else { return false };
        let step = |rest: u128, digit: u8| (rest * 10 + u128::from(digit - b'0')) % divisor.max(1);
        digits(self).bytes().fold(0, step) == 0
    }

    /// Its product with a power of ten.
    fn shifted(&self, places: usize) -> Self {
        let fraction = format!("{:0<places$}", self.fraction);
        let (digits, rest) = fraction.split_at(places);
        Self::new(self.is_negative, &format!("{}{digits}", self.whole), rest)
    }

    /// An integer's quotient by a power of ten.
    pub(in crate::grammar) fn unshifted(&self, places: usize) -> Self {
        let digits = format!("{:0>width$}", self.whole, width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        Self::new(self.is_negative, whole, fraction)
    }

    /// The nearest integer above it (below it), which is another one if it is excluded.
    fn integer(&self, is_above: bool, is_excluded: bool) -> Self {
        let whole = Self::new(self.is_negative, &self.whole, "");
        let is_whole = self.fraction.is_empty();
        // Cutting the fraction off moves a number towards zero.
        if (is_whole && !is_excluded) || (!is_whole && is_above == self.is_negative) {
            return whole;
        }
        whole.next(is_above)
    }

    /// The integer after (before) this one; of its fraction nothing is left.
    pub(in crate::grammar) fn next(&self, is_above: bool) -> Self {
        if !is_above && self.whole == "0" {
            return Self::new(true, "1", "");
        }
        Self::new(self.is_negative, &step(&self.whole, is_above != self.is_negative), "")
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = other.is_negative.cmp(&self.is_negative);
        let (less, more) = if self.is_negative { (other, self) } else { (self, other) };
        signs.then_with(|| less.digits().cmp(&more.digits()))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The whole number after (before) one.
fn step(digits: &str, is_up: bool) -> String {
    let (carried, left) = if is_up { ('9', "0") } else { ('0', "9") };
    let kept = digits.trim_end_matches(carried);
    let left = left.repeat(digits.len() - kept.len());
    match kept.as_bytes().split_last() {
        Some((last, _)) => {
            let last = char::from(if is_up { last + 1 } else { last - 1 });
            format!("{}{last}{left}", &kept[..kept.len() - 1])
        }
        None if is_up => format!("1{left}"),
        None => left,
    }
}

/// A bound, and whether it is excluded.
pub(in crate::grammar) type Bound = (Decimal, bool);

/// The least and the largest number of a schema.
#[derive(Debug, Clone, Default)]
pub(in crate::grammar) struct Bounds {
    pub(in crate::grammar) least: Option<Bound>,
    pub(in crate::grammar) most: Option<Bound>,
}

impl Bounds {
    pub(in crate::grammar) fn of(members: &Map<String, Value>) -> Self {
        let bound = |key: &str, is_excluded: bool| match members.get(key) {
            Some(Value::Number(number)) => Some((Decimal::of(number), is_excluded)),
            _ => None,
        };
        // Of equal ones, the excluded one says more.
        let least =
            bound("minimum", false).into_iter().chain(bound("exclusiveMinimum", true)).max();
        let most = bound("maximum", false).into_iter().chain(bound("exclusiveMaximum", true));
        let most = most.min_by(|(one, is_out), (other, is_other_out)| {
            one.cmp(other).then(is_other_out.cmp(is_out))
        });
        Self { least, most }
    }

    pub(in crate::grammar) fn are_none(&self) -> bool {
        self.least.is_none() && self.most.is_none()
    }

    /// The least and the largest number of at most this many places after the point.
    pub(in crate::grammar) fn rounded(&self, places: usize) -> (Option<Decimal>, Option<Decimal>) {
        let nearest = |bound: &Option<Bound>, is_above| {
            let (number, is_excluded) = bound.as_ref()?;
            Some(number.shifted(places).integer(is_above, *is_excluded).unshifted(places))
        };
        (nearest(&self.least, true), nearest(&self.most, false))
    }
}
