//! Sampled text without its special tokens, which a server dropped.

use openai_harmony::chat::Message;
use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};

use super::{rows, shown};

fn read(text: &str, tools: &[&str]) -> Vec<Message> {
    let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss).unwrap();
    encoding.read_stripped_text_with_tools(text, tools).unwrap()
}

#[test]
fn headers_are_guessed() {
    let tools = ["functions.bash", "do_commentary", "python"];
    for (table, tools, count) in [
        (include_str!("stripped.txt"), &[][..], 18),
        (include_str!("stripped_known.txt"), &tools, 13),
    ] {
        let rows = rows(table);
        assert_eq!(rows.len(), count);
        for row in rows {
            let messages: Vec<String> = read(&row.text, tools).iter().map(shown).collect();
            assert_eq!(messages, row.expected[0].messages, "{}", row.text);
        }
    }
}

#[test]
fn nothing_gives_no_message() {
    assert!(read("", &[]).is_empty() && read(" \n", &[]).is_empty());
}

#[test]
fn a_name_has_at_most_256_characters() {
    for after in [" x", ""] {
        let (name, longer) = ("n".repeat(256), "n".repeat(257));
        let read = |name: &str| read(&format!("commentary to={name}{after}"), &[]);
        assert_eq!(read(&name)[0].recipient.as_ref(), Some(&name));
        assert_eq!(read(&longer)[0].recipient, None);
    }
}

#[test]
fn megabytes_that_may_be_headers_take_no_time() {
    for piece in ["assistantto=", "assistant ", " ", "analysis to=", " to=assistant"] {
        let text = piece.repeat(20_000);
        assert!(!read(&text, &[]).is_empty() || text.trim().is_empty());
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
        let kept: String = read(&text, &[]).iter().map(shown).collect();
        let count = |text: &str, c: char| text.chars().filter(|&other| other == c).count();
        for c in ['x', 'é', '{', 'y', 'j', 'u'] {
            proptest::prop_assert!(count(&kept, c) >= count(&text, c), "{text:?} {kept:?}");
        }
    }
}
