//! `capi/include/openai_harmony.h` is what cbindgen makes of `capi/`; `WRITE=1` writes it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let capi = Path::new(env!("CARGO_MANIFEST_DIR")).join("../capi");
    let header = capi.join("include/openai_harmony.h");
    let config = cbindgen::Config::from_file(capi.join("cbindgen.toml")).unwrap();
    let made = cbindgen::generate_with_config(&capi, config).unwrap();
    if std::env::var_os("WRITE").is_some() {
        made.write_to_file(&header);
    }
    let mut text = Vec::new();
    made.write(&mut text);
    assert!(
        text == std::fs::read(&header).unwrap(),
        "WRITE=1 cargo test --package openai-harmony-checks --test c_header"
    );
}
