//! Any body, read as a request of each API: a turn that can be rendered, or an error with a path.

#![no_main]

use libfuzzer_sys::fuzz_target;
use openai_harmony::interop::{Dialect, parse_body};

#[path = "../../tests/bodies/mod.rs"]
mod bodies;

fuzz_target!(|input: &[u8]| {
    let body = bodies::body(input);
    let json = parse_body(&String::from_utf8_lossy(input)).map(|json| json.to_value());
    for &dialect in Dialect::ALL {
        bodies::any_body_is_read_or_refused(dialect, &body);
        if let Ok(json) = &json {
            bodies::is_survived(dialect, json);
        }
    }
});
