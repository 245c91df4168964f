//! Texts for the benches, made by rule from a seed: the same in every run, without repetitions.
//!
//! Words are drawn from the vocabulary itself, low ranks more often than high ones, as words are in
//! real text; some are not single tokens, like names and rare words.

use std::fmt::Write;
use std::rc::Rc;

use openai_harmony::tokenizer::Tokenizer;

/// What a text is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Prose,
    Code,
    Cjk,
    Json,
    /// A chat: prose with code, Chinese and JSON in between.
    Mixed,
}

/// A text of the kind, at least `size` bytes long.
pub(crate) fn text(kind: Kind, size: usize) -> String {
    let mut maker = Maker::new();
    let mut text = String::with_capacity(size + 4096);
    while text.len() < size {
        maker.paragraph(kind, &mut text);
    }
    text
}

/// Cuts a text into parts of about `size` bytes.
pub(crate) fn parts(text: &str, size: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let mut end = (start + size).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        parts.push(&text[start..end]);
        start = end;
    }
    parts
}

struct Maker {
    random: u32,
    english: Rc<[&'static str]>,
    chinese: Rc<[&'static str]>,
}

impl Maker {
    fn new() -> Self {
        let small = |char: char| char.is_ascii_lowercase();
        let han = |char: char| ('\u{4e00}'..='\u{9fff}').contains(&char);
        Self {
            random: 0x5eed,
            english: words(|word| {
                word.strip_prefix(' ').is_some_and(|word| word.len() > 1 && word.chars().all(small))
            }),
            chinese: words(|word| word.chars().all(han)),
        }
    }

    /// A number below `n`: xorshift, any good enough generator would do.
    fn below(&mut self, n: u32) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random % n
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(u32::try_from(choices.len()).unwrap_or(1)) as usize]
    }

    /// Picks the n-th word about as often as one in n (Zipf): a random number of bits, then
    /// random bits.
    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        let bits = self.below(words.len().ilog2() + 1);
        let number = (1 << bits) + self.below(1 << bits);
        words[(number as usize).min(words.len()) - 1]
    }

    fn english(&mut self) -> &'static str {
        let words = Rc::clone(&self.english);
        self.pick(&words).trim_start()
    }

    fn chinese(&mut self) -> &'static str {
        let words = Rc::clone(&self.chinese);
        self.pick(&words)
    }

    /// An English word; one in twenty is made up of two.
    fn word(&mut self) -> String {
        let mut word = self.english().to_owned();
        if self.below(20) == 0 {
            word.push_str(self.english());
        }
        word
    }

    fn capital_word(&mut self) -> String {
        let mut word = self.word();
        if let Some(first) = word.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        word
    }

    fn paragraph(&mut self, kind: Kind, text: &mut String) {
        match kind {
            Kind::Prose => self.prose(text),
            Kind::Code => self.code(text),
            Kind::Cjk => self.cjk(text),
            Kind::Json => self.json(text),
            Kind::Mixed => {
                let kinds = [Kind::Prose, Kind::Prose, Kind::Code, Kind::Cjk, Kind::Json];
                let kind = self.one_of(&kinds);
                self.paragraph(kind, text);
            }
        }
    }

    fn prose(&mut self, text: &mut String) {
        for _ in 0..3 + self.below(6) {
            text.push_str(&self.capital_word());
            for _ in 0..4 + self.below(20) {
                let glue = [" ", " ", " ", " ", " ", " ", " ", ", ", " \"", "'s ", "-"];
                text.push_str(self.one_of(&glue));
                let word = self.word();
                text.push_str(&word);
            }
            text.push_str(self.one_of(&[". ", "? ", ": ", ".\n"]));
        }
        text.push_str("\n\n");
    }

    fn code(&mut self, text: &mut String) {
        let (class, method) = (self.capital_word(), self.word());
        let mut line = format!("    def {method}_{}(self, {}):\n", self.word(), self.word());
        for _ in 0..2 + self.below(8) {
            let (a, b, c) = (self.word(), self.word(), self.capital_word());
            let n = self.below(2000);
            let _ = match self.below(5) {
                0 => writeln!(line, "        self._{a}_{b} = {c}{class}({a}={n}, {b}=None)"),
                1 => writeln!(line, "        if {a}.{b}() != {n} and not self.{a}:"),
                2 => {
                    writeln!(line, "            return [{a}.get({b}{c}) for {a} in {b}]  # {a} {b}")
                }
                3 => writeln!(line, "            raise {c}Error(f\"{a} {b}: {{{a}!r}}\")\n"),
                _ => writeln!(line, "\t{a}[{n}:] += \"{b}/{a}\" + '\\n';"),
            };
        }
        text.push_str(&line);
        text.push('\n');
    }

    fn cjk(&mut self, text: &mut String) {
        for _ in 0..4 + self.below(12) {
            for _ in 0..2 + self.below(9) {
                text.push_str(self.chinese());
                if self.below(30) == 0 {
                    // A rare character: mostly two or three tokens.
                    text.extend(char::from_u32(0x4e00 + self.below(0x5000)));
                }
            }
            text.push_str(self.one_of(&["，", "，", "。", "、", "：", "？\n"]));
        }
    }

    fn json(&mut self, text: &mut String) {
        let id = u64::from(self.below(u32::MAX)) << 16 | u64::from(self.below(1 << 16));
        let _ = write!(
            text,
            "{{\"id\": \"call_{id:012x}\", \"name\": \"{}_{}\", ",
            self.word(),
            self.word()
        );
        text.push_str("\"arguments\": {\n");
        for _ in 0..2 + self.below(6) {
            let (key, word, n) = (self.word(), self.word(), self.below(100_000));
            let _ = match self.below(4) {
                0 => writeln!(text, "    \"{key}\": {n}.{},", n % 97),
                1 => writeln!(text, "    \"{key}_{word}\": [\"{word}\", null, true, {n}],"),
                2 => writeln!(text, "    \"{key}\": \"https://{word}.com/{key}?q={n:x}\","),
                _ => writeln!(text, "    \"{key}\": \"{word} {} {}\",", self.word(), self.word()),
            };
        }
        text.push_str("  }\n}\n");
    }
}

/// The tokens that are words of a kind, by rank.
fn words(is_word: impl Fn(&str) -> bool) -> Rc<[&'static str]> {
    (0..200_000)
        .filter_map(|rank| std::str::from_utf8(Tokenizer::o200k_harmony().token_bytes(rank)?).ok())
        .filter(|word| !word.is_empty() && is_word(word))
        .collect()
}
