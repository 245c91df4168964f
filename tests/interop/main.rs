//! Bodies of requests and what is answered, in four dialects: the rows of the tables of docs/interop-fields.md, and the
//! laws.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::needless_pass_by_value, reason = "bodies are written where they are read")]

#[path = "../bodies/mod.rs"]
mod bodies;
mod cases;
#[path = "../changed/mod.rs"]
mod changed;
mod read;
mod reply;
#[path = "../reply_laws/mod.rs"]
mod reply_laws;
