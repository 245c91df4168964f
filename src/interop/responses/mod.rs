//! The dialect of Responses.

mod read;
mod write;
