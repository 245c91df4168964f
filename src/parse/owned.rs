//! The parser's accessors in the types of 0.0.8: owned, and results where 0.0.8 could fail.

use super::stream::StreamableParser;
use crate::error::Result;

/// 0.0.8's accessors, which copy what they return. The borrowing ones have shorter names.
impl StreamableParser {
    /// A copy of [`Self::content`].
    ///
    /// # Errors
    ///
    /// None; 0.0.8 failed in the middle of a character.
    pub fn current_content(&self) -> Result<String> {
        Ok(self.content().to_owned())
    }

    /// A copy of [`Self::channel`].
    pub fn current_channel(&self) -> Option<String> {
        self.channel().map(str::to_owned)
    }

    /// A copy of [`Self::recipient`].
    pub fn current_recipient(&self) -> Option<String> {
        self.recipient().map(str::to_owned)
    }

    /// A copy of [`Self::content_type`].
    pub fn current_content_type(&self) -> Option<String> {
        self.content_type().map(str::to_owned)
    }

    /// A copy of [`Self::delta`].
    ///
    /// # Errors
    ///
    /// None.
    pub fn last_content_delta(&self) -> Result<Option<String>> {
        Ok(self.delta().map(str::to_owned))
    }

    /// [`Self::state_data`] as JSON: `{"state":"Header","header_tokens":[200005]}`.
    ///
    /// # Errors
    ///
    /// None: the state consists of texts and numbers.
    pub fn state_json(&self) -> Result<String> {
        // Only numbers and texts: writing them as JSON cannot fail.
        Ok(serde_json::to_string(&self.state_data()).unwrap_or_default())
    }
}
