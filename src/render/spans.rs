//! Records where the parts of the messages are written, and whose they are.

use super::Written;
use crate::chat::{HeaderFields, Role};
use crate::span::MessageSpan;

/// Takes the position of each message that was written. `()` ignores it, at no cost.
pub(crate) trait SpanSink {
    /// Takes the header and the position of the message of this index; `None` for one that only
    /// begins.
    fn push(&mut self, message: Option<usize>, header: HeaderFields<'_>, written: Written);
}

/// Who speaks in a message that was rendered. The tokens do not have it: a tool may be named
/// `assistant`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Speaker {
    pub(crate) role: Role,
    pub(crate) channel: Option<String>,
}

impl SpanSink for () {
    #[inline]
    fn push(&mut self, _message: Option<usize>, _header: HeaderFields<'_>, _written: Written) {}
}

/// One of each for every message.
impl SpanSink for (Vec<MessageSpan>, Vec<Speaker>) {
    fn push(&mut self, message: Option<usize>, header: HeaderFields<'_>, written: Written) {
        let Written { start, content, stop, end } = written;
        self.0.push(MessageSpan { message, start, content, stop, end });
        let HeaderFields { role, channel, .. } = header;
        self.1.push(Speaker { role, channel: channel.map(str::to_owned) });
    }
}
