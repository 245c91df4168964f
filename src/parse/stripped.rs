//! Text from which an engine removed the special tokens: `analysisI must add.assistantfinal4`.
//!
//! Engines that decode without special tokens join headers and contents, and nothing marks where one ends. Still, a
//! role before a channel, or a channel before `to=`, shows a header, as does the recipient of a known tool before a
//! value or after a role. So the result is a guess, for text without its tokens.

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
        // Text before another message is reasoning, with its header in the prompt.
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
