//! How much the tools of one rendering may take in [`Full`](super::ToolSchemaStyle::Full).

/// How many bytes the tools of one rendering may be written in, and how many their references may
/// copy.
///
/// gpt-oss has a context of 131,072 tokens; this many bytes are about twice as many tokens, so what is
/// refused could not be used.
pub(crate) const LIMIT: usize = 1 << 20;

/// What is left to the tools of one rendering.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Bytes that may still be written.
    pub(super) written: usize,
    /// Bytes that references may still copy.
    pub(super) copied: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { written: LIMIT, copied: LIMIT }
    }
}
