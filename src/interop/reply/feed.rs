//! Feeding tokens to an answer and ending it: each call returns what the API sends then.

use super::super::answer::{AnswerState, FinishReason, Framing, Outcome, Sink, check};
use super::super::{Json, TokenLogprob};
use super::Reply;
use super::sort::{Made, Sorter};
use crate::error::{ErrorKind, Result};

impl Reply {
    /// Takes any number of sampled tokens and returns what the API sends for them: chunks, events or lines, as JSON.
    /// The first call also returns what opens the stream; `feed(&[], None)` does so before the first token.
    ///
    /// `logprobs` are the log-probabilities of the tokens, one for each; `None` for a token without one. If the body
    /// asks for them ([`Sampling::logprobs`](crate::interop::Sampling::logprobs)), the answer has those of visible
    /// text: chat's `logprobs`, the `logprobs` of Responses' texts, Ollama's. Thoughts, calls and headers get none. If
    /// a stop string cuts a token, the token keeps its entry.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Finished`] after [`Self::finish`]; tokens never raise an error. [`ErrorKind::InvalidLogprobs`] if
    /// the numbers of log-probabilities and tokens differ, or a log-probability is not a number; then nothing is fed.
    ///
    /// # Example
    ///
    /// ```
    /// use openai_harmony::interop::{ReadOptions, ReplyOptions, TokenLogprob, chat_completions};
    /// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    /// use serde_json::json;
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let body = json!({"messages": [{"role": "user", "content": "2 + 2?"}], "logprobs": true});
    /// let turn = chat_completions::read(&body, &ReadOptions::default())?;
    /// assert_eq!(turn.sampling.logprobs, Some(0));
    /// let mut reply = turn.reply(&encoding, ReplyOptions::new("gpt-oss-20b"))?;
    /// let sampled = encoding.tokenizer().encode_with_special_tokens("<|channel|>final<|message|>Four");
    /// let logprobs = vec![Some(TokenLogprob::from(-0.25)); sampled.len()];
    /// reply.feed(&sampled, Some(&logprobs))?;
    /// assert_eq!(
    ///     reply.response()["choices"][0]["logprobs"]["content"],
    ///     json!([{"token": "Four", "logprob": -0.25, "bytes": b"Four", "top_logprobs": []}]),
    /// );
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn feed(
        &mut self,
        tokens: &[u32],
        logprobs: Option<&[Option<TokenLogprob>]>,
    ) -> Result<Vec<Json>> {
        let mut lines = Vec::new();
        self.feed_framed(tokens, logprobs, &mut lines, Framing::Lines)?;
        Ok(Json::written_lines(&lines))
    }

    /// [`Self::feed`] that appends wire bytes to a buffer, in a fraction of the time.
    ///
    /// # Errors
    ///
    /// Those of [`Self::feed`].
    pub fn feed_into(
        &mut self,
        tokens: &[u32],
        logprobs: Option<&[Option<TokenLogprob>]>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        self.feed_framed(tokens, logprobs, bytes, self.dialect.definition().framing)
    }

    pub(super) fn feed_framed(
        &mut self,
        tokens: &[u32],
        logprobs: Option<&[Option<TokenLogprob>]>,
        bytes: &mut Vec<u8>,
        framing: Framing,
    ) -> Result<()> {
        if self.outcome.is_some() {
            return Err(ErrorKind::Finished.into());
        }
        if let Some(logprobs) = logprobs {
            check(tokens, logprobs)?;
        }
        let mut entries = Vec::new();
        if let Some(kept) = &mut self.sorter.visible.logprobs {
            kept.feed(tokens, logprobs.unwrap_or_default());
            entries = kept.sampled(tokens.len());
        }
        if !tokens.is_empty() {
            self.timer.first_token();
        }
        self.cuts.push(tokens.len());
        let events = self.parser.feed(tokens)?;
        let sink = &mut Sink::new(bytes, framing);
        self.open(sink);
        self.sorter.writer.sampled(tokens, entries);
        self.sorter.take(events, None, sink);
        self.sorter.writer.flush(sink);
        Ok(())
    }

    /// Ends the answer and returns what is left to send. `stop_sequence` is the stop string at which
    /// the engine stopped, if it looks for the body's itself; those in [`Turn::stop_strings`](crate::interop::Turn::stop_strings) are
    /// found without it. [`FinishReason::Abort`] is a [failure](Self::fail) with a default message. A second call
    /// returns nothing.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn finish(
        &mut self,
        reason: FinishReason,
        stop_sequence: Option<&str>,
    ) -> Result<Vec<Json>> {
        self.finish_lines(End { reason, stop_sequence, ..End::ABORTED })
    }

    /// [`Self::finish`] that appends wire bytes to a buffer, with [`Self::last_frame`] unless the answer failed. A
    /// second call writes nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Self::finish`].
    pub fn finish_into(
        &mut self,
        reason: FinishReason,
        stop_sequence: Option<&str>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        self.finish_bytes(End { reason, stop_sequence, ..End::ABORTED }, bytes)
    }

    /// Ends the stream of an answer that cannot be completed, in the way of its API: chat completions with an `error`
    /// chunk, Anthropic with an `error` event, Ollama with an `error` line, and nothing after it; Responses with
    /// `response.failed`. Client libraries then raise, and agents ask again. `status` is the one that the error would
    /// have before a stream has begun. The answer so far stays in [`Self::response`].
    ///
    /// # Errors
    ///
    /// Those of [`Self::finish`].
    ///
    /// # Example
    ///
    /// ```
    /// use openai_harmony::interop::{ReadOptions, ReplyOptions, chat_completions};
    /// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
    /// use serde_json::json;
    ///
    /// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let body = json!({"messages": [{"role": "user", "content": "Hello"}], "stream": true});
    /// let turn = chat_completions::read(&body, &ReadOptions::default())?;
    /// let mut reply = turn.reply(&encoding, ReplyOptions::new("gpt-oss-20b"))?;
    /// reply.feed(&[], None)?;
    /// let last = reply.fail("the engine broke off", 502)?;
    /// let error = json!({"message": "the engine broke off", "type": "server_error", "param": null, "code": null});
    /// assert_eq!(json!(last), json!([{"error": error}]));
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn fail(&mut self, message: &str, status: u16) -> Result<Vec<Json>> {
        self.finish_lines(End { status, message, ..End::ABORTED })
    }

    /// [`Self::fail`] that appends wire bytes to a buffer.
    ///
    /// # Errors
    ///
    /// Those of [`Self::finish`].
    pub fn fail_into(&mut self, message: &str, status: u16, bytes: &mut Vec<u8>) -> Result<()> {
        self.finish_bytes(End { status, message, ..End::ABORTED }, bytes)
    }

    fn finish_lines(&mut self, end: End<'_>) -> Result<Vec<Json>> {
        let mut lines = Vec::new();
        if self.outcome.is_none() {
            self.finish_framed(end, &mut lines, Framing::Lines)?;
        }
        Ok(Json::written_lines(&lines))
    }

    fn finish_bytes(&mut self, end: End<'_>, bytes: &mut Vec<u8>) -> Result<()> {
        if self.outcome.is_none() {
            let framing = self.dialect.definition().framing;
            if self.finish_framed(end, bytes, framing)? != FinishReason::Abort {
                bytes.extend_from_slice(self.last_frame());
            }
        }
        Ok(())
    }

    pub(super) fn finish_framed(
        &mut self,
        end: End<'_>,
        bytes: &mut Vec<u8>,
        framing: Framing,
    ) -> Result<FinishReason> {
        self.timer.first_token();
        self.timer.end();
        // A turn that the model ended is complete, even if its last token reached the limit.
        let reason = match end.reason {
            FinishReason::Length if self.is_ended() => FinishReason::Stop,
            reason => reason,
        };
        let events = self.parser.finish()?;
        let sink = &mut Sink::new(bytes, framing);
        self.open(sink);
        self.sorter.take(events, Some(reason), sink);
        let stop_sequence =
            self.sorter.visible.stopped.clone().or(end.stop_sequence.map(str::to_owned));
        let reason = if stop_sequence.is_some() { FinishReason::Stop } else { reason };
        let failure = if reason == FinishReason::Abort { end.message } else { "" };
        let durations = self.timer.durations();
        let outcome = Outcome { reason, stop_sequence, durations, failure: failure.to_owned() };
        let usage = self.usage();
        let Sorter { made: Made { segments, past, .. }, writer, visible, .. } = &mut self.sorter;
        let state = AnswerState {
            past: *past,
            segments,
            tokens: self.parser.tokens(),
            logprobs: visible.logprobs.as_ref(),
            usage,
            outcome: Some(&outcome),
        };
        if reason == FinishReason::Abort {
            let error = self.dialect.error_body(end.status, end.message, None, None);
            writer.fail(&state, &error, sink);
        } else {
            writer.close(&state, sink);
        }
        self.outcome = Some(outcome);
        Ok(reason)
    }

    fn open(&mut self, sink: &mut Sink<'_>) {
        if !std::mem::replace(&mut self.is_open, true) {
            let usage = self.prompt_usage();
            self.sorter.writer.open(usage, sink);
        }
    }
}

/// How to end an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) reason: FinishReason,
    pub(super) stop_sequence: Option<&'a str>,
    /// The status and the message of a failure.
    pub(super) status: u16,
    pub(super) message: &'a str,
}

impl End<'_> {
    pub(super) const ABORTED: Self = Self {
        reason: FinishReason::Abort,
        stop_sequence: None,
        status: 500,
        message: "The answer was aborted before its end.",
    };
}
