//! `minLength` and `maxLength` beside a `pattern`.

use regex_syntax::hir::{Hir, HirKind, Repetition};

/// An expression of texts within the bounds of length, too, and the keywords that it does not enforce.
pub(in crate::grammar) fn within(
    hir: Hir,
    least: usize,
    most: Option<usize>,
) -> (Hir, Vec<&'static str>) {
    let (shortest, longest) = length(&hir);
    let is_short = shortest < least;
    let is_long = most.is_some_and(|most| longest.is_none_or(|longest| longest > most));
    if !is_short && !is_long {
        return (hir, Vec::new());
    }
    if let Some(bounded) = bounded(&hir, least, most) {
        return (bounded, Vec::new());
    }
    let unheld = [("minLength", is_short), ("maxLength", is_long)];
    (hir, unheld.iter().filter(|(_, is_unheld)| *is_unheld).map(|(name, _)| *name).collect())
}

/// The fewest and the most characters of what fits.
fn length(hir: &Hir) -> (usize, Option<usize>) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => (0, Some(0)),
        HirKind::Literal(text) => {
            let count = String::from_utf8_lossy(&text.0).chars().count();
            (count, Some(count))
        }
        HirKind::Class(_) => (1, Some(1)),
        HirKind::Repetition(Repetition { min, max, sub, .. }) => {
            let (least, most) = length(sub);
            let times = |count: usize, times: u32| count.saturating_mul(to_usize(times));
            let most = match (most, max) {
                (Some(0), _) => Some(0),
                (Some(most), Some(max)) => Some(times(most, *max)),
                _ => None,
            };
            (times(least, *min), most)
        }
        HirKind::Capture(capture) => length(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(length).fold((0, Some(0)), |all, one| {
            (
                all.0.saturating_add(one.0),
                all.1.zip(one.1).map(|(all, one)| all.saturating_add(one)),
            )
        }),
        HirKind::Alternation(parts) => {
            let all = || parts.iter().map(length);
            let least = all().map(|(least, _)| least).min().unwrap_or(0);
            (
                least,
                all().map(|(_, most)| most).try_fold(0, |longest, most| Some(most?.max(longest))),
            )
        }
    }
}

/// The same with other bounds of its one repetition, if only that has several lengths.
fn bounded(hir: &Hir, least: usize, most: Option<usize>) -> Option<Hir> {
    let parts = match hir.kind() {
        HirKind::Concat(parts) => parts.as_slice(),
        HirKind::Capture(capture) => return bounded(&capture.sub, least, most),
        _ => std::slice::from_ref(hir),
    };
    let is_variable = |part: &Hir| {
        let (least, most) = length(part);
        Some(least) != most
    };
    let at = parts.iter().position(is_variable)?;
    let HirKind::Repetition(repetition) = parts[at].kind() else { return None };
    if length(&repetition.sub) != (1, Some(1)) || parts[at + 1..].iter().any(is_variable) {
        return None;
    }
    let others: usize =
        parts.iter().map(|part| length(part).0).sum::<usize>() - to_usize(repetition.min);
    let min = to_usize(repetition.min).max(least.saturating_sub(others));
    let room =
        most.map(|most| most.checked_sub(others)).map_or(Some(None), |room| room.map(Some))?;
    let max = repetition.max.map(to_usize).into_iter().chain(room).min();
    if max.is_some_and(|max| max < min) {
        return None;
    }
    let bound = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let mut parts = parts.to_vec();
    let bounded = Repetition { min: bound(min), max: max.map(bound), ..repetition.clone() };
    parts[at] = Hir::repetition(bounded);
    Some(Hir::concat(parts))
}

fn to_usize(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
