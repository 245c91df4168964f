//! JSON Schema -> the TypeScript-like text in which tools are declared.
//!
//! A leaf: it knows neither tokens nor chat. The text is written into one string, from borrowed
//! views of the tools.
//!
//! * `namespace` writes a whole `# Tools` section: headings, comments, declarations.
//! * `compat` writes a schema exactly as `openai-harmony` 0.0.8 does.
//! * `read` makes a typed `schema` of a JSON value, `full` writes it.
//! * `comment`, `literal` and `escape` write what others wrote so that it stays what it is.
//! * `names`, `depth` and `budget` refuse what cannot be called, is nested too deeply, or would be
//!   too large.
//! * `sink` is where the text goes.

mod budget;
mod comment;
mod compat;
mod depth;
mod escape;
mod full;
mod literal;
mod names;
mod namespace;
mod read;
mod schema;
mod sink;

pub(crate) use budget::Budget;
pub(crate) use comment::write_comment;
pub(crate) use depth::{MAX_DEPTH, check_depth, is_too_deep};
pub(crate) use escape::is_line_end;
pub(crate) use literal::write_json_as_is;
pub(crate) use namespace::write_tool_section;
pub use namespace::{Namespace, Parameters, Tool};

use crate::options::choices;

/// How the schemas of tools are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolSchemaStyle {
    /// Byte for byte what `openai-harmony` 0.0.8 writes. Its oddities decide tokens: `anyOf`,
    /// `$ref` and `const` become `any`, and nothing is escaped.
    #[default]
    Compat,
    /// The whole of JSON Schema as TypeScript, with the names of tools as they are called: no text
    /// in a schema can end its comment, close a type or begin a declaration. The tools of one
    /// rendering may take 1 MiB of text.
    Full,
}

choices! {
    ToolSchemaStyle, "a ToolSchemaStyle": "compat" Compat, "full" Full;
}
