//! Text from which an engine removed the special tokens: `analysisI must add.assistantfinal4`.
//!
//! Engines that decode without special tokens join headers and contents, and nothing marks where one ends. Still, a
//! role before a channel, or a channel before `to=`, shows a header, as does the recipient of a known tool before a
//! value or after a role. So the result is a guess, for text whose tokens are lost.

use crate::chat::{ANALYSIS, Author, CHANNELS, FINAL, Message, Role};
use crate::header::{CONTENT_TYPES, TO, Tools};

/// Tool names are shorter. The limit keeps reading linear in the text.
const LONGEST_NAME: usize = 256;

/// Reads the messages of a text without special tokens. All text is in a message's content or in
/// its header's fields.
pub(crate) fn read(text: &str, tools: &Tools) -> Vec<Message> {
    let found = headers(text, tools);
    let first = found.first().map_or(text.len(), |header| header.from);
    let mut messages = Vec::with_capacity(found.len() + 1);
    if !text[..first].trim().is_empty() {
        // Text before another message is a thought whose header was in the prompt.
        let channel = if found.is_empty() { FINAL } else { ANALYSIS };
        let message = Message::from_role_and_content(Role::Assistant, &text[..first]);
        messages.push(message.with_channel(channel));
    }
    let ends = found.iter().skip(1).map(|next| next.from).chain([text.len()]);
    messages.extend(found.iter().zip(ends).map(|(header, end)| {
        let content = vec![text[header.to..end].into()];
        Message { content, ..header.fields.clone() }
    }));
    messages
}

/// A header in a text, and its byte offsets there.
struct HeaderText {
    /// A message without content.
    fields: Message,
    from: usize,
    to: usize,
}

fn headers(text: &str, tools: &Tools) -> Vec<HeaderText> {
    let mut found: Vec<HeaderText> = Vec::new();
    for (from, _) in text.char_indices() {
        let reached = found.last().map_or(0, |header| header.to);
        if from < reached {
            continue;
        }
        let Some(mut header) = header_at(text, from, tools) else { continue };
        header.from = header.from.max(reached);
        found.push(header);
    }
    if let Some(header) = first_header(text, found.first(), tools) {
        found.insert(0, header);
    }
    found
}

/// The header that begins at this byte, if a role and a channel, a channel and a recipient, a known tool, or a tool's
/// answer make it certain enough.
fn header_at(text: &str, from: usize, tools: &Tools) -> Option<HeaderText> {
    let rest = &text[from..];
    if rest.starts_with(" to=assistant") {
        return answer_at(text, from, tools);
    }
    let assistant = Role::Assistant.as_str();
    let behind_role = rest.strip_prefix(assistant);
    let is_word = text[..from].ends_with(char::is_alphanumeric);
    let may_call =
        !tools.is_empty() && (rest.starts_with(" to=") || !is_word && rest.starts_with(TO));
    let begins = || CHANNELS.iter().any(|channel| rest.starts_with(channel));
    if behind_role.is_none() && !may_call && !begins() {
        return None;
    }
    let (fields, content) = fields(behind_role.unwrap_or(rest), tools)?;
    let is_call = fields.recipient.as_deref().is_some_and(|name| tools.is_offered(name));
    let is_certain = match fields.channel {
        Some(_) => behind_role.is_some() || fields.recipient.is_some(),
        None => is_call && (behind_role.is_some() || content.starts_with(['{', '['])),
    };
    is_certain.then(|| HeaderText { fields, from, to: text.len() - content.len() })
}

/// At the beginning of the text a channel or a recipient is enough. A sentence may begin with a
/// channel's name too, but not before other messages.
fn first_header(text: &str, next: Option<&HeaderText>, tools: &Tools) -> Option<HeaderText> {
    if next.is_some_and(|next| next.from == 0) {
        return None;
    }
    let (fields, content) = fields(text, tools)?;
    let is_sentence = fields.recipient.is_none()
        && next.is_none()
        && content.trim_start_matches(' ').starts_with(|c: char| c.is_lowercase());
    let to = text.len() - content.len();
    let is_clear = next.is_none_or(|next| to <= next.from);
    (is_clear && !is_sentence).then_some(HeaderText { fields, from: 0, to })
}

/// The fields at the beginning of a text, and what follows them.
fn fields<'t>(text: &'t str, tools: &Tools) -> Option<(Message, &'t str)> {
    let mut rest = text;
    let mut recipient = take_recipient(&mut rest, tools);
    let mut channel = None;
    if let Some(name) = &mut recipient
        && !tools.is_offered(name)
    {
        // `to=functions.fcommentary`: the channel is joined to the name.
        let glued = CHANNELS.into_iter().find(|channel| name.ends_with(channel));
        name.truncate(name.len() - glued.map_or(0, str::len));
        channel = glued;
        if let Some((known, _)) = tools.misplaced(name).filter(|(_, rest)| *rest == name.len()) {
            *name = known;
        }
    }
    if channel.is_none() {
        let unspaced = rest.trim_start();
        channel = CHANNELS.into_iter().find(|channel| unspaced.starts_with(channel));
        rest = channel.and_then(|channel| unspaced.strip_prefix(channel)).unwrap_or(rest);
    }
    if recipient.is_none() && channel.is_some() {
        recipient = take_recipient(&mut rest, tools);
        // `commentary to=functions.fcommentary`: once more.
        let again = CHANNELS.into_iter().find_map(|channel| rest.strip_prefix(channel));
        rest = again.filter(|_| recipient.is_some()).unwrap_or(rest);
    }
    if channel.is_none() && recipient.is_none() {
        return None;
    }
    let content_type = take_content_type(&mut rest, recipient.is_some());
    let author = Author::from(Role::Assistant);
    let channel = channel.map(str::to_owned);
    Some((Message { author, recipient, content: Vec::new(), channel, content_type }, rest))
}

/// The name after `to=`. A known tool gets its own spelling, and text glued to the name is left.
fn take_recipient(text: &mut &str, tools: &Tools) -> Option<String> {
    let name = text.trim_start_matches(' ').strip_prefix(TO)?;
    let is_end = |c: char| c.is_whitespace() || c == '{' || c == '[';
    let mut ends = name.char_indices().take(LONGEST_NAME + 1);
    let end = ends.find(|&(_, c)| is_end(c)).map(|(at, _)| at);
    let end = end.or_else(|| (name.len() <= LONGEST_NAME).then_some(name.len()))?;
    if end == 0 {
        return None;
    }
    let (known, length) =
        tools.misplaced(&name[..end]).unwrap_or_else(|| (name[..end].to_owned(), end));
    *text = &name[length..];
    Some(known)
}

/// `json` of ` json{"a":1}`; without a recipient only before a value. Glued to a recipient it has no space.
fn take_content_type(text: &mut &str, is_call: bool) -> Option<String> {
    let word = text.strip_prefix(' ').or(Some(*text).filter(|_| is_call))?;
    let (content_type, rest) =
        CONTENT_TYPES.into_iter().find_map(|name| Some((name, word.strip_prefix(name)?)))?;
    if !is_call && !rest.starts_with(['{', '[']) {
        return None;
    }
    *text = rest;
    Some(content_type.to_owned())
}

/// A tool's answer, `functions.f to=assistantcommentary`; `from` is after its name, which a known tool's ends with.
fn answer_at(text: &str, from: usize, tools: &Tools) -> Option<HeaderText> {
    let rest = text[from..].strip_prefix(" to=assistant")?;
    let channel = CHANNELS.into_iter().find(|channel| rest.starts_with(channel))?;
    let is_part = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let run = text[..from].rsplit(|c| !is_part(c)).next().filter(|name| !name.is_empty())?;
    let mut ends = run.char_indices().rev().take(LONGEST_NAME).map(|(at, _)| &run[at..]);
    let own = ends.by_ref().filter(|end| tools.is_offered(end)).last();
    let name = own.unwrap_or(run);
    let fields = Message {
        author: Author::new(Role::Tool, name),
        recipient: Some(Role::Assistant.as_str().to_owned()),
        content: Vec::new(),
        channel: Some(channel.to_owned()),
        content_type: None,
    };
    let to = text.len() - rest.len() + channel.len();
    Some(HeaderText { fields, from: from - name.len(), to })
}

#[cfg(test)]
mod tests {
    use super::{Message, Tools};
    use crate::chat::Content;

    fn read(text: &str) -> Vec<Message> {
        super::read(text, &Tools::default())
    }

    /// A message's author, channel, recipient, content type and text, in one line.
    fn shown(message: &Message) -> String {
        let field = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".to_owned());
        let text = match &message.content[..] {
            [Content::Text(text)] => text.text.clone(),
            other => format!("not one text: {other:?}"),
        };
        let author = message.author.name.as_deref().unwrap_or(message.author.role.as_str());
        let (channel, to) = (field(&message.channel), field(&message.recipient));
        format!("{author} {channel} {to} {} {text}", field(&message.content_type))
    }

    macro_rules! stripped {
        ($($name:ident: $text:expr => [$($message:expr),*];)*) => {$(
            #[test]
            fn $name() {
                let messages: Vec<String> = read($text).iter().map(shown).collect();
                assert_eq!(messages, [$($message),*] as [&str; [$($message),*].len()]);
            }
        )*};
    }

    stripped! {
        a_thought_and_an_answer: "analysisI must add.assistantfinal4"
            => ["assistant analysis - - I must add.", "assistant final - - 4"];
        a_call: "analysisLook.assistantcommentary to=functions.f json{\"a\":1}"
            => ["assistant analysis - - Look.", "assistant commentary functions.f json {\"a\":1}"];
        a_call_with_the_recipient_first: "assistant to=functions.fcommentary json{\"a\":1}"
            => ["assistant commentary functions.f json {\"a\":1}"];
        a_completion_with_the_recipient_first: " to=functions.f code{}"
            => ["assistant - functions.f code {}"];
        a_call_without_a_content_type: "commentary to=functions.f{\"a\":1}"
            => ["assistant commentary functions.f - {\"a\":1}"];
        a_call_without_arguments: "commentary to=functions.f" => ["assistant commentary functions.f - "];
        python: "analysis to=python codeprint(1)" => ["assistant analysis python code print(1)"];
        two_calls: "commentary to=f json{}assistantcommentary to=g json{}"
            => ["assistant commentary f json {}", "assistant commentary g json {}"];
        a_call_without_its_role: "analysisCall it.commentary to=functions.f json{}"
            => ["assistant analysis - - Call it.", "assistant commentary functions.f json {}"];
        a_tool_answers: "commentary to=functions.f json{}functions.f to=assistantcommentary{\"t\":1}assistantfinalDone"
            => ["assistant commentary functions.f json {}", "functions.f commentary assistant - {\"t\":1}", "assistant final - - Done"];
        plain_text_is_the_answer: "The capital is Paris." => ["assistant final - - The capital is Paris."];
        a_sentence_that_begins_with_a_channel: "final answer: 4" => ["assistant final - - final answer: 4"];
        a_thought_without_its_header: "I must add.assistantfinal4"
            => ["assistant analysis - - I must add.", "assistant final - - 4"];
        structured_output: "final json{\"a\":1}" => ["assistant final - json {\"a\":1}"];
        a_lower_case_thought: "analysis the user asks.assistantfinalYes"
            => ["assistant analysis - -  the user asks.", "assistant final - - Yes"];
        a_word_of_the_thought_is_no_header: "analysisThe assistant to=do this.assistantfinalYes"
            => ["assistant analysis - - The assistant to=do this.", "assistant final - - Yes"];
        an_empty_recipient_is_text: "analysis to= x" => ["assistant final - - analysis to= x"];
        other_scripts: "analysis用户问好。assistantfinal你好！"
            => ["assistant analysis - - 用户问好。", "assistant final - - 你好！"];
    }

    /// What is known of the tools ends a name, and shows a call.
    #[test]
    #[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    fn known_tools_tell_calls_from_words() {
        let tools = Tools::new(["functions.bash", "do_commentary", "python"]).unwrap();
        for (text, expected) in [
            (
                "analysisLook.assistant to=functions.bash{\"a\":1}",
                &["assistant analysis - - Look.", "assistant - functions.bash - {\"a\":1}"][..],
            ),
            (
                "Look. to=bash json{\"a\":1}",
                &["assistant analysis - - Look.", "assistant - functions.bash json {\"a\":1}"],
            ),
            (
                "commentary to=functions.bashjson{\"a\":1}",
                &["assistant commentary functions.bash json {\"a\":1}"],
            ),
            (
                "commentary to=functions.bashcommentaryjson{\"a\":1}",
                &["assistant commentary functions.bash json {\"a\":1}"],
            ),
            (
                "analysisLook.to=functions.bashcommentary json{\"a\":1}",
                &[
                    "assistant analysis - - Look.",
                    "assistant commentary functions.bash json {\"a\":1}",
                ],
            ),
            ("to=tool:bash json{}", &["assistant - functions.bash json {}"]),
            ("commentary to=Bash json{}", &["assistant commentary functions.bash json {}"]),
            ("assistant to=do_commentary json{}", &["assistant - functions.do_commentary json {}"]),
            (
                "assistant to=functions.bashcommentary json{}",
                &["assistant commentary functions.bash json {}"],
            ),
            (
                "commentary to=functions.bash json{}Done.functions.bash to=assistantcommentary7",
                &[
                    "assistant commentary functions.bash json {}Done.",
                    "functions.bash commentary assistant - 7",
                ],
            ),
            // Words, and a tool that was not offered.
            ("final I wrote to=bash today", &["assistant final - -  I wrote to=bash today"]),
            ("analysisSend it to=mail {}.", &["assistant analysis - - Send it to=mail {}."]),
            ("analysis to=python codeprint(1)", &["assistant analysis python code print(1)"]),
        ] {
            let read: Vec<String> = super::read(text, &tools).iter().map(shown).collect();
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn nothing_gives_no_message() {
        assert!(read("").is_empty() && read(" \n").is_empty());
    }

    #[test]
    fn a_name_has_at_most_256_characters() {
        for after in [" x", ""] {
            let (name, longer) = ("n".repeat(256), "n".repeat(257));
            let read = |name: &str| read(&format!("commentary to={name}{after}"));
            assert_eq!(read(&name)[0].recipient.as_ref(), Some(&name));
            assert_eq!(read(&longer)[0].recipient, None);
        }
    }

    #[test]
    fn megabytes_that_may_be_headers_take_no_time() {
        for piece in ["assistantto=", "assistant ", " ", "analysis to=", " to=assistant"] {
            let text = piece.repeat(20_000);
            assert!(!read(&text).is_empty() || text.trim().is_empty());
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_lost(
            pieces in proptest::collection::vec(
                proptest::sample::select(&[
                    "assistant", "analysis", "commentary", "final", " to=", "functions.f", " json",
                    "{\"a\":1}", "x", " ", "é", "to=assistant", "\n", "code",
                ][..]),
                0..12,
            ),
        ) {
            let text = pieces.concat();
            let kept: String = read(&text).iter().map(shown).collect();
            let count = |text: &str, c: char| text.chars().filter(|&other| other == c).count();
            for c in ['x', 'é', '{', 'y', 'j', 'u'] {
                proptest::prop_assert!(count(&kept, c) >= count(&text, c), "{text:?} {kept:?}");
            }
        }
    }
}
