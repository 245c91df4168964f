//! JSON Schema -> the TypeScript-like text in which tools are declared.
//!
//! This module depends on neither tokens nor chat. It writes the text into one string, from borrowed views of the
//! tools.
//!
//! * `namespace` writes a whole `# Tools` section: headings, comments, declarations.
//! * `compat` writes a schema exactly as `openai-harmony` 0.0.8 does.
//! * `read` makes a typed `schema` of a JSON value, `full` writes it.
//! * `comment`, `literal` and `escape` write texts from users so that they cannot be read as code.
//! * `names`, `depth` and `budget` refuse tools that cannot be called, are nested too deeply, or would be too large.
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
pub(crate) use read::resolve;

use crate::options::choices;

/// How the schemas of tools are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolSchemaStyle {
    /// Byte for byte what `openai-harmony` 0.0.8 writes. Its oddities decide tokens: `anyOf`,
    /// `$ref` and `const` become `any`, and nothing is escaped.
    #[default]
    Compat,
    /// All of JSON Schema as TypeScript, with tools named as they are called: no text in a schema can end its comment,
    /// close a type or begin a declaration. The tools of one rendering may take 1 MiB of text.
    Full,
}

choices! {
    ToolSchemaStyle, "a ToolSchemaStyle": "compat" Compat, "full" Full;
}
