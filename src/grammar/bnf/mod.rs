//! A grammar -> BNF, in the two dialects that engines read: llama.cpp's GBNF, and xgrammar's EBNF, which a structural
//! tag carries.
//!
//! Both match characters, and a special token's characters as its name. So strings in JSON never hold `<|` in front of a
//! letter with which a special token's name begins; the model may write it with an escape. Tokens of the structure
//! are matched by their ids.
//!
//! What tools share of a header is a rule of its own; equal schemas share one, too.

mod array;
mod integers;
mod keys;
mod literals;
mod object;
mod pattern;
mod rules;
mod schema;

use serde_json::{Value, json};

use self::literals::literal;
use self::rules::Rules;
use super::headers::{CALL_CHANNELS, CHANNEL, Kind, MESSAGE, Piece, answer_types, types};
use super::options::{HeaderForms, Thoughts, ToolUse};
use super::{GrammarTool, Parts};
use crate::chat::{ANALYSIS, COMMENTARY, FINAL};
use crate::error::Result;
use crate::path::Path;
use crate::tokenizer::{TokenId, special};

/// The special tokens that have a name in gpt-oss' vocabulary; engines sample no others.
const NAMED_TOKENS: std::ops::RangeInclusive<TokenId> = 199_998..=200_018;

/// Who reads the grammar.
#[derive(Debug, Clone, Copy)]
enum Dialect<'s> {
    /// It ends at its own stop tokens, wherever the grammar may end, and matches no other there.
    LlamaCpp,
    /// Likewise, at these.
    Xgrammar { stops: &'s [TokenId] },
}

/// For llama.cpp.
pub(super) fn gbnf(grammar: &Parts) -> Result<String> {
    write(grammar, Dialect::LlamaCpp)
}

/// xgrammar's structural tag, for an engine that stops at these tokens.
pub(super) fn structural_tag(grammar: &Parts, stops: &[TokenId]) -> Result<String> {
    let written = write(grammar, Dialect::Xgrammar { stops })?;
    let format = json!({"type": "grammar", "grammar": written});
    Ok(json!({"type": "structural_tag", "format": format}).to_string())
}

fn write(grammar: &Parts, dialect: Dialect<'_>) -> Result<String> {
    let options = &grammar.options;
    let mut rules = Rules::new(dialect.most_repeated(), options.json_space.most());
    rules.add("root", start(grammar));
    if grammar.begun.is_none_or(|kind| matches!(kind, Kind::Thought | Kind::Preamble)) {
        let next =
            [Piece::Token(special::END), Piece::Token(special::START), Piece::Text("assistant")];
        rules.add("next", dialect.sequence(&next));
        if options.thoughts != Thoughts::Off {
            let header = dialect.sequence(&[CHANNEL, Piece::Text(ANALYSIS), MESSAGE]);
            rules.add("thought", format!("{header} text next"));
        }
        if options.preambles {
            let header = dialect.sequence(&[CHANNEL, Piece::Text(COMMENTARY), MESSAGE]);
            rules.add("preamble", format!("{header} text next"));
        }
        let last = write_last(grammar, dialect, &mut rules);
        rules.add("last", last);
    }
    if options.tool_use != ToolUse::Required
        && grammar.begun.is_none_or(|kind| !matches!(kind, Kind::Call(_)))
    {
        let content = answer_content(grammar, &mut rules)?;
        rules.add("answer-content", format!("{content}{}", dialect.stop(special::RETURN)));
    }
    for (index, tool) in grammar.tools.iter().enumerate() {
        if grammar.begun.is_some_and(|kind| kind != Kind::Call(index)) && last_is_begun(grammar) {
            continue;
        }
        let content = match &tool.parameters {
            Some(schema) => {
                let path = Path::of("tools").then(grammar.places[index]).then("parameters");
                let value = schema::write(&mut rules, schema, &path, true)
                    .map_err(|error| error.of_schema(&tool.recipient))?;
                rules.add_blanks();
                format!("blanks {value} blanks")
            }
            None => "text".to_owned(),
        };
        rules.add(
            &format!("arguments-{index}"),
            format!("{content}{}", dialect.stop(special::CALL)),
        );
    }
    dialect.write_text(&mut rules);
    Ok(rules.into_text())
}

fn answer_content(grammar: &Parts, rules: &mut Rules) -> Result<String> {
    let options = &grammar.options;
    if let Some(pattern) = &grammar.pattern {
        let name =
            if options.response_regex.is_some() { "response_regex" } else { "response_choices" };
        let written = pattern::expression(rules, &pattern.hir, &Path::of(name))?;
        rules.add("answer-text", written);
        return Ok("answer-text".to_owned());
    }
    let Some(schema) = &options.response_schema else { return Ok("text".to_owned()) };
    let value = schema::write(rules, schema, &Path::of("response_schema"), false)
        .map_err(|error| error.of_schema(""))?;
    rules.add_blanks();
    Ok(format!("blanks {value} blanks"))
}

/// Whether the prompt ends inside the message that ends the turn.
fn last_is_begun(grammar: &Parts) -> bool {
    matches!(grammar.begun, Some(Kind::Answer | Kind::Call(_)))
}

/// What comes before the last message, and it.
fn start(grammar: &Parts) -> String {
    let options = &grammar.options;
    let kinds = [("thought", options.thoughts != Thoughts::Off), ("preamble", options.preambles)];
    let before: Vec<&str> = kinds.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
    let is_required = options.thoughts == Thoughts::Required;
    let first = usize::from(is_required || grammar.begun.is_some());
    let most = options.max_messages.map(|most| most.saturating_sub(1 + first));
    let many = match (before.is_empty(), most) {
        (true, _) | (false, Some(0)) => String::new(),
        (false, None) => format!("({})* ", before.join(" | ")),
        (false, Some(most)) => format!("({}){{0,{most}}} ", before.join(" | ")),
    };
    match grammar.begun {
        None => format!("{}{many}last", if is_required { "thought " } else { "" }),
        Some(Kind::Thought | Kind::Preamble) => format!("text next {many}last"),
        Some(Kind::Answer) => "answer-content".to_owned(),
        Some(Kind::Call(tool)) => format!("arguments-{tool}"),
    }
}

/// The headers of the message that ends the turn.
fn write_last(grammar: &Parts, dialect: Dialect<'_>, rules: &mut Rules) -> String {
    let options = &grammar.options;
    let mut last = Vec::new();
    if options.tool_use != ToolUse::Required {
        let header = dialect.sequence(&[CHANNEL, Piece::Text(FINAL)]);
        let kinds = dialect.alternatives(&answer_types(options));
        let message = dialect.sequence(&[MESSAGE]);
        rules.add("answer", format!("{header}{kinds} {message} answer-content"));
        last.push("answer");
    }
    if !grammar.tools.is_empty() {
        write_calls(&grammar.tools, options.headers, dialect, rules);
        last.push("call");
    }
    last.join(" | ")
}

fn write_calls(tools: &[GrammarTool], forms: HeaderForms, dialect: Dialect<'_>, rules: &mut Rules) {
    let to = literal(" to=");
    let (channel, message) = (dialect.sequence(&[CHANNEL]), dialect.sequence(&[MESSAGE]));
    rules.add("call", format!("{channel} call-channel {to} by-channel | {to} by-role"));
    rules.add("call-channel", CALL_CHANNELS.map(literal).join(" | "));
    let json = GrammarTool::new("", Value::Bool(true));
    for (name, like) in [("of-json", &json), ("of-text", &GrammarTool::of_text(""))] {
        if tools.iter().any(|tool| tool.parameters.is_some() == like.parameters.is_some()) {
            let kinds = dialect.alternatives(&types(like, forms));
            rules.add(&format!("channel-{name}"), format!("{}{message}", behind(&kinds)));
            rules.add(&format!("role-{name}"), format!("{channel} call-channel{kinds} {message}"));
        }
    }
    for place in ["channel", "role"] {
        let named = tools.iter().enumerate().map(|(index, tool)| {
            let kind = if tool.parameters.is_some() { "of-json" } else { "of-text" };
            format!("{} {place}-{kind} arguments-{index}", literal(&tool.recipient))
        });
        rules.add(&format!("by-{place}"), named.collect::<Vec<_>>().join(" |\n  "));
    }
}

/// An optional part in front of others.
fn behind(part: &str) -> String {
    if part.is_empty() { String::new() } else { format!("{} ", part.trim_start()) }
}

impl Dialect<'_> {
    fn token(self, token: TokenId) -> String {
        match self {
            Self::LlamaCpp => format!("<[{token}]>"),
            Self::Xgrammar { .. } => format!("Token({token})"),
        }
    }

    /// How often a part may be repeated at most.
    fn most_repeated(self) -> Option<usize> {
        match self {
            Self::LlamaCpp => Some(2000),
            Self::Xgrammar { .. } => None,
        }
    }

    /// A stop token, where the engine does not add it itself.
    fn stop(self, token: TokenId) -> String {
        match self {
            Self::Xgrammar { stops } if !stops.contains(&token) => {
                format!(" {}", self.token(token))
            }
            _ => String::new(),
        }
    }

    fn sequence(self, pieces: &[Piece<'_>]) -> String {
        let pieces = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => literal(text),
            Piece::Token(token) => self.token(*token),
        });
        pieces.collect::<Vec<_>>().join(" ")
    }

    /// One of several sequences, of which one is empty.
    fn alternatives(self, all: &[Vec<Piece<'_>>]) -> String {
        let others: Vec<String> =
            all.iter().filter(|one| !one.is_empty()).map(|one| self.sequence(one)).collect();
        if others.is_empty() { String::new() } else { format!(" ({})?", others.join(" | ")) }
    }

    /// Any text without special tokens.
    fn write_text(self, rules: &mut Rules) {
        match self {
            Self::Xgrammar { .. } => {
                let tokens: Vec<String> = NAMED_TOKENS.map(|token| token.to_string()).collect();
                rules.add("text", format!("ExcludeToken({})*", tokens.join(", ")));
            }
            // It can exclude one token alone, so this is as in strings.
            Self::LlamaCpp => {
                let names = rules::FIRST_OF_NAMES;
                rules.add("text", "[^<] text | \"<\" text-angle | \"\"");
                rules.add("text-angle", "\"<\" text-angle | \"|\" text-bar | [^<|] text | \"\"");
                rules.add("text-bar", format!("\"<\" text-angle | [^{names}<] text | \"\""));
            }
        }
    }
}
