//! Readers and answers with their default options, as they run on a new platform; on some there is no clock.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use openai_harmony::interop::{Dialect, FinishReason, ReadOptions, ReplyOptions};
use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
use serde_json::json;

const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

#[test]
fn a_request_is_read_and_answered_in_each_dialect() {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let sampled = "<|channel|>analysis<|message|>Sum.<|end|><|start|>assistant<|channel|>final<|message|>4.<|return|>";
    let sampled = encoding.tokenizer().encode_with_special_tokens(sampled);
    for dialect in Dialect::ALL {
        let said = json!([{"role": "user", "content": "2 + 2?"}]);
        let field = if *dialect == Dialect::Responses { "input" } else { "messages" };
        let body = json!({field: said, "max_tokens": 9});
        let turn = dialect.read(&body, &ReadOptions::default()).unwrap();
        let prompt = encoding.tokenizer().decode_utf8(turn.prompt(&encoding).unwrap()).unwrap();
        assert_eq!(prompt.contains("Current date: 2"), HAS_CLOCK, "{prompt}");
        let options = ReplyOptions::new("gpt-oss-20b");
        // Without random bytes, an answer needs an id.
        assert_eq!(turn.reply(&encoding, options.clone()).is_ok(), HAS_CLOCK);
        let mut reply = turn.reply(&encoding, options.with_id("chatcmpl-1")).unwrap();
        let mut chunks = Vec::new();
        for token in &sampled {
            chunks.extend(reply.feed(&[*token], None).unwrap());
        }
        chunks.extend(reply.finish(FinishReason::Stop, None).unwrap());
        assert!(!chunks.is_empty());
        let response = reply.response().to_string();
        assert!(response.contains("\"4.\""), "{response}");
    }
}
