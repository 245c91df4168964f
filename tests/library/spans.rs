//! The spans of a rendering: what they cover, and that the parser reports the same.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use openai_harmony::chat::{Author, Content, Message, Role};
use openai_harmony::{
    Event, HarmonyEncoding, HarmonyEncodingName, HeaderStyle, MessageSpan, Prefill, RenderConfig,
    RenderEnd, StreamableParser, ThoughtPolicy, load_harmony_encoding,
};
use proptest::prelude::*;

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

fn text_at(tokens: &[u32], range: std::ops::Range<usize>) -> String {
    encoding().tokenizer().decode_utf8(&tokens[range]).unwrap()
}

fn dialogue() -> Vec<Message> {
    let said = |role, channel: &str, text: &str| {
        Message::from_role_and_content(role, text).with_channel(channel)
    };
    vec![
        Message::from_role_and_content(Role::User, "1?"),
        said(Role::Assistant, "analysis", "Think."),
        said(Role::Assistant, "commentary", "{}").with_recipient("functions.f"),
        Message::from_author_and_content(Author::new(Role::Tool, "functions.f"), "42")
            .with_recipient("assistant")
            .with_channel("commentary"),
        said(Role::Assistant, "final", "It is 42."),
        Message::from_role_and_content(Role::User, "Sure?"),
    ]
}

#[test]
fn a_span_separates_header_content_and_stop_token() {
    let ending = RenderEnd::Completion(Role::Assistant);
    let rendered = encoding().render_with_spans(&dialogue(), ending, &RenderConfig::new()).unwrap();
    let parts: Vec<_> = rendered
        .spans
        .iter()
        .map(|span| {
            let [header, content, stop] =
                [span.header_tokens(), span.content_tokens(), span.stop_token()]
                    .map(|range| text_at(&rendered.tokens, range));
            (span.message, header, content, stop)
        })
        .collect();
    let call = "<|start|>assistant to=functions.f<|channel|>commentary<|message|>";
    let result = "<|start|>functions.f to=assistant<|channel|>commentary<|message|>";
    let expected = [
        (Some(0), "<|start|>user<|message|>", "1?", "<|end|>"),
        // The thought was dropped; what follows keeps its index.
        (Some(2), call, "{}", "<|call|>"),
        (Some(3), result, "42", "<|end|>"),
        (Some(4), "<|start|>assistant<|channel|>final<|message|>", "It is 42.", "<|end|>"),
        (Some(5), "<|start|>user<|message|>", "Sure?", "<|end|>"),
        (None, "<|start|>assistant", "", ""),
    ]
    .map(|(index, header, content, stop)| {
        (index, header.to_owned(), content.to_owned(), stop.to_owned())
    });
    assert_eq!(parts, expected);
}

#[test]
fn a_prefill_is_an_open_header_and_content() {
    let prefill = Prefill::new().with_channel("final").with_text("Yes");
    let ending = RenderEnd::Prefill(Role::Assistant, &prefill);
    let rendered = encoding().render_with_spans(&[], ending, &RenderConfig::new()).unwrap();
    let [span] = rendered.spans[..] else { panic!("one span") };
    assert_eq!((span.message, span.start, span.stop), (None, 0, span.end));
    assert_eq!(text_at(&rendered.tokens, span.content_tokens()), "Yes");
    assert_eq!(span.end, rendered.tokens.len());
}

#[test]
fn a_training_example_ends_with_the_stop_token_of_its_answer() {
    let rendered = encoding()
        .render_with_spans(&dialogue()[..5], RenderEnd::Training, &RenderConfig::new())
        .unwrap();
    let last = rendered.spans.last().unwrap();
    assert_eq!(text_at(&rendered.tokens, last.stop_token()), "<|return|>");
    assert_eq!(last.message, Some(4));
}

prop_compose! {
    fn message()(
        role in prop::sample::select(&Role::ALL[..4]),
        texts in prop::collection::vec(any::<String>(), 0..3),
        channel in prop::option::of(prop::sample::select(&["analysis", "commentary", "final"][..])),
        recipient in prop::option::of(prop::sample::select(&["functions.f", "python"][..])),
    ) -> Message {
        let mut message =
            Message::from_role_and_contents(role, texts.into_iter().map(Content::from));
        message.channel = channel.map(str::to_owned);
        message.recipient = recipient.map(str::to_owned);
        message
    }
}

fn text_of(message: &Message) -> String {
    message
        .content
        .iter()
        .map(|part| match part {
            Content::Text(text) => text.text.as_str(),
            other => panic!("only texts, not {other:?}"),
        })
        .collect()
}

fn events_of(tokens: &[u32], size: usize) -> Vec<Event> {
    let mut parser = StreamableParser::new(encoding(), None).unwrap();
    let mut events: Vec<Event> =
        tokens.chunks(size).flat_map(|chunk| parser.feed(chunk).unwrap()).collect();
    events.extend(parser.finish().unwrap());
    events
}

proptest! {
    #[test]
    fn spans_cover_the_rendering_and_the_parser_reports_the_same(
        messages in prop::collection::vec(message(), 0..7),
        policy in prop::sample::select(&[
            ThoughtPolicy::Keep,
            ThoughtPolicy::DropBeforeFirstFinal,
            ThoughtPolicy::Drop,
        ][..]),
        in_channel in any::<bool>(),
        ending in prop::sample::select(
            &[RenderEnd::None, RenderEnd::Training, RenderEnd::Completion(Role::Assistant)][..]
        ),
        size in 1_usize..9,
    ) {
        let style = if in_channel {
            HeaderStyle::RecipientInChannel
        } else {
            HeaderStyle::RecipientInRole
        };
        let config = RenderConfig::new().with_thoughts(policy).with_header_style(style);
        let rendered = encoding().render_with_spans(&messages, ending, &config).unwrap();
        let tokens = encoding().render_conversation_with(&messages, ending, &config).unwrap();
        prop_assert_eq!(&rendered.tokens, &tokens);

        // They follow each other and leave nothing out.
        let mut covered = 0;
        for span in &rendered.spans {
            prop_assert_eq!(span.start, covered);
            prop_assert!(span.start < span.content);
            prop_assert!(span.content <= span.stop && span.stop <= span.end);
            covered = span.end;
        }
        prop_assert_eq!(covered, tokens.len());

        // Each is its own message's, in the order of the conversation.
        let indices: Vec<usize> = rendered.spans.iter().filter_map(|span| span.message).collect();
        prop_assert!(indices.is_sorted_by(|a, b| a < b));
        for span in rendered.spans.iter().filter(|span| span.message.is_some()) {
            let message = &messages[span.message.unwrap()];
            prop_assert_eq!(text_at(&tokens, span.content_tokens()), text_of(message));
            prop_assert_eq!(span.stop_token().len(), 1);
        }

        // The parser counts what was rendered.
        let mut expected = rendered.spans.clone();
        for (index, span) in expected.iter_mut().enumerate() {
            span.message = span.message.map(|_| index);
        }
        prop_assert_eq!(MessageSpan::from_events(&events_of(&tokens, size)), expected);
    }
}
