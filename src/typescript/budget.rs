//! How much the tools of one rendering may take in [`Full`](super::ToolSchemaStyle::Full).

/// How many bytes the tools of one rendering may be written in, and how many their references may
/// copy.
///
/// gpt-oss has a context of 131,072 tokens, and this many bytes are about twice that, so tools that are refused could
/// not have been used.
pub(crate) const LIMIT: usize = 1 << 20;

/// The remaining budget of one rendering's tools.
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
