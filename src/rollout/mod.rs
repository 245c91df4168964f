//! Continuing from sampled tokens: the next prompt is the last one, the sampled tokens unchanged, and the new messages.
//!
//! Rendering the whole conversation again after each turn may write the model's own headers and arguments differently. Then a
//! trainer trains on tokens that the policy never sampled, and a prefix cache misses. Here the tokens stay:
//!
//! ```text
//! prompt + sampled + what new messages add = the next prompt
//! ```
//!
//! `sampled.rs` reads the sampled tokens, `calls.rs` finds the pending calls in them, `breaks.rs` decides whether the
//! format allows continuing from them, `extend.rs` extends a prompt from tokens only, and `Rollout` keeps a whole
//! episode.

mod breaks;
mod calls;
mod episode;
mod extend;
mod options;
mod sampled;
mod step;

pub use breaks::Break;
pub use episode::{Rollout, Segment};
pub use extend::Extension;
pub use options::ExtendOptions;
pub use step::{Said, SaidKind, Step};
