//! The type of a stream's arrays, of which the columns that are not read are left out.

use std::ffi::{CStr, c_char, c_void};

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Fields};

/// So many levels deep a column may be nested: more than the JSON text of a value may be.
const DEEPEST_COLUMN: usize = 256;

/// The C struct `ArrowSchema`, whose fields `arrow-schema` shows only by functions that panic.
#[repr(C)]
struct RawSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *const *const Self,
    dictionary: *const Self,
    release: *const c_void,
    private_data: *const c_void,
}

const _: () = assert!(size_of::<RawSchema>() == size_of::<FFI_ArrowSchema>());

/// The type of the arrays that are read.
pub(super) struct RowType {
    pub(super) data_type: DataType,
    /// Of a struct, which of its columns these are, and how many it has in C.
    pub(super) columns: Option<(Vec<usize>, usize)>,
}

impl RowType {
    pub(super) fn read(
        schema: &FFI_ArrowSchema,
        is_read: impl Fn(&str) -> bool,
    ) -> Result<Self, String> {
        // SAFETY: by Arrow's C interface both are the same struct.
        let raw = unsafe { &*(&raw const *schema).cast::<RawSchema>() };
        let format = raw.format().map_err(|reason| format!("the schema's {reason}"))?;
        let is_table = format == "+s" && raw.dictionary.is_null();
        if !is_table {
            raw.check(DEEPEST_COLUMN).map_err(|reason| format!("the schema's {reason}"))?;
            let data_type = DataType::try_from(schema).map_err(|error| error.to_string())?;
            return Ok(Self { data_type, columns: None });
        }
        let (mut columns, mut fields) = (Vec::new(), Vec::new());
        let children = raw.children().map_err(|reason| format!("the schema's {reason}"))?;
        for (index, child) in children.iter().enumerate() {
            // A name that is not UTF-8 is none of those that are read.
            let Some(name) = child.name().filter(|name| is_read(name)) else { continue };
            child.check(DEEPEST_COLUMN).map_err(|reason| format!("{name}: {reason}"))?;
            let field = Field::try_from(schema.child(index));
            fields.push(field.map_err(|error| format!("{name}: {error}"))?);
            columns.push(index);
        }
        let data_type = DataType::Struct(Fields::from(fields));
        Ok(Self { data_type, columns: Some((columns, children.len())) })
    }
}

impl RawSchema {
    /// Whether it is one that `arrow-schema` reads or refuses, and not deeper than so many levels.
    fn check(&self, levels: usize) -> Result<(), String> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(format!("type is nested more than {DEEPEST_COLUMN} levels deep"));
        };
        let format = self.format()?;
        if !self.name.is_null() && self.name().is_none() {
            return Err("name is not UTF-8".to_owned());
        }
        let children = self.children()?;
        let expected = match format {
            "+l" | "+L" | "+vl" | "+vL" | "+m" => Some(1),
            "+r" => Some(2),
            "+s" => None,
            size if size.starts_with("+w:") => Some(1),
            union if union.starts_with("+u") => None,
            _ => Some(0),
        };
        if let Some(expected) = expected.filter(|expected| *expected != children.len()) {
            let got = children.len();
            return Err(format!("type {format:?} has {expected} children, got {got}"));
        }
        check_size(format)?;
        for child in children {
            child.check(levels)?;
        }
        // SAFETY: by Arrow's C interface it is null or another schema.
        let Some(dictionary) = (unsafe { self.dictionary.as_ref() }) else { return Ok(()) };
        if !matches!(format, "c" | "C" | "s" | "S" | "i" | "I" | "l" | "L") {
            return Err(format!("type {format:?} is not the type of a dictionary's keys"));
        }
        dictionary.check(levels)
    }

    fn format(&self) -> Result<&str, String> {
        text(self.format).ok_or_else(|| "format is not a text".to_owned())
    }

    fn name(&self) -> Option<&str> {
        text(self.name)
    }

    fn children(&self) -> Result<Vec<&Self>, String> {
        let wrong = || "children are missing".to_owned();
        let count = usize::try_from(self.n_children).map_err(|_| wrong())?;
        if count > 0 && self.children.is_null() {
            return Err(wrong());
        }
        // SAFETY: by Arrow's C interface there are so many pointers to other schemas.
        let child = |index| unsafe { (*self.children.add(index)).as_ref() };
        (0..count).map(|index| child(index).ok_or_else(wrong)).collect()
    }
}

/// A C string, if it is there and UTF-8.
fn text<'t>(pointer: *const c_char) -> Option<&'t str> {
    // SAFETY: by Arrow's C interface it is null or a C string that lives as long as the schema.
    let text = (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) })?;
    text.to_str().ok()
}

/// Refuses items of a negative size, `w:-1` and `+w:-1`.
fn check_size(format: &str) -> Result<(), String> {
    let is_negative = |size: &str| size.starts_with('-');
    let size = format.strip_prefix("w:").or_else(|| format.strip_prefix("+w:"));
    if size.is_some_and(is_negative) {
        return Err(format!("type {format:?} has items of a negative size"));
    }
    Ok(())
}
