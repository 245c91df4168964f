//! The tokenizer by itself: special tokens, decoding, hostile input, the vocabulary as a file.
#![expect(clippy::unwrap_used, reason = "a test")]

use openai_harmony::ErrorKind;
use openai_harmony::tokenizer::{SpecialSet, Tokenizer, special};
use sha2::{Digest, Sha256};

const TOKENIZER: Tokenizer = Tokenizer::o200k_harmony();

#[test]
fn the_vocabulary_is_the_published_one() {
    let mut hasher = Sha256::new();
    let mut text = Vec::new();
    TOKENIZER.write_vocabulary(&mut text).unwrap();
    hasher.update(&text);
    let sum: String =
        hasher.finalize().iter().fold(String::new(), |sum, byte| sum + &format!("{byte:02x}"));
    assert_eq!(sum, "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d");
}

#[test]
fn the_vocabulary_has_the_size_that_models_state() {
    assert_eq!(TOKENIZER.n_vocab(), 201_088);
    assert_eq!(TOKENIZER.special_token("<|reserved_201088|>"), Some(201_088));
}

/// Rows of (name, id).
const NAMED: [(&str, u32); 13] = [
    ("<|startoftext|>", special::STARTOFTEXT),
    ("<|endoftext|>", special::ENDOFTEXT),
    ("<|reserved_200000|>", 200_000),
    ("<|return|>", special::RETURN),
    ("<|constrain|>", special::CONSTRAIN),
    ("<|reserved_200004|>", 200_004),
    ("<|channel|>", special::CHANNEL),
    ("<|start|>", special::START),
    ("<|end|>", special::END),
    ("<|message|>", special::MESSAGE),
    ("<|call|>", special::CALL),
    ("<|reserved_200013|>", 200_013),
    ("<|reserved_201088|>", 201_088),
];

#[test]
fn special_tokens_have_their_names_and_ids() {
    for (name, id) in NAMED {
        assert_eq!(TOKENIZER.special_token(name), Some(id), "{name}");
        assert_eq!(TOKENIZER.token_bytes(id), Some(name.as_bytes()), "{name}");
        assert_eq!(TOKENIZER.encode_with_special_tokens(name), [id]);
        assert_eq!(TOKENIZER.decode_utf8([id]).unwrap(), name);
    }
    let all: Vec<_> = TOKENIZER.special_tokens_by_id().collect();
    assert_eq!(all.len(), 1091);
    assert!(all.iter().map(|(_, id)| *id).eq(199_998..=201_088));
    for (name, id) in all {
        assert_eq!(TOKENIZER.special_token(name), Some(id));
        assert!(TOKENIZER.is_special_token(id));
    }
    assert!(!TOKENIZER.is_special_token(199_997));
    assert!(!TOKENIZER.is_special_token(201_089));
}

#[test]
fn other_names_are_not_special_tokens() {
    for name in [
        "",
        "<|",
        "<||>",
        "start",
        "<|start",
        "start|>",
        "<|START|>",
        "<|endofprompt|>",
        "<|reserved_200006|>",
        "<|reserved_199999|>",
        "<|reserved_201089|>",
        "<|reserved_+200013|>",
        "<|reserved_0200013|>",
        "<|reserved_|>",
        "<|reserved_99999999999|>",
    ] {
        assert_eq!(TOKENIZER.special_token(name), None, "{name}");
        assert_eq!(
            TOKENIZER.encode_with_special_tokens(name),
            TOKENIZER.encode_ordinary(name),
            "{name}"
        );
    }
}

#[test]
fn ids_that_do_not_exist_are_errors() {
    for token in [201_089, 1 << 18, u32::MAX] {
        assert_eq!(TOKENIZER.token_bytes(token), None);
        let error = TOKENIZER.decode_bytes([1, 2, token, 3]).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::InvalidToken { token });
        assert_eq!(error.token_index(), Some(2));
        let text = format!("Invalid token for decoding: {token} (at tokens[2])");
        assert_eq!(error.to_string(), text);
        assert!(TOKENIZER.decode_lossy([token]).is_err());
    }
}

/// Text, allowed, disallowed, and the tokens or the name that is refused.
type Rule<'a> = (&'a str, SpecialSet<'a>, SpecialSet<'a>, Result<&'a [u32], &'a str>);

#[test]
fn special_text_is_encoded_or_refused_as_in_tiktoken() {
    use SpecialSet::{All, Names, None};
    let start = [special::START].as_slice();
    let text = TOKENIZER.encode_ordinary("<|start|>");
    let text = text.as_slice();
    let hello = TOKENIZER.encode_ordinary("hello");
    let rows: [Rule; 12] = [
        ("<|start|>", None, All, Err("<|start|>")),
        ("<|start|>", All, All, Ok(start)),
        ("<|start|>", All, None, Ok(start)),
        ("<|start|>", None, None, Ok(text)),
        ("<|start|>", Names(&["<|start|>"]), All, Ok(start)),
        ("<|start|>", Names(&["<|end|>"]), All, Err("<|start|>")),
        ("<|start|>", Names(&["<|end|>"]), None, Ok(text)),
        ("<|start|>", Names(&["<|start|>"]), Names(&["<|start|>"]), Err("<|start|>")),
        ("<|start|>", None, Names(&["<|end|>"]), Ok(text)),
        ("hello", All, Names(&["ell", "lo", "x"]), Err("ell")),
        ("hello", Names(&["ell"]), All, Ok(&hello)),
        ("a<|start|><|end|>", Names(&["<|start|>"]), All, Err("<|end|>")),
    ];
    for (text, allowed, disallowed, expected) in rows {
        let refused = |name: &str| ErrorKind::DisallowedSpecial { token: name.to_owned() }.into();
        assert_eq!(
            TOKENIZER.encode_checked(text, &allowed, &disallowed),
            expected.map(<[u32]>::to_vec).map_err(refused),
            "{text} {allowed:?} {disallowed:?}"
        );
    }
}

/// White space before a special token ends its text: it is not shared with what follows.
#[test]
fn a_special_token_ends_the_text_before_it() {
    let tokens = TOKENIZER.encode_with_special_tokens("a  <|end|>  b");
    let mut expected = TOKENIZER.encode_ordinary("a  ");
    expected.push(special::END);
    TOKENIZER.encode_ordinary_into("  b", &mut expected);
    assert_eq!(tokens, expected);
}

#[test]
fn bytes_that_are_not_utf8_are_an_error_or_replaced() {
    let emoji = TOKENIZER.encode_ordinary("a🤷🏽b");
    assert_eq!(TOKENIZER.decode_utf8(&emoji).unwrap(), "a🤷🏽b");
    let broken: Vec<u32> = "aé".bytes().chain(*b"\xf0\x9f\x99b\xffz").map(byte_token).collect();
    let error = TOKENIZER.decode_utf8(&broken).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidUtf8 { valid_up_to: 3 });
    // One U+FFFD for the beginning of a character, however long, and one for the stray byte.
    assert_eq!(TOKENIZER.decode_lossy(&broken).unwrap(), "aé\u{fffd}b\u{fffd}z");
}

/// The token of a byte.
fn byte_token(byte: u8) -> u32 {
    (0..256).find(|&token| TOKENIZER.token_bytes(token) == Some(&[byte])).unwrap()
}

#[test]
fn every_token_decodes_to_its_bytes() {
    let tokens: Vec<u32> = (0..=201_088).collect();
    let bytes: Vec<u8> =
        tokens.iter().flat_map(|&token| TOKENIZER.token_bytes(token).unwrap()).copied().collect();
    assert_eq!(TOKENIZER.decode_bytes(&tokens).unwrap(), bytes);
    assert!(TOKENIZER.decode_bytes([]).unwrap().is_empty());
}

#[test]
fn decoding_appends_to_what_is_there() {
    let mut bytes = b"a".to_vec();
    TOKENIZER.decode_bytes_into(TOKENIZER.encode_ordinary("bc de"), &mut bytes).unwrap();
    assert_eq!(bytes, b"abc de");
    // What stands before an id that does not exist has been appended.
    let error = TOKENIZER.decode_bytes_into([byte_token(b'f'), 201_089], &mut bytes).unwrap_err();
    assert_eq!((error.token_index(), &bytes[..]), (Some(1), &b"abc def"[..]));
}

/// A cache that took one piece for another would give the tokens of the first.
#[test]
fn pieces_that_differ_in_one_byte_are_told_apart() {
    let letters = "pneumonoultramicroscopicsilicovolcanoconiosis".repeat(2);
    for length in 1..=letters.len() {
        let piece = &letters[..length];
        assert_eq!(TOKENIZER.decode_utf8(TOKENIZER.encode_ordinary(piece)).unwrap(), piece);
        for at in 0..length {
            for letter in ["q", "z"] {
                let other = [&piece[..at], letter, &piece[at + 1..]].concat();
                let tokens = TOKENIZER.encode_ordinary(&other);
                assert_eq!(TOKENIZER.decode_utf8(&tokens).unwrap(), other);
            }
        }
    }
}

/// The text is split in windows of 64 bytes: what is at the end of one depends on the next.
#[test]
fn words_are_encoded_alike_wherever_they_stand() {
    for text in ["亚洲AVb", "亚洲AV b", "无码AVbcd e", "HTTPServer's", "a1234567b", "é\u{301}É  x"]
    {
        let tokens = TOKENIZER.encode_ordinary(text);
        for before in 0..=130 {
            let line = ["x".repeat(before), "\n".to_owned()].concat();
            let expected = [TOKENIZER.encode_ordinary(&line), tokens.clone()].concat();
            assert_eq!(TOKENIZER.encode_ordinary(&(line + text)), expected, "{before}: {text}");
        }
    }
}

/// Each would take minutes if the time were not linear. The encoding is checked by what must hold:
/// it decodes to the text, and the text's middle is encoded periodically.
#[test]
fn hostile_texts_are_encoded_in_linear_time() {
    for unit in ["a", " ", "\n", "7", "🙂", "é", "\u{301}", "\u{a0}", "ab", "A", "-", "aA", "\r\n "]
    {
        let text = unit.repeat(300_000 / unit.len());
        let tokens = TOKENIZER.encode_ordinary(&text);
        assert_eq!(TOKENIZER.decode_utf8(&tokens).unwrap(), text, "{unit:?}");
        let longest =
            tokens.iter().map(|&t| TOKENIZER.token_bytes(t).unwrap().len()).max().unwrap();
        let shorter = tokens
            .iter()
            .filter(|&&token| TOKENIZER.token_bytes(token).unwrap().len() * 4 < longest)
            .count();
        assert!(shorter < 10 || longest <= 4 * unit.len(), "{unit:?}: {shorter} short tokens");
    }
}
