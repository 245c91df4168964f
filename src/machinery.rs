//! What the extension module of Python needs beyond the public API. It is not part of the API, and may change with
//! any version.

pub use crate::brief::Brief;
pub use crate::chat::fields::HeaderFields;
pub use crate::chat::tools::{BROWSER, FUNCTIONS, PYTHON};
pub use crate::json::{At, MAX_DEPTH, Tape, Value};
pub use crate::options::{Choice, SetByName, SetFrom};
pub use crate::path::PathStep;
pub use crate::render::{AsMessage, AsTools, ContentPart, DeveloperFields, Speaker, SystemFields};
#[cfg(feature = "arrow")]
pub use crate::training::rows::render_array_on;
#[cfg(feature = "training")]
pub use crate::training::{
    batch::render_on,
    examples::ExampleMaker,
    rows::{check_map, is_media, is_read},
};
pub use crate::typescript::{Namespace, Parameters, Tool};
#[cfg(feature = "training")]
pub use crate::workers::Workers;

use crate::interop::{ToolChoice, Turn};
use crate::tokenizer::TokenId;
use crate::{MessageSpan, Rendered};

/// Who speaks in each span of a rendering.
pub fn speakers(rendered: &Rendered) -> &[Speaker] {
    &rendered.speakers
}

/// A rendering from its parts; a span is message, start, content, stop and end.
pub fn rendered(
    tokens: Vec<TokenId>,
    spans: impl IntoIterator<Item = (Option<usize>, usize, usize, usize, usize)>,
    speakers: Vec<Speaker>,
) -> Rendered {
    let span =
        |(message, start, content, stop, end)| MessageSpan { message, start, content, stop, end };
    Rendered { tokens, spans: spans.into_iter().map(span).collect(), speakers }
}

/// The name of a tool choice, and the recipients that it names.
pub fn tool_choice(choice: &ToolChoice) -> (&'static str, &[String]) {
    let named = choice.recipients().unwrap_or_default();
    match choice {
        ToolChoice::None => ("none", named),
        ToolChoice::Named { .. } => ("named", named),
        _ if choice.is_required() => ("required", named),
        _ => ("auto", named),
    }
}

/// For each message of a turn, the body's index of its source; `None` if the source is not in the body, like a history.
pub fn source_indices(turn: &Turn) -> Vec<Option<usize>> {
    let index = |number: &Option<usize>| number.as_ref()?.checked_sub(turn.history_len);
    turn.sources.iter().map(index).collect()
}

/// Renderings of messages borrowed from Python.
pub mod render {
    pub use crate::render::{conversation, message};
}
