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
#[cfg(feature = "training")]
pub(super) use read::{FIELDS, collect};
pub(super) use write::Responses;
