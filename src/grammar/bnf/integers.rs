//! Whole numbers between two bounds, digit by digit, and multiples of a number.

use super::rules::BnfRules;
use crate::grammar::schemas::decimal::Decimal;

/// The most multiples that are listed one by one.
const MOST_LISTED: i128 = 500;

/// The largest number with multiples that are told by remainders, of which each is a rule.
const MOST_REMAINDERS: u64 = 200;

/// The integers from one bound to the other, both included; `None` if there are none.
pub(super) fn between(least: Option<&Decimal>, most: Option<&Decimal>) -> Option<String> {
    if least.zip(most).is_some_and(|(least, most)| least > most) {
        return None;
    }
    let mut options = Vec::new();
    // Those below zero, by their size.
    if least.is_none_or(|least| least.is_negative) {
        let smallest = most.filter(|most| most.is_negative).map_or("1", |most| &most.whole);
        let largest = least.map(|least| least.whole.as_str());
        options.push(format!("\"-\" ({})", sizes(smallest, largest)));
    }
    if most.is_none_or(|most| !most.is_negative) {
        let smallest = least.filter(|least| !least.is_negative).map_or("0", |least| &least.whole);
        options.push(sizes(smallest, most.map(|most| most.whole.as_str())));
    }
    Some(options.join(" | "))
}

/// Multiples of a number between two bounds; `None` where there is no such form, or no number.
pub(super) fn multiples(
    rules: &mut BnfRules,
    of: u64,
    least: Option<&Decimal>,
    most: Option<&Decimal>,
) -> Option<String> {
    let number = |bound: &Decimal| {
        let size = bound.whole.parse::<i128>().ok()?;
        Some(if bound.is_negative { -size } else { size })
    };
    let bounds = least.and_then(number).zip(most.and_then(number));
    if let Some((least, most)) = bounds {
        let of = i128::from(of);
        let (low, high) = (-(-least).div_euclid(of), most.div_euclid(of));
        let is_few = high.checked_sub(low).is_some_and(|count| count < MOST_LISTED);
        let all = || (low..=high).map(|count| format!("\"{}\"", count * of));
        return is_few.then(|| all().collect::<Vec<_>>().join(" | "));
    }
    let has_sign = match (least, most) {
        (None, None) => true,
        (Some(least), None) if least.whole == "0" => false,
        _ => return None,
    };
    if of > MOST_REMAINDERS {
        return None;
    }
    let size = by_remainders(rules, of);
    Some(if has_sign { format!("\"-\"? {size}") } else { size })
}

/// A rule for each remainder of the digits so far.
fn by_remainders(rules: &mut BnfRules, of: u64) -> String {
    let names: Vec<String> = (0..of).map(|_| rules.name()).collect();
    let next = |remainder: u64, digits: std::ops::RangeInclusive<u64>| {
        let options = digits.map(|digit| {
            let at = usize::try_from((10 * remainder + digit) % of).unwrap_or_default();
            format!("\"{digit}\" {}", names[at])
        });
        options.collect::<Vec<_>>().join(" | ")
    };
    for (name, remainder) in names.iter().zip(0..) {
        let end = if remainder == 0 { " | \"\"" } else { "" };
        rules.add(name, format!("{}{end}", next(remainder, 0..=9)));
    }
    rules.made(&format!("\"0\" | {}", next(0, 1..=9)))
}

/// Numbers without a sign.
pub(super) fn sizes(first: &str, most: Option<&str>) -> String {
    let mut options = Vec::new();
    let Some(end) = most else {
        options.push(same_length(first.as_bytes(), "9".repeat(first.len()).as_bytes()));
        options.push(format!("[1-9] [0-9]{{{},}}", first.len()));
        return options.join(" | ");
    };
    for length in first.len()..=end.len() {
        let (nines, one) = ("9".repeat(length), format!("1{}", "0".repeat(length - 1)));
        let from = if length == first.len() { first } else { &one };
        let to = if length == end.len() { end } else { &nines };
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

pub(super) fn digits(from: u8, to: u8) -> String {
    format!("[{}-{}]", char::from(from), char::from(to))
}

fn any(count: usize) -> String {
    if count == 0 { String::new() } else { format!("[0-9]{{{count},{count}}}") }
}

pub(super) fn group(options: &str) -> String {
    if options.is_empty() { String::new() } else { format!("({options})") }
}
