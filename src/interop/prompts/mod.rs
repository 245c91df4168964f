//! Whose prompts a turn has: this library's, or those of an engine that renders the same body itself.
//!
//! A router that scores engines by their cached tokens needs the engine's own tokens, not better ones. Each engine has
//! a file, which makes the turn of a request that was read; the readers do not know of them.

mod vllm_0_33;
mod vllm_rs_0_33;

use super::{Dialect, Json, Prompts, ReadOptions, Turn};
use crate::error::Result;

impl Dialect {
    /// Reads a request's body, as `read` of the dialect's module does.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) with the path of what the API does not allow,
    /// [`ErrorKind::UnsupportedContent`](crate::ErrorKind::UnsupportedContent) with the path of what harmony cannot
    /// carry.
    pub fn read(self, body: impl Into<Json>, options: &ReadOptions) -> Result<Turn> {
        let body = body.into();
        match options.prompts {
            Prompts::Harmony => self.request(&body, options)?.into_turn(),
            Prompts::Vllm0_33 => vllm_0_33::read(self, &body, options),
            Prompts::VllmRs0_33 => vllm_rs_0_33::read(self, &body, options),
        }
    }
}
