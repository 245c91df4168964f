//! The text of a message, from its parts in a body.

use super::prompts::PromptForm;
use crate::chat::Content;

/// Texts of one message: joined by an empty line, unless an engine's prompts keep them separate.
#[derive(Debug)]
pub(super) struct Texts {
    texts: Vec<String>,
    keeps_parts: bool,
}

impl Texts {
    pub(super) fn new(form: &PromptForm) -> Self {
        Self { texts: Vec::new(), keeps_parts: form.keeps_parts }
    }

    /// Adds a text; an empty one adds nothing.
    pub(super) fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.texts.last_mut().filter(|_| !self.keeps_parts) {
            Some(joined) => {
                joined.push_str("\n\n");
                joined.push_str(text);
            }
            None => self.texts.push(text.to_owned()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.iter().all(String::is_empty)
    }

    /// The texts as one.
    pub(super) fn into_text(self) -> String {
        let mut texts = self.texts.into_iter();
        let first = texts.next().unwrap_or_default();
        texts.fold(first, |joined, text| joined + &text)
    }

    /// The contents of a message, at least one.
    pub(super) fn into_contents(self) -> Vec<Content> {
        let texts = if self.texts.is_empty() { vec![String::new()] } else { self.texts };
        texts.into_iter().map(Content::from).collect()
    }
}

impl From<String> for Texts {
    fn from(text: String) -> Self {
        Self { texts: vec![text], keeps_parts: false }
    }
}
