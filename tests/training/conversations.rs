//! Conversations to train on.

use openai_harmony::chat::{
    Author, Conversation, DeveloperContent, Message, Role, SystemContent, ToolDescription,
};
use openai_harmony::training::{ExampleUnit, LossMask, Overflow, RowOptions, Turns};
use openai_harmony::{HeaderStyle, RenderConfig, ThoughtPolicy};
use proptest::prelude::*;
use proptest::sample::select;

fn assistant(text: String, channel: &str) -> Message {
    Message::from_role_and_content(Role::Assistant, text).with_channel(channel)
}

fn tools() -> DeveloperContent {
    let tool = ToolDescription::new("f", "Does it.", None);
    DeveloperContent::new().with_function_tools(vec![tool])
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,30}",
        any::<String>(),
        select(&["", "<|start|>assistant", "Hi."][..]).prop_map(str::to_owned),
    ]
}

/// Any order: users that nobody answers, turns that break off, results of calls long past.
/// `declares`: developers declare functions at any time.
fn message(declares: bool) -> impl Strategy<Value = Message> {
    let recipient = select(&["functions.f", "python"][..]);
    prop_oneof![
        5 => text().prop_map(|text| Message::from_role_and_content(Role::User, text)),
        4 => text().prop_map(|text| assistant(text, "analysis")),
        1 => text().prop_map(|text| assistant(text, "commentary")),
        3 => (text(), recipient.clone()).prop_map(|(text, recipient)| {
            let channel = if recipient == "python" { "analysis" } else { "commentary" };
            assistant(text, channel).with_recipient(recipient)
        }),
        3 => (text(), recipient).prop_map(|(text, name)| {
            let channel = if name == "python" { "analysis" } else { "commentary" };
            Message::from_author_and_content(Author::new(Role::Tool, name), text)
                .with_recipient("assistant")
                .with_channel(channel)
        }),
        4 => text().prop_map(|text| assistant(text, "final")),
        1 => any::<bool>().prop_map(move |has_tools| {
            let has_tools = declares && has_tools;
            let content = if has_tools { tools() } else { DeveloperContent::new() };
            Message::from_role_and_content(Role::Developer, content)
        }),
    ]
}

pub(crate) fn conversation() -> impl Strategy<Value = Conversation> {
    any_conversation(true)
}

/// One whose functions are declared at its beginning. Where they are declared in the midst of a turn,
/// the system message changes under the model: no example has the prompts of such a turn.
pub(crate) fn settled_conversation() -> impl Strategy<Value = Conversation> {
    any_conversation(false)
}

fn any_conversation(declares: bool) -> impl Strategy<Value = Conversation> {
    let head = prop_oneof![
        Just(vec![]),
        Just(vec![Message::from_role_and_content(Role::System, SystemContent::new())]),
        Just(vec![
            Message::from_role_and_content(Role::System, SystemContent::new()),
            Message::from_role_and_content(Role::Developer, tools()),
        ]),
    ];
    (head, prop::collection::vec(message(declares), 0..16))
        .prop_map(|(head, said)| Conversation::from_messages(head.into_iter().chain(said)))
}

prop_compose! {
    pub(crate) fn options()(
        thoughts in select(&[
            ThoughtPolicy::Keep,
            ThoughtPolicy::DropBeforeFirstFinal,
            ThoughtPolicy::Drop,
        ][..]),
        style in select(&[HeaderStyle::RecipientInRole, HeaderStyle::RecipientInChannel][..]),
        examples in select(&[ExampleUnit::Conversation, ExampleUnit::Turns][..]),
        limit in prop::option::weighted(0.8, (
            0_usize..200,
            select(&[Overflow::Error, Overflow::Drop, Overflow::TruncateTurns][..]),
        )),
        turns in select(&[Turns::All, Turns::Last][..]),
        channels in prop::option::weighted(0.3, select(&["analysis", "final"][..])),
        headers in any::<bool>(),
    ) -> RowOptions {
        let config = RenderConfig::new().with_thoughts(thoughts).with_header_style(style);
        let mut mask = LossMask::new().with_turns(turns).with_headers(headers);
        if let Some(channel) = channels {
            mask = mask.with_channels([channel]);
        }
        let options = RowOptions::new().with_config(config).with_examples(examples).with_mask(mask);
        match limit {
            Some((max_tokens, overflow)) => options.with_max_tokens(max_tokens, overflow),
            None => options,
        }
    }
}
