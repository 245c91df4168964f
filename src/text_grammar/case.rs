//! Texts in whatever case: the flag `i`.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::Expr;

/// Of a larger range of characters outside ASCII, the other cases are among them.
const FEW: u32 = 1000;

/// The same texts with letters of either case.
pub(super) fn ignored(expr: &Expr) -> Expr {
    match expr {
        Expr::Literal(text) => {
            Expr::concat(text.chars().map(|char| Expr::class(class(cases(char)))))
        }
        Expr::Class(class_) => {
            let mut all = class_.clone();
            for range in class_.ranges() {
                let is_few = u32::from(range.end()) - u32::from(range.start()) < FEW;
                let end = if is_few { range.end() } else { range.end().min('\u{7f}') };
                all.union(&class((range.start()..=end).flat_map(cases)));
            }
            Expr::class(all)
        }
        Expr::Rule(rule) => Expr::Rule(*rule),
        Expr::Concat(parts) => Expr::concat(parts.iter().map(ignored)),
        Expr::Choice(options) => Expr::choice(options.iter().map(ignored)),
        Expr::Repeat(one, least, most) => ignored(one).repeat(*least, *most),
    }
}

fn class(chars: impl IntoIterator<Item = char>) -> ClassUnicode {
    ClassUnicode::new(chars.into_iter().map(|char| ClassUnicodeRange::new(char, char)))
}

/// A character and its other cases, if those are one character each.
fn cases(char: char) -> Vec<char> {
    let mut all = vec![char];
    let (mut lower, mut upper) = (char.to_lowercase(), char.to_uppercase());
    for mut case in
        [lower.next().filter(|_| lower.len() == 0), upper.next().filter(|_| upper.len() == 0)]
    {
        if let Some(other) = case.take().filter(|other| !all.contains(other)) {
            all.push(other);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_grammar::has;

    #[test]
    fn the_other_cases_of_a_large_range_are_in_it() {
        for (size, has_others) in [(FEW, true), (FEW + 1, false)] {
            let last = char::from_u32(u32::from('а') + size - 1).unwrap_or_default();
            let ignored = ignored(&Expr::range('а', last));
            let Expr::Class(class) = ignored else { unreachable!("{ignored:?}") };
            assert_eq!(has(&class, 'А'), has_others, "{size}");
        }
    }
}
