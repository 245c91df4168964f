//! Any body, read as a request of each API: a turn that can be rendered, or an error with a path.

#![no_main]

use libfuzzer_sys::fuzz_target;
use openai_harmony::interop::{Dialect, parse_body};

#[path = "../../tests/bodies/mod.rs"]
mod bodies;

fuzz_target!(|input: &[u8]| {
    let (body, json) = (bodies::body(input), parse_body(&String::from_utf8_lossy(input)));
    for &dialect in Dialect::ALL {
        bodies::any_body_is_read_or_refused(dialect, &body);
        if let Ok(json) = &json {
            bodies::is_survived(dialect, &json.to_value());
        }
    }
});
