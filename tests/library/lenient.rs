//! The table of repairs in docs/parsing.md: each row with and without known tools, in every chunking,
//! at the beginning and after a thought, at the end of the stream and before another message.
//!
//! The expectations are written by hand, never by the parser: in `lenient/*.txt` a text, its messages (`=`) and the kinds
//! of its repairs where nothing comes before or after it (`!`); after `known` both once more, where the tools [`TOOLS`]
//! are known; `last` if the end of the tokens breaks it off. Texts are escaped as in JSON.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bytes;
mod spelled;
mod stripped;

use openai_harmony::chat::{Content, Message, Role};
use openai_harmony::{
    HarmonyEncodingName, ParserOptions, RenderConfig, StateData, StreamState, StreamableParser,
    load_harmony_encoding,
};

/// The tools that a known row knows.
const TOOLS: [&str; 4] = ["functions.bash", "functions.code", "functions.get_weather", "python"];

/// Tools that no row names.
const OTHER_TOOLS: [&str; 2] = ["functions.unrelated", "browser"];

const THOUGHT: &str = "<|channel|>analysis<|message|>t<|end|>";
const NEXT: &str = "<|start|>assistant<|channel|>final<|message|>z<|return|>";

/// A message as the rows write it: `final to=f type=json: text`, by an author other than the
/// assistant `tool:name final: text`, without any field `: text`.
fn shown(message: &Message) -> String {
    let mut fields = Vec::new();
    if message.author.role != Role::Assistant {
        let name = message.author.name.as_ref().map(|name| format!(":{name}"));
        fields.push(format!("{}{}", message.author.role.as_str(), name.unwrap_or_default()));
    }
    fields.extend(message.channel.clone());
    fields.extend(message.recipient.as_ref().map(|to| format!("to={to}")));
    fields.extend(message.content_type.as_ref().map(|name| format!("type={name}")));
    let [Content::Text(content)] = &message.content[..] else { panic!("a text, not {message:?}") };
    format!("{}: {}", fields.join(" "), content.text)
}

/// What a parser made of a text: messages and the kinds of repairs.
#[derive(Debug, Clone, Default, PartialEq)]
struct Outcome {
    messages: Vec<String>,
    kinds: Vec<String>,
}

fn parse(text: &str, role: Option<Role>, tools: &[&str], chunk: usize) -> Outcome {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let tokens = encoding.tokenizer().encode_with_special_tokens(text);
    let config = ParserOptions::lenient().with_tools(tools.iter().copied());
    let mut parser = StreamableParser::with_options(encoding, role, &config).unwrap();
    for chunk in tokens.chunks(chunk) {
        parser.feed(chunk).unwrap();
    }
    parser.finish().unwrap();
    Outcome {
        messages: parser.messages().iter().map(shown).collect(),
        kinds: parser.repairs().iter().map(|repair| repair.kind.name().to_owned()).collect(),
    }
}

/// The outcome in every chunking, which must be one.
fn in_any_chunks(text: &str, role: Option<Role>, tools: &[&str]) -> Outcome {
    let whole = parse(text, role, tools, usize::MAX);
    for chunk in 1..8 {
        assert_eq!(parse(text, role, tools, chunk), whole, "{text} in chunks of {chunk}");
    }
    whole
}

/// One malformed output and what it means.
struct Row {
    text: String,
    /// Without tools, and where they are known.
    expected: [Outcome; 2],
    is_last: bool,
}

fn rows(table: &str) -> Vec<Row> {
    let row = |block: &str| {
        let lines = block.lines().filter(|line| !line.starts_with("# "));
        let mut lines =
            lines.map(|line| serde_json::from_str::<String>(&format!("\"{line}\"")).unwrap());
        let text = lines.next()?;
        let (mut expected, mut is_last) = (vec![Outcome::default()], false);
        for line in lines {
            let outcome = expected.last_mut().unwrap();
            match line.split_once(' ') {
                Some(("=", message)) => outcome.messages.push(message.to_owned()),
                Some(("!", kinds)) => outcome.kinds.extend(kinds.split(' ').map(str::to_owned)),
                _ if line == "known" => expected.push(Outcome::default()),
                _ if line == "last" => is_last = true,
                _ => panic!("{line} of {text}"),
            }
        }
        let [without, with] = [expected[0].clone(), expected.pop().unwrap()];
        Some(Row { text, expected: [without, with], is_last })
    };
    table.split("\n\n").filter_map(row).collect()
}

struct Expected<'a> {
    row: &'a Row,
    tools: &'a [&'a str],
    outcome: &'a Outcome,
}

impl Expected<'_> {
    /// Looks at the row's text between others, the first of which may give the message `t`.
    fn differs(&self, before: &str, after: &str, role: Option<Role>) -> Option<String> {
        let text = [before, &self.row.text, after].concat();
        let mut messages = self.outcome.messages.clone();
        if before.contains(THOUGHT) {
            messages.insert(0, "analysis: t".to_owned());
        }
        messages.extend((!after.is_empty()).then(|| "final: z".to_owned()));
        let outcome = in_any_chunks(&text, role, self.tools);
        // A message that another one interrupts has one more repair, or another one.
        let has_kinds = outcome.kinds == self.outcome.kinds || !after.is_empty();
        (outcome.messages != messages || !has_kinds)
            .then(|| format!("{text} with {:?}: {outcome:?}", self.tools))
    }
}

/// In all positions of a header after its role.
fn holds_behind_a_role(expected: &Expected<'_>) -> Vec<String> {
    let mut differences = Vec::new();
    let assistant = Some(Role::Assistant);
    let behind_thought = [THOUGHT, "<|start|>assistant"].concat();
    for after in ["", NEXT] {
        if !after.is_empty() && expected.row.is_last {
            continue;
        }
        differences.extend(expected.differs("", after, assistant));
        differences.extend(expected.differs("<|start|>assistant", after, None));
        differences.extend(expected.differs(&behind_thought, after, assistant));
    }
    differences
}

/// In all positions of what stands between messages.
fn holds_between_messages(expected: &Expected<'_>) -> Vec<String> {
    let mut differences = Vec::new();
    for after in ["", NEXT] {
        if !after.is_empty() && expected.row.is_last {
            continue;
        }
        differences.extend(expected.differs(THOUGHT, after, Some(Role::Assistant)));
        differences.extend(expected.differs(
            &["<|start|>assistant", THOUGHT].concat(),
            after,
            None,
        ));
        differences.extend(expected.differs("", after, None));
    }
    differences
}

fn check(table: &str, least: usize, look: impl Fn(&Expected<'_>) -> Vec<String>) {
    let (rows, mut differences) = (rows(table), Vec::new());
    assert!(rows.len() >= least, "only {} rows", rows.len());
    for row in &rows {
        let [without, with] = &row.expected;
        // Functions may be given by their short names.
        let short = ["bash", "code", "get_weather", "python"];
        for (tools, outcome) in
            [(&[][..], without), (&OTHER_TOOLS, without), (&TOOLS, with), (&short, with)]
        {
            differences.extend(look(&Expected { row, tools, outcome }));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn malformed_headers_are_repaired_in_any_place() {
    check(include_str!("lenient/headers.txt"), 97, holds_behind_a_role);
}

#[test]
fn headers_without_a_message_token_are_repaired_in_any_place() {
    check(include_str!("lenient/cut_headers.txt"), 68, holds_behind_a_role);
}

#[test]
fn what_stands_between_messages_is_repaired_in_any_place() {
    check(include_str!("lenient/between.txt"), 66, holds_between_messages);
}

/// The messages of a row as 0.0.8 reads them, if it does.
fn strictly(text: &str) -> Option<Vec<Message>> {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let tokens = encoding.tokenizer().encode_with_special_tokens(text);
    let role = Some(Role::Assistant);
    encoding.parse_messages_from_completion_tokens(tokens, role).ok()
}

/// What strict parsing reads, but lenient parsing as another message, is not written under `validate`.
#[test]
fn what_is_written_is_never_repaired() {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let config = RenderConfig::new().with_validate(true);
    let (mut refused, mut wrong) = (0, Vec::new());
    for table in [
        include_str!("lenient/headers.txt"),
        include_str!("lenient/cut_headers.txt"),
        include_str!("lenient/between.txt"),
    ] {
        let messages =
            rows(table).iter().filter_map(|row| strictly(&row.text)).flatten().collect::<Vec<_>>();
        let addressed = messages.iter().map(|message| message.clone().with_recipient("assistant"));
        for message in messages.iter().cloned().chain(addressed) {
            let Ok(tokens) = encoding.render_with(&message, &config) else {
                refused += 1;
                continue;
            };
            let mut parser =
                StreamableParser::with_options(encoding, None, &ParserOptions::lenient()).unwrap();
            parser.feed(&tokens).unwrap();
            parser.finish().unwrap();
            if parser.messages() != [message.clone()] || !parser.repairs().is_empty() {
                wrong.push(format!("{}: {:?}", shown(&message), parser.repairs()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > 20, "only {refused} were refused");
}

#[test]
fn a_channel_without_its_marker_begins_a_completion() {
    let rows = [
        ("final<|message|>a<|return|>", "final: a"),
        (
            "commentary to=functions.f json<|message|>{}<|call|>",
            "commentary to=functions.f type=json: {}",
        ),
        ("analysisI must refuse<|end|>", "analysis: I must refuse"),
    ];
    for (text, message) in rows {
        let outcome = in_any_chunks(text, Some(Role::Assistant), &[]);
        assert_eq!(outcome.messages, [message]);
        assert_eq!(outcome.kinds[0], "missing_channel");
    }
}

#[test]
fn text_after_a_channel_marker_in_content_streams_from_its_33rd_token_on() {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let begin = "<|channel|>final<|message|>a<|channel|>";
    let config = ParserOptions::lenient();
    let role = Some(Role::Assistant);
    let mut parser = StreamableParser::with_options(encoding, role, &config).unwrap();
    parser.feed(&encoding.tokenizer().encode_with_special_tokens(begin)).unwrap();
    for (held, token) in
        encoding.tokenizer().encode_ordinary(&" word".repeat(40)).iter().enumerate()
    {
        parser.process(*token).unwrap();
        // The marker is one of the 32.
        let words = if held < 31 { 0 } else { held + 1 };
        let marker = if held < 31 { "" } else { "<|channel|>" };
        assert_eq!(parser.content(), format!("a{marker}{}", " word".repeat(words)));
    }
}

/// Up to 32 tokens may be words of a malformed header; more are a message of their own. A marker
/// directly after them is never part of their text.
#[test]
fn a_marker_ends_text_of_any_length() {
    for words in 1..70 {
        let thought = "word ".repeat(words);
        let thought = thought.trim_end();
        let text = format!("<|channel|>analysis {thought}<|channel|>final<|message|>a<|return|>");
        let outcome = in_any_chunks(&text, Some(Role::Assistant), &[]);
        if words <= 32 {
            assert_eq!(outcome.messages, ["final: a"], "{words}");
            assert_eq!(outcome.kinds, ["duplicate_channel", "header_noise"], "{words}");
        } else {
            assert_eq!(outcome.messages, [&format!("analysis: {thought}"), "final: a"]);
            assert_eq!(outcome.kinds, ["missing_message", "missing_end"], "{words}");
        }
        let text = format!("{thought}<|constrain|>json<|message|>a<|return|>");
        let outcome = in_any_chunks(&text, Some(Role::Assistant), &[]);
        assert_eq!(outcome.messages.len(), 1 + usize::from(words > 32), "{words} {outcome:?}");
    }
}

/// The role that the caller gave is certain, so a word that reads like another role is noise.
#[test]
fn a_role_after_a_given_role_is_no_author() {
    let outcome = in_any_chunks("user<|message|>a<|end|>", Some(Role::Assistant), &[]);
    assert_eq!(
        (outcome.messages, outcome.kinds),
        (vec![": a".to_owned()], vec!["header_noise".to_owned()])
    );
    let repeated = "assistant<|channel|>final<|message|>a<|return|>";
    let outcome = in_any_chunks(repeated, Some(Role::Assistant), &[]);
    assert_eq!((outcome.messages, outcome.kinds), (vec!["final: a".to_owned()], vec![]));
    let outcome = in_any_chunks("<|endoftext|>", Some(Role::Assistant), &[]);
    assert_eq!((outcome.messages, outcome.kinds), (vec![], vec!["end_of_text".to_owned()]));
}

/// It may be a header or a message: until that is decided, no message is open.
#[test]
fn text_between_messages_is_no_header_yet() {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let config = ParserOptions::lenient();
    let mut parser = StreamableParser::with_options(encoding, None, &config).unwrap();
    parser.feed(&encoding.tokenizer().encode_ordinary("The capital")).unwrap();
    assert_eq!(parser.state(), StreamState::ExpectStart);
    assert_eq!(parser.state_data(), StateData::ExpectStart);
}

#[test]
fn text_between_messages_streams_from_its_33rd_token_on() {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let thought = encoding.tokenizer().encode_with_special_tokens(THOUGHT);
    let text = encoding.tokenizer().encode_ordinary(&" word".repeat(100));
    assert_eq!(text.len(), 100);
    let config = ParserOptions::lenient();
    for role in [Some(Role::Assistant), None] {
        let mut parser = StreamableParser::with_options(encoding, role, &config).unwrap();
        if role.is_some() {
            parser.feed(&thought).unwrap();
        }
        let at = parser.tokens().len();
        parser.feed(&text[..32]).unwrap();
        assert_eq!(parser.content(), "");
        for (fed, token) in text[32..].iter().enumerate() {
            parser.process(*token).unwrap();
            assert_eq!(parser.content(), " word".repeat(33 + fed), "from {at} on");
            assert_eq!(parser.channel(), Some("final"));
        }
    }
}

/// Whether text is a header after all is asked while its tokens arrive, at the 33rd and later. Each
/// name's length puts another token of the header where that is asked.
#[test]
fn long_names_are_names_wherever_a_header_is_looked_at() {
    for length in 1..150 {
        let name = "a-".repeat(length);
        for (header, expected) in [
            (format!("assistant<|channel|>{name} to=f"), format!("{name} to=f: x")),
            (format!("assistant to={name}<|channel|>final"), format!("final to={name}: x")),
            (format!("assistant to=f {name}"), format!("to=f type={name}: x")),
            (format!("t.u<|channel|>{name} to=f"), format!("tool:t.u {name} to=f: x")),
            (format!("t<|channel|>{name}"), format!("tool:t {name}: x")),
            (format!("t<|constrain|> {name}"), format!("tool:t type=<|constrain|> {name}: x")),
            (format!("{name} to=f {name}"), format!("tool:{name} to=f type={name}: x")),
        ] {
            let text = format!("<|start|>{header}<|message|>x<|end|>");
            let outcome = parse(&text, None, &[], 1);
            assert_eq!((outcome.messages, outcome.kinds), (vec![expected], vec![]), "{text}");
        }
    }
}

#[test]
fn each_of_ten_thousand_tools_is_recognised() {
    let tools: Vec<String> = (0..10_000).map(|n| format!("functions.tool_{n}")).collect();
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    let text = "<|channel|>commentary to=tool_9999 json<|message|>{}<|call|>";
    let outcome = parse(text, Some(Role::Assistant), &tools, 1);
    assert_eq!(outcome.messages, ["commentary to=functions.tool_9999 type=json: {}"]);
}

/// What is offered decides what is a tool; a role or a channel never is one.
#[test]
fn only_what_was_offered_is_recognised_as_a_tool() {
    for (tools, header, message, kind) in [
        (&["python"][..], "<|channel|>browser.search", "browser.search: x", None),
        (
            &["browser"],
            "<|channel|>browser.search",
            "to=browser.search: x",
            Some("misplaced_recipient"),
        ),
        (&["browser"], "<|channel|>browser.", "browser.: x", None),
        (&["browser"], "<|channel|>browser.a!b", "browser.a!b: x", None),
        (&["user"], "<|channel|>commentary user", "commentary: x", Some("header_noise")),
        (
            &["final"],
            "<|channel|>commentary <|constrain|>final",
            "commentary type=<|constrain|>final: x",
            None,
        ),
    ] {
        let text = format!("{header}<|message|>x<|call|>");
        let outcome = in_any_chunks(&text, Some(Role::Assistant), tools);
        assert_eq!(outcome.messages, [message], "{text} with {tools:?}");
        assert_eq!(outcome.kinds, kind.into_iter().collect::<Vec<_>>(), "{text} with {tools:?}");
    }
}

#[test]
fn tools_that_no_header_can_carry_are_refused() {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    for name in ["", "get weather", "a\u{7}", "to=f", "x<|end|>", "a\n"] {
        let config = ParserOptions::lenient().with_tools(["functions.f", name]);
        let error = StreamableParser::with_options(encoding, None, &config).unwrap_err();
        assert!(error.to_string().contains("tools"), "{name:?}: {error}");
    }
}

#[test]
fn a_character_that_the_stream_cuts_off_is_a_repair() {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let tokenizer = encoding.tokenizer();
    let text = [THOUGHT, "The capital"].concat();
    for before in ["<|channel|>final<|message|>a", &text, "<|channel|>analysis I", "a"] {
        let mut tokens = tokenizer.encode_with_special_tokens(before);
        let character = tokenizer.encode_ordinary("\u{1F94E}");
        assert!(character.len() > 1);
        tokens.extend(&character[..1]);
        let config = ParserOptions::lenient();
        let role = Some(Role::Assistant);
        let mut parser = StreamableParser::with_options(encoding, role, &config).unwrap();
        let mut events = parser.feed(&tokens).unwrap();
        events.extend(parser.finish().unwrap());
        let kinds: Vec<&str> = parser.repairs().iter().map(|repair| repair.kind.name()).collect();
        assert!(kinds.contains(&"cut_character"), "{before} {kinds:?}");
        let shown: Vec<String> = parser.messages().iter().map(shown).collect();
        assert!(!shown.concat().contains('\u{FFFD}'), "{before} {shown:?}");
    }
}

#[test]
fn a_character_that_a_stop_token_cuts_off_is_replaced() {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    let tokenizer = encoding.tokenizer();
    let mut tokens = tokenizer.encode_with_special_tokens("<|channel|>final<|message|>a");
    tokens.push(tokenizer.encode_ordinary("\u{1F94E}")[0]);
    tokens.extend(tokenizer.encode_with_special_tokens("<|end|>"));
    let config = ParserOptions::lenient();
    let role = Some(Role::Assistant);
    let mut parser = StreamableParser::with_options(encoding, role, &config).unwrap();
    parser.feed(&tokens).unwrap();
    assert_eq!(shown(&parser.messages()[0]), "final: a\u{FFFD}");
    assert!(parser.repairs().is_empty());
}

/// As 0.0.8 reads it. Where tools are known, a word that is none of them is noise.
#[test]
fn a_bare_word_on_commentary_before_a_constrained_type_is_called() {
    let role = Some(Role::Assistant);
    for (header, fields) in [
        (
            "<|channel|>commentary noop <|constrain|>json",
            "commentary to=noop type=<|constrain|>json",
        ),
        (
            "<|channel|>commentary noop<|constrain|>json",
            "commentary to=noop type=<|constrain|>json",
        ),
        ("<|channel|>final noop <|constrain|>json", "final type=<|constrain|>json"),
        ("<|channel|>commentary noop it <|constrain|>json", "commentary type=<|constrain|>json"),
        ("<|channel|>commentary <noop> <|constrain|>json", "commentary type=<|constrain|>json"),
        ("<|channel|>commentary user <|constrain|>json", "commentary type=<|constrain|>json"),
        ("<|channel|>commentary noop", "commentary"),
    ] {
        let outcome = in_any_chunks(&[header, "<|message|>{}<|call|>"].concat(), role, &[]);
        assert_eq!(outcome.messages, [format!("{fields}: {{}}")], "{header}");
        let kind = if fields.contains("to=") { "bare_word" } else { "header_noise" };
        assert_eq!(outcome.kinds, [kind], "{header}");
    }
    let text = "<|channel|>commentary noop <|constrain|>json<|message|>{}<|call|>";
    let outcome = in_any_chunks(text, role, &["functions.f"]);
    assert_eq!(outcome.messages, ["commentary type=<|constrain|>json: {}"]);
    assert_eq!(outcome.kinds, ["header_noise"]);
}

/// How long the text is decides nothing until it streams.
#[test]
fn a_first_text_without_a_header_is_the_answer_unless_a_message_follows() {
    let role = Some(Role::Assistant);
    for words in [1, 5, 32] {
        let text = ["We"].repeat(words).join(" ");
        for (stop, channel) in
            [("<|end|>", ""), ("<|return|>", "final"), ("", "final"), ("<|call|>", "final")]
        {
            let outcome = in_any_chunks(&[&text, stop].concat(), role, &[]);
            assert_eq!(outcome.messages, [format!("{channel}: {text}")], "{words} {stop}");
            assert_eq!(outcome.kinds, ["missing_header"], "{words} {stop}");
        }
    }
    let long = ["We"; 33].join(" ");
    let outcome = in_any_chunks(&[&long, "<|end|>"].concat(), role, &[]);
    assert_eq!(outcome.messages, [format!("final: {long}")]);
}
