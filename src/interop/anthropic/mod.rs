//! The dialect of Anthropic Messages.

mod read;
mod write;
