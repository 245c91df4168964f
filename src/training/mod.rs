//! What training adds to rendering: which tokens of an example the model itself samples, and whole
//! data sets at once.
//!
//! A loss mask has a byte for each token: 1 where a model that is served the usual way would have
//! sampled the token, 0 where the server wrote it.
//! [`Rendered::loss_mask`](crate::Rendered::loss_mask) makes one, and [`LossMask`] narrows it.
#![cfg_attr(
    feature = "training",
    doc = "[`render`] makes a [`Batch`] of rows: flat arrays of tokens and masks, on all cores."
)]
//!
//! # The law
//!
//! A server renders the conversation for completion, samples until a stop token for actions
//! (`<|return|>`, `<|call|>`), adds the tool's result or the user's next message, and renders again.
//! Exactly the tokens sampled there have mask 1. So:
//!
//! * Nothing of another role is sampled, nor a message that only begins, prefilled or not.
//! * An assistant's message is sampled after `<|start|>assistant`, which ends the prompt;
//!   its recipient, channel and content type are the model's choice, wherever they are.
//! * `<|start|>assistant` is sampled, too, after an assistant's message at whose end sampling did not stop: a message
//!   that ends with `<|end|>` and is not on `final`.
//! * The stop token is sampled, except for the `<|end|>` of an answer on `final`. The model ended it
//!   with `<|return|>`, and whoever keeps the history wrote `<|end|>` instead.
//!
//! This applies to the messages that were rendered. Where thoughts were dropped after a message, the tokens decide:
//! `<|start|>assistant` right after a user's message ended a prompt.
//!
//! # Inside
//!
//! ```text
//! rows -> messages -> examples -> tokens and spans -> mask (sampled) -> batch
//! ```

mod mask;
mod sampled;

#[cfg(feature = "training")]
pub(crate) mod batch;
#[cfg(feature = "training")]
pub(crate) mod examples;
#[cfg(feature = "training")]
mod options;
#[cfg(feature = "training")]
mod render;
#[cfg(feature = "training")]
pub(crate) mod rows;

pub use mask::{LossMask, Turns};
#[cfg(feature = "arrow")]
pub use rows::render_array;
#[cfg(feature = "training")]
pub use {
    batch::{Batch, Example},
    options::{ExampleUnit, Markers, Overflow, RowFormat, RowOptions},
    render::render,
    rows::Row,
};
