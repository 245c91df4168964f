//! Regular expressions of a grammar.

use std::slice;

use regex_syntax::ast::ErrorKind;
use regex_syntax::hir::{Hir, HirKind, Look};
use regex_syntax::{Error, ParserBuilder};

use super::{Expr, Read, Refused, case};

/// How deeply groups may be nested.
const MOST_NESTED: u32 = 100;

/// One expression that fits the whole text; anchors at its beginning and its end say nothing.
pub(super) fn whole(text: &str) -> Result<Read, Refused> {
    let (pattern, flags, at) = match text.strip_prefix("(?i)") {
        Some(pattern) => (pattern, "i", text.len() - pattern.len()),
        None => (text, "", 0),
    };
    let expr = expression(pattern, flags, at, true)?;
    Ok(Read { rules: vec![expr], start: 0 })
}

/// An expression with flags as Lark has them; `at` is its offset in the grammar. Only `is_whole` texts have anchors.
pub(super) fn expression(
    pattern: &str,
    flags: &str,
    at: usize,
    is_whole: bool,
) -> Result<Expr, Refused> {
    let mut parser = ParserBuilder::new();
    parser.nest_limit(MOST_NESTED).dot_matches_new_line(flags.contains('s'));
    parser.multi_line(flags.contains('m')).ignore_whitespace(flags.contains('x'));
    let hir = parser.build().parse(pattern).map_err(|error| {
        let reason = flaw(&error);
        match &error {
            Error::Parse(error) => {
                let at = at + error.span().start.offset;
                match error.kind() {
                    ErrorKind::UnsupportedLookAround
                    | ErrorKind::UnsupportedBackreference
                    | ErrorKind::NestLimitExceeded(_) => Refused::unheld(at, reason),
                    _ => Refused::wrong(at, reason),
                }
            }
            Error::Translate(error) => Refused::unheld(at + error.span().start.offset, reason),
            _ => Refused::wrong(at, reason),
        }
    })?;
    let hir = if is_whole { without_anchors(&hir) } else { hir };
    let expr = Expr::of_hir(&hir).map_err(|reason| Refused::unheld(at, reason))?;
    Ok(if flags.contains('i') { case::ignored(&expr) } else { expr })
}

/// What is wrong with a regular expression.
pub(crate) fn flaw(error: &Error) -> String {
    match error {
        Error::Parse(error) => error.kind().to_string(),
        Error::Translate(error) => error.kind().to_string(),
        _ => "not a regular expression".to_owned(),
    }
}

/// An anchor at the beginning or the end is left out, where a text fits as a whole anyway.
pub(crate) fn without_anchors(hir: &Hir) -> Hir {
    Hir::concat(between_anchors(hir).1.to_vec())
}

/// What is between an anchor at the beginning and one at the end, and whether each of these is there.
pub(crate) fn between_anchors(hir: &Hir) -> (bool, &[Hir], bool) {
    let is =
        |part: Option<&Hir>, look| part.is_some_and(|part| *part.kind() == HirKind::Look(look));
    let mut parts = match hir.kind() {
        HirKind::Concat(parts) => parts.as_slice(),
        _ => slice::from_ref(hir),
    };
    let is_start = is(parts.first(), Look::Start);
    parts = &parts[usize::from(is_start)..];
    let is_end = is(parts.last(), Look::End);
    (is_start, &parts[..parts.len() - usize::from(is_end)], is_end)
}
