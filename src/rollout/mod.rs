//! Going on from what was sampled: the next prompt is the last one, the sampled tokens as they are, and what is new.
//!
//! Rendering a conversation anew after each turn spells the model's own headers and arguments another way, so a
//! trainer trains on tokens that the policy never sampled, and a prefix cache misses. Here the tokens stay:
//!
//! ```text
//! prompt + sampled + what new messages add = the next prompt
//! ```
//!
//! `sampled.rs` reads what was sampled, `calls.rs` finds the calls in it that wait for results, `breaks.rs` decides whether the format allows to continue from it, `extend.rs` does
//! it for tokens only, and `Rollout` keeps a whole episode.

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
