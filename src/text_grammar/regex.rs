//! Regular expressions: of grammars, of answers, and those that schemas' patterns become.

use std::slice;

use regex_syntax::ast::ErrorKind;
use regex_syntax::hir::{Hir, HirKind, Look};
use regex_syntax::{Error, ParserBuilder};

use super::{Expr, MAX_LENGTH, Read, Refused};

/// How deeply groups may be nested.
const MOST_NESTED: u32 = 100;

/// The most classes such as `\w` in an expression: each is up to 800 ranges of characters.
const MOST_CLASSES: usize = 300;

/// One expression that fits the whole text; anchors at its beginning and its end say nothing.
pub(super) fn whole(text: &str) -> Result<Read, Refused> {
    let hir = without_anchors(&parse(text, "")?);
    let expr = Expr::of_hir(&hir).map_err(|reason| Refused::unheld(0, reason))?;
    Ok(Read { rules: vec![expr], start: 0 })
}

/// An expression of a grammar in Lark, at an offset; flags as Lark has them.
pub(super) fn expression(pattern: &str, flags: &str, at: usize) -> Result<Expr, Refused> {
    let hir =
        parse(pattern, flags).map_err(|refused| Refused { at: at + refused.at, ..refused })?;
    Expr::of_hir(&hir).map_err(|reason| Refused::unheld(at, reason))
}

/// Reads an expression; flags as Lark has them.
///
/// # Errors
///
/// What is wrong with it, and at which byte; or what no grammar can enforce.
pub(crate) fn parse(pattern: &str, flags: &str) -> Result<Hir, Refused> {
    let classes = pattern.as_bytes().windows(2);
    let is_class = |pair: &&[u8]| pair[0] == b'\\' && b"dDpPsSwW".contains(&pair[1]);
    if pattern.len() > MAX_LENGTH || classes.filter(is_class).count() > MOST_CLASSES {
        return Err(Refused::unheld(0, "too large an expression"));
    }
    let mut parser = ParserBuilder::new();
    parser.nest_limit(MOST_NESTED).case_insensitive(flags.contains('i'));
    parser.multi_line(flags.contains('m')).dot_matches_new_line(flags.contains('s'));
    parser.ignore_whitespace(flags.contains('x'));
    parser.build().parse(pattern).map_err(|error| match error {
        Error::Parse(error) => {
            let is_readable = matches!(
                error.kind(),
                ErrorKind::UnsupportedLookAround
                    | ErrorKind::UnsupportedBackreference
                    | ErrorKind::NestLimitExceeded(_)
            );
            let (at, reason) = (error.span().start.offset, error.kind().to_string());
            Refused { at, reason, is_readable }
        }
        Error::Translate(error) => {
            Refused::unheld(error.span().start.offset, error.kind().to_string())
        }
        _ => Refused::wrong(0, "not a regular expression"),
    })
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
