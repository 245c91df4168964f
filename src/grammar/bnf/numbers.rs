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
    let written = |whole: &str, low: Option<End<'_>>, high: Option<End<'_>>| {
        Some(format!("\"{whole}\" {}", fraction(low, high, places)?))
    };
    let from = Some((&*low.fraction, is_low_out));
    let to = most.map(|(high, is_out)| (&*high.fraction, *is_out));
    if most.is_some_and(|(high, _)| high.whole == low.whole) {
        return written(&low.whole, from, to).unwrap_or_default();
    }
    options.extend(written(&low.whole, from, None));
    let first = low.next(true);
    let end = most.map(|(high, _)| high.next(false));
    if end.as_ref().is_none_or(|end| first <= *end) {
        let between = sizes(&first.whole, end.as_ref().map(|end| end.whole.as_str()));
        options.extend(fraction(None, None, places).map(|any| format!("({between}) {any}")));
    }
    options.extend(most.and_then(|(high, _)| written(&high.whole, None, to)));
    options.join(" | ")
}

/// The digits that are left of a bound's fraction, and whether the bound is excluded.
type End<'d> = (&'d str, bool);

/// What is left of a bound after one more digit.
fn after((digits, is_out): End<'_>) -> End<'_> {
    (digits.get(1..).unwrap_or_default(), is_out)
}

/// Whether a number may end where this is left of its bounds.
fn may_end(low: Option<End<'_>>, high: Option<End<'_>>) -> bool {
    low.is_none_or(|low| low == ("", false)) && high != Some(("", true))
}

/// The fractions between two ends, with the point, if it has any digit; `None` if there are none.
fn fraction(low: Option<End<'_>>, high: Option<End<'_>>, places: Places) -> Option<String> {
    match (more(low, high, places), may_end(low, high)) {
        (Some(more), true) => Some(format!("(\".\" ({more}))?")),
        (Some(more), false) => Some(format!("\".\" ({more})")),
        (None, is_whole) => is_whole.then(String::new),
    }
}

/// At least one digit; with [`Places`], as many as there is room for.
fn more(low: Option<End<'_>>, high: Option<End<'_>>, places: Places) -> Option<String> {
    let rest = places.map(|places| places.saturating_sub(1));
    let low = low.filter(|low| *low != ("", false));
    match (low, high) {
        (None, None) => {
            let most = places.map_or(String::new(), |places| places.to_string());
            return (places != Some(0)).then(|| format!("[0-9]{{1,{most}}}"));
        }
        (None, Some(("", is_out))) => return (!is_out).then(|| "\"0\"+".to_owned()),
        // Only where places are free: else bounds are rounded, and included.
        (Some(("", _)), None) => return Some("\"0\"* [1-9] [0-9]*".to_owned()),
        (Some(("", _)), Some(("", _))) => return None,
        _ => {}
    }
    let digit = |(digits, _): End<'_>| digits.bytes().next().unwrap_or(b'0');
    let one = |digit: u8, low: Option<End<'_>>, high: Option<End<'_>>| {
        let (digit, may_end) = (char::from(digit), may_end(low, high));
        match more(low, high, rest) {
            Some(more) if may_end => Some(format!("\"{digit}\" ({more})?")),
            Some(more) => Some(format!("\"{digit}\" ({more})")),
            None => may_end.then(|| format!("\"{digit}\"")),
        }
    };
    let (first, last) = (low.map(digit), high.map(digit));
    if let (Some(first), true) = (first, first == last) {
        return one(first, low.map(after), high.map(after));
    }
    let free =
        (first.map_or(b'0', |first| first + 1), last.map_or(b'9', |last| last.wrapping_sub(1)));
    let between = (free.0 <= free.1 && last != Some(b'0')).then(|| {
        let any = match rest {
            None => "[0-9]*".to_owned(),
            Some(0) => String::new(),
            Some(rest) => format!("[0-9]{{0,{rest}}}"),
        };
        format!("{} {any}", digits(free.0, free.1))
    });
    let of_low = first.and_then(|first| one(first, low.map(after), None));
    let of_high = last.and_then(|last| one(last, None, high.map(after)));
    let options: Vec<_> = [of_low, between, of_high].into_iter().flatten().collect();
    (!options.is_empty()).then(|| options.join(" | "))
}
