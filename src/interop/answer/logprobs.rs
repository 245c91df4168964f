//! Log-probabilities: those of the sampled tokens, and the entries for visible text in answers.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, Result};
use crate::interop::Turn;
use crate::parse::Utf8Decoder;
use crate::path::Path;
use crate::saved::MOST;
use crate::tokenizer::{TokenId, Tokenizer};

/// How likely a sampled token was, from the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Bits", into = "Bits")]
pub struct TokenLogprob {
    /// The natural logarithm of its probability. Minus infinity is written as -9999, as JSON has no infinity.
    pub logprob: f64,
    /// The most likely tokens at its position with their log-probabilities, in any order. The answer includes as many
    /// as the body asks for and skips ids that do not exist.
    pub top: Vec<(TokenId, f64)>,
}

/// The saved form of a [`TokenLogprob`]: the bits of its floats, of which `serde_json` would read one in ten with
/// another last bit.
#[derive(Serialize, Deserialize)]
struct Bits(u64, Vec<(TokenId, u64)>);

impl From<TokenLogprob> for Bits {
    fn from(TokenLogprob { logprob, top }: TokenLogprob) -> Self {
        Self(logprob.to_bits(), top.into_iter().map(|(id, one)| (id, one.to_bits())).collect())
    }
}

impl From<Bits> for TokenLogprob {
    fn from(Bits(logprob, top): Bits) -> Self {
        // A state may come from a client.
        let read = |bits| Some(f64::from_bits(bits)).filter(|one| one.is_finite()).unwrap_or(LEAST);
        let top = top.into_iter().map(|(id, bits)| (id, read(bits))).collect();
        Self { logprob: read(logprob), top }
    }
}

impl TokenLogprob {
    fn finite(mut self) -> Self {
        self.logprob = self.logprob.max(LEAST);
        for (_, logprob) in &mut self.top {
            *logprob = logprob.max(LEAST);
        }
        self
    }
}

impl From<f64> for TokenLogprob {
    fn from(logprob: f64) -> Self {
        Self { logprob, top: Vec::new() }
    }
}

/// The tokens of a reply to a body that asks for log-probabilities, and which of them belong to visible text so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::interop) struct Logprobs {
    /// How many alternatives of each token the answer has.
    #[serde(skip)]
    alternatives: usize,
    /// Whether all tokens have an entry, not only those of visible text.
    #[serde(skip)]
    is_all: bool,
    /// Whether tokens are written by their ids.
    #[serde(skip)]
    as_ids: bool,
    /// How many tokens were fed before the first one kept here.
    past: usize,
    tokens: Vec<FedToken>,
    /// The first token of the open message that no delta has covered yet.
    next: usize,
    /// The first token that is not decoded.
    undecoded: usize,
    decoder: Utf8Decoder,
    /// How many bytes of text the decoded tokens of the open message have.
    decoded: usize,
    /// How many of them have been sent in deltas.
    emitted: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct FedToken {
    id: TokenId,
    given: Option<TokenLogprob>,
    /// The offset, in its message's text, of the character that contains its first byte.
    start: usize,
}

impl Logprobs {
    /// `None` if the body asks for no log-probabilities. Bodies that ask for token ids want those of all tokens: vLLM's
    /// clients match the two lists.
    pub(in crate::interop) fn of(turn: &Turn) -> Option<Self> {
        let as_ids = turn.answer.tokens_as_ids;
        Some(Self {
            alternatives: turn.sampling.logprobs?,
            is_all: as_ids || turn.answer.token_ids,
            as_ids,
            past: 0,
            tokens: Vec::new(),
            next: 0,
            undecoded: 0,
            decoder: Utf8Decoder::default(),
            decoded: 0,
            emitted: 0,
        })
    }

    /// Adds tokens that are fed, each with its log-probability if the engine gave one.
    pub(in crate::interop) fn feed(&mut self, ids: &[TokenId], given: &[Option<TokenLogprob>]) {
        for (index, &id) in ids.iter().enumerate() {
            let given = given.get(index).cloned().flatten().map(TokenLogprob::finite);
            self.tokens.push(FedToken { id, given, start: 0 });
        }
    }

    /// The log-probability given for each token.
    pub(in crate::interop) fn given(&self) -> impl Iterator<Item = &Option<TokenLogprob>> {
        self.tokens.iter().map(|token| &token.given)
    }

    /// A copy without what no later text needs: the tokens before `first` and, if the open message `says_more`, those
    /// already emitted.
    pub(in crate::interop) fn checkpoint(&self, first: usize, says_more: bool) -> Self {
        let first = first.saturating_sub(self.past).min(self.tokens.len());
        let held = if self.is_all {
            self.next.min(self.tokens.len())
        } else if says_more {
            first.min(self.next)
        } else {
            first
        };
        Self {
            past: self.past + held,
            tokens: self.tokens[held..].to_vec(),
            next: self.next.saturating_sub(held),
            undecoded: self.undecoded.saturating_sub(held),
            ..*self
        }
    }

    /// Replaces `own`, which is at its beginning, with a checkpoint's state. `false` if that does not fit: a checkpoint
    /// may have been altered.
    pub(in crate::interop) fn resume(&mut self, own: &Self) -> bool {
        (self.alternatives, self.is_all, self.as_ids) = (own.alternatives, own.is_all, own.as_ids);
        self.decoded <= MOST && self.emitted <= MOST && self.decoder.is_possible()
    }

    /// A message's content begins with this token.
    pub(in crate::interop) fn begin(&mut self, first: usize) {
        if self.is_all {
            return;
        }
        let first = first.saturating_sub(self.past);
        (self.next, self.undecoded) = (first, first);
        (self.decoded, self.emitted) = (0, 0);
        self.decoder = Utf8Decoder::default();
    }

    /// The entries of the last `count` tokens, which were just fed, if all tokens have one. Those before the engine's
    /// first log-probability come with it.
    pub(in crate::interop) fn sampled(&mut self, count: usize) -> Vec<LogprobEntry> {
        let from = self.next;
        let is_known = |token: &FedToken| token.given.is_some();
        let knows_any = || self.tokens.iter().rev().take(count).any(is_known);
        if self.is_all && (from > 0 || self.past > 0 || knows_any()) {
            self.next = self.tokens.len();
        }
        self.entries(from..self.next)
    }

    /// The entries of all tokens, if all have one.
    pub(in crate::interop) fn all(&self) -> Option<Vec<LogprobEntry>> {
        self.is_all.then(|| self.entries(0..self.next))
    }

    fn entries(&self, of: Range<usize>) -> Vec<LogprobEntry> {
        // A checkpoint may have been altered.
        let tokens = self.tokens.get(of).unwrap_or_default();
        tokens.iter().filter_map(|token| self.entry(token)).collect()
    }

    /// The entries for the next piece of text, whose tokens are known up to `end`. Stop strings hold back the rest; if
    /// `is_all`, the only rest is the first bytes of a character, which the text replaces with U+FFFD where it `ends`.
    /// A token belongs to the text that contains its first byte.
    pub(in crate::interop) fn emit(
        &mut self,
        text: &str,
        end: usize,
        is_all: bool,
        ends: bool,
    ) -> Vec<LogprobEntry> {
        if self.is_all {
            return Vec::new();
        }
        self.decode(end);
        self.emitted += text.len();
        if is_all {
            // Words that a repair moves from the text into the header no longer belong to the text.
            self.emitted = self.emitted.max(self.decoded);
        }
        let known = self.tokens.get(self.next..self.undecoded).unwrap_or_default();
        let count = if is_all && ends {
            known.len()
        } else {
            known.partition_point(|token| token.start < self.emitted)
        };
        let emitted = &known[..count];
        let entries = emitted.iter().filter_map(|token| self.entry(token)).collect();
        self.next += emitted.len();
        entries
    }

    /// Decodes the tokens before this one.
    fn decode(&mut self, end: usize) {
        let mut text = String::new();
        for token in self.tokens.iter_mut().take(end.saturating_sub(self.past)).skip(self.undecoded)
        {
            token.start = self.decoded;
            self.decoder.push(bytes_of(token.id).unwrap_or_default(), &mut text);
            self.decoded += text.len();
            text.clear();
            self.undecoded += 1;
        }
    }

    /// `None` for a token of visible text without a known log-probability. Where all tokens have one, it is -9999, as
    /// in vLLM.
    fn entry(&self, token: &FedToken) -> Option<LogprobEntry> {
        let unknown = TokenLogprob::from(LEAST);
        let given = token.given.as_ref().or(self.is_all.then_some(&unknown))?;
        let TokenLogprob { logprob, top } = given;
        let likely = |id, bytes, logprob| Likely::new(id, bytes, logprob, self.as_ids);
        let alternatives =
            top.iter().filter_map(|&(id, logprob)| Some(likely(id, bytes_of(id)?, logprob)));
        let mut alternatives: Vec<_> = alternatives.collect();
        alternatives.sort_by(|one, other| other.logprob.total_cmp(&one.logprob));
        alternatives.truncate(self.alternatives);
        let bytes = bytes_of(token.id).or(self.is_all.then_some(b""))?;
        Some(LogprobEntry { token: likely(token.id, bytes, *logprob), top_logprobs: alternatives })
    }
}

/// A token of an answer, as all dialects write it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::interop) struct LogprobEntry {
    #[serde(flatten)]
    token: Likely,
    top_logprobs: Vec<Likely>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Likely {
    /// Its text, with U+FFFD for a part of a character, or `token_id:5`.
    token: Cow<'static, str>,
    logprob: f64,
    bytes: &'static [u8],
}

impl Likely {
    fn new(id: TokenId, bytes: &'static [u8], logprob: f64, as_id: bool) -> Self {
        let text = || String::from_utf8_lossy(bytes);
        let token = if as_id { format!("token_id:{id}").into() } else { text() };
        Self { token, logprob, bytes }
    }
}

/// The APIs' value for tokens that are practically impossible.
const LEAST: f64 = -9999.0;

fn bytes_of(id: TokenId) -> Option<&'static [u8]> {
    Tokenizer::o200k_harmony().token_bytes(id)
}

/// Refuses log-probabilities that do not fit the tokens.
pub(in crate::interop) fn check(tokens: &[TokenId], given: &[Option<TokenLogprob>]) -> Result<()> {
    if given.len() != tokens.len() {
        let reason = format!("{} for {} tokens", given.len(), tokens.len());
        return Err(invalid(Path::of("logprobs"), reason));
    }
    for (index, given) in given.iter().enumerate() {
        let Some(TokenLogprob { logprob, top }) = given else { continue };
        let at = || Path::of("logprobs").then(index);
        check_one(*logprob, || at().then("logprob"))?;
        for (place, &(_, logprob)) in top.iter().enumerate() {
            check_one(logprob, || at().then("top").then(place))?;
        }
    }
    Ok(())
}

fn check_one(logprob: f64, at: impl FnOnce() -> Path) -> Result<()> {
    if logprob.is_nan() || logprob == f64::INFINITY {
        return Err(invalid(
            at(),
            format!("expected the logarithm of a probability, got {logprob}"),
        ));
    }
    Ok(())
}

fn invalid(path: Path, reason: String) -> crate::Error {
    ErrorKind::InvalidLogprobs { path, reason: reason.into() }.into()
}
