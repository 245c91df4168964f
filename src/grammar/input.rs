//! The grammar of a custom tool's input in llguidance's form.
//!
//! llguidance reads the longest text that fits a terminal, and looks one byte ahead: after `\` it does not know whether
//! the next character still belongs to it. So a regular expression is one terminal, quotes included; where rules lead to
//! themselves, each character is a terminal.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir};
use serde_json::Value;

use super::options::JsonSpace;
use crate::interop::INPUT;
use crate::text_grammar::{Expr, TextRules, is_wide};

/// The most bytes that a grammar's rules may take.
pub(super) const MOST_TEXT: usize = 1 << 20;

/// The rules of the arguments of the tool with this number, each with its name; the first is that of the object.
///
/// # Errors
///
/// Why llguidance does not hold them.
pub(super) fn in_lark(
    tool: usize,
    of: &TextRules,
    space: JsonSpace,
) -> Result<Vec<(String, String)>, String> {
    let is_wide = |part: &Expr| matches!(part, Expr::Class(class) if is_wide(class));
    if !of.rules.is_empty() && of.rules.iter().chain([&of.start]).any(|expr| expr.any(&is_wide)) {
        // Each character is a terminal then, and of most tokens each has to be read.
        let reason = "llguidance has no room for recursive rules together with any characters";
        return Err(reason.to_owned());
    }
    let (blanks, blank) = match space.most() {
        Some(0) => ("", None),
        None => (" BLANKS?", Some("/[ \\t\\n\\r]+/".to_owned())),
        Some(most) => (" BLANKS?", Some(format!("/[ \\t\\n\\r]{{1,{most}}}/"))),
    };
    let key = Value::from(format!("\"{INPUT}\""));
    let mut rules = blank.map(|is| ("BLANKS".to_owned(), is)).into_iter().collect::<Vec<_>>();
    let text = if of.rules.is_empty() {
        let name = format!("INPUT{tool}");
        rules.push((name.clone(), slashes(&format!("\"{}\"", pattern(&of.start)))));
        name
    } else {
        let name = |rule: usize| format!("input{tool}r{rule}");
        let atom = |atom: &Expr| match atom {
            Expr::Literal(text) => {
                let chars = text.chars().map(|char| Value::from(escaped(char)).to_string());
                chars.collect::<Vec<_>>().join(" ")
            }
            Expr::Rule(rule) => name(*rule),
            other => slashes(&pattern(other)),
        };
        for (at, rule) in of.rules.iter().enumerate() {
            rules.push((name(at), written(rule, &atom)));
        }
        format!("\"\\\"\" {} \"\\\"\"", written(&of.start, &atom))
    };
    let object = format!("\"{{\"{blanks} {key}{blanks} \":\"{blanks} {text}{blanks} \"}}\"");
    rules.insert(0, (String::new(), object));
    if rules.iter().map(|(_, is)| is.len()).sum::<usize>() > MOST_TEXT {
        return Err(format!("too large: more than {MOST_TEXT} bytes"));
    }
    Ok(rules)
}

/// A character between the quotes of JSON.
pub(super) fn escaped(char: char) -> String {
    let quoted = Value::from(char.to_string()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The regular expression of what JSON has between its quotes for the texts of an expression without rules.
fn pattern(expr: &Expr) -> String {
    let all =
        |parts: &[Expr], between: &str| parts.iter().map(pattern).collect::<Vec<_>>().join(between);
    match expr {
        Expr::Literal(text) => {
            text.chars().map(|char| regex_syntax::escape(&escaped(char))).collect()
        }
        Expr::Class(class) => one_of(class),
        Expr::Rule(_) => String::new(),
        Expr::Concat(parts) => all(parts, ""),
        Expr::Choice(options) => format!("(?:{})", all(options, "|")),
        Expr::Repeat(one, least, most) => format!("(?:{}){}", pattern(one), times(*least, *most)),
    }
}

/// The characters of a class; those that JSON has as escapes, in their one form.
fn one_of(class: &ClassUnicode) -> String {
    let range = ClassUnicodeRange::new;
    let of_escapes = [range('\0', '\x1f'), range('"', '"'), range('\\', '\\')];
    let of_escapes = ClassUnicode::new(of_escapes);
    let (mut plain, mut escapes) = (class.clone(), class.clone());
    plain.difference(&of_escapes);
    escapes.intersect(&of_escapes);
    let mut options: Vec<String> = escapes
        .iter()
        .flat_map(|range| range.start()..=range.end())
        .map(|char| regex_syntax::escape(&escaped(char)))
        .collect();
    // Mostly all of those that JSON has no letter for are there.
    let is_rare = |option: &String| option.starts_with("\\\\u00");
    if options.iter().filter(|option| is_rare(option)).count() == 27 {
        options.retain(|option| !is_rare(option));
        options.push(r"\\u00(?:0[0-7bBeEfF]|1[0-9a-fA-F])".to_owned());
    }
    if !plain.ranges().is_empty() {
        options.push(Hir::class(Class::Unicode(plain)).to_string());
    }
    if let [one] = &options[..] { one.clone() } else { format!("(?:{})", options.join("|")) }
}

/// An expression as all forms of grammars write it; `atom` writes literals, classes and names.
pub(super) fn written(expr: &Expr, atom: &impl Fn(&Expr) -> String) -> String {
    let all = |parts: &[Expr], between: &str| {
        parts.iter().map(|part| written(part, atom)).collect::<Vec<_>>().join(between)
    };
    match expr {
        Expr::Literal(_) | Expr::Class(_) | Expr::Rule(_) => atom(expr),
        Expr::Concat(parts) if parts.is_empty() => "\"\"".to_owned(),
        Expr::Concat(parts) => all(parts, " "),
        Expr::Choice(options) => format!("({})", all(options, " | ")),
        Expr::Repeat(one, least, most) => {
            format!("({}){}", written(one, atom), times(*least, *most))
        }
    }
}

fn times(least: u32, most: Option<u32>) -> String {
    match (least, most) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    }
}

/// A regular expression between slashes.
pub(super) fn slashes(pattern: &str) -> String {
    // Nothing that is written here has its slashes escaped.
    format!("/{}/", pattern.replace('/', "\\/").replace('\n', "\\n").replace('\r', "\\r"))
}
