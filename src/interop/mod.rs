//! API requests <-> turns: what the bodies of four APIs mean in harmony, and what sampled tokens
//! mean in their answers.
//!
//! ```text
//! body --read--> Turn --prompt--> tokens --(engine)--> tokens --Reply--> chunks, response
//! ```
//!
//! * [`chat_completions`], [`responses`], [`anthropic`], [`ollama`]: one module per [`Dialect`], whose
//!   `read` makes a [`Turn`] of a request's body.
//! * [`Turn`]: the conversation and how to render it, the tools, what the request asks of the answer.
//! * [`ToolNames`]: the names of tools in the API and in harmony, both ways.
//! * [`EngineReader`]: turns what engines stream into sampled tokens.
//! * [`derender`]: turns what an engine elsewhere sampled, in the form of vLLM's `/derender`, into answers.
//! * [`Reply`]: the answer under way, which takes sampled tokens and gives chunks.
//!
//! Inside, `field` walks JSON and knows the path of each value, `history` puts earlier messages into
//! harmony's order (each result after its call), `common`, `formats` and `choice` read what dialects share,
//! `tools` has the tools as harmony declares and calls them, `client_calls` those that clients run themselves, and
//! `request` makes the turn.

mod answer;
mod body;
mod builtin;
mod choice;
mod client_calls;
mod client_tools;
mod clock;
mod common;
mod derender;
mod dialect;
mod engines;
mod field;
mod formats;
mod history;
mod names;
mod nearest;
mod options;
mod others;
mod parts;
mod prompts;
mod reply;
mod request;
mod texts;
mod thought_blob;
mod tools;
mod turn;
mod unused;

pub mod anthropic;
pub mod chat_completions;
pub mod ollama;
pub mod responses;

pub use answer::{FinishReason, ReasoningField, TokenLogprob, Usage};
pub use body::{Json, parse_body, parse_body_within};
pub use builtin::BuiltinTool;
pub use derender::{DerenderOptions, derender};
pub use engines::{EngineFault, EngineForm, EngineOutput, EngineReader};
#[cfg(feature = "training")]
pub(crate) use field::{BodyField, BodyObject};
pub use names::{Tool, ToolKind, ToolNames};
#[cfg(feature = "training")]
pub(crate) use nearest::nearest;
pub use options::{Date, NamedToolChoice, Prompts, ReadOptions, Resolve, Unsupported};
pub use reply::{BuiltinCall, MakeId, Reply, ReplyOptions};
#[cfg(feature = "training")]
pub(crate) use request::Request;
pub(crate) use tools::INPUT;
pub use turn::{AnswerOptions, Sampling, ThoughtDisplay, ToolChoice, Turn};
pub use unused::{Unused, UnusedReason};

dialect::dialects! {
    /// `/v1/chat/completions`, the old `functions` included.
    ChatCompletions = chat_completions,
    /// `/v1/responses`.
    Responses = responses,
    /// `/v1/messages` and its count of tokens.
    Anthropic = anthropic,
    /// `/api/chat`.
    Ollama = ollama,
}
