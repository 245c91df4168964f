//! Marks of chat formats in text, which a model would be trained to write if they were taken for its words.

use crate::options::words;

/// Marks of formats other than harmony, besides those that look like `<|word|>`.
const TAGS: &[&str] = words!(
    "<think> </think> <thinking> </thinking> ◁think▷ <|channel> [THINK] [/THINK] <tool_call>"
    "</tool_call> <tool_response> </tool_response> <TOOLCALL> </TOOLCALL> <functioncall>"
    "<function_calls> <function= <minimax:tool_call> [TOOL_CALLS] [INST] [/INST] <<SYS>> <</SYS>>"
    "<start_of_turn> <end_of_turn> <eos> [|user|] [|assistant|] [|endofturn|] <end_of_utterance>"
);

/// The end of a text in some formats, and an HTML tag elsewhere.
const LAST: &str = "</s>";

/// The marks of harmony that begin a message, its channel, or its content.
const STRUCTURE: [&str; 3] = ["<|start|>", "<|channel|>", "<|message|>"];

/// How prompts begin that are rendered already, besides the marks that look like `<|word|>`.
const PROMPTS: [&str; 9] = [
    "<start_of_turn>",
    "<bos>",
    "<s>",
    "[INST]",
    "[|system|]",
    "[|user|]",
    "### Instruction:",
    "### Human:",
    "Below is an instruction that describes a task",
];

/// How they end, so that the model continues.
const PROMPT_ENDS: [&str; 3] = ["Assistant:", "ASSISTANT:", "### Response:"];

/// The marks around a word.
const WORDS: [(&str, &str); 2] = [("<|", "|>"), ("<｜", "｜>")];

/// The most bytes between `<|` and `|>`.
const LONGEST_WORD: usize = 40;

/// Whether a text spells messages of harmony.
pub(super) fn is_harmony(text: &str) -> bool {
    // Most texts have no mark, and searching for one byte is far faster than for a word.
    text.contains('<')
        && STRUCTURE
            .iter()
            .any(|mark| places(text, mark).any(|place| !is_code(text, place, mark.len())))
}

/// With which mark a text begins or ends, if it is a prompt that is rendered already.
pub(super) fn of_prompt(text: &str) -> Option<String> {
    let text = text.trim();
    let word = WORDS.into_iter().filter(|(begin, _)| text.starts_with(begin));
    let word = word
        .filter_map(|(begin, end)| words(text, begin, end).next())
        .find(|(place, _)| *place == 0);
    let first = word.and_then(|(_, length)| text.get(..length));
    let first = first.or_else(|| PROMPTS.into_iter().find(|mark| text.starts_with(mark)));
    let last = || PROMPT_ENDS.into_iter().find(|mark| text.ends_with(mark));
    first
        .map(|mark| format!("begins with {mark}"))
        .or_else(|| Some(format!("ends with {}", last()?)))
}

/// Whether a text is a list of calls as Python writes them: `[rain(place="Oslo"), now()]`.
pub(super) fn is_calls(text: &str) -> bool {
    let inside = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(")]"));
    let Some((name, arguments)) = inside.and_then(|calls| calls.split_once('(')) else {
        return false;
    };
    let is_word = |word: &str, others: &[char]| {
        word.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_alphanumeric() || others.contains(&c))
    };
    let first = arguments.split_once('=').map(|(first, _)| first.trim());
    let is_argument = |word| is_word(word, &['_']);
    is_word(name, &['_', '.', '-', ' '])
        && (arguments.is_empty() || arguments.starts_with(')') || first.is_some_and(is_argument))
}

/// The first mark of a chat format in a text, outside of code.
pub(super) fn first(text: &str) -> Option<&str> {
    // Searching for one byte is many times faster than for either of two.
    if !text.contains('<') && !text.contains('[') && !text.contains('◁') {
        return None;
    }
    let tags = TAGS.iter().flat_map(|tag| places(text, tag).map(|place| (place, tag.len())));
    let found = tags.chain(WORDS.into_iter().flat_map(|(begin, end)| words(text, begin, end)));
    let last = text.trim_end();
    let is_unpaired = last.ends_with(LAST) && !text.contains("<s>");
    let last = is_unpaired.then(|| (last.len() - LAST.len(), LAST.len()));
    let mut found = found.chain(last).filter(|&(place, length)| !is_code(text, place, length));
    let (place, length) = found.by_ref().min()?;
    text.get(place..place + length)
}

/// Where a text has a mark.
fn places<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = usize> + use<'t> {
    text.match_indices(mark).map(|(place, _)| place)
}

/// Where a text has a word between two marks, and how many bytes it takes.
fn words<'t>(
    text: &'t str,
    begin: &'t str,
    end: &'t str,
) -> impl Iterator<Item = (usize, usize)> + use<'t> {
    places(text, begin).filter_map(move |place| {
        let inside = &text[place + begin.len()..];
        let length = inside.find(end).filter(|&length| (1..=LONGEST_WORD).contains(&length))?;
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '▁');
        inside[..length].chars().all(is_part).then_some((place, begin.len() + length + end.len()))
    })
}

/// Whether a position is within Markdown code: after an open backtick, before one that closes it.
fn is_code(text: &str, place: usize, length: usize) -> bool {
    let is_open = text[..place].matches('`').count() % 2 == 1;
    is_open && text[place + length..].contains('`')
}
