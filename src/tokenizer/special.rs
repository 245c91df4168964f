//! Special tokens: their ids, their names, and finding the names in text.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::special_names::{FIRST, LAST, NAMED, RESERVED_PREFIX, SUFFIX};
use super::vocabulary::{self, TokenId};

pub use super::special_names::{
    CALL, CHANNEL, CONSTRAIN, END, ENDOFTEXT, MESSAGE, RETURN, START, STARTOFTEXT,
};

/// What every name begins with.
const PREFIX: &str = "<|";

/// Some special tokens, by name: what a text may contain, or may not.
///
/// ```
/// use openai_harmony::tokenizer::{SpecialSet, Tokenizer};
///
/// let tokenizer = Tokenizer::o200k_harmony();
/// let allowed = SpecialSet::Names(&["<|end|>"]);
/// let tokens = tokenizer.encode_checked("ok<|end|>", &allowed, &SpecialSet::All)?;
/// assert_eq!(tokens, [525, 200_007]);
/// # Ok::<(), openai_harmony::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialSet<'a> {
    /// No special token.
    None,
    /// Every special token; as disallowed tokens, every one that is not allowed.
    All,
    /// The tokens with these names.
    Names(&'a [&'a str]),
}

impl SpecialSet<'_> {
    fn contains(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Names(names) => names.contains(&name),
        }
    }
}

/// Whether the id is that of a special token.
#[inline]
pub(super) fn is_special(token: TokenId) -> bool {
    (FIRST..=LAST).contains(&token)
}

/// All special tokens by id.
pub(super) fn all() -> impl Iterator<Item = (&'static str, TokenId)> {
    (FIRST..=LAST).filter_map(|token| {
        let name = std::str::from_utf8(vocabulary::token_bytes(token)?).ok()?;
        Some((name, token))
    })
}

/// The special token of that name.
pub(super) fn by_name(name: &str) -> Option<TokenId> {
    if let Some((_, token)) = NAMED.iter().find(|(named, _)| *named == name) {
        return Some(*token);
    }
    let id = name.strip_prefix(RESERVED_PREFIX)?.strip_suffix(SUFFIX)?;
    let token = id.parse().ok().filter(|&token| is_special(token))?;
    // The named ones have no reserved name, and "+200013" is not a name.
    (vocabulary::token_bytes(token)? == name.as_bytes()).then_some(token)
}

/// A special token's name in a text.
pub(super) struct SpecialMatch<'t> {
    pub(super) name: &'t str,
    pub(super) token: TokenId,
    /// Where it begins in the text, in bytes.
    pub(super) start: usize,
}

impl SpecialMatch<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.name.len()
    }
}

/// The first name of a special token in `text[from..]`.
///
/// The search stops only at each `<|`, so the number of names does not matter.
pub(super) fn find(text: &str, from: usize) -> Option<SpecialMatch<'_>> {
    // Prepared once: a search of fifty bytes takes an eighth of the time.
    static PREFIXES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(PREFIX));
    let mut at = from;
    loop {
        let start = at + PREFIXES.find(&text.as_bytes()[at..])?;
        if let Some((name, token)) = at_start(&text[start..]) {
            return Some(SpecialMatch { name, token, start });
        }
        at = start + PREFIX.len();
    }
}

/// The name that the text begins with.
fn at_start(text: &str) -> Option<(&str, TokenId)> {
    // No name is longer than this one, and none contains the suffix except at its end.
    const LONGEST: usize = "<|reserved_200000|>".len();
    let inner = text.strip_prefix(PREFIX)?;
    let window = &inner.as_bytes()[..inner.len().min(LONGEST)];
    let len = window.windows(SUFFIX.len()).position(|bytes| bytes == SUFFIX.as_bytes())?;
    let name = &text[..PREFIX.len() + len + SUFFIX.len()];
    Some((name, by_name(name)?))
}

/// The first disallowed name in the text.
///
/// `SpecialSet::All` disallows the names that are not allowed. A list disallows its names even if they are
/// allowed; they may be any strings, and are looked for as they are.
pub(super) fn find_disallowed<'a>(
    text: &'a str,
    allowed: &SpecialSet<'_>,
    disallowed: &SpecialSet<'a>,
) -> Option<&'a str> {
    match disallowed {
        SpecialSet::None => None,
        SpecialSet::All => {
            let mut found = find(text, 0);
            while let Some(special) = found {
                if !allowed.contains(special.name) {
                    return Some(special.name);
                }
                found = find(text, special.end());
            }
            None
        }
        SpecialSet::Names(names) => names
            .iter()
            .filter_map(|name| Some((text.find(name)?, *name)))
            .min()
            .map(|(_, name)| name),
    }
}

/// The first special token from `from` on that is allowed.
pub(super) fn find_allowed<'t>(
    text: &'t str,
    from: usize,
    allowed: &SpecialSet<'_>,
) -> Option<SpecialMatch<'t>> {
    if *allowed == SpecialSet::None {
        return None;
    }
    let mut found = find(text, from)?;
    while !allowed.contains(found.name) {
        found = find(text, found.end())?;
    }
    Some(found)
}
