//! The tokens sampled after a prompt, read leniently, and how they ended.

use std::ops::Range;

use crate::chat::{Message, Role};
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::parse::STOP_TOKENS;
use crate::path::Path;
use crate::tokenizer::{TokenId, special};
use crate::{HarmonyEncoding, MessageSpan, ParserOptions, Repair, StreamState, StreamableParser};

/// What was sampled, and what continuing from it needs.
#[derive(Debug, Clone)]
pub(super) struct Sampled {
    /// The messages; the first includes the part in the prompt.
    pub(super) messages: Vec<Message>,
    /// The spans of the messages, counted from the open message's first token in the prompt.
    pub(super) spans: Vec<MessageSpan>,
    /// The repairs of malformed tokens. Spans count sampled tokens.
    pub(super) repairs: Vec<Repair>,
    /// The last stop token.
    pub(super) stop: Option<TokenId>,
    pub(super) end: End,
}

/// How the sampled tokens end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With a stop token, this one.
    Stopped(TokenId),
    /// Inside content, which this stop token closes.
    CutOff(TokenId),
    /// Inside a header.
    InHeader,
    /// Inside a character.
    InCharacter,
    /// With more messages the tokens would mean something else.
    Ambiguous,
}

/// Where the assistant's open message at a prompt's end begins.
///
/// # Errors
///
/// [`ErrorKind::InvalidRollout`] if the prompt does not end with one.
pub(super) fn open_message(prompt: &[TokenId], encoding: HarmonyEncoding) -> Result<usize> {
    let not_open =
        || invalid(Path::of("prompt"), "does not end with an open message of the assistant");
    let start = prompt.iter().rposition(|&token| token == special::START).ok_or_else(not_open)?;
    let mut parser = parser(encoding, None, &[])?;
    parser.feed(&prompt[start..])?;
    let is_open = parser.state() != StreamState::ExpectStart;
    let is_assistant = prompt[start..].starts_with(&beginning(encoding));
    if is_open && is_assistant { Ok(start) } else { Err(not_open()) }
}

/// `<|start|>assistant`
pub(super) fn beginning(encoding: HarmonyEncoding) -> Vec<TokenId> {
    let mut tokens = vec![special::START];
    encoding.tokenizer().encode_ordinary_into(Role::Assistant.as_str(), &mut tokens);
    tokens
}

/// Reads tokens that were sampled after the open message at a prompt's end.
///
/// # Errors
///
/// A tool with a name that no header can carry.
pub(super) fn read(
    open: &[TokenId],
    sampled: &[TokenId],
    tools: &[String],
    encoding: HarmonyEncoding,
) -> Result<Sampled> {
    // Read like a completion: nothing sampled after the role belongs to the role, however it is spelled.
    let given = beginning(encoding).len();
    let mut parser = parser(encoding, Some(Role::Assistant), tools)?;
    let mut events = parser.feed(&open[given..])?;
    events.extend(parser.feed(sampled)?);
    let state = parser.state();
    let is_to_tool = parser.recipient().is_some() && parser.current_role() == Some(Role::Assistant);
    events.extend(parser.finish()?);
    let stop = sampled.last().copied().filter(|last| STOP_TOKENS.contains(last));
    let mut end = match (state, stop) {
        (StreamState::Header, _) => End::InHeader,
        _ if ends_inside_character(sampled, encoding) => End::InCharacter,
        (StreamState::Content, _) if is_to_tool => End::CutOff(special::CALL),
        (StreamState::ExpectStart, Some(stop)) => End::Stopped(stop),
        (StreamState::Content | StreamState::ExpectStart, _) => End::CutOff(special::END),
    };
    if matches!(end, End::Stopped(_) | End::CutOff(_))
        && behind(open, sampled, end, tools, encoding)? != parser.messages()
    {
        end = End::Ambiguous;
    }
    let spans = MessageSpan::from_events(&events);
    let mut spans: Vec<_> = spans.into_iter().map(|span| span.behind(given)).collect();
    if let Some(first) = spans.first_mut() {
        first.start = 0;
    }
    let of_sampled = |mut repair: Repair| {
        let before = open.len() - given;
        let Range { start, end } = repair.span;
        repair.span = start.saturating_sub(before)..end.saturating_sub(before);
        repair
    };
    let repairs = parser.repairs().iter().cloned().map(of_sampled).collect();
    Ok(Sampled { messages: parser.into_messages(), spans, repairs, stop, end })
}

/// Whether the last bytes are the beginning of a character: up to three of its four bytes.
fn ends_inside_character(sampled: &[TokenId], encoding: HarmonyEncoding) -> bool {
    let last = &sampled[sampled.len().saturating_sub(3)..];
    let Ok(bytes) = encoding.tokenizer().decode_bytes(last) else { return false };
    let is_first = |byte: &u8| *byte >= 0b1100_0000;
    let character = bytes.iter().rposition(is_first).map(|first| str::from_utf8(&bytes[first..]));
    character.is_some_and(|read| read.is_err_and(|error| error.error_len().is_none()))
}

/// The messages, read as if another message followed.
fn behind(
    open: &[TokenId],
    sampled: &[TokenId],
    end: End,
    tools: &[String],
    encoding: HarmonyEncoding,
) -> Result<Vec<Message>> {
    let mut parser = parser(encoding, None, tools)?;
    parser.feed(open)?;
    parser.feed(sampled)?;
    if let End::CutOff(stop) = end {
        parser.feed(&[stop])?;
    }
    parser.feed(&[special::START])?;
    Ok(parser.into_messages())
}

fn parser(
    encoding: HarmonyEncoding,
    role: Option<Role>,
    tools: &[String],
) -> Result<StreamableParser> {
    StreamableParser::with_options(encoding, role, &ParserOptions::lenient().with_tools(tools))
}

/// Refuses tokens that no engine samples.
///
/// # Errors
///
/// [`ErrorKind::InvalidRollout`] if there are none, one does not exist, or some follow the token at which sampling
/// stops.
pub(super) fn check(sampled: &[TokenId], encoding: HarmonyEncoding) -> Result<()> {
    if sampled.is_empty() {
        return Err(invalid(Path::of("sampled"), "has no tokens"));
    }
    for (index, &token) in sampled.iter().enumerate() {
        let at = || Path::of("sampled").then(index);
        if token as usize > encoding.tokenizer().n_vocab() {
            return Err(invalid(at(), format!("{token} is not a token id")));
        }
        let stopped = index.checked_sub(1).map(|before| sampled[before]);
        if let Some(stop @ (special::RETURN | special::CALL)) = stopped {
            let name = if stop == special::CALL { "<|call|>" } else { "<|return|>" };
            let reason = format!("follows {name}, where sampling stops");
            return Err(invalid(at(), reason));
        }
    }
    Ok(())
}

/// The error for an invalid argument.
pub(super) fn invalid(path: Path, reason: impl Into<Reason>) -> Error {
    ErrorKind::InvalidRollout { path, reason: reason.into() }.into()
}
