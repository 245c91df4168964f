//! Any body, read as a request of `chat_completions`: a turn that can be rendered, or an error with a path.

#![no_main]

use libfuzzer_sys::fuzz_target;
use openai_harmony::interop::{chat_completions, parse_body};

#[path = "../../tests/bodies/mod.rs"]
mod bodies;

fuzz_target!(|input: &[u8]| {
    bodies::any_body_is_read_or_refused(
        |body, options| chat_completions::read(body, options),
        &bodies::body(input),
    );
    if let Ok(body) = parse_body(&String::from_utf8_lossy(input)) {
        bodies::is_survived(
            |body, options| chat_completions::read(body, options),
            &body.to_value(),
        );
    }
});
