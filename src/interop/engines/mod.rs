//! Streams of engines -> sampled tokens.
//!
//! ```text
//! bytes --lines--> events --completions | sglang | llama_cpp--> tokens, up to the limit or a stop token
//! ```
//!
//! Each [`EngineForm`] has a file, which reads one event. `logprobs` reads the forms of log-probabilities.

mod completions;
mod lines;
mod llama_cpp;
mod logprobs;
mod sglang;

use std::collections::BTreeMap;

use self::lines::Lines;
use super::{FinishReason, TokenLogprob};
use crate::brief::Brief;
use crate::json::{At, NotNumbers, Tape, Value};
use crate::options::choices;
use crate::tokenizer::TokenId;

/// The form in which an engine streams what it samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EngineForm {
    /// `OpenAI`'s completions with `token_ids`, an addition of vLLM's, and vLLM's `/inference/v1/generate`.
    Completions,
    /// `SGLang`'s `/generate`.
    Sglang,
    /// `/completion` of llama.cpp's server.
    LlamaCpp,
}

choices! {
    EngineForm, "'completions', 'sglang' or 'llama.cpp'":
        "completions" Completions, "sglang" Sglang, "llama.cpp" LlamaCpp;
}

/// What an engine sampled.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct EngineOutput {
    /// The tokens.
    pub tokens: Vec<TokenId>,
    /// Their log-probabilities, one for each token, if the engine gives any.
    pub logprobs: Option<Vec<Option<TokenLogprob>>>,
    /// Why the output ends here, if it does.
    pub reason: Option<FinishReason>,
    /// What the engine did wrong after these tokens, if anything; then there is no `reason`.
    pub fault: Option<EngineFault>,
}

/// What an engine did wrong. The output ends with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineFault {
    /// The HTTP status for the client: 400 for a request that the engine refused, 429 if it is busy, 502 if it failed,
    /// 503 if it reports that it is unavailable.
    pub status: u16,
    /// What the engine did, as the rest of a sentence about it: `sends data that is not JSON: "x"`.
    pub what: String,
}

impl EngineFault {
    fn broke(what: impl Into<String>) -> Self {
        Self { status: 502, what: what.into() }
    }

    /// The engine sends something invalid: `what` names it, and the value is quoted.
    fn sends(what: &str, value: &str) -> Self {
        Self::broke(format!("sends {what}: {}", Brief(value)))
    }
}

type Fault<T> = Result<T, EngineFault>;

/// Reads what an engine streams: server-sent events or lines of JSON, cut anywhere. Enforces a limit and stop tokens,
/// even if the engine does not: nothing after them is read.
///
/// ```
/// use openai_harmony::interop::{EngineForm, EngineReader, FinishReason};
///
/// let mut reader = EngineReader::new(EngineForm::Completions, 100, &[200_002]);
/// let sampled = reader.feed(b"data: {\"choices\": [{\"token_ids\": [35");
/// assert!(sampled.tokens.is_empty());
/// let sampled = reader.feed(b", 200002]}]}\n\n");
/// assert_eq!((sampled.tokens, sampled.reason), (vec![35, 200_002], Some(FinishReason::Stop)));
/// ```
#[derive(Debug)]
pub struct EngineReader {
    form: EngineForm,
    lines: Lines,
    /// How many tokens the engine has sampled, by its own count if it has one.
    seen: usize,
    /// How many more the answer may have.
    left: usize,
    stops: Vec<TokenId>,
    is_ended: bool,
    besides: Besides,
}

type Besides = BTreeMap<&'static str, String>;

/// The content of one event.
#[derive(Debug, Default)]
struct Event {
    tokens: Vec<TokenId>,
    logprobs: Option<Vec<Option<TokenLogprob>>>,
    reason: Option<FinishReason>,
    /// How many tokens the engine has sampled so far, including these, if it counts them.
    seen: Option<usize>,
    besides: Besides,
}

impl EngineReader {
    /// For an output of at most this many tokens that ends at any of the stop tokens.
    pub fn new(form: EngineForm, max_tokens: usize, stop_token_ids: &[TokenId]) -> Self {
        let stops = stop_token_ids.to_vec();
        Self {
            form,
            lines: Lines::default(),
            seen: 0,
            left: max_tokens,
            stops,
            is_ended: false,
            besides: Besides::new(),
        }
    }

    /// What vLLM sent besides tokens, as JSON: `routed_experts` of the tokens, `prompt_logprobs`.
    pub fn besides(&self) -> &BTreeMap<&'static str, String> {
        &self.besides
    }

    /// Takes more bytes of the stream. Bytes after the end are ignored.
    pub fn feed(&mut self, bytes: &[u8]) -> EngineOutput {
        let mut sampled = EngineOutput::default();
        if !self.is_ended {
            let mut lines = std::mem::take(&mut self.lines);
            let fed = lines.feed(bytes, |line| self.line(line, &mut sampled));
            self.lines = lines;
            self.end_with(fed, &mut sampled);
        }
        sampled
    }

    /// Takes the end of the stream. If the output has not ended before, it broke off.
    pub fn finish(&mut self) -> EngineOutput {
        let mut sampled = EngineOutput::default();
        if !self.is_ended {
            let rest = std::mem::take(&mut self.lines).into_rest();
            let last = self.line(&rest, &mut sampled);
            self.end_with(last, &mut sampled);
        }
        if !self.is_ended {
            let broke = EngineFault::broke("broke off: its stream ended without a finish reason");
            self.end_with(Err(broke), &mut sampled);
        }
        sampled
    }

    fn end_with(&mut self, read: Fault<()>, sampled: &mut EngineOutput) {
        if let Err(fault) = read {
            sampled.fault = Some(fault);
        }
        self.is_ended = sampled.fault.is_some() || sampled.reason.is_some();
    }

    /// Reads a line without its end.
    fn line(&mut self, line: &[u8], sampled: &mut EngineOutput) -> Fault<()> {
        let data = lines::data(line);
        if data.is_empty() || sampled.reason.is_some() {
            return Ok(());
        }
        let not_json =
            || EngineFault::sends("data that is not JSON", &String::from_utf8_lossy(data));
        let text = std::str::from_utf8(data).map_err(|_| not_json())?;
        let mut tape = Tape::default();
        let index = tape.parse(text, NotNumbers::Taken).map_err(|_| not_json())?;
        let event = tape.at(index);
        if event.as_object().is_none() {
            return Err(EngineFault::sends("data that is not an event", text));
        }
        if let Some(error) = event.get("error").filter(|error| is_something(*error)) {
            return Err(said(error));
        }
        let event = match self.form {
            EngineForm::Completions => completions::read(event),
            EngineForm::Sglang => sglang::read(event, self.seen),
            EngineForm::LlamaCpp => llama_cpp::read(event, self.seen),
        };
        self.hold(event?, sampled)
    }

    /// Adds an event's tokens, up to the first stop token or the limit.
    fn hold(&mut self, event: Event, sampled: &mut EngineOutput) -> Fault<()> {
        let Event { mut tokens, logprobs, reason, seen, besides } = event;
        self.besides.extend(besides);
        self.seen = seen.unwrap_or(self.seen + tokens.len());
        let stop = tokens.iter().position(|token| self.stops.contains(token));
        let end = stop.map_or(tokens.len(), |at| at + 1);
        let taken = end.min(self.left);
        let reason = match reason {
            _ if end > self.left => Some(FinishReason::Length),
            _ if stop.is_some() => Some(FinishReason::Stop),
            None if taken == self.left => Some(FinishReason::Length),
            reason => reason,
        };
        tokens.truncate(taken);
        self.left -= taken;
        if let Some(mut logprobs) = logprobs {
            logprobs.truncate(taken);
            let before = sampled.tokens.len();
            let all = sampled.logprobs.get_or_insert_with(|| vec![None; before]);
            all.extend(logprobs);
        } else if let Some(all) = &mut sampled.logprobs {
            all.extend(tokens.iter().map(|_| None));
        }
        sampled.tokens.append(&mut tokens);
        if reason == Some(FinishReason::Abort) {
            return Err(EngineFault::broke("gave up"));
        }
        sampled.reason = reason;
        Ok(())
    }
}

/// Whether an `error` field reports one: `null`, `false`, zero and empty values do not.
fn is_something(at: At<'_>) -> bool {
    match at.value() {
        Value::Null | Value::Bool(false) | Value::Number("0") | Value::String("") => false,
        Value::Array(array) => !array.is_empty(),
        Value::Object(object) => object.iter().next().is_some(),
        _ => true,
    }
}

/// The error that an engine sends, in whichever form it writes it.
fn said(error: At<'_>) -> EngineFault {
    let message = ["message", "detail"].iter().find_map(|name| error.get(name));
    let text = message.unwrap_or(error);
    let text = text.as_str().map_or_else(|| text.to_json(), str::to_owned);
    let code = ["code", "status_code"].iter().find_map(|name| error.get(name)?.number());
    EngineFault { status: status_of(code), what: format!("says: {}", Brief(&text)) }
}

/// The status for the client, given that of the engine's error.
fn status_of(code: Option<usize>) -> u16 {
    match code {
        Some(400 | 413 | 422) => 400,
        Some(429 | 529) => 429,
        Some(503) => 503,
        _ => 502,
    }
}

/// Token ids; `null` or a missing field means no tokens.
fn ids(at: Option<At<'_>>) -> Fault<Vec<TokenId>> {
    let Some(at) = at.filter(|at| !at.is_null()) else { return Ok(Vec::new()) };
    let ids = at.as_array().and_then(|items| items.iter().map(At::number).collect());
    ids.ok_or_else(|| EngineFault::sends("values that are not token ids", &at.to_json()))
}
