//! Who learns where the parts of the messages are written.

use super::Written;
use crate::span::MessageSpan;

/// Takes the place of each message that was written, or nothing: then it costs nothing.
pub(crate) trait SpanSink {
    /// Takes the message of this index, or the one that was only begun.
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
