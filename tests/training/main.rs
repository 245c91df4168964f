//! Rows of data sets -> batches: what each example is, told here from the renderer of single
//! conversations, and what becomes of rows that are no conversations.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bad_rows;
mod chat_rows;
mod conversations;
mod examples;
#[path = "../lines/mod.rs"]
mod lines;
mod overflow;
mod plain_rows;
mod shapes;
mod texts;
mod turns;

use openai_harmony::{HarmonyEncoding, HarmonyEncodingName, load_harmony_encoding};

fn encoding() -> HarmonyEncoding {
    load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap()
}
