//! Where the messages and tools of a body come from in the row, so that errors name the row's places.

use super::invalid;
use crate::error::{Error, ErrorKind};

/// The places of what a body's lists have, item by item.
#[derive(Debug, Default)]
pub(super) struct Origin {
    pub(super) messages: Vec<Place>,
    /// For each tool whether it stands there without what says that it is a function.
    pub(super) bare_tools: Vec<bool>,
}

/// Where a message stands in the row.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) key: &'static str,
    /// `None` where it is all that stands under the key.
    pub(super) index: Option<usize>,
    pub(super) shape: Shape,
}

/// How the row writes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// As chat completions do.
    Chat,
    /// With `from` and `value`.
    FromValue,
    /// The same, of which the value is a call.
    Call,
    /// The same, of which the value is a list of calls.
    Calls,
    /// As a text.
    Text,
}

impl Origin {
    /// The place in the row of what stands in the body at a path.
    pub(super) fn path(&self, path: &str) -> String {
        let message = indexed(path, "messages")
            .and_then(|(index, rest)| Some(self.messages.get(index)?.path(rest)));
        let tool = || {
            let (index, rest) = indexed(path, "tools")?;
            let rest = rest
                .strip_prefix(".function")
                .filter(|_| self.bare_tools.get(index) == Some(&true))?;
            Some(format!("tools[{index}]{rest}"))
        };
        message.or_else(tool).unwrap_or_else(|| path.to_owned())
    }

    /// The place of a field of the last message.
    pub(super) fn last_message(&self, field: &str) -> String {
        self.messages.last().map_or_else(String::new, |place| place.path(&format!(".{field}")))
    }

    /// An error of the body as one of the row.
    pub(super) fn error(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::InvalidRequest { path, reason } => invalid(self.path(path), reason.clone()),
            ErrorKind::UnsupportedContent { path, content } => {
                let (path, content) = (self.path(path), content.clone());
                ErrorKind::UnsupportedContent { path, content }.into()
            }
            _ => error,
        }
    }
}

impl Place {
    fn path(&self, rest: &str) -> String {
        let Self { key, index, shape } = self;
        let renamed = match shape {
            Shape::Chat => None,
            Shape::Text => Some(("", "")),
            Shape::FromValue => rest.strip_prefix(".content").map(|rest| (".value", rest)),
            Shape::Call => rest.strip_prefix(".tool_calls[0]").map(|rest| (".value", rest)),
            Shape::Calls => rest.strip_prefix(".tool_calls").map(|rest| (".value", rest)),
        };
        let (field, rest) = renamed.unwrap_or(("", rest));
        let index = index.map(|index| format!("[{index}]")).unwrap_or_default();
        format!("{key}{index}{field}{rest}")
    }
}

/// The index and what follows it in `list[3].rest`.
fn indexed<'p>(path: &'p str, list: &str) -> Option<(usize, &'p str)> {
    let (index, rest) = path.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_body_become_those_of_the_row() {
        let place = |key, index, shape| Place { key, index, shape };
        let origin = Origin {
            messages: vec![
                place("prompt", None, Shape::Text),
                place("completion", Some(0), Shape::Chat),
                place("completion", Some(1), Shape::FromValue),
                place("completion", Some(2), Shape::Call),
                place("completion", Some(3), Shape::Calls),
            ],
            bare_tools: vec![true, false],
        };
        let cases = [
            ("messages[0].content", "prompt"),
            ("messages[1].content[2].type", "completion[0].content[2].type"),
            ("messages[2].content[0]", "completion[1].value[0]"),
            ("messages[2]", "completion[1]"),
            ("messages[3].tool_calls[0].name", "completion[2].value.name"),
            ("messages[4].tool_calls[1].name", "completion[3].value[1].name"),
            ("messages[5].role", "messages[5].role"),
            ("tools[0].function.name", "tools[0].name"),
            ("tools[1].function.name", "tools[1].function.name"),
            ("reasoning.effort", "reasoning.effort"),
            ("", ""),
        ];
        for (of_body, of_row) in cases {
            assert_eq!(origin.path(of_body), of_row);
        }
        assert_eq!(origin.last_message("prefix"), "completion[3].prefix");
    }
}
