//! Python strings to UTF-8 and back.

mod make;
mod read;

pub(super) use make::decoded;
pub(super) use read::{BorrowedText, utf8};
