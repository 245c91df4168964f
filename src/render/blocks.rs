//! Text in blocks, as system and developer messages have it.

/// Blocks joined by an empty line. An empty block counts too.
#[derive(Default)]
pub(super) struct Blocks {
    text: String,
    has_any: bool,
}

impl Blocks {
    /// Begins a block; the caller writes it to the end of the text.
    pub(super) fn begin(&mut self) -> &mut String {
        if std::mem::replace(&mut self.has_any, true) {
            self.text.push_str("\n\n");
        }
        &mut self.text
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}
