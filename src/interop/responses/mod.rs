//! The dialect of Responses, `/v1/responses`.

mod items;
mod read;
mod tools;
mod write;

pub use read::read;
