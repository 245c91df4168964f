//! The tokenizer against tiktoken-rs, over text built to be nasty.
#![expect(clippy::expect_used, reason = "a test")]

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::LazyLock;

use openai_harmony::tokenizer::{Tokenizer, cache};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

static YARDSTICK: LazyLock<CoreBPE> =
    LazyLock::new(|| tiktoken_rs::o200k_harmony().expect("tiktoken-rs has the encoding"));
const TOKENIZER: Tokenizer = Tokenizer::o200k_harmony();

/// Both encodings are equal, and decode to the text; also the second and third time, when the
/// tokenizer caches pieces.
fn check(text: &str) {
    let tokens = TOKENIZER.encode_ordinary(text);
    assert_eq!(tokens, YARDSTICK.encode_ordinary(text), "of {text:?}");
    for _ in 0..2 {
        assert_eq!(TOKENIZER.encode_ordinary(text), tokens, "again, of {text:?}");
    }
    assert_eq!(TOKENIZER.decode_utf8(&tokens).as_deref(), Ok(text));
}

/// All characters that Unicode may assign, by planes 0 to 3, 14 and the ends of 15 and 16.
fn code_points() -> impl Iterator<Item = char> {
    let private = ['\u{f0000}', '\u{ffffd}', '\u{100000}', '\u{10ffff}'];
    ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{effff}').chain(private)
}

/// Encodes every character in a context, many in one text: `border` keeps them apart.
fn check_every_character(context: impl Fn(char, &mut String), border: &str) {
    let mut text = String::new();
    for (count, char) in code_points().enumerate() {
        context(char, &mut text);
        text.push_str(border);
        if count % 4096 == 4095 {
            check(&text);
            text.clear();
        }
    }
    check(&text);
}

#[test]
fn every_character_alone() {
    for char in code_points() {
        let mut buffer = [0; 4];
        let text: &str = char.encode_utf8(&mut buffer);
        assert_eq!(TOKENIZER.encode_ordinary(text), YARDSTICK.encode_ordinary(text), "of {text:?}");
    }
}

/// Around a letter the class of a character decides where a piece ends.
#[test]
fn every_character_between_letters() {
    check_every_character(|char, text| text.extend(['a', char, 'b']), "1");
    check_every_character(|char, text| text.extend(['A', char, 'B', 'c']), "1");
    check_every_character(|char, text| text.extend([char, 'A', char]), "1");
}

#[test]
fn every_character_beside_spaces_and_marks() {
    check_every_character(|char, text| text.extend([' ', char]), "1");
    check_every_character(|char, text| text.extend([' ', ' ', char, ' ', '\n', char, '/']), "1");
    check_every_character(|char, text| text.extend([char, '\u{301}', 'A', char, char]), "1");
    check_every_character(|char, text| text.extend(['\u{301}', char, 'A', 'B']), "1");
}

#[test]
fn every_character_beside_punctuation_and_numbers() {
    check_every_character(|char, text| text.extend(['!', char, '.']), "1");
    // Punctuation of several characters takes in a mark, but no letter.
    check_every_character(|char, text| text.extend([' ', '!', '!', char, 'a']), "1");
    check_every_character(|char, text| text.extend(['a', '\'', char, 'S']), "1");
    check_every_character(|char, text| text.extend(['1', char, '2', '3', '4', char]), "a");
}

/// What ends a piece, at each place of the window in which it is looked for.
#[test]
fn boundaries_at_every_offset_of_a_window() {
    let borders = [
        "'s", "'ll", "'ſ", "'", "B", "Bc", "!", "!c", " !", " c", "  c", "\t!", "1", "1234", "\nc",
        "\n  c", "!\n\n  c", "!\n/c", "!\n/\n", " \n \n c", "\n  \n", "é", " é", "\u{a0}",
        "  \u{a0}",
    ];
    for filler in ["a", "A", "-", " ", "\n", "7", "it's "] {
        for (border, length) in borders.iter().flat_map(|border| (0..90).map(move |n| (border, n)))
        {
            let before: String = filler.chars().cycle().take(length).collect();
            check(&format!("{before}{border}"));
            check(&format!("{before}{border}{before}"));
            check(&format!(
                "x.{before}{border} and what follows, until the window is full: 1, 2, 3."
            ));
        }
    }
}

/// Rows of (what it shows, text).
const NASTY: &[(&str, &str)] = &[
    ("nothing", ""),
    (
        "contractions",
        "I'm he's we'll they've you're I'd don't I'M HE'S WE'LL THEY'VE YOU'RE I'D DON'T",
    ),
    ("contractions of mixed case", "x'lL x'Ll x'rE x'Re x'vE x'Ve x'l x'r x'v x'ſ x'ſs x'K"),
    ("contractions that are none", "x'x x' 'x ''s 's ' s x'\u{301}s"),
    ("a contraction after a contraction", "x's's'll'll"),
    ("contractions after other letters", "é's É'S 中's 中文'll ʰ's a\u{301}'s \u{301}'s"),
    ("case", "camelCase PascalCase HTMLParser parseHTML iOS McDonald aBcDeF ABCdef"),
    ("case in other scripts", "ÉCOLEs école Привет ПРИВЕТ приВЕТ ǅungla Ǆ ǆ ßẞ İıI"),
    ("letters without case among capitals", "AʰB ABʰ ʰAB AB中CD 中AB中 AB中cd ªA Aª"),
    ("marks among capitals", "A\u{301}B AB\u{301} \u{301}AB !\u{301}AB \u{301}\u{301}AB\u{301}C"),
    ("marks alone", "\u{301} \u{301}\u{301} !\u{301} 1\u{301} \u{301}1 \n\u{301}"),
    ("an optional character", "(a) .a ..a \ta \t\ta  a \u{a0}a \u{2028}a \u{85}A\u{3000}中"),
    ("numbers", "1 12 123 1234 12345 1234567890 ½ ¾5 ①②③④ Ⅻ 一二三 ١٢٣٤ 1½2¼3"),
    ("numbers and spaces", " 1  1   1234 \n1 1\n"),
    ("spaces", " a  b   c    d     e      "),
    ("spaces before punctuation", " . .. \t. \t . \u{a0}. \u{3000}。"),
    ("spaces at the end", "a "),
    (
        "spaces of all kinds",
        " \u{a0}\u{1680}\u{2000}\u{2009}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}x",
    ),
    ("what looks like a space", "\u{200b}a \u{feff}a \u{180e}a \u{1c}a \u{1f} a"),
    ("line breaks", "a\nb\r\nc\rd\n\ne\r\n\r\nf\n\r\n\rg\n"),
    (
        "line breaks among spaces",
        "a \n b\t\n\tc \r \n d\u{a0}\n\u{3000}\ne \u{85} \u{85}f \n\u{2028} \n g",
    ),
    ("spaces after line breaks", "\n  a\n    b\n\tc\n  \n  d\n  1\n  ."),
    ("punctuation and line breaks", "a.\n\nb;\r\n//c\n/* */ !\n/\n/! !/\n\r/a ...\n \n"),
    ("slashes", "/ // /// http://a/b/c a/ /a \n/ / \n"),
    ("emoji", "🤷🏽‍♀️ 👨‍👩‍👧‍👦🏳️‍🌈 🇩🇪🇫🇷 a🙂b 🙂a 1🙂 🙂\n"),
    ("no character", "\u{fffd} \u{ffff} \u{10ffff} \u{e000}"),
    ("zeros", "\0 \0\0 \0\0\0 a\0 a\0\0b ab\0 \0a"),
    ("special names", "<|start|>assistant<|message|>hi<|end|> <|reserved_200013|> <|endofprompt|>"),
];

#[test]
fn nasty_texts_cut_anywhere() {
    for (shown, text) in NASTY {
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
            for part in [&text[..at], &text[at..]] {
                let tokens = TOKENIZER.encode_ordinary(part);
                assert_eq!(tokens, YARDSTICK.encode_ordinary(part), "{shown}: {part:?}");
            }
        }
    }
}

/// Runs cross the limits of tables and registers at 8, 12, 16 and 128 bytes.
#[test]
fn runs_of_every_length() {
    let units =
        ["a", "A", "é", "中", "z", "0", "५", " ", "\n", "\t", "\r\n", " \n", "-", "=", "/", "🙂"]
            .into_iter()
            .chain([
                "\u{301}",
                "ab",
                "the",
                "ของ",
                "\u{a0}",
                "aA",
                "'s",
                "\0",
                "!\n",
                "한",
                "ﷺ",
                "の",
            ]);
    for unit in units {
        for times in (0..40).chain([63, 64, 65, 127, 128, 129, 200, 257]) {
            check(&unit.repeat(times));
            check(&format!("x{}y", unit.repeat(times)));
        }
    }
}

/// Every token's text, alone and together with that of the next id, is encoded as tiktoken-rs does.
#[test]
fn every_token_and_the_next() {
    let mut text = String::new();
    for rank in 0..199_998 {
        let bytes = TOKENIZER.token_bytes(rank).expect("the id exists");
        if let Ok(token) = std::str::from_utf8(bytes) {
            assert!(!TOKENIZER.encode_ordinary(token).is_empty());
            write!(text, "{token}").expect("writing to a string succeeds");
        }
        if text.len() > 20_000 {
            check(&text);
            text.clear();
        }
    }
    check(&text);
}

/// Characters that the classes, the contractions and the vocabulary care about.
fn picked_char() -> impl Strategy<Value = char> {
    prop_oneof![
        prop::sample::select(
            "aeszAESZ'' \t\r\n\n/.,!(<|>019_\u{301}\u{a0}\u{3000}".chars().collect::<Vec<_>>()
        ),
        prop::sample::select(
            "ſßẞéÉʰªǅ中文字の한국ไทยकि½①\u{200d}\u{fe0f}🙂🏽\u{85}\u{2028}𝔸𐐀𐐨"
                .chars()
                .collect::<Vec<_>>()
        ),
        prop::char::range('a', 'z'),
        prop::char::range('\u{4e00}', '\u{9fff}'),
        any::<char>(),
    ]
}

/// ASCII, which is cut by windows of 64 bytes, with hardly anything else.
fn picked_ascii() -> impl Strategy<Value = char> {
    let ascii = |chars: &str| prop::sample::select(chars.chars().collect::<Vec<_>>());
    prop_oneof![
        6 => ascii("abstvmdlreABSTVMDLRE"),
        4 => ascii("  \t\r\n\n\x0b\x0c"),
        4 => ascii("''/.,!(<|>_\0\x1f\x7f"),
        2 => ascii("0123456789"),
        1 => prop::char::range('\0', '\x7f'),
        1 => prop_oneof![9 => Just('x'), 1 => ascii("éſ中\u{a0}\u{301}½")],
    ]
}

/// Tokens one after the other, as far as they are text together.
fn token_text() -> impl Strategy<Value = String> {
    text_of(prop_oneof![0..2000_u32, 0..199_998_u32])
}

/// The same of tokens with a part of a character of three or four bytes: borders between such
/// characters are told without a search.
fn long_char_text() -> impl Strategy<Value = String> {
    let has_long_char = |token: &u32| {
        let bytes = TOKENIZER.token_bytes(*token).expect("the id exists");
        bytes.iter().any(|byte| *byte >= 0xe0)
            || bytes.iter().all(|byte| (0x80..0xc0).contains(byte))
    };
    let tokens: Vec<u32> = (0..199_998).filter(has_long_char).collect();
    text_of(prop::sample::select(tokens))
}

/// Pieces of 1 to 70 bytes between borders, enough that new ones are encoded while others wait: of few letters, of the most
/// frequent ones, of five to eight tokens, of zeros.
fn pieces_text() -> impl Strategy<Value = String> {
    const BORDERS: [&str; 9] = ["", " ", "\n", ".", "'s", "1", "\0", "\r\n\n", "\u{a0}"];
    let tokens = prop::collection::vec(0..13_000_u32, 5..=8).prop_map(|tokens| {
        let bytes = TOKENIZER.decode_bytes(&tokens).expect("the ids exist");
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let piece = prop_oneof![
        2 => "[a-z]{1,17}",
        2 => " [etaoinsrhl]{12,16}",
        1 => "[ab]{1,70}|[-=]{1,70}|[\0a]{1,20}|[一-十]{1,23}|[あ-んé🙂]{1,17}",
        2 => tokens,
    ];
    let part = (piece, prop::sample::select(BORDERS.as_slice())).prop_map(|(a, b)| a + b);
    prop::collection::vec(part, 0..80).prop_map(|parts| parts.concat())
}

fn text_of(token: impl Strategy<Value = u32>) -> impl Strategy<Value = String> {
    prop::collection::vec(token, 0..60).prop_map(|tokens| {
        String::from_utf8_lossy(&TOKENIZER.decode_bytes(&tokens).expect("the ids exist"))
            .into_owned()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(3000)))]

    #[test]
    fn random_characters(chars in prop::collection::vec(picked_char(), 0..60)) {
        check(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn random_ascii(chars in prop::collection::vec(picked_ascii(), 0..300)) {
        check(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn random_unicode(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn random_tokens(text in token_text()) {
        check(&text);
    }

    #[test]
    fn random_tokens_of_long_characters(text in long_char_text()) {
        check(&text);
    }

    /// Also with empty caches, and in eight threads at once.
    #[test]
    fn new_pieces_among_others(text in pieces_text(), clears in 0..50) {
        if clears == 0 {
            cache::clear();
            let tokens = YARDSTICK.encode_ordinary(&text);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| assert_eq!(TOKENIZER.encode_ordinary(&text), tokens, "{text:?}"));
                }
            });
        }
        check(&text);
    }

    /// Long pieces of few letters: where merges compete most.
    #[test]
    fn long_words(text in "[abt]{0,80}|[ao]{0,80}|[一中文的是]{0,40}|[ \\n]{0,40}|[a-z]{0,200}") {
        check(&text);
    }

    #[test]
    fn special_names_anywhere(
        parts in prop::collection::vec(
            prop_oneof![
                prop::sample::select(vec![
                    "<|start|>", "<|end|>", "<|", "|>", "<|reserved_200013|>", "<|reserved_200006|>",
                    "<|reserved_+200013|>", "<|reserved_201087|>", "<|start", " ", "  ", "\n", "<", "<<|end|>",
                ]).prop_map(str::to_owned),
                "[a-z ]{0,4}",
            ],
            0..12,
        )
    ) {
        let text = parts.concat();
        prop_assert_eq!(
            TOKENIZER.encode_with_special_tokens(&text),
            YARDSTICK.encode_with_special_tokens(&text)
        );
        for allowed in [HashSet::new(), HashSet::from(["<|end|>"]), TOKENIZER.special_tokens()] {
            let expected = YARDSTICK.encode(&text, &allowed).expect("no stack is used up");
            prop_assert_eq!(TOKENIZER.encode(&text, &allowed), expected);
        }
    }
}
