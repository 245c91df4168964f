//! The dialect of Responses, `/v1/responses`.

mod event;
mod item;
mod items;
mod read;
mod tools;
mod write;

pub use event::ResponseEvent;
pub use item::{ContentPart, OutputItem};
pub use read::read;
pub(super) use write::Responses;
