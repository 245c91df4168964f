//! Rows in Arrow arrays -> JSON.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, StructArray, downcast_integer};
use arrow_schema::{DataType, Field};

use super::Row;
use crate::HarmonyEncoding;
use crate::error::{Error, Reason, Result};
use crate::interop::Json;
use crate::json::{NotNumbers, Tape};
use crate::path::Path;
use crate::training::batch::render_on;
use crate::training::examples::ExampleMaker;
use crate::training::{Batch, RowOptions};
use crate::workers::Workers;

/// Like [`render`](crate::training::render), for the items of an Arrow array: JSON texts, or structs.
///
/// Only the columns of a struct that matter to the model are read: `messages`, `tools` and the others that a JSON row
/// may have. Each may hold the JSON text of its value instead. A null inside a struct counts as missing: Arrow knows no
/// other way to leave out a field that other rows have.
///
/// The array must be valid. Those that arrow-rs builds are; check one from elsewhere with
/// `array.to_data().validate_full()`.
///
/// ```
/// use arrow_array::StringArray;
/// use openai_harmony::training::{RowOptions, RowFormat, render_array};
/// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
///
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let rows = StringArray::from(vec![r#"[{"from": "human", "value": "2 + 2?"}, {"from": "gpt", "value": "4."}]"#]);
/// let batch = render_array(&encoding, &rows, &RowOptions::new().with_format(RowFormat::Chat));
/// assert_eq!(batch.len(), 1);
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn render_array(encoding: &HarmonyEncoding, rows: &dyn Array, options: &RowOptions) -> Batch {
    let workers = Workers::new(options.threads);
    let maker = ExampleMaker::new(*encoding, options);
    Batch::joined(render_array_on(&workers, &maker, rows, options.first_row))
}

/// [`render_array`] with a given renderer.
pub fn render_array_on(
    workers: &Workers,
    maker: &ExampleMaker<'_>,
    rows: &dyn Array,
    first_row: usize,
) -> Vec<Batch> {
    let indices = (0..rows.len()).collect();
    render_on(workers, indices, first_row, |batch, index, at: usize| {
        maker.add_row(batch, index, row(rows, at, maker.options)?)
    })
}

fn row<'r>(rows: &'r dyn Array, at: usize, options: &RowOptions) -> Result<Row<'r>> {
    if let Some(text) = text(rows, at) {
        return Ok(Row::from(text));
    }
    let mut tape = Tape::default();
    match rows.as_struct_opt().filter(|_| rows.is_valid(at)) {
        Some(columns) => row_fields(&mut tape, columns, at, options)?,
        None => write(&mut tape, rows, at)?,
    }
    Ok(Row::Json(Json::new(tape)))
}

/// Writes the columns of a row. Those that are not read only leave whether they have a value, images and the like
/// whether there are any; a NaN becomes null, as in pandas.
fn row_fields(
    tape: &mut Tape,
    columns: &StructArray,
    at: usize,
    options: &RowOptions,
) -> Result<()> {
    let opened = tape.open();
    for (field, column) in columns.fields().iter().zip(columns.columns()) {
        let name = field.name();
        tape.string(name);
        if super::is_media(name) {
            tape.bool(column.is_valid(at) && !is_empty(column, at));
        } else if column.is_null(at) || real(column, at).is_some_and(f64::is_nan) {
            tape.null();
        } else if !super::is_read(name, options) {
            tape.bool(true);
        } else {
            of_field(tape, field, column, at).map_err(|error| error.inside(name.clone()))?;
        }
    }
    tape.close_object(opened);
    Ok(())
}

/// Whether a value is a list or a text without anything in it.
fn is_empty(array: &dyn Array, at: usize) -> bool {
    let is_text = text(array, at).is_some_and(str::is_empty);
    is_text
        || array.as_list_opt::<i32>().is_some_and(|list| list.value_length(at) == 0)
        || array.as_list_opt::<i64>().is_some_and(|list| list.value_length(at) == 0)
}

/// Writes the members of a struct that are not null.
fn fields(tape: &mut Tape, columns: &StructArray, at: usize) -> Result<()> {
    let opened = tape.open();
    for (field, column) in columns.fields().iter().zip(columns.columns()) {
        if column.is_valid(at) {
            tape.string(field.name());
            of_field(tape, field, column, at)
                .map_err(|error| error.inside(field.name().clone()))?;
        }
    }
    tape.close_object(opened);
    Ok(())
}

/// Writes a value of a column, or of the items of one. A column marked as JSON, which Hugging Face's `datasets` uses
/// for objects with different fields, contains the value's JSON text.
fn of_field(tape: &mut Tape, field: &Field, array: &dyn Array, at: usize) -> Result<()> {
    let is_json = field.extension_type_name() == Some("arrow.json");
    match text(array, at).filter(|_| is_json) {
        Some(text) => {
            tape.parse(text, NotNumbers::Refused).map_err(|_| invalid("expected JSON text"))?;
            Ok(())
        }
        None => write(tape, array, at),
    }
}

fn write(tape: &mut Tape, array: &dyn Array, at: usize) -> Result<()> {
    if array.is_null(at) {
        tape.null();
    } else if let Some(text) = text(array, at) {
        tape.string(text);
    } else if let Some(whole) = whole(array, at) {
        tape.number(&whole.to_string());
    } else if let Some(real) = real(array, at) {
        let reason = || invalid(format!("expected a number that JSON can hold, got {real}"));
        tape.double(real).ok_or_else(reason)?;
    } else {
        return nested(tape, array, at);
    }
    Ok(())
}

fn nested(tape: &mut Tape, array: &dyn Array, at: usize) -> Result<()> {
    match array.data_type() {
        DataType::Null => tape.null(),
        DataType::Boolean => tape.bool(array.as_boolean().value(at)),
        DataType::Struct(_) => fields(tape, array.as_struct(), at)?,
        DataType::List(item) => items(tape, item, &array.as_list::<i32>().value(at))?,
        DataType::LargeList(item) => items(tape, item, &array.as_list::<i64>().value(at))?,
        DataType::ListView(item) => items(tape, item, &array.as_list_view::<i32>().value(at))?,
        DataType::LargeListView(item) => items(tape, item, &array.as_list_view::<i64>().value(at))?,
        DataType::FixedSizeList(item, _) => {
            items(tape, item, &array.as_fixed_size_list().value(at))?;
        }
        DataType::Map(..) => entries(tape, &array.as_map().value(at))?,
        DataType::Dictionary(..) => match entry_of(array, at) {
            Some((values, at)) => write(tape, values, at)?,
            None => tape.null(),
        },
        other if other.is_binary() => {
            return Err(invalid(format!(
                "expected a value that JSON can hold, got bytes (Arrow's {other}), as which Ray and others keep \
                 pickled objects; write the column as JSON texts or as structs"
            )));
        }
        other => {
            return Err(invalid(format!(
                "expected a value that JSON can hold, got Arrow's {other}"
            )));
        }
    }
    Ok(())
}

fn text(array: &dyn Array, at: usize) -> Option<&str> {
    if array.is_null(at) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(at),
        DataType::LargeUtf8 => array.as_string::<i64>().value(at),
        DataType::Utf8View => array.as_string_view().value(at),
        DataType::Dictionary(..) => {
            let (values, at) = entry_of(array, at)?;
            return text(values, at);
        }
        _ => return None,
    })
}

/// The index of an item's value in a dictionary.
fn entry_of(array: &dyn Array, at: usize) -> Option<(&dyn Array, usize)> {
    let dictionary = array.as_any_dictionary_opt()?;
    let key = usize::try_from(whole(dictionary.keys(), at)?).ok()?;
    Some((dictionary.values(), key))
}

fn whole(array: &dyn Array, at: usize) -> Option<i128> {
    macro_rules! of_type {
        ($type:ty, $array:expr, $at:expr) => {
            Some($array.as_primitive::<$type>().value($at).into())
        };
    }
    downcast_integer! {
        array.data_type() => (of_type, array, at),
        _ => None,
    }
}

fn real(array: &dyn Array, at: usize) -> Option<f64> {
    Some(match array.data_type() {
        DataType::Float16 => array.as_primitive::<Float16Type>().value(at).into(),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(at).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(at),
        _ => return None,
    })
}

fn items(tape: &mut Tape, item: &Field, list: &ArrayRef) -> Result<()> {
    let opened = tape.open();
    for index in 0..list.len() {
        of_field(tape, item, list, index).map_err(|error| error.inside(index))?;
    }
    tape.close_array(opened);
    Ok(())
}

/// Writes the entries of a map with texts as keys.
fn entries(tape: &mut Tape, map: &StructArray) -> Result<()> {
    let (Some(keys), Some(values)) = (map.columns().first(), map.columns().get(1)) else {
        return Err(invalid("expected a map with keys and values"));
    };
    let opened = tape.open();
    for at in 0..map.len() {
        let Some(key) = text(keys, at) else {
            let reason = format!("expected a map whose keys are texts, got {}", keys.data_type());
            return Err(invalid(reason));
        };
        tape.string(key);
        write(tape, values, at).map_err(|error| error.inside(key.to_owned()))?;
    }
    tape.close_object(opened);
    Ok(())
}

/// What is wrong here; the path is added on the way out.
fn invalid(reason: impl Into<Reason>) -> Error {
    super::invalid(Path::default(), reason)
}
