//! Python strings to UTF-8 and back.

mod held;
mod make;
mod read;
mod units;
#[cfg(target_arch = "x86_64")]
mod vectors;

pub(super) use held::HeldText;
pub(super) use make::decoded;
pub(super) use read::{Chars, utf8};
