//! The dialect of chat completions.

mod read;
mod write;
