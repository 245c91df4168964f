//! The version is one that 0.0.8's users accept: Cargo's requirement `"0.0.8"`, and `[patch]` of a
//! program that has it. `tests/python/test_version.py` asks pip's rules.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// The folder of the crate.
fn this() -> &'static str {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_str().unwrap()
}

/// The manifest of a program that needs the crate of crates.io and is given this one.
fn manifest(requirement: &str) -> String {
    let this = this();
    format!(
        "[package]\nname = \"program\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\
         [workspace]\n[lib]\npath = \"lib.rs\"\n\
         [dependencies]\nopenai-harmony = \"{requirement}\"\n\
         [patch.crates-io]\nopenai-harmony = {{ path = {this:?} }}\n"
    )
}

/// Whether Cargo builds such a program with this crate. It asks no registry: all that the program
/// needs is what this test was built from.
fn is_patched(requirement: &str) -> bool {
    let word: String = requirement.chars().filter(char::is_ascii_alphanumeric).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("version-{word}"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("Cargo.toml"), manifest(requirement)).unwrap();
    fs::write(folder.join("lib.rs"), "").unwrap();
    let _ = fs::remove_file(folder.join("Cargo.lock"));
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--depth", "1", "--edges", "normal"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let tree = String::from_utf8(output.stdout).unwrap();
    let it = format!("openai-harmony v{} ({}", env!("CARGO_PKG_VERSION"), this());
    output.status.success() && tree.contains(&it)
}

#[test]
fn cargo_takes_the_crate_for_0_0_8() {
    for requirement in ["0.0.8", "=0.0.8", ">=0.0.8, <0.1", "0"] {
        assert!(is_patched(requirement), "{requirement}");
    }
    assert!(!is_patched("0.1"));
}

#[test]
fn the_version_is_0_0_8_and_says_whose() {
    let (version, build) = env!("CARGO_PKG_VERSION").split_once('+').unwrap();
    assert_eq!(version, "0.0.8");
    // A normal form of pip's too, whose last number orders the releases.
    let number = build.strip_prefix("dropin.").unwrap();
    assert!(number.parse::<u32>().is_ok_and(|number| number > 0));
}
