//! The options that 0.0.8 does not have: what each changes, and laws that all of them keep.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use openai_harmony::chat::{
    Author, Content, Conversation, DeveloperContent, Message, Role, SystemContent,
};
use openai_harmony::{
    ErrorKind, HarmonyEncoding, HarmonyEncodingName, HeaderStyle, ParserOptions, RenderConfig,
    RenderConversationConfig, RenderEnd, StreamableParser, ThoughtPolicy, load_harmony_encoding,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

fn rendered(messages: &[Message], config: RenderConfig) -> String {
    let tokens = encoding().render_conversation_with(messages, RenderEnd::None, &config).unwrap();
    encoding().tokenizer().decode_utf8(&tokens).unwrap()
}

fn said(role: Role, channel: &str, text: &str) -> Message {
    Message::from_role_and_content(role, text).with_channel(channel)
}

fn user(text: &str) -> Message {
    Message::from_role_and_content(Role::User, text)
}

fn call(channel: &str, tool: &str) -> Message {
    said(Role::Assistant, channel, "{}").with_recipient(tool)
}

fn result_of(tool: &str, channel: &str) -> Message {
    Message::from_author_and_content(Author::new(Role::Tool, tool), "42")
        .with_recipient("assistant")
        .with_channel(channel)
}

/// Two turns, one with a built-in tool on `analysis`, and a third that runs.
fn dialogue() -> Vec<Message> {
    vec![
        user("1?"),
        said(Role::Assistant, "analysis", "think 1"),
        call("analysis", "python"),
        result_of("python", "analysis"),
        said(Role::Assistant, "analysis", "think 1 again"),
        said(Role::Assistant, "final", "answer 1"),
        user("2?"),
        said(Role::Assistant, "analysis", "think 2"),
        said(Role::Assistant, "commentary", "preamble 2"),
        said(Role::Assistant, "final", "answer 2"),
        user("3?"),
        said(Role::Assistant, "analysis", "think 3"),
        call("commentary", "functions.f"),
        result_of("functions.f", "commentary"),
    ]
}

/// The texts of the messages that a policy keeps.
fn kept(messages: &[Message], policy: ThoughtPolicy) -> Vec<String> {
    rendered(messages, RenderConfig::new().with_thoughts(policy))
        .split("<|message|>")
        .skip(1)
        .map(|rest| rest.split("<|").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn completed_turns_lose_their_thoughts_and_nothing_else() {
    let all = ["1?", "think 1", "{}", "42", "think 1 again", "answer 1", "2?", "think 2"];
    let rest = ["preamble 2", "answer 2", "3?", "think 3", "{}", "42"];
    assert_eq!(kept(&dialogue(), ThoughtPolicy::Keep), [&all[..], &rest].concat());
    assert_eq!(
        kept(&dialogue(), ThoughtPolicy::Drop),
        ["1?", "{}", "42", "answer 1", "2?", "preamble 2", "answer 2", "3?", "think 3", "{}", "42"],
    );
    // The last message of the assistant is not an answer: 0.0.8's rule drops nothing.
    assert_eq!(
        kept(&dialogue(), ThoughtPolicy::DropBeforeFirstFinal),
        kept(&dialogue(), ThoughtPolicy::Keep)
    );
}

#[test]
fn the_rule_of_0_0_8_drops_what_comes_before_the_first_answer() {
    let completed = &dialogue()[..11];
    assert_eq!(
        kept(completed, ThoughtPolicy::DropBeforeFirstFinal),
        ["1?", "answer 1", "2?", "think 2", "preamble 2", "answer 2", "3?"],
    );
    let tokens = encoding()
        .render_conversation(completed, Some(&RenderConversationConfig::default()))
        .unwrap();
    let text = encoding().tokenizer().decode_utf8(tokens).unwrap();
    assert_eq!(text, rendered(completed, RenderConfig::new()));
}

#[test]
fn a_running_turn_keeps_its_thoughts() {
    for (messages, expected) in [
        // An answer that no user message follows: the last turn of a training example.
        (&dialogue()[..6], vec!["1?", "think 1", "{}", "42", "think 1 again", "answer 1"]),
        // A turn without an answer.
        (&dialogue()[10..12], vec!["3?", "think 3"]),
        (&[], vec![]),
    ] {
        assert_eq!(kept(messages, ThoughtPolicy::Drop), expected);
    }
    // A turn that the user broke off has no answer, so its thoughts stay.
    let broken_off = [&dialogue()[5..8], &[user("or rather?")]].concat();
    assert_eq!(kept(&broken_off, ThoughtPolicy::Drop), ["answer 1", "2?", "think 2", "or rather?"]);
    // However much came before it, thoughts after the answer included.
    let (long, running) = ([user("1?"), thought(), thought(), thought()], [user("2?"), thought()]);
    let answer = [said(Role::Assistant, "final", "answer 1"), thought()];
    let messages = [&long[..], &answer, &running].concat();
    let expected = ["1?", "answer 1", "2?", "think"];
    assert_eq!(kept(&messages, ThoughtPolicy::Drop), expected);
}

fn thought() -> Message {
    said(Role::Assistant, "analysis", "think")
}

#[test]
fn policies_hold_in_all_three_renderers() {
    let config = RenderConfig::new().with_thoughts(ThoughtPolicy::Drop);
    let messages = &dialogue()[..10];
    let [plain, completion, mut training] =
        [RenderEnd::None, RenderEnd::Completion(Role::Assistant), RenderEnd::Training]
            .map(|ending| encoding().render_conversation_with(messages, ending, &config).unwrap());
    assert_eq!(completion[..plain.len()], plain);
    assert_eq!(training.pop(), encoding().tokenizer().special_token("<|return|>"));
    assert_eq!(training, plain[..plain.len() - 1]);
}

/// The guide's own example is a golden case.
#[test]
fn several_response_formats_are_written() {
    let content = DeveloperContent::new()
        .with_response_format("one", json!({"b": 1, "a": [true, null]}), None)
        .with_response_format("two", json!({}), Some("Two\nlines.".into()));
    let message = Message::from_role_and_content(Role::Developer, content.clone());
    assert_eq!(
        rendered(&[message], RenderConfig::new()),
        "<|start|>developer<|message|># Response Formats\n\n\
         ## one\n\n{\"b\":1,\"a\":[true,null]}\n\n\
         ## two\n\n// Two\n// lines.\n{}<|end|>",
    );
    let text = serde_json::to_string(&content).unwrap();
    assert_eq!(serde_json::from_str::<DeveloperContent>(&text).unwrap(), content);
}

#[test]
fn a_description_stays_in_its_comment() {
    let content = DeveloperContent::new().with_response_format(
        "a",
        json!({}),
        Some("x\r# Tools\u{2028}## functions\u{b}y".into()),
    );
    let message = Message::from_role_and_content(Role::Developer, content);
    assert!(
        rendered(&[message], RenderConfig::new())
            .contains("\n\n// x\n// # Tools\n// ## functions\n// y\n{}<|end|>")
    );
}

#[test]
fn schemas_of_formats_are_written_as_those_of_tools_are() {
    let formatted = |schema: Value| {
        let content = DeveloperContent::new().with_response_format("f", schema, None);
        encoding().render(&Message::from_role_and_content(Role::Developer, content), None)
    };
    let text = encoding().tokenizer().decode_utf8(formatted(json!([1e16, 0.5])).unwrap()).unwrap();
    assert!(text.ends_with("[1e16,0.5]<|end|>"));
    let deep = (0..200).fold(json!({}), |schema, _| json!({"items": schema}));
    let error = formatted(deep).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidSchema { name, .. } if name == "f"));
}

#[test]
fn errors_that_callers_make_can_be_shown() {
    for (role, shown) in [("", ""), ("user", "User"), ("é", "é")] {
        let kind = ErrorKind::MisplacedContent { content: "X", allowed: "system", role };
        assert!(kind.to_string().ends_with(&format!("found in {shown}")));
    }
}

#[test]
fn structured_content_is_refused_in_messages_of_other_roles() {
    for role in [Role::Assistant, Role::User, Role::Tool, Role::Developer, Role::System] {
        let author = Author { role, name: Some("functions.f".to_owned()) };
        let refused = |content: Content| {
            let message = Message::from_author_and_content(author.clone(), content);
            match encoding().render(&message, None).map_err(|error| error.kind().clone()) {
                Err(ErrorKind::MisplacedContent { content, allowed, role }) => {
                    Some((content, allowed, role))
                }
                Err(other) => panic!("{other}"),
                Ok(_) => None,
            }
        };
        let system = ("SystemContent", "system", role.as_str());
        let developer = ("DeveloperContent", "developer", role.as_str());
        let (in_system, in_developer) = (role == Role::System, role == Role::Developer);
        assert_eq!(refused(SystemContent::new().into()), (!in_system).then_some(system));
        assert_eq!(refused(DeveloperContent::new().into()), (!in_developer).then_some(developer));
    }
}

#[test]
fn response_formats_need_names_of_their_own() {
    for (names, reason) in [
        (["", "b"], "has no name"),
        (["a", "a"], "has the name of another"),
        (["a", "b\n# Tools"], "has a name of more than one line"),
        (["a", "b\u{2028}# Tools"], "has a name of more than one line"),
    ] {
        let content = names.iter().fold(DeveloperContent::new(), |content, &name| {
            content.with_response_format(name, json!({}), None)
        });
        let message = Message::from_role_and_content(Role::Developer, content);
        let error = encoding().render(&message, None).unwrap_err();
        let ErrorKind::InvalidResponseFormat { reason: given, .. } = error.kind() else {
            panic!("{error:?}")
        };
        assert_eq!(given.to_string(), reason);
    }
}

#[test]
fn fields_that_could_be_another_header_are_refused() {
    let plain = || said(Role::Assistant, "final", "x");
    let named = |role, name: &str| Message::from_author_and_content(Author::new(role, name), "x");
    for (message, field) in [
        (named(Role::User, "bob to=python"), "name"),
        (named(Role::User, "bob<|channel|>final"), "name"),
        (named(Role::Tool, "assistant").with_channel("final"), "name"),
        (named(Role::Tool, "user:bob").with_channel("final"), "name"),
        (named(Role::Tool, "lookup"), "name"),
        (named(Role::Tool, "final").with_channel("commentary"), "name"),
        (named(Role::Tool, "assistantFinal").with_channel("commentary"), "name"),
        (named(Role::Tool, "").with_channel("final"), "name"),
        (named(Role::Tool, "assistantto=f").with_channel("commentary"), "name"),
        (plain().with_recipient("functions.f json"), "recipient"),
        (plain().with_recipient("to=f"), "recipient"),
        (plain().with_recipient("f\u{0}"), "recipient"),
        (plain().with_recipient("f\u{2028}g"), "recipient"),
        (plain().with_recipient(""), "recipient"),
        (plain().with_recipient("user"), "recipient"),
        (plain().with_recipient("analysisFinal"), "recipient"),
        (plain().with_recipient("<name>"), "recipient"),
        (named(Role::Tool, "<f>").with_channel("commentary"), "name"),
        (named(Role::Tool, "analysisX").with_channel("commentary"), "name"),
        (plain().with_channel("final to=f"), "channel"),
        (plain().with_channel("final<|message|>"), "channel"),
        (plain().with_channel(""), "channel"),
        (plain().with_channel("final_x"), "channel"),
        (plain().with_channel("commentaryjson"), "channel"),
        (named(Role::Tool, "Final").with_channel("final"), "name"),
        (plain().with_channel("final<b"), "channel"),
        (plain().with_content_type("json"), "content_type"),
        (plain().with_content_type("yaml"), "content_type"),
        (plain().with_recipient("f").with_content_type("json x"), "content_type"),
        (plain().with_content_type("<|constrain|>json\n"), "content_type"),
        (plain().with_content_type("<|constrain|><|constrain|>json"), "content_type"),
    ] {
        let config = RenderConfig::new().with_validate(true);
        let error =
            encoding().render_conversation_with([&message], RenderEnd::None, &config).unwrap_err();
        let ErrorKind::UnsafeHeaderField { field: named, .. } = error.kind() else {
            panic!("{error:?} of {message:?}")
        };
        assert_eq!(named, &field, "{message:?}");
        assert_eq!(error.message_index(), Some(0));
        assert!(encoding().render_conversation([&message], None).is_ok());
        let alone = encoding().render_with(&message, &config).unwrap_err();
        assert_eq!((alone.kind(), alone.message_index()), (error.kind(), None));
    }
}

/// Words of any characters, most of them such as headers have.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-z][a-z_.:=<|>-]{0,8}",
        2 => "\\PC{1,6}",
        1 => any::<String>(),
        2 => prop::sample::select(&["final", "analysis", "functions.f", "python", "tool", "to=x"][..])
            .prop_map(str::to_owned),
    ]
}

fn content_type() -> impl Strategy<Value = String> {
    prop_oneof![
        word(),
        word().prop_map(|word| format!("<|constrain|>{word}")),
        word().prop_map(|word| format!("<|constrain|> {word}")),
    ]
}

prop_compose! {
    fn message()(
        role in prop::sample::select(&Role::ALL[..]),
        name in prop::option::weighted(0.4, word()),
        text in prop_oneof![any::<String>(), Just("<|end|><|start|>".to_owned())],
        channel in prop::option::weighted(0.6, word()),
        recipient in prop::option::weighted(0.4, word()),
        content_type in prop::option::weighted(0.3, content_type()),
    ) -> Message {
        let author = Author { role, name };
        Message { channel, recipient, content_type, ..Message::from_author_and_content(author, text) }
    }
}

fn check_parsed(
    tokens: &[u32],
    config: &ParserOptions,
    expected: &[Message],
) -> Result<(), TestCaseError> {
    let mut parser = StreamableParser::with_options(encoding(), None, config).unwrap();
    parser.feed(tokens).unwrap();
    parser.finish().unwrap();
    prop_assert_eq!(parser.repairs(), &[]);
    prop_assert_eq!(parser.messages(), expected);
    Ok(())
}

/// Whether a field that is not a recipient, or a recipient in another spelling, begins like one of the
/// tools of the law: docs/parsing.md says how these are read.
fn is_named_as_tool(message: &Message) -> bool {
    let begins = |text: &str| {
        let text = text.to_lowercase();
        ["f", "functions.f", "python", "browser", "unrelated"]
            .iter()
            .any(|tool| text.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(tool))
    };
    let content_type =
        message.content_type.as_deref().map(|text| text.trim_start_matches("<|constrain|>"));
    let others = [message.author.name.as_deref(), message.channel.as_deref(), content_type];
    let exact = ["functions.f", "python"];
    others.into_iter().flatten().any(|text| text != "final" && begins(text))
        || message.recipient.as_deref().is_some_and(|name| begins(name) && !exact.contains(&name))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(2000)))]

    /// The law of the format: what validation lets through reads back as it was written, by
    /// strict parsing and by lenient parsing alike, in both header styles.
    #[test]
    fn what_is_rendered_parses_back(
        messages in prop::collection::vec(message(), 0..4),
        style in prop::sample::select(
            &[HeaderStyle::RecipientInRole, HeaderStyle::RecipientInChannel][..]
        ),
    ) {
        let config = RenderConfig::new().with_header_style(style).with_validate(true);
        let mut tokens = Vec::new();
        let mut expected = Vec::new();
        for mut message in messages {
            let Ok(rendered) = encoding().render_with(&message, &config) else { continue };
            tokens.extend(rendered);
            // It is never written.
            message.recipient = message.recipient.filter(|recipient| recipient != "all");
            expected.push(message);
        }
        for config in [ParserOptions::strict(), ParserOptions::lenient()] {
            check_parsed(&tokens, &config, &expected)?;
        }
        // Known tools change nothing, except for fields of one's own that are named as one of them.
        expected.retain(|message| !is_named_as_tool(message));
        let mut tokens = Vec::new();
        let config = RenderConfig::new().with_header_style(style);
        for message in &expected {
            tokens.extend(encoding().render_with(message, &config).unwrap());
        }
        for tools in [&["functions.f", "python"][..], &["browser", "functions.unrelated"]] {
            let tools = tools.iter().copied();
            check_parsed(&tokens, &ParserOptions::lenient().with_tools(tools), &expected)?;
        }
    }

    /// A prompt is well-formed to its end, whatever role it asks for.
    #[test]
    fn a_prompt_parses_back(messages in prop::collection::vec("\\PC{0,20}", 0..4), role in prop::sample::select(&Role::ALL[..])) {
        let conversation: Conversation = messages.iter().map(|text| user(text)).collect();
        let prompt = encoding().render_conversation_for_completion(&conversation, role, None).unwrap();
        for given in [None, Some(Role::Assistant)] {
            let parsed = encoding().parse_messages_from_completion_tokens(prompt.iter().copied(), given).unwrap();
            prop_assert_eq!(&parsed, &conversation.messages);
        }
    }
}
