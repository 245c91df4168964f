//! The parts of a message in a body, and the text that they become.

/// A part of a message: a text, or the placeholder of something that harmony cannot carry.
#[derive(Debug)]
pub(super) struct TextPart {
    pub(super) text: String,
    pub(super) is_placeholder: bool,
}

impl<T: Into<String>> From<T> for TextPart {
    fn from(text: T) -> Self {
        Self { text: text.into(), is_placeholder: false }
    }
}

/// The parts of one message, none of them empty.
#[derive(Debug, Default)]
pub(super) struct Texts(pub(super) Vec<TextPart>);

/// Makes the contents of a message of its parts, at least one.
pub(super) type IntoContents = fn(Texts) -> Vec<String>;

impl Texts {
    /// Adds a part; an empty one adds nothing.
    pub(super) fn add(&mut self, part: impl Into<TextPart>) {
        let part = part.into();
        if !part.text.is_empty() {
            self.0.push(part);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The parts as one text, joined by an empty line.
    pub(super) fn joined(self) -> String {
        let mut parts = self.0.into_iter().map(|part| part.text);
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |joined, text| joined + "\n\n" + &text)
    }

    /// The contents as one text.
    pub(super) fn whole(self, contents: IntoContents) -> String {
        let mut texts = contents(self).into_iter();
        let first = texts.next().unwrap_or_default();
        texts.fold(first, |joined, text| joined + &text)
    }
}

impl<T: Into<String>> From<T> for Texts {
    fn from(text: T) -> Self {
        let mut texts = Self::default();
        texts.add(text.into());
        texts
    }
}
