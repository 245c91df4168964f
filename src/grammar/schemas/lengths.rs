//! `minLength` and `maxLength` together with a `pattern`.

use crate::text_grammar::Expr;

/// An expression of texts within the bounds of length, too, and the keywords that it does not enforce.
pub(in crate::grammar) fn within(
    expr: Expr,
    least: usize,
    most: Option<usize>,
) -> (Expr, Vec<&'static str>) {
    let (shortest, longest) = length(&expr);
    let is_short = shortest < least;
    let is_long = most.is_some_and(|most| longest.is_none_or(|longest| longest > most));
    if !is_short && !is_long {
        return (expr, Vec::new());
    }
    if let Some(bounded) = bounded(&expr, least, most) {
        return (bounded, Vec::new());
    }
    let unheld = [("minLength", is_short), ("maxLength", is_long)];
    (expr, unheld.iter().filter(|(_, is_unheld)| *is_unheld).map(|(name, _)| *name).collect())
}

/// The fewest and the most characters of what fits. Patterns have no rules.
fn length(expr: &Expr) -> (usize, Option<usize>) {
    let all = || expr.parts().iter().map(length);
    match expr {
        Expr::Literal(text) => {
            let count = text.chars().count();
            (count, Some(count))
        }
        Expr::Class(_) | Expr::Rule(_) => (1, Some(1)),
        Expr::Repeat(one, least, most) => {
            let (shortest, longest) = length(one);
            let times = |count: usize, times: u32| count.saturating_mul(to_usize(times));
            (
                times(shortest, *least),
                longest.zip(*most).map(|(longest, most)| times(longest, most)),
            )
        }
        Expr::Concat(_) => all().fold((0, Some(0)), |all, one| {
            (
                all.0.saturating_add(one.0),
                all.1.zip(one.1).map(|(all, one)| all.saturating_add(one)),
            )
        }),
        Expr::Choice(_) => (
            all().map(|(least, _)| least).min().unwrap_or(0),
            all().map(|(_, most)| most).try_fold(0, |longest, most| Some(most?.max(longest))),
        ),
    }
}

/// The same with other bounds of its one repetition, if only that has several lengths.
fn bounded(expr: &Expr, least: usize, most: Option<usize>) -> Option<Expr> {
    let parts = match expr {
        Expr::Concat(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let is_variable = |part: &Expr| {
        let (least, most) = length(part);
        Some(least) != most
    };
    let at = parts.iter().position(is_variable)?;
    let Expr::Repeat(one, fewest, largest) = &parts[at] else { return None };
    if length(one) != (1, Some(1)) || parts[at + 1..].iter().any(is_variable) {
        return None;
    }
    let others: usize = parts.iter().map(|part| length(part).0).sum::<usize>() - to_usize(*fewest);
    let bound = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let least = bound(least.saturating_sub(others)).max(*fewest);
    let room = most.map(|most| most.checked_sub(others));
    if room == Some(None) {
        return None;
    }
    let most = largest.iter().copied().chain(room.flatten().map(bound)).min();
    if most.is_some_and(|most| most < least) {
        return None;
    }
    let mut parts = parts.to_vec();
    parts[at] = one.as_ref().clone().repeat(least, most);
    Some(Expr::concat(parts))
}

fn to_usize(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
