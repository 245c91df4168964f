//! An answer that is one of some texts, or fits a regular expression: what of it was read, byte by byte.

use std::sync::Arc;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;

use super::invalid;
use crate::error::{Reason, Result};
use crate::path::Path;
use crate::text_grammar::{parse, without_anchors};

/// How much memory the automaton of an expression may take, in bytes.
const MAX_SIZE: usize = 10 << 20;

/// What an answer has to be.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    /// Without anchors: an answer always fits from its first character to its last.
    pub(super) hir: Hir,
    automaton: Arc<DFA>,
}

impl Pattern {
    /// Of a regular expression. An anchor at its beginning or end is left out: it holds anyway.
    pub(super) fn of_regex(regex: &str) -> Result<Self> {
        let path = || Path::of("response_regex");
        let hir = parse(regex, "").map_err(|refused| invalid(path(), refused.reason))?;
        let hir = without_anchors(&hir);
        if !hir.properties().look_set().is_empty() {
            let reason = "grammars cannot express anchors or word boundaries inside an expression";
            return Err(invalid(path(), reason));
        }
        Self::new(hir, &path())
    }

    /// Of the texts of which the answer is one.
    pub(super) fn of_choices(choices: &[String]) -> Result<Self> {
        let path = Path::of("response_choices");
        if choices.is_empty() {
            return Err(invalid(path, "admits no answer"));
        }
        let all = choices.iter().map(|choice| Hir::literal(choice.as_bytes())).collect();
        Self::new(Hir::alternation(all), &path)
    }

    pub(super) fn new(hir: Hir, path: &Path) -> Result<Self> {
        let limits = thompson::Config::new()
            .nfa_size_limit(Some(MAX_SIZE))
            .which_captures(WhichCaptures::None);
        let nfa: std::result::Result<NFA, _> =
            thompson::Compiler::new().configure(limits).build_from_hir(&hir);
        let too_large = || invalid(path.clone(), Reason::is("too large"));
        let config = DFA::config().match_kind(MatchKind::All).skip_cache_capacity_check(true);
        let automaton = nfa.map_err(|_| too_large())?;
        let automaton = DFA::builder().configure(config).build_from_nfa(automaton);
        Ok(Self { hir, automaton: Arc::new(automaton.map_err(|_| too_large())?) })
    }
}

/// Follows an answer.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    automaton: Arc<DFA>,
    cache: Cache,
    place: Option<LazyStateID>,
    /// Whether the answer may end here.
    ends: bool,
}

impl Matcher {
    pub(super) fn new(pattern: &Pattern) -> Self {
        let automaton = Arc::clone(&pattern.automaton);
        let cache = automaton.create_cache();
        let mut matcher = Self { automaton, cache, place: None, ends: false };
        matcher.start();
        matcher
    }

    fn start(&mut self) {
        let start = start::Config::new().anchored(Anchored::Yes);
        self.place = self.automaton.start_state(&mut self.cache, &start).ok();
        self.look();
    }

    /// Whether a whole text fits.
    pub(super) fn fits(&mut self, text: &str) -> bool {
        self.start();
        self.feed(text.as_bytes()) && self.is_complete()
    }

    /// Whether the answer may end here.
    pub(super) fn is_complete(&self) -> bool {
        self.ends
    }

    /// Reads bytes; false if no answer resumes them.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            let Some(place) = self.place else { return false };
            let next = self.automaton.next_state(&mut self.cache, place, byte);
            self.place = next.ok().filter(|next| !next.is_dead() && !next.is_quit());
        }
        self.look();
        self.place.is_some()
    }

    /// Matches are known only at the end of the text.
    fn look(&mut self) {
        let end =
            self.place.and_then(|place| self.automaton.next_eoi_state(&mut self.cache, place).ok());
        self.ends = end.is_some_and(|place| place.is_match());
    }
}
