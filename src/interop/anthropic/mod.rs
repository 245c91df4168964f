//! The dialect of Anthropic Messages, `/v1/messages`, and of its count of tokens.

mod blocks;
mod read;
mod write;

pub use read::read;
