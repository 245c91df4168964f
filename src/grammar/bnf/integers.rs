//! Whole numbers between two bounds, digit by digit.

use serde_json::{Map, Value};

use crate::error::{Reason, Result};
use crate::grammar::invalid;
use crate::path::Path;

/// The least and the largest integer of a schema.
pub(super) fn bounds(
    members: &Map<String, Value>,
    path: &Path,
) -> Result<(Option<i64>, Option<i64>)> {
    let bound = |key: &'static str, is_least: bool, is_exclusive: bool| {
        let Some(value) = members.get(key) else { return Ok(None) };
        let Some(number) = value.as_f64().filter(|number| number.abs() < 1e15) else {
            return Err(invalid(
                path.clone().then(key),
                Reason::is("not a number that a grammar can hold"),
            ));
        };
        let step = i64::from(is_exclusive && number.fract() == 0.0);
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and below 1e15")]
        let whole = if is_least { number.ceil() as i64 } else { number.floor() as i64 };
        Ok(Some(if is_least { whole + step } else { whole - step }))
    };
    let least = bound("minimum", true, false)?.max(bound("exclusiveMinimum", true, true)?);
    let (most, below) = (bound("maximum", false, false)?, bound("exclusiveMaximum", false, true)?);
    let most = most.into_iter().chain(below).min();
    if let (Some(least), Some(most)) = (least, most)
        && most < least
    {
        return Err(invalid(path.clone(), "admits no integer"));
    }
    Ok((least, most))
}

/// The integers from one bound to the other, both included.
pub(super) fn between(least: Option<i64>, most: Option<i64>) -> String {
    let mut options = Vec::new();
    // Those below zero, by their size.
    if least.is_none_or(|least| least < 0) {
        let smallest = most.filter(|most| *most < 0).map_or(1, i64::unsigned_abs);
        let largest = least.map(i64::unsigned_abs);
        options.push(format!("\"-\" ({})", sizes(smallest, largest)));
    }
    if most.is_none_or(|most| most >= 0) {
        let smallest = least.filter(|least| *least > 0).map_or(0, i64::unsigned_abs);
        options.push(sizes(smallest, most.map(i64::unsigned_abs)));
    }
    options.join(" | ")
}

/// Numbers without a sign.
fn sizes(least: u64, most: Option<u64>) -> String {
    let first = least.to_string();
    let mut options = Vec::new();
    let Some(most) = most else {
        options.push(same_length(first.as_bytes(), "9".repeat(first.len()).as_bytes()));
        options.push(format!("[1-9] [0-9]{{{},}}", first.len()));
        return options.join(" | ");
    };
    let end = most.to_string();
    for length in first.len()..=end.len() {
        let (nines, one) = ("9".repeat(length), format!("1{}", "0".repeat(length - 1)));
        let from = if length == first.len() { &first } else { &one };
        let to = if length == end.len() { &end } else { &nines };
        options.push(same_length(from.as_bytes(), to.as_bytes()));
    }
    options.join(" | ")
}

/// So many digits, from one number to another of as many.
fn same_length(least: &[u8], most: &[u8]) -> String {
    let (Some((&low, lows)), Some((&high, highs))) = (least.split_first(), most.split_first())
    else {
        return String::new();
    };
    let (zeros, nines) = ("0".repeat(lows.len()), "9".repeat(lows.len()));
    if lows == zeros.as_bytes() && highs == nines.as_bytes() {
        return format!("{} {}", digits(low, high), any(lows.len()));
    }
    if low == high {
        return format!("\"{}\" {}", char::from(low), group(&same_length(lows, highs)));
    }
    let from_low = group(&same_length(lows, nines.as_bytes()));
    let mut options = vec![format!("\"{}\" {from_low}", char::from(low))];
    if high - low > 1 {
        options.push(format!("{} {}", digits(low + 1, high - 1), any(lows.len())));
    }
    let up_to_high = group(&same_length(zeros.as_bytes(), highs));
    options.push(format!("\"{}\" {up_to_high}", char::from(high)));
    options.join(" | ")
}

fn digits(from: u8, to: u8) -> String {
    format!("[{}-{}]", char::from(from), char::from(to))
}

fn any(count: usize) -> String {
    if count == 0 { String::new() } else { format!("[0-9]{{{count},{count}}}") }
}

fn group(options: &str) -> String {
    if options.is_empty() { String::new() } else { format!("({options})") }
}
