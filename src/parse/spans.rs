//! The spans of messages from the events of a parser.

use super::event::Event;
use crate::span::MessageSpan;

impl MessageSpan {
    /// The spans of the messages in a stream's events. For rendered tokens they equal the spans of
    /// the rendering, except that a message's index is its index among the parsed messages.
    ///
    /// `events` are all events of a stream, from the first to those of
    /// [`finish`](crate::StreamableParser::finish). A message that has not ended is the last and has no
    /// index. Linear in the number of events.
    ///
    /// ```
    /// use openai_harmony::chat::Role;
    /// use openai_harmony::{HarmonyEncodingName, MessageSpan, StreamableParser};
    ///
    /// let encoding = openai_harmony::load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
    /// let mut parser = StreamableParser::new(encoding, Some(Role::Assistant))?;
    /// let sampled = "<|channel|>final<|message|>Yes.<|return|>";
    /// let mut events = parser.feed(&encoding.tokenizer().encode_with_special_tokens(sampled))?;
    /// events.extend(parser.finish()?);
    /// let spans = MessageSpan::from_events(&events);
    /// assert_eq!(spans[0].content_tokens(), 3..5);
    /// assert_eq!(spans[0].stop_token(), 5..6);
    /// # Ok::<(), openai_harmony::Error>(())
    /// ```
    pub fn from_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Self> {
        let mut spans: Vec<Self> = Vec::new();
        for event in events {
            match event {
                Event::MessageStart { span, .. } => spans.push(Self {
                    message: None,
                    start: span.start,
                    content: span.end,
                    stop: span.end,
                    end: span.end,
                }),
                Event::ContentDelta { span, .. } => {
                    if let Some(open) = spans.last_mut() {
                        (open.stop, open.end) = (span.end, span.end);
                    }
                }
                Event::MessageEnd { span, index, .. } => {
                    if let Some(open) = spans.last_mut() {
                        (open.stop, open.end) = (span.start, span.end);
                        open.message = Some(*index);
                    }
                }
                Event::Repair(_) => {}
            }
        }
        spans
    }
}
