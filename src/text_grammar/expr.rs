//! Expressions over characters and rules.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// Whether a character is in a class.
pub(crate) fn has(class: &ClassUnicode, char: char) -> bool {
    class.iter().any(|range| range.start() <= char && char <= range.end())
}

/// How many of the letters of ASCII are in a class.
pub(crate) fn letters(class: &ClassUnicode) -> usize {
    ('a'..='z').chain('A'..='Z').filter(|char| has(class, *char)).count()
}

/// Whether a class has most characters of prose: tokens of several characters that fit it are many. Other cases of
/// letters of ASCII, such as `ſ` of `s`, are not.
pub(crate) fn is_wide(class: &ClassUnicode) -> bool {
    let is_other_case = |first, last| first == last && matches!(last, 'ſ' | '\u{212a}');
    let mut others = class.iter().filter(|range| !range.end().is_ascii());
    let is_prose =
        has(class, ' ') || others.any(|range| !is_other_case(range.start(), range.end()));
    is_prose && letters(class) >= 20
}

/// A set of texts. The functions below make the simplest of equal forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    /// One text, which is not empty.
    Literal(String),
    /// One character of a class, which has several.
    Class(ClassUnicode),
    /// The texts of the rule with this index.
    Rule(usize),
    /// A text of each, in a row; of none, the empty text.
    Concat(Vec<Expr>),
    /// A text of one of these; of none, there is no text.
    Choice(Vec<Expr>),
    /// At least and at most this many in a row.
    Repeat(Box<Expr>, u32, Option<u32>),
}

impl Expr {
    /// The empty text.
    pub(crate) const EMPTY: Self = Self::Concat(Vec::new());

    /// No text.
    pub(crate) const NOTHING: Self = Self::Choice(Vec::new());

    pub(crate) fn literal(text: &str) -> Self {
        if text.is_empty() { Self::EMPTY } else { Self::Literal(text.to_owned()) }
    }

    /// A class that is not empty.
    pub(crate) fn class(class: ClassUnicode) -> Self {
        match class.ranges() {
            [one] if one.start() == one.end() => Self::Literal(one.start().to_string()),
            _ => Self::Class(class),
        }
    }

    /// A text in whatever case.
    pub(super) fn literal_of_any_case(text: &str) -> Self {
        Self::concat(text.chars().map(|char| {
            let mut cases = ClassUnicode::new([ClassUnicodeRange::new(char, char)]);
            // It cannot fail where the tables of cases are there.
            _ = cases.try_case_fold_simple();
            Self::class(cases)
        }))
    }

    pub(crate) fn range(first: char, last: char) -> Self {
        Self::class(ClassUnicode::new([ClassUnicodeRange::new(first, last)]))
    }

    pub(crate) fn concat(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            let parts = match part {
                Self::Choice(options) if options.is_empty() => return Self::NOTHING,
                Self::Concat(parts) => parts,
                part => vec![part],
            };
            for part in parts {
                match (all.last_mut(), part) {
                    (Some(Self::Literal(before)), Self::Literal(text)) => before.push_str(&text),
                    (_, part) => all.push(part),
                }
            }
        }
        if all.len() == 1 { all.remove(0) } else { Self::Concat(all) }
    }

    pub(crate) fn choice(options: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for option in options {
            match option {
                Self::Choice(options) => all.extend(options),
                option => all.push(option),
            }
        }
        let mut seen = HashSet::new();
        let is_first: Vec<bool> = all.iter().map(|option| seen.insert(option)).collect();
        let mut is_first = is_first.into_iter();
        all.retain(|_| is_first.next() == Some(true));
        if all.len() == 1 { all.remove(0) } else { Self::Choice(all) }
    }

    pub(crate) fn repeat(self, least: u32, most: Option<u32>) -> Self {
        match self {
            Self::Choice(options) if options.is_empty() && least == 0 => Self::EMPTY,
            Self::Choice(options) if options.is_empty() => Self::NOTHING,
            Self::Concat(parts) if parts.is_empty() => Self::EMPTY,
            _ if most == Some(0) => Self::EMPTY,
            one if least == 1 && most == Some(1) => one,
            one => Self::Repeat(Box::new(one), least, most),
        }
    }

    pub(crate) fn optional(self) -> Self {
        self.repeat(0, Some(1))
    }

    /// A regular expression without anchors.
    ///
    /// # Errors
    ///
    /// Why it is not one.
    pub(crate) fn of_hir(hir: &Hir) -> Result<Self, &'static str> {
        let all = |parts: &[Hir]| parts.iter().map(Self::of_hir).collect::<Result<Vec<_>, _>>();
        Ok(match hir.kind() {
            HirKind::Empty => Self::EMPTY,
            HirKind::Literal(text) => {
                Self::literal(std::str::from_utf8(&text.0).map_err(|_| "of bytes")?)
            }
            HirKind::Class(Class::Unicode(class)) => Self::class(class.clone()),
            // Of an expression over characters, which is all that is read, only the empty class is one of bytes.
            HirKind::Class(Class::Bytes(_)) => return Err("has a class of no character"),
            HirKind::Look(_) => return Err("grammars cannot express anchors or word boundaries"),
            HirKind::Repetition(repetition) => {
                Self::of_hir(&repetition.sub)?.repeat(repetition.min, repetition.max)
            }
            HirKind::Capture(capture) => Self::of_hir(&capture.sub)?,
            HirKind::Concat(parts) => Self::concat(all(parts)?),
            HirKind::Alternation(parts) => Self::choice(all(parts)?),
        })
    }

    /// The expressions of which it is made.
    pub(crate) fn parts(&self) -> &[Self] {
        match self {
            Self::Concat(parts) | Self::Choice(parts) => parts,
            Self::Repeat(one, ..) => std::slice::from_ref(one),
            Self::Literal(_) | Self::Class(_) | Self::Rule(_) => &[],
        }
    }

    /// The same with each rule as `with` has it.
    pub(super) fn replaced(&self, with: &impl Fn(usize) -> Self) -> Self {
        let all = |parts: &[Self]| parts.iter().map(|part| part.replaced(with)).collect::<Vec<_>>();
        match self {
            Self::Literal(_) | Self::Class(_) => self.clone(),
            Self::Rule(rule) => with(*rule),
            Self::Concat(parts) => Self::concat(all(parts)),
            Self::Choice(options) => Self::choice(all(options)),
            Self::Repeat(one, least, most) => one.replaced(with).repeat(*least, *most),
        }
    }

    /// Whether some part, or it itself, is so.
    pub(crate) fn any(&self, is: &impl Fn(&Self) -> bool) -> bool {
        is(self) || self.parts().iter().any(|part| part.any(is))
    }

    /// Whether it names the rule.
    pub(super) fn mentions(&self, rule: usize) -> bool {
        self.any(&|part| *part == Self::Rule(rule))
    }

    /// How much room it takes: an expression 1, a text its bytes, a class its ranges.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Literal(text) => text.len(),
            Self::Class(class) => 1 + class.ranges().len(),
            _ => 1 + self.parts().iter().map(Self::size).sum::<usize>(),
        }
    }

    /// How many expressions are within one another.
    pub(super) fn depth(&self) -> usize {
        1 + self.parts().iter().map(Self::depth).max().unwrap_or(0)
    }

    /// Whether the empty text is one of its texts, by what is known of rules.
    pub(crate) fn is_nullable(&self, of_rule: &impl Fn(usize) -> bool) -> bool {
        match self {
            Self::Literal(_) | Self::Class(_) => false,
            Self::Rule(rule) => of_rule(*rule),
            Self::Concat(parts) => parts.iter().all(|part| part.is_nullable(of_rule)),
            Self::Choice(options) => options.iter().any(|option| option.is_nullable(of_rule)),
            Self::Repeat(one, least, _) => *least == 0 || one.is_nullable(of_rule),
        }
    }

    /// Its texts but the empty one; those of a rule with it. `None` if they take more than `room`.
    pub(crate) fn without_empty(
        &self,
        of_rule: &impl Fn(usize) -> bool,
        room: &mut usize,
    ) -> Option<Self> {
        *room = room.checked_sub(self.size())?;
        if !self.is_nullable(of_rule) {
            return Some(self.clone());
        }
        Some(match self {
            Self::Literal(_) | Self::Class(_) | Self::Rule(_) => self.clone(),
            Self::Choice(options) => {
                let options = options.iter().map(|option| option.without_empty(of_rule, room));
                Self::choice(options.collect::<Option<Vec<_>>>()?)
            }
            // The first part that is not empty, and then the others.
            Self::Concat(parts) => {
                let mut options = Vec::with_capacity(parts.len());
                for (at, part) in parts.iter().enumerate() {
                    let rest = &parts[at + 1..];
                    *room = room.checked_sub(rest.iter().map(Self::size).sum())?;
                    let first = part.without_empty(of_rule, room)?;
                    options.push(Self::concat([first].into_iter().chain(rest.iter().cloned())));
                }
                Self::choice(options)
            }
            Self::Repeat(one, _, most) => one.without_empty(of_rule, room)?.repeat(1, *most),
        })
    }
}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Literal(text) => text.hash(state),
            Self::Class(class) => {
                class.iter().for_each(|range| (range.start(), range.end()).hash(state));
            }
            Self::Rule(rule) => rule.hash(state),
            Self::Concat(parts) | Self::Choice(parts) => parts.hash(state),
            Self::Repeat(one, least, most) => (one, least, most).hash(state),
        }
    }
}
