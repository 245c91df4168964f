//! Records where the parts of the messages are written.

use super::Written;
use crate::span::MessageSpan;

/// Takes the position of each message that was written. `()` ignores it, at no cost.
pub(crate) trait SpanSink {
    /// Takes the position of the message of this index; `None` for one that only begins.
    fn push(&mut self, message: Option<usize>, written: Written);
}

impl SpanSink for () {
    #[inline]
    fn push(&mut self, _message: Option<usize>, _written: Written) {}
}

impl SpanSink for Vec<MessageSpan> {
    fn push(&mut self, message: Option<usize>, written: Written) {
        let Written { start, content, stop, end } = written;
        self.push(MessageSpan { message, start, content, stop, end });
    }
}
