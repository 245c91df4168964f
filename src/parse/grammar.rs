//! The grammar: one function for each state, and the steps that they share.

use std::ops::Range;

use super::state::{Begin, Delta, HeaderState, OpenMessage, State};
use super::stream::StreamableParser;
use super::utf8::Utf8Decoder;
use crate::chat::{Content, Message, TextContent};
use crate::error::{ErrorKind, Result};
use crate::header::{self, Given};
use crate::tokenizer::special;

/// The tokens at which a message ends.
pub(crate) const STOP_TOKENS: [u32; 3] = [special::RETURN, special::END, special::CALL];

/// Whether a message ends at this token.
pub(super) fn is_stop(token: u32) -> bool {
    STOP_TOKENS.contains(&token)
}

impl StreamableParser {
    /// Between messages.
    pub(super) fn on_start(&mut self, token: u32, index: usize) -> Result<()> {
        if token == special::START {
            self.state = State::Header(HeaderState::new(index, Begin::Start));
            return Ok(());
        }
        if self.strict {
            let text = self.text_of(index..index + 1);
            let error = self.error_at(ErrorKind::UnexpectedToken { token }, index);
            return Err(error.with_token_text(text));
        }
        self.stray(token, index);
        Ok(())
    }

    /// In a header: its tokens are gathered until `<|message|>`.
    ///
    /// Neither a stop token nor a misplaced marker is an error here: 0.0.8 raised at `<|message|>` at
    /// the earliest, and servers that skip errors rely on the error at the end of the tokens, which
    /// means that the message was never read. Nor is `<|start|>`, at which 0.0.8 lost the next message:
    /// code that stops at its first error would lose the answer. An id that does not exist is an error.
    pub(super) fn on_header(&mut self, token: u32, index: usize) -> Result<()> {
        let State::Header(header) = &mut self.state else { return Ok(()) };
        if header.begin == Begin::Stray {
            let from = header.from;
            self.on_stray(from, token, index);
            return Ok(());
        }
        match token {
            special::MESSAGE => self.end_header(index),
            special::START if header.begin == Begin::Given && header.from == index => {
                // The tokens begin with `<|start|>` although a role was given: the header names its own author.
                header.begin = Begin::Start;
                if !self.strict {
                    self.given_role = None;
                }
                Ok(())
            }
            _ if !self.strict => {
                self.on_lenient_header(token, index);
                Ok(())
            }
            special::START => {
                self.start_over(index);
                Ok(())
            }
            _ if self.tokenizer.token_bytes(token).is_none() => {
                header.unknown.get_or_insert(token);
                Err(self.error_at(ErrorKind::InvalidToken { token }, index))
            }
            _ => Ok(()),
        }
    }

    /// `<|start|>` inside a header: the header is read as in lenient parsing, and a new one begins. If the new one
    /// names no author, it has the author of the first: 0.0.8 read both as one header.
    fn start_over(&mut self, index: usize) {
        let State::Header(header) = self.take_state() else { return };
        self.words.split(self.tokenizer, &self.tokens[header.body()..index]);
        let broken_off = header::role(&self.words).or(header.broken_off);
        // An unknown id has raised its error, and the header cannot be read.
        if header.unknown.is_none() {
            self.read_leniently(&header, index);
        }
        let next = HeaderState::new(index, Begin::StartOver);
        self.state = State::Header(HeaderState { broken_off, ..next });
    }

    /// `<|message|>`: the header is complete.
    pub(super) fn end_header(&mut self, index: usize) -> Result<()> {
        let State::Header(header) = self.take_state() else { return Ok(()) };
        if !self.strict {
            self.open_repaired(&header, index);
            return Ok(());
        }
        if let Some(token) = header.unknown {
            return Err(self.error_at(ErrorKind::InvalidToken { token }, index));
        }
        self.words.split(self.tokenizer, &self.tokens[header.body()..index]);
        match header::read(&self.words, self.given(&header)) {
            Ok(read) => self.open(header.from, index, read),
            // 0.0.8 read it as part of another header, and may not have raised an error.
            Err(_) if header.begin == Begin::StartOver => self.read_leniently(&header, index),
            Err(error) => return Err(error.at_token(self.fed_at(index))),
        }
        Ok(())
    }

    /// What is known about the author of a header.
    fn given(&self, header: &HeaderState) -> Given {
        match (self.given_role, header.begin) {
            (None, _) => header.broken_off.map_or(Given::Nothing, Given::Fallback),
            (Some(role), Begin::Given) => Given::Role(role),
            // The given role is that of the first tokens.
            (Some(role), _) if self.fed_at(header.from) == 0 => Given::Fallback(role),
            (Some(role), _) => Given::Waiting(role),
        }
    }

    pub(super) fn open(&mut self, from: usize, index: usize, header: Message) {
        self.given_role = None;
        self.report_start(from..index + 1, &header);
        self.open_content(header, index + 1);
    }

    /// Begins the content of a message at this token.
    pub(super) fn open_content(&mut self, header: Message, from: usize) {
        self.state = State::Content(Box::new(OpenMessage {
            message: header,
            text: String::new(),
            decoder: Utf8Decoder::default(),
            from,
            reported: 0,
            uncovered: from,
            held_from: None,
            headerless: false,
        }));
    }

    /// Takes the state and leaves [`State::Start`].
    pub(super) fn take_state(&mut self) -> State {
        std::mem::replace(&mut self.state, State::Start)
    }

    /// In a message's content.
    #[inline]
    pub(super) fn on_content(&mut self, token: u32, index: usize) -> Result<()> {
        if is_stop(token) {
            self.release_held(index);
            self.close(index, Some(token));
            return Ok(());
        }
        if !self.strict && self.on_lenient_content(token, index) {
            return Ok(());
        }
        if self.push_content(token) {
            return Ok(());
        }
        // The text before the unknown id is kept. What follows it belongs to no message.
        self.close(index, None);
        Err(self.error_at(ErrorKind::InvalidToken { token }, index))
    }

    /// Appends a token's text to the content; `false` for an id without text.
    #[inline]
    pub(super) fn push_content(&mut self, token: u32) -> bool {
        let State::Content(open) = &mut self.state else { return false };
        let Some(bytes) = self.tokenizer.token_bytes(token) else { return false };
        let before = open.text.len();
        open.decoder.push(bytes, &mut open.text);
        if open.text.len() > before {
            self.delta.begin_at(before);
        }
        true
    }

    /// The number of these tokens that are certain to be content.
    pub(super) fn content_run(&self, tokens: &[u32]) -> usize {
        match &self.state {
            State::Content(open) if open.held_from.is_none() && !self.spelling.is_read => {
                tokens.iter().take_while(|&&token| token < special::STARTOFTEXT).count()
            }
            _ => 0,
        }
    }

    /// Appends the text of tokens that are certain to be content.
    pub(super) fn push_run(&mut self, run: &[u32]) {
        let State::Content(open) = &mut self.state else { return };
        self.tokens.extend_from_slice(run);
        if let Ok(bytes) = self.tokenizer.decode_bytes(run) {
            open.decoder.push(&bytes, &mut open.text);
        }
    }

    /// Completes the open message, whose tokens end before `end`.
    pub(super) fn close(&mut self, end: usize, stop_token: Option<u32>) {
        if !matches!(self.state, State::Content(_)) {
            return;
        }
        self.finish_character();
        self.report_content(end);
        let State::Content(open) = self.take_state() else { return };
        let OpenMessage { message, text, .. } = *open;
        self.complete(message, text, stop_token);
        self.report_end(end, stop_token);
    }

    /// Replaces a character that its message's end cut off.
    fn finish_character(&mut self) {
        let State::Content(open) = &mut self.state else { return };
        let before = open.text.len();
        if open.decoder.finish(&mut open.text) {
            self.delta.begin_at(before);
        }
        if let Delta::Open(start) = self.delta {
            self.delta = Delta::Complete(start);
        }
    }

    /// Adds a complete message.
    pub(super) fn complete(&mut self, mut message: Message, text: String, stop_token: Option<u32>) {
        message.content = vec![Content::Text(TextContent { text })];
        self.messages.push(message);
        self.stop_tokens.push(stop_token);
    }

    /// The text of a span, with the names of special tokens, and U+FFFD for unknown ids.
    pub(super) fn text_of(&self, span: Range<usize>) -> String {
        let mut bytes = Vec::new();
        for &token in &self.tokens[span] {
            bytes.extend_from_slice(
                self.tokenizer.token_bytes(token).unwrap_or("\u{FFFD}".as_bytes()),
            );
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
