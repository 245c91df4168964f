//! The law of prefilling, as a check that panics where it is broken: parsing a completion after a prefill equals
//! parsing the whole.
//!
//! `tests/library/prefill.rs` runs it on random prefills and tokens, the fuzz target on those that it finds.
#![expect(clippy::unwrap_used, reason = "a check panics")]

use std::ops::Range;

use openai_harmony::chat::Role;
use openai_harmony::{
    Event, HarmonyEncoding, HarmonyEncodingName, HeaderStyle, ParserOptions, Prefill, RenderConfig,
    RenderEnd, Result, StreamableParser, load_harmony_encoding,
};

pub(crate) fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

pub(crate) fn rendered(role: Role, prefill: &Prefill, config: RenderConfig) -> Result<Vec<u32>> {
    encoding().render_conversation_with(&[], RenderEnd::Prefill(role, prefill), &config)
}

pub(crate) fn parser(role: Option<Role>, config: &ParserOptions) -> StreamableParser {
    StreamableParser::with_options(encoding(), role, config).unwrap()
}

/// What a prompt's prefill is rendered with, and its completion parsed with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) prefill: &'a Prefill,
    pub(crate) role: Role,
    pub(crate) in_channel: bool,
    pub(crate) strict: bool,
}

/// Moves a span to where it is after the prefill's tokens.
fn moved(mut event: Event, by: usize) -> Event {
    let span: &mut Range<usize> = match &mut event {
        Event::MessageStart { span, .. }
        | Event::ContentDelta { span, .. }
        | Event::MessageEnd { span, .. } => span,
        Event::Repair(repair) => &mut repair.span,
        _ => return event,
    };
    *span = span.start + by..span.end + by;
    event
}

/// All that two parsers say, the first of which has read the prefill's tokens too.
fn assert_equal(whole: &StreamableParser, behind: &StreamableParser, by: usize) {
    assert_eq!(whole.messages(), behind.messages());
    assert_eq!(whole.content(), behind.content());
    assert_eq!(whole.delta(), behind.delta());
    assert_eq!(whole.current_role(), behind.current_role());
    assert_eq!(
        (whole.channel(), whole.recipient(), whole.content_type()),
        (behind.channel(), behind.recipient(), behind.content_type())
    );
    assert_eq!(whole.state(), behind.state());
    assert_eq!(&whole.tokens()[by..], behind.tokens());
    let repairs: Vec<_> =
        behind.repairs().iter().map(|repair| moved(Event::Repair(repair.clone()), by)).collect();
    let expected: Vec<_> = whole.repairs().iter().cloned().map(Event::Repair).collect();
    assert_eq!(expected, repairs);
}

fn assert_equal_errors(
    whole: std::result::Result<(), openai_harmony::Error>,
    behind: std::result::Result<(), openai_harmony::Error>,
    by: usize,
) {
    let parts = |error: openai_harmony::Error, by| {
        (error.kind().clone(), error.token_index().map(|index| index + by))
    };
    assert_eq!(whole.map_err(|error| parts(error, 0)), behind.map_err(|error| parts(error, by)));
}

/// `size` is that of the chunks.
pub(crate) fn parsing_after_a_prefill_equals_parsing_the_whole(
    given: Given<'_>,
    completion: &[u32],
    size: usize,
) {
    let Given { prefill, role, in_channel, strict } = given;
    let style =
        if in_channel { HeaderStyle::RecipientInChannel } else { HeaderStyle::RecipientInRole };
    let config = RenderConfig::new().with_header_style(style);
    // Nothing is known of one that is refused, or that writes no more than the role.
    let Ok(prompt) = rendered(role, prefill, config) else { return };
    if *prefill == Prefill::new() {
        return;
    }
    let config = if strict { ParserOptions::strict() } else { ParserOptions::lenient() };
    let prefilled = config.clone().with_prefill(prefill.clone());
    let by = prompt.len();

    // Token by token.
    let (mut whole, mut behind) = (parser(None, &config), parser(Some(role), &prefilled));
    for &token in &prompt {
        whole.process(token).unwrap();
    }
    for &token in completion {
        let (whole_result, behind_result) =
            (whole.process(token).map(drop), behind.process(token).map(drop));
        assert_equal_errors(whole_result, behind_result, by);
        assert_equal(&whole, &behind, by);
    }
    assert_equal_errors(whole.process_eos().map(drop), behind.process_eos().map(drop), by);
    assert_equal(&whole, &behind, by);

    // In chunks, with events.
    let (mut whole, mut behind) = (parser(None, &config), parser(Some(role), &prefilled));
    let whole_events = whole.feed(&prompt).unwrap();
    let events = behind.feed(&[]).unwrap();
    assert_eq!(whole_events.len(), events.len());
    for event in &events {
        assert_eq!(event.span(), 0..0);
    }
    for chunk in completion.chunks(size) {
        let moved = behind
            .feed(chunk)
            .map(|events| events.into_iter().map(|event| moved(event, by)).collect::<Vec<_>>());
        let (whole_result, behind_result) = (whole.feed(chunk), moved);
        assert_eq!(whole_result.as_ref().ok(), behind_result.as_ref().ok());
        assert_equal_errors(whole_result.map(drop), behind_result.map(drop), by);
    }
    let finished = behind
        .finish()
        .map(|events| events.into_iter().map(|event| moved(event, by)).collect::<Vec<_>>());
    let whole_finished = whole.finish();
    assert_eq!(whole_finished.as_ref().ok(), finished.as_ref().ok());
    assert_equal_errors(whole_finished.map(drop), finished.map(drop), by);
    assert_equal(&whole, &behind, by);
}
