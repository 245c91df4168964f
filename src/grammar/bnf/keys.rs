//! Keys of members that a schema does not name.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use super::fitting::WIDE;
use super::literals::literal;
use super::rules::BnfRules;

/// The longest name that others are told from: rules are nested by its characters.
const MOST_LENGTH: usize = 300;

/// The names that are left out, by their characters.
#[derive(Default)]
struct KeyNames {
    next: BTreeMap<char, KeyNames>,
    is_name: bool,
}

/// A key, after its first quote and up to its last, that differs from these names. It is written without escapes, so
/// that no name can be spelled another way.
///
/// # Errors
///
/// More names than this take too much room: after each beginning of one, all characters but some may follow.
pub(super) fn write(rules: &mut BnfRules, names: &[String]) -> Result<String, String> {
    if names.iter().any(|name| name.len() > MOST_LENGTH) {
        return Err(format!("too large: a name has more than {MOST_LENGTH} bytes"));
    }
    let beginnings: HashSet<&str> = names
        .iter()
        .flat_map(|name| name.char_indices().map(|(at, char)| &name[..at + char.len_utf8()]))
        .collect();
    rules.spend(WIDE * (1 + beginnings.len()))?;
    rules.json("string");
    let mut tree = KeyNames::default();
    for name in names {
        let mut at = &mut tree;
        for char in name.chars() {
            at = at.next.entry(char).or_default();
        }
        at.is_name = true;
    }
    let plain = rules.name();
    rules.add(&plain, r#"[^<"\\\u0000-\u001f]* "\"""#);
    Ok(write_rest(rules, &tree, &plain))
}

/// What may follow where the characters so far are the beginning of a name.
fn write_rest(rules: &mut BnfRules, names: &KeyNames, plain: &str) -> String {
    let mut options = Vec::new();
    let mut others = String::from(r#"[^<"\\"#);
    for (&char, next) in &names.next {
        // Such a character is written with an escape, which no key here has.
        if matches!(char, '<' | '"' | '\\') || char < ' ' {
            continue;
        }
        let rest = write_rest(rules, next, plain);
        options.push(format!("{} {rest}", literal(&char.to_string())));
        if matches!(char, '^' | '-' | '[' | ']') {
            // Writing to a string cannot fail.
            let _ = write!(others, "\\u{:04x}", u32::from(char));
        } else {
            others.push(char);
        }
    }
    others.push_str(r"\u0000-\u001f]");
    options.push(format!("{others} {plain}"));
    if !names.is_name {
        options.push(r#""\"""#.to_owned());
    }
    rules.made(&options.join(" | "))
}
