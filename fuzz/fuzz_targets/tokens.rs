//! Tokens from an input of libFuzzer. Most of it is text with its markers spelled, so that seeds and the dictionary
//! can be read.

use openai_harmony::HarmonyEncoding;

/// With three bytes behind it, any token id, also one that does not exist.
const ID: u8 = 1;

/// With one byte behind it, that many times the last token: runs of more than 32 tokens are read otherwise.
const REPEAT: u8 = 2;

/// The text behind it is ordinary: its markers are spelled.
const ORDINARY: u8 = 3;

/// More tokens only take time.
const AT_MOST: usize = 1024;

/// `split` has one token for each byte; otherwise text has the tokens that the tokenizer gives it. A byte that is not
/// UTF-8 is a token in both.
pub(crate) fn tokens(encoding: HarmonyEncoding, mut input: &[u8], split: bool) -> Vec<u32> {
    let mut tokens = Vec::new();
    while tokens.len() < AT_MOST {
        input = match input {
            [] => break,
            [ID, a, b, c, rest @ ..] => {
                let id = u32::from_be_bytes([0, *a, *b, *c]) & 0x3_ffff;
                tokens.push(if id == 0x3_ffff { u32::MAX } else { id });
                rest
            }
            [REPEAT, count, rest @ ..] => {
                let last = tokens.last().copied();
                tokens.extend(last.into_iter().cycle().take(usize::from(*count)));
                rest
            }
            _ => {
                let end = input[1..].iter().position(|byte| (ID..=ORDINARY).contains(byte));
                let (text, rest) = input.split_at(end.map_or(input.len(), |end| end + 1));
                add_text(encoding, text, split, &mut tokens);
                rest
            }
        };
    }
    tokens
}

fn add_text(encoding: HarmonyEncoding, text: &[u8], split: bool, tokens: &mut Vec<u32>) {
    let tokenizer = encoding.tokenizer();
    let byte = |byte: u8| {
        (0..256).find(|id| tokenizer.token_bytes(*id) == Some(&[byte])).unwrap_or(u32::MAX)
    };
    for chunk in text.utf8_chunks() {
        let text = chunk.valid();
        let encoded = match text.strip_prefix(char::from(ORDINARY)) {
            Some(text) => tokenizer.encode_ordinary(text),
            None => tokenizer.encode_with_special_tokens(text),
        };
        for token in encoded {
            match tokenizer.token_bytes(token) {
                Some(bytes) if split && !tokenizer.is_special_token(token) => {
                    tokens.extend(bytes.iter().map(|one| byte(*one)));
                }
                _ => tokens.push(token),
            }
        }
        tokens.extend(chunk.invalid().iter().map(|one| byte(*one)));
    }
}
