//! The public API of the crate `openai-harmony` 0.0.8, one probe for each item, with its types:
//! code written for that crate compiles. What differs is in docs/rust.md and not here.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::clone_on_copy,
    clippy::default_trait_access,
    clippy::needless_borrows_for_generic_args,
    reason = "as code for 0.0.8 is written, where handles and roles were no `Copy`"
)]

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt::{Debug, Display};

use openai_harmony::chat::{
    Author, ChannelConfig, Content, Conversation, DeveloperContent, Message, ReasoningEffort, Role,
    SystemContent, TextContent, ToolDescription, ToolNamespaceConfig,
};
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, ParseOptions, StreamableParser, load_harmony_encoding,
};
// Exported by the source of 0.0.8's later commits, which many build from.
use openai_harmony::{RenderConversationConfig, RenderOptions};

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

fn user(text: &str) -> Message {
    Message::from_role_and_content(Role::User, text)
}

fn is<T: Clone + Debug>() {}

#[test]
fn encoding_names_are_parsed_shown_and_matched() {
    fn name_of(name: HarmonyEncodingName) -> &'static str {
        // Without a wildcard.
        match name {
            HarmonyEncodingName::HarmonyGptOss => "HarmonyGptOss",
        }
    }
    let name: HarmonyEncodingName = "HarmonyGptOss".parse().unwrap();
    assert_eq!(name.to_string(), name_of(name));
    assert_eq!(format!("{name:?}"), "HarmonyGptOss");
    assert!("other".parse::<HarmonyEncodingName>().is_err());
    assert!(HashSet::from([name]).contains(&HarmonyEncodingName::HarmonyGptOss));
}

#[test]
fn an_encoding_has_its_names_and_limit() {
    let encoding = encoding();
    let name: &str = encoding.name();
    assert_eq!(name, "HarmonyGptOss");
    let tokenizer: &str = encoding.tokenizer_name();
    assert_eq!(tokenizer, "o200k_harmony");
    let most: usize = encoding.max_message_tokens();
    assert_eq!(most, 524_288);
    assert_eq!(encoding.to_string(), "Renderer(HarmonyGptOss)");
    is::<HarmonyEncoding>();
}

#[test]
fn stop_tokens_are_a_result_of_a_set() {
    let all: HashSet<u32> = encoding().stop_tokens().unwrap();
    assert_eq!(all, HashSet::from([200_002, 200_007, 200_012]));
    let for_actions: HashSet<u32> = encoding().stop_tokens_for_assistant_actions().unwrap();
    assert_eq!(for_actions, HashSet::from([200_002, 200_012]));
}

#[test]
fn the_tokenizer_takes_and_returns_the_same_types() {
    let encoding = encoding();
    let tokenizer = encoding.tokenizer();
    let tokens: Vec<u32> = tokenizer.encode_ordinary("Hello");
    let marked: Vec<u32> = tokenizer.encode_with_special_tokens("<|start|>");
    assert_eq!((&tokens[..], &marked[..]), (&[13225][..], &[200_006][..]));
    let names: HashSet<&str> = tokenizer.special_tokens();
    assert!(names.len() == 1091 && names.contains("<|start|>"));
    // Also the number of tokens of the last piece, 0 after a special token.
    for (text, allowed, expected) in [
        ("", names.clone(), (vec![], 0)),
        ("Hello world", HashSet::new(), (vec![13225, 2375], 1)),
        ("<|start|>user", names.clone(), (vec![200_006, 1428], 1)),
        ("Hello<|end|>", names, (vec![13225, 200_007], 0)),
        ("<|end|>", HashSet::from(["<|start|>"]), (vec![27, 91, 419, 91, 29], 2)),
        ("a qwxzkjvq", HashSet::new(), (vec![64, 2335, 43176, 25370, 73, 180_870], 5)),
    ] {
        let encoded: (Vec<u32>, usize) = tokenizer.encode(text, &allowed);
        assert_eq!(encoded, expected, "{text}");
    }
    // A vector, a reference to one, a slice, an array.
    let bytes: Vec<u8> = tokenizer.decode_bytes(tokens.clone()).unwrap();
    assert_eq!(bytes, tokenizer.decode_bytes(&tokens).unwrap());
    assert_eq!(bytes, tokenizer.decode_bytes(&tokens[..]).unwrap());
    assert_eq!(bytes, tokenizer.decode_bytes([13225]).unwrap());
    let text: String = tokenizer.decode_utf8(tokens.clone()).unwrap();
    assert_eq!(text, tokenizer.decode_utf8(&tokens).unwrap_or_default());
    assert_eq!(text, tokenizer.decode_utf8([13225]).map_err(|error| error.to_string()).unwrap());
    let is_special: bool = tokenizer.is_special_token(200_006);
    assert!(is_special);
}

#[test]
fn conversations_render_from_anything_that_iterates_over_messages() {
    let encoding = encoding();
    let conversation = Conversation::from_messages([user("a")]);
    let messages = vec![user("a")];
    let tokens: Vec<u32> = encoding.render_conversation(&conversation, None).unwrap();
    assert_eq!(tokens, encoding.render_conversation(&messages, None).unwrap());
    assert_eq!(tokens, encoding.render_conversation(messages.iter(), None).unwrap());
    assert_eq!(tokens, encoding.render_conversation([&messages[0]], None).unwrap());
    let completion: Vec<u32> = encoding
        .render_conversation_for_completion(conversation.messages.iter(), Role::Assistant, None)
        .unwrap();
    assert_eq!(completion[..tokens.len()], tokens);
    let training: Vec<u32> =
        encoding.render_conversation_for_training(&conversation, None).unwrap();
    assert_eq!(training, tokens);
}

#[test]
fn conversations_render_with_a_config_by_its_literal() {
    let encoding = encoding();
    let keep = RenderConversationConfig { auto_drop_analysis: false };
    let by_default: RenderConversationConfig = Default::default();
    assert!(by_default.auto_drop_analysis);
    let messages = [user("a")];
    encoding.render_conversation(&messages, Some(&keep)).unwrap();
    encoding.render_conversation(&messages, Some(&Default::default())).unwrap();
    encoding.render_conversation_for_training(&messages, Some(&keep)).unwrap();
    encoding.render_conversation_for_completion(&messages, Role::User, Some(&keep)).unwrap();
    is::<RenderConversationConfig>();
}

#[test]
fn rendering_extends_any_collection() {
    let encoding = encoding();
    let messages = [user("a")];
    let rendered = encoding.render_conversation(&messages, None).unwrap();
    let mut vector: Vec<u32> = Vec::new();
    encoding.render_conversation_into(&messages, &mut vector, None).unwrap();
    assert_eq!(vector, rendered);
    let mut queue: VecDeque<u32> = VecDeque::new();
    encoding.render_into(&messages[0], &mut queue, None).unwrap();
    assert_eq!(queue, rendered);
    encoding
        .render_conversation_for_completion_into(&messages, Role::Assistant, &mut queue, None)
        .unwrap();
    assert_eq!(queue.len(), 2 * rendered.len() + 2);
}

#[test]
fn single_messages_render_with_options_by_their_literal() {
    let options = RenderOptions { conversation_has_function_tools: true };
    let system = Message::from_role_and_content(Role::System, SystemContent::new());
    let tokens: Vec<u32> = encoding().render(&system, Some(&options)).unwrap();
    assert!(tokens.len() > encoding().render(&system, None).unwrap().len());
    assert!(!RenderOptions::default().conversation_has_function_tools);
    let mut into = vec![0];
    encoding().render_into(&system, &mut into, Some(&options)).unwrap();
    assert_eq!(into[1..], tokens);
    is::<RenderOptions>();
}

#[test]
fn whole_sequences_parse() {
    let encoding = encoding();
    let tokens = encoding.tokenizer().encode_with_special_tokens("<|message|>a<|end|>");
    let messages: Vec<Message> =
        encoding.parse_messages_from_completion_tokens(tokens.clone(), Some(Role::User)).unwrap();
    assert_eq!(messages, [user("a")]);
    let copied = tokens.iter().copied();
    encoding.parse_messages_from_completion_tokens(copied, Some(Role::User)).unwrap();
    for options in [ParseOptions { strict: false }, ParseOptions::default(), Default::default()] {
        let parsed = encoding
            .parse_messages_from_completion_tokens_with_options(
                tokens.clone(),
                Some(Role::User),
                options,
            )
            .unwrap();
        assert_eq!(parsed, messages);
    }
    is::<ParseOptions>();
}

#[test]
fn a_parser_is_made_from_an_encoding_and_a_role() {
    let role = Some(Role::Assistant);
    StreamableParser::new(encoding(), None).unwrap();
    StreamableParser::new(encoding().clone(), role.clone()).unwrap();
    StreamableParser::new_with_options(encoding(), role, ParseOptions { strict: false }).unwrap();
    StreamableParser::new_with_options(encoding(), role, Default::default()).unwrap();
}

#[test]
fn accessors_of_a_parser_return_owned_values() {
    let encoding = encoding();
    let mut parser = StreamableParser::new(encoding, Some(Role::Assistant)).unwrap();
    let header = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>";
    let tokens = encoding.tokenizer().encode_with_special_tokens(&format!("{header}{{}}<|call|>"));
    for token in &tokens[..tokens.len() - 1] {
        let parser: &mut StreamableParser = parser.process(*token).unwrap();
        assert!(parser.messages().is_empty());
    }
    let content: String = parser.current_content().unwrap();
    assert_eq!(content, "{}");
    let delta: Option<String> = parser.last_content_delta().unwrap();
    assert_eq!(delta.as_deref(), Some("{}"));
    let role: Option<Role> = parser.current_role();
    assert_eq!(role, Some(Role::Assistant));
    let channel: Option<String> = parser.current_channel();
    assert_eq!(channel, Some("commentary".to_owned()));
    let recipient: Option<String> = parser.current_recipient();
    assert_eq!(recipient, Some(String::from("functions.f")));
    let content_type: Option<String> = parser.current_content_type();
    assert_eq!(content_type.unwrap_or_default(), "<|constrain|>json");
    parser.process(200_012).unwrap().process_eos().unwrap();
    let all: &[u32] = parser.tokens();
    assert_eq!(all, tokens);
    let complete: &[Message] = parser.messages();
    assert_eq!(complete.len(), 1);
    let messages: Vec<Message> = parser.into_messages();
    assert_eq!(messages[0].recipient.as_deref(), Some("functions.f"));
}

#[test]
fn the_state_is_returned_as_json() {
    let mut parser = StreamableParser::new(encoding(), None).unwrap();
    let state: String = parser.state_json().unwrap();
    assert_eq!(state, r#"{"state":"ExpectStart"}"#);
    parser.process(200_006).unwrap().process(1428).unwrap();
    assert_eq!(parser.state_json().unwrap(), r#"{"state":"Header","header_tokens":[1428]}"#);
    parser.process(200_008).unwrap().process(64).unwrap();
    assert_eq!(
        parser.state_json().unwrap(),
        concat!(
            r#"{"state":"Content","header":{"author":{"role":"user"},"recipient":null,"#,
            r#""channel":null,"content_type":null},"content_tokens":[64]}"#
        ),
    );
}

#[test]
fn roles_keep_their_conversions() {
    let roles = [Role::User, Role::Assistant, Role::System, Role::Developer, Role::Tool];
    let words: Vec<&str> = roles.iter().map(Role::as_str).collect();
    assert_eq!(words, ["user", "assistant", "system", "developer", "tool"]);
    let error: &'static str = Role::try_from("nobody").unwrap_err();
    assert_eq!(error, "Unknown role");
    let read: Result<Role, &str> = "tool".try_into();
    assert_eq!(read, Ok(Role::Tool));
    assert_eq!(Role::Tool.clone().to_string(), "tool");
    assert_eq!(serde_json::to_string(&Role::User).unwrap(), r#""user""#);
    assert_eq!(serde_json::from_str::<Role>(r#""developer""#).unwrap(), Role::Developer);
}

#[test]
fn authors_keep_their_fields_and_conversions() {
    let named = Author { role: Role::Tool, name: Some("f".to_owned()) };
    assert_eq!(named, Author::new(Role::Tool, "f"));
    let plain: Author = Role::User.into();
    assert_eq!(plain, Author { role: Role::User, name: None });
    assert_eq!(serde_json::to_string(&named).unwrap(), r#"{"role":"tool","name":"f"}"#);
}

#[test]
fn contents_come_from_texts_of_all_kinds() {
    let text = Content::Text(TextContent { text: "a".to_owned() });
    assert_eq!(Content::from("a"), text);
    assert_eq!(Content::from(String::from("a")), text);
    assert_eq!(Content::from(&String::from("a")), text);
    assert_eq!(Content::from('a'), text);
    assert_eq!(Content::from(Box::<str>::from("a")), text);
    assert_eq!(Content::from(std::borrow::Cow::Borrowed("a")), text);
    let system: Content = SystemContent::new().into();
    let developer: Content = DeveloperContent::new().into();
    for content in [text, system, developer] {
        // Without a wildcard.
        let json = match &content {
            Content::Text(text) => serde_json::to_string(text),
            Content::SystemContent(system) => serde_json::to_string(system),
            Content::DeveloperContent(developer) => serde_json::to_string(developer),
        };
        assert!(json.is_ok());
    }
}

#[test]
fn messages_keep_their_fields_and_builders() {
    let literal = Message {
        author: Author::from(Role::Assistant),
        recipient: Some("f".to_owned()),
        content: vec![Content::from("a")],
        channel: Some("final".to_owned()),
        content_type: Some("json".to_owned()),
    };
    let built = Message::from_author_and_content(Role::Assistant.into(), "a")
        .with_recipient("f")
        .with_channel("final".to_owned())
        .with_content_type(&"json".to_owned());
    assert_eq!(built, literal);
    assert!(Message::from_role_and_contents(Role::User, vec![]).content.is_empty());
    let added = Message::from_role_and_contents(Role::User, []).adding_content("a");
    assert_eq!(added, Message::from_role_and_content::<&str>(Role::User, "a"));
    let text = serde_json::to_string(&added).unwrap();
    assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), added);
    is::<Message>();
}

#[test]
fn conversations_keep_their_fields_and_iterators() {
    let messages = vec![user("a"), user("b")];
    let conversation = Conversation { messages: messages.clone() };
    assert_eq!(Conversation::from_messages(messages), conversation);
    let iterated: Vec<&Message> = (&conversation).into_iter().collect();
    assert_eq!(iterated.len(), 2);
}

#[test]
fn system_content_keeps_its_fields_and_builders() {
    let built = SystemContent::new()
        .with_model_identity("I")
        .with_reasoning_effort(ReasoningEffort::Low)
        .with_tools(ToolNamespaceConfig::python())
        .with_conversation_start_date("2025-06-28")
        .with_knowledge_cutoff("2024-06")
        .with_required_channels(["final"]);
    let tools = BTreeMap::from([("python".to_owned(), ToolNamespaceConfig::python())]);
    let literal = SystemContent {
        model_identity: Some("I".to_owned()),
        reasoning_effort: Some(ReasoningEffort::Low),
        tools: Some(tools),
        conversation_start_date: Some("2025-06-28".to_owned()),
        knowledge_cutoff: Some("2024-06".to_owned()),
        channel_config: Some(ChannelConfig::require_channels(vec!["final".to_owned()])),
    };
    assert_eq!(built, literal);
    let config = ChannelConfig { valid_channels: vec![], channel_required: false };
    assert_eq!(ChannelConfig::default(), config);
    let tooled = SystemContent::default().with_browser_tool().with_python_tool();
    assert_eq!(tooled.with_channel_config(config).tools.unwrap().len(), 2);
    // Without a wildcard.
    match ReasoningEffort::High {
        ReasoningEffort::Low | ReasoningEffort::Medium | ReasoningEffort::High => {}
    }
}

#[test]
fn developer_content_and_tools_keep_their_fields_and_builders() {
    let tools: Vec<ToolDescription> =
        ["f", "g"].iter().map(|name| ToolDescription::new(*name, "d", None)).collect();
    let built = DeveloperContent::new().with_instructions("I").with_function_tools(tools.clone());
    assert_eq!(built.instructions.as_deref(), Some("I"));
    let namespace = ToolNamespaceConfig::new("functions", None, tools.into_iter().collect());
    assert_eq!(built.tools.as_ref().unwrap()["functions"], namespace);
    let literal =
        ToolNamespaceConfig { name: "n".to_owned(), description: None, tools: Vec::new() };
    assert_eq!(ToolNamespaceConfig::new("n", None, vec![]), literal);
    assert_eq!(DeveloperContent::default().with_tools(literal).tools.unwrap().len(), 1);
    assert_eq!(
        ToolNamespaceConfig::browser().tools[0].parameters.as_ref().unwrap()["type"],
        "object"
    );
}

#[test]
fn errors_can_be_shown_and_passed_on() {
    fn shown(error: impl Display + Debug + Send + Sync + 'static) -> String {
        error.to_string()
    }
    let error = encoding().parse_messages_from_completion_tokens([5], None).unwrap_err();
    assert_eq!(
        shown(error.clone()),
        "Unexpected token 5 while expecting start token 200006 (\"&\" at tokens[0])"
    );
    // `?` turns it into an `anyhow::Error` as into this.
    let boxed: Box<dyn std::error::Error + Send + Sync> = error.into();
    assert!(boxed.to_string().starts_with("Unexpected token 5"));
}
