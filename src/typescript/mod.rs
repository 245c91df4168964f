//! JSON Schema -> the TypeScript-like text in which tools are told to the model.
//!
//! A leaf: it knows neither tokens nor chat. The text is written into one string, from borrowed
//! views of the tools.
//!
//! * `namespace` writes a whole `# Tools` section: headings, comments, declarations.
//! * `compat` writes a schema exactly as `openai-harmony` 0.0.8 does.
//! * `read` makes a typed `schema` of a JSON value, `full` writes it.
//! * `comment`, `literal` and `names` write what others wrote so that it stays what it is.
//! * `depth` refuses what is nested too deeply to be written by recursion.

mod comment;
mod compat;
mod depth;
mod full;
mod literal;
mod names;
mod namespace;
mod read;
mod schema;

#[cfg(test)]
mod tests;

pub(crate) use comment::{is_line_end, write_comment};
pub(crate) use depth::check_depth;
pub(crate) use literal::write_json_as_is;
pub(crate) use namespace::{Namespace, Tool, write_tool_section};

/// How the schemas of tools are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolSchemaStyle {
    /// Byte for byte what `openai-harmony` 0.0.8 writes. Its oddities decide tokens: `anyOf`,
    /// `$ref` and `const` become `any`, and nothing is escaped.
    #[default]
    Compat,
    /// The whole of JSON Schema, always as valid TypeScript: no text in a schema can end its
    /// comment, close a type or begin a declaration.
    Full,
}
