//! The library for C, and for everything that speaks C or WebAssembly: `include/openai_harmony.h` is made of this crate.
//!
//! * Handles are opaque and freed by their own function, which takes NULL, too.
//! * A function that can fail returns NULL, or an error that the caller frees.
//! * Inputs are a pointer and a length, borrowed during the call. A pointer may be NULL if the length is 0.
//! * Outputs are appended to a buffer of the caller's, which can be used again: see [`HarmonyBuffer`].
//! * Structures are JSON in UTF-8, in the one spelling of the crate.
//! * Nothing is printed, and no panic leaves a function: it is an error of the kind `internal`.
//! * Turns can be used by several threads at once; a reply, a parser or an engine reader by one at a time.

#![expect(
    clippy::missing_safety_doc,
    reason = "one contract for all: pointers are valid for their lengths, handles come from this library"
)]

mod error;
mod memory;
mod text;
mod turn;

pub use error::*;
pub use memory::*;
pub use text::*;
pub use turn::*;
