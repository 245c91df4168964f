//! What the incremental parser has read, and its position.

use super::event::Repair;
use super::state::{Begin, Delta, HeaderData, OpenMessage, State, StateData, StreamState};
use super::stream::StreamableParser;
use crate::chat::{Content, HeaderFields, Message, Role};
use crate::error::{Error, ErrorKind};
use crate::tokenizer::special;

impl StreamableParser {
    /// The complete messages.
    pub fn messages(&self) -> &[Message] {
        &self.made.messages
    }

    /// The complete messages, without a copy.
    pub fn into_messages(self) -> Vec<Message> {
        self.made.messages
    }

    /// For each complete message the token that ended it, or `None` if the next message began without one or the tokens
    /// ended. This distinguishes a call that was cut off, which must not run, from a complete one.
    ///
    /// ```
    /// # use openai_harmony::chat::Role;
    /// # use openai_harmony::{HarmonyEncodingName, StreamableParser, load_harmony_encoding};
    /// # let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let mut parser = StreamableParser::new(encoding, Some(Role::Assistant))?;
    /// let cut = "<|channel|>analysis<|message|>Rain?<|end|>\
    ///            <|start|>assistant to=functions.f<|channel|>commentary<|message|>{\"days\":1";
    /// parser.feed(&encoding.tokenizer().encode_with_special_tokens(cut))?;
    /// parser.finish()?;
    /// assert_eq!(parser.stop_tokens(), [Some(200_007), None]);
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn stop_tokens(&self) -> &[Option<u32>] {
        &self.made.stop_tokens
    }

    /// All tokens that were fed, including those that caused errors.
    pub fn tokens(&self) -> &[u32] {
        if self.spelling.is_read { &self.spelling.fed } else { &self.tokens[self.made.past.held..] }
    }

    /// Whether it was continued from a checkpoint.
    pub(crate) fn is_continued(&self) -> bool {
        self.made.past.is_there
    }

    /// Whether the next call returns earlier events: those of a prefill, at the beginning.
    pub(crate) fn has_events(&self) -> bool {
        !self.reports.events.is_empty()
    }

    /// The number of fed tokens, including those before a checkpoint.
    pub(crate) fn fed_count(&self) -> usize {
        if self.spelling.is_read { self.spelling.count() } else { self.fed_at(self.tokens.len()) }
    }

    /// The index, among the fed tokens, of a token that the grammar reads.
    pub(super) fn fed_at(&self, index: usize) -> usize {
        self.spelling.fed_span(index..index).start
    }

    /// An error at a token that the grammar reads.
    pub(super) fn error_at(&self, kind: ErrorKind, index: usize) -> Error {
        Error::at(kind, self.fed_at(index))
    }

    /// The number of complete messages, including those before a checkpoint.
    pub(crate) fn message_count(&self) -> usize {
        self.made.past.messages + self.made.messages.len()
    }

    /// All repairs of lenient parsing, in the order in which they were reported.
    pub fn repairs(&self) -> &[Repair] {
        &self.made.repairs
    }

    /// Where in the grammar the parser is.
    pub fn state(&self) -> StreamState {
        match &self.state {
            State::Start | State::Finished => StreamState::ExpectStart,
            State::Header(header) if header.begin == Begin::Stray => StreamState::ExpectStart,
            State::Header(_) => StreamState::Header,
            State::Content(_) => StreamState::Content,
        }
    }

    /// The state with its data.
    pub fn state_data(&self) -> StateData<'_> {
        match &self.state {
            State::Start | State::Finished => StateData::ExpectStart,
            State::Header(header) if header.begin == Begin::Stray => StateData::ExpectStart,
            State::Header(header) => {
                StateData::Header { header_tokens: &self.tokens[header.body()..] }
            }
            State::Content(open) => StateData::Content {
                header: HeaderData {
                    author: &open.message.author,
                    recipient: open.message.recipient.as_deref(),
                    channel: open.message.channel.as_deref(),
                    content_type: open.message.content_type.as_deref(),
                },
                content_tokens: &self.tokens[open.from..],
            },
        }
    }

    /// Whether the open message could end here with all its text: no character is incomplete, nothing held back.
    pub(crate) fn is_between_characters(&self) -> bool {
        self.open_message()
            .is_some_and(|open| !open.decoder.is_pending() && open.held_from.is_none())
            && !self.spelling.is_holding()
    }

    /// Whether the last message ended with `<|return|>` or `<|call|>`, and none has begun since.
    pub(crate) fn is_turn_ended(&self) -> bool {
        self.state() == StreamState::ExpectStart
            && matches!(self.last_stop_token(), Some(special::RETURN | special::CALL))
    }

    /// What ended the last message.
    pub(super) fn last_stop_token(&self) -> Option<u32> {
        self.made.stop_tokens.last().copied().unwrap_or(self.made.past.stop_token)
    }

    fn open_message(&self) -> Option<&OpenMessage> {
        match &self.state {
            State::Content(open) => Some(open),
            _ => None,
        }
    }

    /// The content of the open message so far; empty between messages.
    pub fn content(&self) -> &str {
        self.open_message().map_or("", |open| &open.text)
    }

    /// The header of the open message. If the last token added text to a message and completed it,
    /// the header of that message, so that the caller knows where the text belongs.
    fn header(&self) -> Option<HeaderFields<'_>> {
        if matches!(self.delta, Delta::Complete(_)) {
            return self.made.messages.last().map(Message::header_fields);
        }
        self.open_message().map(|open| open.message.header_fields())
    }

    /// The role of the open message, or the role given for the next one.
    pub fn current_role(&self) -> Option<Role> {
        self.header().map_or(self.given_role, |header| Some(header.role))
    }

    /// The channel of the open message.
    pub fn channel(&self) -> Option<&str> {
        self.header()?.channel
    }

    /// The recipient of the open message.
    pub fn recipient(&self) -> Option<&str> {
        self.header()?.recipient
    }

    /// The content type of the open message.
    pub fn content_type(&self) -> Option<&str> {
        self.header()?.content_type
    }

    /// What the last token added to the content: whole characters, or nothing. The joined deltas of a message are its
    /// content.
    pub fn delta(&self) -> Option<&str> {
        match self.delta {
            Delta::None => None,
            Delta::Open(start) => Some(&self.open_message()?.text[start..]),
            Delta::Complete(start) => match self.made.messages.last()?.content.first()? {
                Content::Text(content) => Some(&content.text[start..]),
                Content::SystemContent(_) | Content::DeveloperContent(_) => None,
            },
        }
    }
}
