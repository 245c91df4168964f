//! The documentation of `openai_harmony/_lowlevel.pyi` becomes that of the compiled classes, so that an editor and
//! `help()` show one text: `#[doc = text!(Turn.prompt)]`.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const STUB: &str = "openai_harmony/_lowlevel.pyi";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={STUB}");
    let mut arms = String::new();
    for (name, text) in texts(&fs::read_to_string(STUB)?) {
        writeln!(arms, "    ({name}) => {{ {text:?} }};")?;
    }
    let missing = format!("concat!(\"no docstring in {STUB}: \", stringify!($($name)*))");
    writeln!(arms, "    ($($name:tt)*) => {{ compile_error!({missing}) }};")?;
    let file = Path::new(&env::var("OUT_DIR")?).join("texts.rs");
    fs::write(file, format!("macro_rules! text {{\n{arms}}}\n"))?;
    Ok(())
}

/// The names of public classes, of their public members and of functions, `Turn`, `Turn.prompt` and `derender`, with
/// their docstrings.
fn texts(stub: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut class, mut name) = ("", String::new());
    let mut lines = stub.lines();
    while let Some(line) = lines.next() {
        let (indent, code) = (line.len() - line.trim_start().len(), line.trim_start());
        if let Some(rest) = code.strip_prefix("class ").filter(|_| indent == 0) {
            class = rest.split(['(', ':']).next().unwrap_or(rest);
            class.clone_into(&mut name);
        } else if let Some(rest) = code.strip_prefix("def ").filter(|_| indent == 0) {
            rest.split('(').next().unwrap_or(rest).clone_into(&mut name);
        } else if indent == 0 && !code.is_empty() && !code.starts_with(')') {
            (class, name) = ("", String::new());
        } else if let Some(rest) = code.strip_prefix("def ").filter(|_| indent == 4) {
            name = format!("{class}.{}", rest.split('(').next().unwrap_or(rest));
        } else if let Some(first) = docstring(code) {
            let mut text = first.to_owned();
            while !text.ends_with("\"\"\"") {
                let Some(next) = lines.next() else { break };
                text.push('\n');
                text.push_str(next.get(indent..).unwrap_or_default());
            }
            let text = text.trim_end_matches("\"\"\"").trim_end().to_owned();
            assert!(
                code.starts_with('r') || !text.contains('\\'),
                "{name}: a backslash needs r\"\"\""
            );
            if !name.contains("._") && !name.starts_with('_') {
                found.push((name.clone(), text));
            }
        }
    }
    found
}

fn docstring(code: &str) -> Option<&str> {
    code.strip_prefix("\"\"\"").or_else(|| code.strip_prefix("r\"\"\""))
}
