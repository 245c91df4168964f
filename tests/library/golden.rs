//! The golden cases of `tests/golden`, which `tests/python/test_golden.py` reads too.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use openai_harmony::chat::{Conversation, Role};
use openai_harmony::{
    HarmonyEncoding, HarmonyEncodingName, HeaderStyle, RenderConfig, RenderConversationConfig,
    RenderEnd, RenderOptions, load_harmony_encoding,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What a case asks for; see tests/golden/README.md.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    #[serde(rename = "about")]
    _about: String,
    render: Option<Render>,
    parse: Option<Parse>,
    #[serde(rename = "difference")]
    _difference: Option<String>,
    guide: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(tag = "renderer", rename_all = "snake_case", deny_unknown_fields)]
enum Render {
    Completion {
        next_role: Role,
        auto_drop_analysis: bool,
        #[serde(default)]
        header_style: Style,
    },
    Conversation {
        auto_drop_analysis: bool,
    },
    Training {
        auto_drop_analysis: bool,
    },
    Message {
        conversation_has_function_tools: bool,
    },
}

/// [`HeaderStyle`], by its name.
#[derive(Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Style {
    #[default]
    RecipientInRole,
    RecipientInChannel,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parse {
    role: Option<Role>,
}

struct Case {
    name: String,
    folder: PathBuf,
    options: Options,
    conversation: Conversation,
    text: String,
    tokens: Vec<u32>,
}

#[test]
fn the_files_of_each_case_agree() {
    cases().for_each(|case| check_files(&case));
}

#[test]
fn conversations_are_rendered() {
    let rendered = cases().filter_map(|case| check_render(&case)).count();
    assert!(rendered > 50, "{rendered}");
}

#[test]
fn tokens_are_parsed() {
    let parsed = cases().filter_map(|case| check_parse(&case)).count();
    assert!(parsed > 30, "{parsed}");
}

fn check_files(case: &Case) {
    let name = &case.name;
    assert_eq!(text(&case.tokens), case.text, "{name}: tokens.json and expected.txt");
    assert!(case.options.render.is_some() || case.options.parse.is_some(), "{name} tests nothing");
    let files: BTreeSet<String> = fs::read_dir(&case.folder)
        .expect("the case's folder")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    let mut expected =
        BTreeSet::from(["conversation.json", "expected.txt", "options.json", "tokens.json"]);
    if case.options.guide.is_some() {
        expected.insert("guide.txt");
    }
    assert!(files.iter().eq(expected), "{name}: {files:?}");
}

fn check_render(case: &Case) -> Option<()> {
    let options = case.options.render.as_ref()?;
    let name = &case.name;
    let tokens =
        render(&case.conversation, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(text(&tokens), case.text, "{name}: the rendered text");
    assert_eq!(tokens, case.tokens, "{name}: the rendered tokens");
    Some(())
}

fn render(conversation: &Conversation, options: &Render) -> openai_harmony::Result<Vec<u32>> {
    let encoding = encoding();
    let config = |auto_drop_analysis| RenderConversationConfig { auto_drop_analysis };
    match *options {
        Render::Completion { next_role, auto_drop_analysis, header_style } => {
            let header_style = match header_style {
                Style::RecipientInRole => HeaderStyle::RecipientInRole,
                Style::RecipientInChannel => HeaderStyle::RecipientInChannel,
            };
            let config =
                RenderConfig::from(config(auto_drop_analysis)).with_header_style(header_style);
            let ending = RenderEnd::Completion(next_role);
            encoding.render_conversation_with(conversation, ending, &config)
        }
        Render::Conversation { auto_drop_analysis } => {
            encoding.render_conversation(conversation, Some(&config(auto_drop_analysis)))
        }
        Render::Training { auto_drop_analysis } => encoding
            .render_conversation_for_training(conversation, Some(&config(auto_drop_analysis))),
        Render::Message { conversation_has_function_tools } => {
            let [message] = conversation.messages.as_slice() else {
                panic!("the renderer `message` takes one message")
            };
            let options = RenderOptions { conversation_has_function_tools };
            encoding.render(message, Some(&options))
        }
    }
}

fn check_parse(case: &Case) -> Option<()> {
    let options = case.options.parse.as_ref()?;
    let name = &case.name;
    let messages = encoding()
        .parse_messages_from_completion_tokens(case.tokens.iter().copied(), options.role)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(messages, case.conversation.messages, "{name}: the parsed messages");
    Some(())
}

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).expect("the encoding")
}

fn text(tokens: &[u32]) -> String {
    encoding().tokenizer().decode_utf8(tokens).expect("tokens of whole characters")
}

fn cases() -> impl Iterator<Item = Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut folders: Vec<PathBuf> = fs::read_dir(root)
        .expect("tests/golden")
        .map(|entry| entry.expect("an entry of tests/golden").path())
        .filter(|path| path.is_dir() && !path.ends_with("typescript"))
        .collect();
    folders.sort();
    folders.into_iter().map(read_case)
}

fn read_case(folder: PathBuf) -> Case {
    Case {
        name: folder.file_name().expect("a name").to_string_lossy().into_owned(),
        conversation: read_json(&folder.join("conversation.json")),
        text: read_text(&folder.join("expected.txt")),
        tokens: read_json(&folder.join("tokens.json")),
        options: read_json(&folder.join("options.json")),
        folder,
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> T {
    serde_json::from_str(&read_text(path))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
