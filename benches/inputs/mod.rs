//! What the Rust benches work on: the files that benches/comparison/corpora.py made.

use openai_harmony::chat::Conversation;
use openai_harmony::{HarmonyEncoding, HarmonyEncodingName, load_harmony_encoding};

/// 100 KB of English prose.
pub(crate) const PROSE: &str = include_str!("../corpus/prose.txt");

const HUNDRED_AND_TWO_MESSAGES: &str = include_str!("../corpus/hundred_and_two_messages.json");

pub(crate) fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}

/// A long support chat: short messages, thoughts and tool calls among them.
pub(crate) fn hundred_and_two_messages() -> Conversation {
    serde_json::from_str(HUNDRED_AND_TWO_MESSAGES).unwrap()
}

/// The long chat as about 4,000 tokens, nothing dropped.
pub(crate) fn tokens() -> Vec<u32> {
    encoding().render_conversation(&hundred_and_two_messages(), None).unwrap()
}
