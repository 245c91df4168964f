//! Numbers between two bounds, written without an exponent: digits of a whole, and digits of a fraction.

use super::integers::{digits, sizes};
use crate::grammar::schemas::decimal::{Bound, Bounds, Decimal};

/// How many digits a fraction may have; `None` of any number.
type Places = Option<usize>;

/// The numbers within bounds, which are of as many places; `None` if there are none.
pub(super) fn between(bounds: &Bounds, places: Places) -> Option<String> {
    let mut options = Vec::new();
    let size = |(number, is_excluded): &Bound| (number.size(), *is_excluded);
    let is_some = |nearest: &Bound, farthest: Option<&Bound>| {
        farthest.is_none_or(|farthest| nearest.0 < farthest.0 || nearest == farthest && !nearest.1)
    };
    if bounds.least.as_ref().is_none_or(|(least, _)| least.is_negative) {
        let nearest = bounds.most.as_ref().filter(|(most, _)| most.is_negative).map(size);
        let farthest = bounds.least.as_ref().map(size);
        let from_zero = || match places {
            None => (Decimal::digit("0"), true),
            Some(places) => (Decimal::digit("1").unshifted(places), false),
        };
        let nearest = nearest.unwrap_or_else(from_zero);
        if is_some(&nearest, farthest.as_ref()) {
            let sizes = sizes_between(&nearest, farthest.as_ref(), places);
            options.push(format!("\"-\" ({sizes})"));
        }
    }
    if bounds.most.as_ref().is_none_or(|(most, _)| !most.is_negative) {
        let nearest = bounds.least.clone().filter(|(least, _)| !least.is_negative);
        let nearest = nearest.unwrap_or((Decimal::digit("0"), false));
        if is_some(&nearest, bounds.most.as_ref()) {
            options.push(sizes_between(&nearest, bounds.most.as_ref(), places));
        }
    }
    (!options.is_empty()).then(|| options.join(" | "))
}

/// Numbers without a sign.
fn sizes_between(least: &Bound, most: Option<&Bound>, places: Places) -> String {
    let (low, is_low_out) = (&least.0, least.1);
    let mut options = Vec::new();
    if let Some((high, is_high_out)) = most.filter(|(high, _)| high.whole == low.whole) {
        let ends = [(&*low.fraction, is_low_out), (&*high.fraction, *is_high_out)];
        return format!("\"{}\" ({})", low.whole, fraction_between(ends, places));
    }
    options.push(format!("\"{}\" {}", low.whole, fraction_from(&low.fraction, is_low_out, places)));
    let first = low.next(true);
    match most {
        None => options.push(format!("({}) {}", sizes(&first.whole, None), any_fraction(places))),
        Some((high, is_high_out)) => {
            let end = high.next(false);
            if first <= end {
                let between = sizes(&first.whole, Some(&end.whole));
                options.push(format!("({between}) {}", any_fraction(places)));
            }
            let end = fraction_to(&high.fraction, *is_high_out, places);
            options.extend(end.map(|end| format!("\"{}\" {end}", high.whole)));
        }
    }
    options.join(" | ")
}

pub(super) fn any_fraction(places: Places) -> String {
    match places {
        None => "(\".\" [0-9]+)?".to_owned(),
        Some(places) => format!("(\".\" [0-9]{{1,{places}}})?"),
    }
}

/// Digits after others; with [`Places`], only as many as there is room for.
fn any(places: Places) -> String {
    match places {
        None => "[0-9]*".to_owned(),
        Some(0) => "\"\"".to_owned(),
        Some(places) => format!("[0-9]{{0,{places}}}"),
    }
}

/// One digit fewer.
fn fewer(places: Places) -> Places {
    places.map(|places| places.saturating_sub(1))
}

/// A fraction that is at least this one.
fn fraction_from(least: &str, is_out: bool, places: Places) -> String {
    if least.is_empty() && !is_out {
        return any_fraction(places);
    }
    format!("\".\" ({})", from(least, is_out, places))
}

/// Digits, none of them if nothing is asked for, that are at least these.
fn from(least: &str, is_out: bool, places: Places) -> String {
    let Some(low) = least.bytes().next() else {
        // Only where places are free: else bounds are rounded, and included.
        return if is_out { "\"0\"* [1-9] [0-9]*".to_owned() } else { any(places) };
    };
    let rest = fewer(places);
    let same = format!("\"{}\" ({})", char::from(low), from(&least[1..], is_out, rest));
    if low == b'9' { same } else { format!("{} {} | {same}", digits(low + 1, b'9'), any(rest)) }
}

/// A fraction that is at most this one; `None` if there is none.
fn fraction_to(most: &str, is_out: bool, places: Places) -> Option<String> {
    if most.is_empty() {
        return (!is_out).then(|| "(\".\" \"0\"+)?".to_owned());
    }
    Some(format!("(\".\" ({}))?", to(most, is_out, places)))
}

/// At least one digit, and at most these.
fn to(most: &str, is_out: bool, places: Places) -> String {
    let Some(high) = most.bytes().next() else { return "\"0\"+".to_owned() };
    let (tail, rest) = (&most[1..], fewer(places));
    let mut options = Vec::new();
    if high > b'0' {
        options.push(format!("{} {}", digits(b'0', high - 1), any(rest)));
    }
    if !tail.is_empty() {
        options.push(format!("\"{}\" ({})?", char::from(high), to(tail, is_out, rest)));
    } else if !is_out {
        options.push(format!("\"{}\" \"0\"*", char::from(high)));
    }
    options.join(" | ")
}

/// A fraction between two.
fn fraction_between([low, high]: [(&str, bool); 2], places: Places) -> String {
    let length = low.0.len().max(high.0.len()).max(1);
    let padded = |digits: &str| format!("{digits:0<length$}");
    let inner = within(&padded(low.0), low.1, &padded(high.0), high.1, places);
    let is_whole_in = low.0.is_empty() && !low.1;
    if is_whole_in { format!("(\".\" ({inner}))?") } else { format!("\".\" ({inner})") }
}

/// Digits between two sequences of as many.
fn within(low: &str, is_low_out: bool, high: &str, is_high_out: bool, places: Places) -> String {
    let (Some(first), Some(last)) = (low.bytes().next(), high.bytes().next()) else {
        return "\"0\"*".to_owned();
    };
    let (lows, highs, rest) = (&low[1..], &high[1..], fewer(places));
    let are_zeros = |digits: &str| digits.bytes().all(|digit| digit == b'0');
    if first == last {
        let inner = within(lows, is_low_out, highs, is_high_out, rest);
        let is_end = are_zeros(lows) && !is_low_out;
        let optional = if is_end { "?" } else { "" };
        return format!("\"{}\" ({inner}){optional}", char::from(first));
    }
    let lows = lows.trim_end_matches('0');
    let mut options = vec![format!("\"{}\" ({})", char::from(first), from(lows, is_low_out, rest))];
    if last - first > 1 {
        options.push(format!("{} {}", digits(first + 1, last - 1), any(rest)));
    }
    let highs = highs.trim_end_matches('0');
    if !highs.is_empty() {
        options.push(format!("\"{}\" ({})?", char::from(last), to(highs, is_high_out, rest)));
    } else if !is_high_out {
        options.push(format!("\"{}\" \"0\"*", char::from(last)));
    }
    options.join(" | ")
}
