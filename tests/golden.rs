//! The golden cases of `tests/golden`, which `tests/python/test_golden.py` reads too: a test for each
//! case and for each thing that is held of it, as `render::guide_01`.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
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
    folder: PathBuf,
    options: Options,
    conversation: Conversation,
    text: String,
    tokens: Vec<u32>,
}

fn main() -> ExitCode {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).expect("the encoding");
    let mut tests: Vec<Trial> =
        folders().into_iter().flat_map(|folder| tests_of(encoding, folder)).collect();
    let count = |kind: &str| tests.iter().filter(|test| test.name().starts_with(kind)).count();
    let (rendered, parsed) = (count("render::"), count("parse::"));
    tests.push(Trial::test("most_cases_are_found", move || {
        assert!(rendered > 50, "{rendered}");
        assert!(parsed > 30, "{parsed}");
        Ok(())
    }));
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// What is held of a case: that its files agree, and what its options ask for.
fn tests_of(encoding: HarmonyEncoding, folder: PathBuf) -> Vec<Trial> {
    let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
    let case = Arc::new(read_case(folder));
    let test = |kind: &str, check: fn(HarmonyEncoding, &Case)| {
        let case = Arc::clone(&case);
        Trial::test(format!("{kind}::{name}"), move || {
            check(encoding, &case);
            Ok(())
        })
    };
    let mut tests = vec![test("files", check_files)];
    tests.extend(case.options.render.is_some().then(|| test("render", check_render)));
    tests.extend(case.options.parse.is_some().then(|| test("parse", check_parse)));
    tests
}

fn check_files(encoding: HarmonyEncoding, case: &Case) {
    let text = encoding.tokenizer().decode_utf8(&case.tokens).expect("tokens of the case");
    assert_eq!(text, case.text, "tokens.json and expected.txt");
    assert!(case.options.render.is_some() || case.options.parse.is_some(), "nothing is tested");
    let files: BTreeSet<String> = fs::read_dir(&case.folder)
        .expect("the case's folder")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    let mut expected =
        BTreeSet::from(["conversation.json", "expected.txt", "options.json", "tokens.json"]);
    if case.options.guide.is_some() {
        expected.insert("guide.txt");
    }
    assert!(files.iter().eq(expected), "{files:?}");
}

fn check_render(encoding: HarmonyEncoding, case: &Case) {
    let options = case.options.render.as_ref().expect("a renderer");
    let tokens =
        render(encoding, &case.conversation, options).unwrap_or_else(|error| panic!("{error}"));
    let text = encoding.tokenizer().decode_utf8(&tokens).expect("rendered tokens are UTF-8");
    assert_eq!(text, case.text, "the rendered text");
    assert_eq!(tokens, case.tokens, "the rendered tokens");
}

fn render(
    encoding: HarmonyEncoding,
    conversation: &Conversation,
    options: &Render,
) -> openai_harmony::Result<Vec<u32>> {
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

fn check_parse(encoding: HarmonyEncoding, case: &Case) {
    let options = case.options.parse.as_ref().expect("a role or none");
    let messages = encoding
        .parse_messages_from_completion_tokens(case.tokens.iter().copied(), options.role)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(messages, case.conversation.messages, "the parsed messages");
}

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut folders: Vec<PathBuf> = fs::read_dir(root)
        .expect("tests/golden")
        .map(|entry| entry.expect("an entry of tests/golden").path())
        .filter(|path| path.is_dir() && !path.ends_with("typescript"))
        .collect();
    folders.sort();
    folders
}

fn read_case(folder: PathBuf) -> Case {
    Case {
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
