//! Regular expressions of a grammar.

use regex_syntax::ParserBuilder;
use regex_syntax::ast::ErrorKind;
use regex_syntax::hir::{Hir, HirKind, Look};

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
    let hir = parser.build().parse(pattern).map_err(|error| match &error {
        regex_syntax::Error::Parse(error) => {
            let at = at + error.span().start.offset;
            let reason = error.kind().to_string();
            match error.kind() {
                ErrorKind::UnsupportedLookAround
                | ErrorKind::UnsupportedBackreference
                | ErrorKind::NestLimitExceeded(_) => Refused::unheld(at, reason),
                _ => Refused::wrong(at, reason),
            }
        }
        regex_syntax::Error::Translate(error) => {
            Refused::unheld(at + error.span().start.offset, error.kind().to_string())
        }
        _ => Refused::wrong(at, "not a regular expression"),
    })?;
    let hir = if is_whole { without_anchors(hir) } else { hir };
    let expr = Expr::of_hir(&hir).map_err(|reason| Refused::unheld(at, reason))?;
    Ok(if flags.contains('i') { case::ignored(&expr) } else { expr })
}

/// An anchor at the beginning or the end is left out, where a text fits as a whole anyway.
pub(crate) fn without_anchors(hir: Hir) -> Hir {
    let is = |part: &Hir, look| *part.kind() == HirKind::Look(look);
    let HirKind::Concat(parts) = hir.kind() else {
        return if is(&hir, Look::Start) || is(&hir, Look::End) { Hir::empty() } else { hir };
    };
    let mut parts = &parts[..];
    if let [first, rest @ ..] = parts
        && is(first, Look::Start)
    {
        parts = rest;
    }
    if let [rest @ .., last] = parts
        && is(last, Look::End)
    {
        parts = rest;
    }
    Hir::concat(parts.to_vec())
}
