//! The channels that the model was trained with (guide, section "Channels").

/// Thoughts, and calls of built-in tools.
pub(crate) const ANALYSIS: &str = "analysis";

/// Calls of functions, and preambles.
pub(crate) const COMMENTARY: &str = "commentary";

/// Answers.
pub(crate) const FINAL: &str = "final";

/// All of them.
pub(crate) const CHANNELS: [&str; 3] = [ANALYSIS, COMMENTARY, FINAL];
