//! Which known field a misspelt one probably means.

use std::cmp::Ordering;

/// Fields that have other names in other APIs: a body may use the wrong API's name.
const SAME: &[&[&str]] = &[
    &[
        "max_completion_tokens",
        "max_output_tokens",
        "max_tokens",
        "max_new_tokens",
        "num_predict",
        "n_predict",
    ],
    &["stop", "stop_sequences"],
    &["repetition_penalty", "repeat_penalty"],
    &["reasoning_effort", "reasoning"],
];

/// Shorter names are one letter away from others that mean something else: `top_p`, `top_k`; `speed`, `seed`. Even in
/// names of four letters, a missing letter or two swapped ones are a mistake.
const LEAST_LETTERS: usize = 6;
const LEAST_OF_SHORT: usize = 4;

/// The known field that a caller most likely means by an unknown one.
pub(crate) fn nearest<'k>(field: &str, known: &[&'k str]) -> Option<&'k str> {
    let same =
        SAME.iter().find(|names| names.contains(&field)).into_iter().flat_map(|names| *names);
    let other =
        same.filter(|name| **name != field).find_map(|name| find(known, |one| one == *name));
    other
        .or_else(|| find(known, |one| snake_case(field) == one))
        .or_else(|| find(known, |one| differs_by_the_plural(field, one)))
        .or_else(|| {
            let letters = field.chars().count();
            let is_meant = |one: &str| {
                is_one_edit(field, one) && (letters >= LEAST_LETTERS || misses_or_swaps(field, one))
            };
            (letters >= LEAST_OF_SHORT).then(|| find(known, is_meant)).flatten()
        })
}

fn find<'k>(known: &[&'k str], is_it: impl Fn(&str) -> bool) -> Option<&'k str> {
    known.iter().copied().find(|one| is_it(one))
}

/// `maxTokens` and `max-tokens` as `max_tokens`.
fn snake_case(field: &str) -> String {
    let mut written = String::with_capacity(field.len() + 4);
    for letter in field.chars() {
        if letter.is_ascii_uppercase() {
            written.push('_');
        }
        written.push(if letter == '-' { '_' } else { letter.to_ascii_lowercase() });
    }
    written
}

fn differs_by_the_plural(field: &str, known: &str) -> bool {
    known.strip_suffix('s') == Some(field) || field.strip_suffix('s') == Some(known)
}

/// Whether one letter is missing, added or replaced, or two neighbours are swapped.
fn is_one_edit(a: &str, b: &str) -> bool {
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let begin = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[begin..], &b[begin..]);
    match (a, b) {
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([a1, a2, a @ ..], [b1, b2, b @ ..]) if (a1, a2) == (b2, b1) && a == b => true,
        ([_, rest @ ..], b) if rest == b => true,
        (a, [_, rest @ ..]) if a == rest => true,
        _ => false,
    }
}

/// For names that are one edit apart: whether a letter is missing, or two are swapped.
fn misses_or_swaps(field: &str, known: &str) -> bool {
    let differ = || field.chars().zip(known.chars()).filter(|(a, b)| a != b).count();
    match field.chars().count().cmp(&known.chars().count()) {
        Ordering::Less => true,
        Ordering::Equal => differ() == 2,
        Ordering::Greater => false,
    }
}
