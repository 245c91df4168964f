//! What was sampled behind a prompt, read leniently, and how it ended.

use crate::chat::{Message, Role};
use crate::error::{ErrorKind, Result};
use crate::parse::STOP_TOKENS;
use crate::tokenizer::{TokenId, special};
use crate::{Event, HarmonyEncoding, ParseConfig, Repair, StreamState, StreamableParser};

/// What was sampled, and what is needed to go on from it.
#[derive(Debug, Clone)]
pub(super) struct Sampled {
    /// The messages, the first one with what the prompt says of it.
    pub(super) messages: Vec<Message>,
    /// What happened, with spans of sampled tokens: those of the prompt's open header are left out.
    pub(super) events: Vec<Event>,
    pub(super) repairs: Vec<Repair>,
    pub(super) end: End,
}

/// How the sampled tokens end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With a stop token, this one.
    Stopped(TokenId),
    /// Inside a content, which this stop token closes.
    CutOff(TokenId),
    /// Inside a header.
    InHeader,
    /// Going on would make them mean something else.
    Ambiguous,
}

/// Where the message begins that a prompt leaves open for the assistant.
///
/// # Errors
///
/// [`ErrorKind::InvalidRollout`] where the prompt does not end with one.
pub(super) fn open_message(prompt: &[TokenId], encoding: HarmonyEncoding) -> Result<usize> {
    let not_open = || invalid("prompt", "does not end with an open message of the assistant");
    let start = prompt.iter().rposition(|&token| token == special::START).ok_or_else(not_open)?;
    let mut parser = parser(encoding, &[])?;
    parser.feed(&prompt[start..])?;
    let is_open = match parser.state() {
        StreamState::ExpectStart => false,
        StreamState::Header => {
            let role = encoding.tokenizer().encode_ordinary(Role::Assistant.as_str());
            prompt[start + 1..].starts_with(&role)
        }
        StreamState::Content => parser.current_role() == Some(Role::Assistant),
    };
    if is_open { Ok(start) } else { Err(not_open().into()) }
}

/// Reads tokens that were sampled behind the open message at a prompt's end.
///
/// # Errors
///
/// [`ErrorKind::InvalidRollout`] where there are none, one that does not exist, or some behind the token at which
/// sampling stops; a tool whose name no header can carry.
pub(super) fn read(
    open: &[TokenId],
    sampled: &[TokenId],
    tools: &[String],
    encoding: HarmonyEncoding,
) -> Result<Sampled> {
    check(sampled, encoding)?;
    let mut parser = parser(encoding, tools)?;
    let mut events = parser.feed(open)?;
    events.extend(parser.feed(sampled)?);
    let before_end = parser.clone();
    events.extend(parser.finish()?);
    let last = sampled.last().copied().unwrap_or_default();
    let end = match before_end.state() {
        StreamState::Header => End::InHeader,
        StreamState::Content if before_end.recipient().is_some() => End::CutOff(special::CALL),
        StreamState::ExpectStart if STOP_TOKENS.contains(&last) => End::Stopped(last),
        StreamState::Content | StreamState::ExpectStart => End::CutOff(special::END),
    };
    let end = if goes_on_as(before_end, end, parser.messages())? { end } else { End::Ambiguous };
    let repairs = parser.repairs().to_vec();
    Ok(Sampled { messages: parser.into_messages(), events, repairs, end })
}

/// Whether the messages stay what they are when another message follows.
fn goes_on_as(mut parser: StreamableParser, end: End, messages: &[Message]) -> Result<bool> {
    match end {
        End::InHeader => return Ok(true),
        End::CutOff(stop) => drop(parser.feed(&[stop])?),
        End::Stopped(_) | End::Ambiguous => {}
    }
    parser.feed(&[special::START])?;
    Ok(parser.messages() == messages)
}

fn parser(encoding: HarmonyEncoding, tools: &[String]) -> Result<StreamableParser> {
    StreamableParser::with_config(encoding, None, &ParseConfig::lenient().with_tools(tools))
}

fn check(sampled: &[TokenId], encoding: HarmonyEncoding) -> Result<()> {
    if sampled.is_empty() {
        return Err(invalid("sampled", "has no tokens").into());
    }
    for (index, &token) in sampled.iter().enumerate() {
        let at = || format!("sampled[{index}]");
        if token as usize > encoding.tokenizer().n_vocab() {
            return Err(invalid(&at(), &format!("{token} is not a token id")).into());
        }
        let stopped = index.checked_sub(1).map(|before| sampled[before]);
        if let Some(stop @ (special::RETURN | special::CALL)) = stopped {
            let name = if stop == special::CALL { "<|call|>" } else { "<|return|>" };
            let reason = format!("stands behind {name}, at which sampling stops");
            return Err(invalid(&at(), &reason).into());
        }
    }
    Ok(())
}

/// An argument that makes no rollout.
pub(super) fn invalid(at: &str, reason: &str) -> ErrorKind {
    ErrorKind::InvalidRollout { at: at.to_owned(), reason: reason.to_owned() }
}
