//! The law of prefilling: parsing a completion after a prefill equals parsing the whole.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../laws/prefill.rs"]
mod law;

use law::{Given, encoding, parser, rendered};
use openai_harmony::chat::{Message, Role};
use openai_harmony::{
    ErrorKind, Event, HeaderStyle, ParserOptions, Prefill, RenderConfig, StreamableParser,
};
use proptest::prelude::*;

fn text_of(prefill: &Prefill) -> String {
    let tokens = rendered(Role::Assistant, prefill, RenderConfig::new()).unwrap();
    encoding().tokenizer().decode_utf8(tokens).unwrap()
}

#[test]
fn a_prefill_is_written_to_the_end_of_its_header_or_text() {
    let call = Prefill::new()
        .with_channel("commentary")
        .with_recipient("functions.f")
        .with_content_type("<|constrain|>json");
    for (prefill, expected) in [
        (Prefill::new(), ""),
        (Prefill::new().with_channel("final"), "<|channel|>final<|message|>"),
        (Prefill::new().with_text(""), "<|message|>"),
        (Prefill::new().with_recipient("all"), "<|message|>"),
        (
            Prefill::new().with_channel("analysis").with_text("I must<|end|>"),
            "<|channel|>analysis<|message|>I must<|end|>",
        ),
        (call.clone(), " to=functions.f<|channel|>commentary <|constrain|>json<|message|>"),
    ] {
        assert_eq!(text_of(&prefill), format!("<|start|>assistant{expected}"));
    }
    // Where the other headers have their recipient, it is there too.
    let config = RenderConfig::new().with_header_style(HeaderStyle::RecipientInChannel);
    let tokens = rendered(Role::Assistant, &call, config).unwrap();
    assert_eq!(
        encoding().tokenizer().decode_utf8(tokens).unwrap(),
        "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>",
    );
}

#[test]
fn a_prefilled_text_is_text_whatever_it_spells() {
    let tokens =
        rendered(Role::Assistant, &Prefill::new().with_text("<|end|>"), RenderConfig::new())
            .unwrap();
    assert!(!tokens.contains(&200_007));
}

#[test]
fn a_prefilled_call_is_written_as_the_call_is_in_the_next_prompt() {
    let call = Message::from_role_and_content(Role::Assistant, "{}")
        .with_channel("commentary")
        .with_recipient("functions.f");
    let prefill = Prefill::new().with_channel("commentary").with_recipient("functions.f");
    for style in [HeaderStyle::RecipientInRole, HeaderStyle::RecipientInChannel] {
        let config = RenderConfig::new().with_header_style(style);
        let prompt = rendered(Role::Assistant, &prefill, config).unwrap();
        assert!(encoding().render_with(&call, &config).unwrap().starts_with(&prompt));
    }
}

#[test]
fn fields_that_could_be_read_as_another_header_are_refused() {
    let prefills = [
        (Prefill::new().with_channel("final<|message|>"), "channel"),
        (Prefill::new().with_channel(""), "channel"),
        (Prefill::new().with_channel("final to=f"), "channel"),
        (Prefill::new().with_recipient("a b"), "recipient"),
        (Prefill::new().with_recipient(""), "recipient"),
        (Prefill::new().with_content_type("<|constrain|>json x"), "content_type"),
    ];
    for (prefill, name) in prefills {
        let error = rendered(Role::Assistant, &prefill, RenderConfig::new()).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::UnsafeHeaderField { field, .. } if *field == name),
            "{error}"
        );
        let config = ParserOptions::lenient().with_prefill(prefill);
        let refused = StreamableParser::with_options(encoding(), Some(Role::Assistant), &config);
        assert_eq!(refused.unwrap_err(), error);
    }
}

#[test]
fn a_prefill_needs_the_role_of_its_message() {
    let prefill = Prefill::new().with_channel("final");
    for config in [ParserOptions::strict(), ParserOptions::lenient()] {
        let refused = StreamableParser::with_options(
            encoding(),
            None,
            &config.clone().with_prefill(prefill.clone()),
        );
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::MissingRole);
        assert!(
            error.to_string().ends_with("(a prefill needs the role of its message)"),
            "{error}"
        );
        // One that writes nothing says nothing either.
        let config = config.with_prefill(Prefill::new());
        assert!(StreamableParser::with_options(encoding(), None, &config).is_ok());
    }
}

#[test]
fn events_report_the_prefill_first_with_empty_spans() {
    let prefill = Prefill::new().with_channel("final").with_text("The answer");
    let config = ParserOptions::strict().with_prefill(prefill);
    let mut parser = parser(Some(Role::Assistant), &config);
    assert_eq!((parser.content(), parser.channel()), ("The answer", Some("final")));
    assert_eq!((parser.delta(), parser.tokens()), (None, &[][..]));
    let rest = encoding().tokenizer().encode_with_special_tokens(" is 4.<|return|>");
    let events = parser.feed(&rest).unwrap();
    let texts: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::ContentDelta { span, text, .. } => Some((span.clone(), text.as_str())),
            _ => None,
        })
        .collect();
    assert!(matches!(&events[0], Event::MessageStart { span, index: 0, .. } if *span == (0..0)));
    assert_eq!(texts, [(0..0, "The answer"), (0..rest.len() - 1, " is 4.")]);
    assert!(parser.finish().unwrap().is_empty());
}

#[test]
fn a_completion_of_nothing_leaves_what_was_prefilled() {
    let config = ParserOptions::strict().with_prefill(Prefill::new().with_text("Yes"));
    let messages = encoding().parse_messages_with([], Some(Role::Assistant), &config).unwrap();
    assert_eq!(messages, [Message::from_role_and_content(Role::Assistant, "Yes")]);
}

#[test]
fn a_reset_parser_begins_inside_the_prefill_again() {
    let prefill = Prefill::new().with_channel("final").with_text("a");
    let config = ParserOptions::lenient().with_prefill(prefill);
    let mut parser = parser(Some(Role::Assistant), &config);
    let first = parser.feed(&[65, 200_002]).unwrap();
    parser.finish().unwrap();
    let messages = parser.messages().to_vec();
    parser.reset(None);
    assert_eq!(parser.content(), "a");
    assert_eq!(parser.feed(&[65, 200_002]).unwrap(), first);
    assert_eq!(parser.messages(), messages);
    parser.reset(Some(Role::User));
    assert_eq!(parser.current_role(), Some(Role::User));
}

/// Words as prefills have them, some of which no header can carry.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(
            &["final", "analysis", "commentary", "functions.f", "python", "assistant", "all", "json"][..]
        ).prop_map(str::to_owned),
        3 => "[a-zA-Z_.:=<|>-]{0,8}",
        1 => "\\PC{1,6}",
    ]
}

prop_compose! {
    fn prefill()(
        channel in prop::option::of(word()),
        recipient in prop::option::of(word()),
        content_type in prop::option::of(prop_oneof![
            word(),
            word().prop_map(|word| format!("<|constrain|>{word}")),
            word().prop_map(|word| format!("<|constrain|> {word}")),
        ]),
        text in prop::option::of(prop_oneof![any::<String>(), Just("é🤷🏽 <|end|>".to_owned())]),
    ) -> Prefill {
        let mut prefill = Prefill::new();
        (prefill.channel, prefill.recipient) = (channel, recipient);
        (prefill.content_type, prefill.text) = (content_type, text);
        prefill
    }
}

/// What a model may write after a prefill, mistakes included.
const PIECES: [&str; 16] = [
    "<|start|>assistant",
    "<|start|>",
    "<|channel|>",
    "<|channel|>final",
    "<|channel|>commentary to=functions.f <|constrain|>json",
    "<|message|>",
    "<|message|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|endoftext|>",
    " weird words",
    "{\"a\":1}",
    "é🤷🏽",
    "final",
    " to=python",
];

fn completion() -> impl Strategy<Value = Vec<u32>> {
    let piece = prop_oneof![
        8 => prop::sample::select(&PIECES[..])
            .prop_map(|text| encoding().tokenizer().encode_with_special_tokens(text)),
        3 => (0_u32..200_000).prop_map(|token| vec![token]),
        2 => (94_u32..256).prop_map(|token| vec![token]),
        1 => Just(vec![201_089]),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(1500)))]

    #[test]
    fn parsing_after_a_prefill_equals_parsing_the_whole(
        prefill in prefill(),
        role in prop::sample::select(&Role::ALL[..]),
        in_channel in any::<bool>(),
        strict in any::<bool>(),
        completion in completion(),
        size in 1_usize..6,
    ) {
        let given = Given { prefill: &prefill, role, in_channel, strict };
        law::parsing_after_a_prefill_equals_parsing_the_whole(given, &completion, size);
    }
}
