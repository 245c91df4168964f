//! Saving a reply as bytes, to resume it in another process.
//!
//! The state is the input: the options, the tokens, and how they were cut. Resuming feeds them again, which costs as
//! much as the first time, but keeps internals out of the format. A checkpoint has the internals (`checkpoint`)
//! instead, since only their size does not grow.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::checkpoint::ReplyCheckpoint;
use super::feed::End;
use super::{Reply, ReplyOptions};
use crate::HarmonyEncoding;
use crate::error::Result;
use crate::interop::answer::{Framing, Outcome};
use crate::interop::dialect::Resends;
use crate::interop::{TokenLogprob, Turn};
use crate::saved::{invalid, read};

/// The version of the format. It changes with the fields of [`SavedReply`].
const VERSION: u32 = 11;

#[derive(Debug, Serialize, Deserialize)]
struct SavedReply {
    version: u32,
    dialect: String,
    options: ReplyOptions,
    fed: Fed,
    end: Option<Outcome>,
    /// How long ago the reply began.
    elapsed: Duration,
    first_token: Option<Duration>,
}

/// What the reply was fed.
#[derive(Debug, Serialize, Deserialize)]
enum Fed {
    Tokens {
        tokens: Vec<u32>,
        /// How many tokens each `feed` was given.
        cuts: Vec<usize>,
        /// The log-probability given for each token, if the body asks for them.
        logprobs: Option<Vec<Option<TokenLogprob>>>,
        /// The ids that the server's own function made.
        made_ids: Vec<String>,
    },
    /// Only the reply's current state.
    Checkpoint(Box<ReplyCheckpoint>),
}

impl Reply {
    /// Resumes a reply that [`Self::to_bytes`] saved, in another process for instance. Read the turn from the same
    /// body. Only one of the options is used, the function [`ReplyOptions::make_id`]; the others
    /// were saved. The cost is that of feeding the reply's tokens.
    ///
    /// # Errors
    ///
    /// [`InvalidState`](crate::ErrorKind::InvalidState) for bytes of another version, from a turn of another API, or
    /// that [`Self::to_bytes`] did not write.
    ///
    /// # Example
    ///
    /// ```
    /// use openai_harmony::interop::{ReadOptions, Reply, ReplyOptions, chat_completions};
    /// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    /// use serde_json::json;
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let encode = |text| encoding.tokenizer().encode_with_special_tokens(text);
    /// let body = json!({"messages": [{"role": "user", "content": "2 + 2?"}]});
    /// let turn = chat_completions::read(&body, &ReadOptions::default())?;
    /// let mut reply = turn.reply(&encoding, ReplyOptions::new("gpt-oss-20b"))?;
    /// reply.feed(&encode("<|channel|>final<|message|>Fo"), None)?;
    /// let saved = reply.to_bytes();
    ///
    /// let mut reply = Reply::from_bytes(&turn, &encoding, &saved, ReplyOptions::default())?;
    /// reply.feed(&encode("ur.<|return|>"), None)?;
    /// assert_eq!(reply.response()["choices"][0]["message"]["content"], "Four.");
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn from_bytes(
        turn: &Turn,
        encoding: &HarmonyEncoding,
        saved: &[u8],
        options: ReplyOptions,
    ) -> Result<Self> {
        Self::from_saved(turn, *encoding, read(saved, "reply", VERSION)?, options)
    }

    /// The same for a checkpoint that a client carries; it must match this answer, choice and number of tokens.
    pub(in crate::interop) fn from_carried(
        turn: &Turn,
        encoding: HarmonyEncoding,
        saved: &[u8],
        (id, index, tokens): (&str, usize, usize),
    ) -> Result<Self> {
        let saved: SavedReply = read(saved, "reply", VERSION)?;
        if (saved.options.id.as_deref(), saved.options.index) != (Some(id), index) {
            return Err(invalid("it belongs to another answer or choice"));
        }
        if !matches!(saved.fed, Fed::Checkpoint(_)) {
            return Err(invalid("it is not a checkpoint"));
        }
        let reply = Self::from_saved(turn, encoding, saved, ReplyOptions::default())?;
        if reply.parser.fed_count() != tokens {
            return Err(invalid("it was made after a different number of tokens"));
        }
        Ok(reply)
    }

    fn from_saved(
        turn: &Turn,
        encoding: HarmonyEncoding,
        saved: SavedReply,
        options: ReplyOptions,
    ) -> Result<Self> {
        let dialect = turn.dialect.as_str();
        if saved.dialect != dialect {
            return Err(invalid(format!(
                "it was saved by a {} reply, but the turn is {dialect}",
                saved.dialect
            )));
        }
        let options = ReplyOptions { make_id: options.make_id, ..saved.options };
        let mut reply = turn.reply(&encoding, options)?;
        match saved.fed {
            Fed::Tokens { tokens, cuts, logprobs, made_ids } => {
                reply.sorter.ids.repeat(made_ids);
                reply.feed_again(&tokens, &cuts, logprobs.as_deref())?;
            }
            Fed::Checkpoint(checkpoint) => reply.resume(*checkpoint)?,
        }
        if let Some(Outcome { reason, stop_sequence, durations, failure }) = saved.end {
            let stop_sequence = stop_sequence.as_deref();
            let end = End { reason, stop_sequence, message: &failure, ..End::ABORTED };
            reply.finish_framed(end, &mut Vec::new(), Framing::Lines)?;
            if let Some(outcome) = &mut reply.outcome {
                outcome.durations = durations;
            }
        }
        reply.timer.resume(saved.elapsed, saved.first_token);
        Ok(reply)
    }

    /// Uses these ids for calls first.
    pub(in crate::interop) fn use_ids(&mut self, ids: Vec<String>) {
        self.sorter.ids.repeat(ids);
    }

    /// Feeds tokens again, in the pieces in which they arrived.
    fn feed_again(
        &mut self,
        mut tokens: &[u32],
        cuts: &[usize],
        mut logprobs: Option<&[Option<TokenLogprob>]>,
    ) -> Result<()> {
        let mut sent = Vec::new();
        if cuts.iter().try_fold(0_usize, |sum, &cut| sum.checked_add(cut)) != Some(tokens.len()) {
            return Err(invalid("`cuts` does not add up to the number of tokens"));
        }
        if logprobs.is_some_and(|logprobs| logprobs.len() != tokens.len()) {
            return Err(invalid("`logprobs` does not fit the number of tokens"));
        }
        for &cut in cuts {
            let (fed, rest) = tokens.split_at(cut);
            let (given, others) = logprobs.map(|logprobs| logprobs.split_at(cut)).unzip();
            self.feed_framed(fed, given, &mut sent, Framing::Lines)?;
            sent.clear();
            (tokens, logprobs) = (rest, others);
        }
        Ok(())
    }

    /// The reply as bytes, from which [`Self::from_bytes`] resumes it, in this process or in another. They are JSON
    /// with a version, about 8 bytes per token, more with log-probabilities; tokens are not encrypted. The bytes of a
    /// reply that was resumed from a [checkpoint](Self::to_checkpoint) are another checkpoint.
    pub fn to_bytes(&self) -> Vec<u8> {
        if self.parser.is_continued() {
            return self.saved(Fed::Checkpoint(Box::new(self.checkpoint())));
        }
        self.saved(Fed::Tokens {
            tokens: self.parser.tokens().to_vec(),
            cuts: self.cuts.clone(),
            logprobs: self
                .sorter
                .visible
                .logprobs
                .as_ref()
                .map(|kept| kept.given().cloned().collect()),
            made_ids: self.sorter.ids.made().to_vec(),
        })
    }

    /// Like [`Self::to_bytes`], but only what is needed to continue the stream: about a kilobyte, however long the
    /// answer, which takes a few microseconds to read. What is sent from then on is the same. The reply that
    /// [`Self::from_bytes`] makes of it does not know what was sent before: its [response](Self::response),
    /// [messages](Self::messages), [repairs](Self::repairs) and [calls](Self::builtin_calls) start at the checkpoint;
    /// [usage](Self::usage) counts all tokens.
    ///
    /// Anything not sent yet is kept in full: an unfinished header, a call that is held back until it is complete, a
    /// call of a built-in tool of the server, a custom tool's object whose input does not come first. With Anthropic's
    /// API, so is a thought, since its signature repeats it at the end.
    ///
    /// # Errors
    ///
    /// [`InvalidState`](crate::ErrorKind::InvalidState) for Responses, where the last event repeats the whole answer.
    ///
    /// # Example
    ///
    /// ```
    /// use openai_harmony::interop::{FinishReason, ReadOptions, Reply, ReplyOptions, chat_completions};
    /// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    /// use serde_json::json;
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let encode = |text| encoding.tokenizer().encode_with_special_tokens(text);
    /// let body = json!({"messages": [{"role": "user", "content": "2 + 2?"}]});
    /// let turn = chat_completions::read(&body, &ReadOptions::default())?;
    /// let mut reply = turn.reply(&encoding, ReplyOptions::new("gpt-oss-20b"))?;
    /// reply.feed(&encode("<|channel|>analysis<|message|>Easy.<|end|>"), None)?;
    ///
    /// let saved = reply.to_checkpoint()?;
    /// let mut reply = Reply::from_bytes(&turn, &encoding, &saved, ReplyOptions::default())?;
    /// let chunks = reply.feed(&encode("<|start|>assistant<|channel|>final<|message|>Four."), None)?;
    /// assert_eq!(chunks[0].to_value()["choices"][0]["delta"], json!({"content": "Four."}));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn to_checkpoint(&self) -> Result<Vec<u8>> {
        if self.dialect.definition().resends == Resends::All {
            return Err(invalid(
                "the last event of this API repeats the whole answer: use to_bytes",
            ));
        }
        Ok(self.saved(Fed::Checkpoint(Box::new(self.checkpoint()))))
    }

    fn saved(&self, fed: Fed) -> Vec<u8> {
        let (elapsed, first_token) = self.timer.elapsed();
        let saved = SavedReply {
            version: VERSION,
            dialect: self.dialect.as_str().to_owned(),
            options: self.options.clone(),
            fed,
            end: self.outcome.clone(),
            elapsed,
            first_token,
        };
        serde_json::to_vec(&saved).unwrap_or_default()
    }
}
