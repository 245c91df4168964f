//! Rows in Arrow arrays -> JSON.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, Field};
use serde_json::{Map, Number, Value};

use super::path::Path;
use super::{Row, invalid};
use crate::HarmonyEncoding;
use crate::error::Result;
use crate::interop::parse_json;
use crate::training::examples::ExampleMaker;
use crate::training::gather::render_on;
use crate::training::{Batch, RenderRows, RowFormat};
use crate::workers::Workers;

/// As [`render`](crate::training::render), of the items of an Arrow array: JSON texts, or structs.
///
/// Of a struct, the columns are read that say something to the model: `messages`, `tools` and the
/// others that a JSON row may have. Each may hold the JSON text of its value instead. A null inside a
/// struct counts as missing: Arrow knows no other way to leave out a field that other rows have.
///
/// The array must be valid, as those are that this crate's users make; of one that comes from elsewhere,
/// `array.to_data().validate_full()` tells.
///
/// ```
/// use arrow_array::StringArray;
/// use openai_harmony::training::{RenderRows, RowFormat, render_array};
/// use openai_harmony::{HarmonyEncodingName, load_harmony_encoding};
///
/// let encoding = load_harmony_encoding(HarmonyEncodingName::HarmonyGptOss)?;
/// let rows = StringArray::from(vec![r#"[{"from": "human", "value": "2 + 2?"}, {"from": "gpt", "value": "4."}]"#]);
/// let batch = render_array(&encoding, &rows, &RenderRows::new().with_format(RowFormat::Chat));
/// assert_eq!(batch.len(), 1);
/// # Ok::<(), openai_harmony::Error>(())
/// ```
pub fn render_array(encoding: &HarmonyEncoding, rows: &dyn Array, options: &RenderRows) -> Batch {
    let workers = Workers::new(options.threads);
    let maker = ExampleMaker::new(encoding.tokenizer(), options);
    Batch::joined(render_array_on(&workers, &maker, rows, options.first_row))
}

/// [`render_array`] by what is there already.
pub(crate) fn render_array_on(
    workers: &Workers,
    maker: &ExampleMaker<'_>,
    rows: &dyn Array,
    first_row: usize,
) -> Vec<Batch> {
    let indices = (0..rows.len()).collect();
    render_on(workers, indices, first_row, |batch, index, at: usize| {
        maker.add_row(batch, index, row(rows, at, maker.options.format)?)
    })
}

fn row(rows: &dyn Array, at: usize, format: RowFormat) -> Result<Row<'_>> {
    if let Some(text) = text(rows, at) {
        return Ok(Row::from(text));
    }
    let Some(columns) = rows.as_struct_opt().filter(|_| rows.is_valid(at)) else {
        return value(rows, at, &Path::Row).map(Row::from);
    };
    let is_read = |name: &str| super::is_read(name, format);
    fields(columns, at, &Path::Row, is_read).map(|row| Row::from(Value::Object(row)))
}

/// The members of a struct that are not null.
fn fields(
    columns: &StructArray,
    at: usize,
    path: &Path<'_>,
    is_read: impl Fn(&str) -> bool,
) -> Result<Map<String, Value>> {
    let named = columns.fields().iter().zip(columns.columns());
    let said = named.filter(|(field, column)| column.is_valid(at) && is_read(field.name()));
    said.map(|(field, column)| {
        let path = Path::Member(path, field.name());
        Ok((field.name().to_owned(), of_field(field, column, at, &path)?))
    })
    .collect()
}

/// A value of a column, or of the items of one. Where the column is marked as JSON, as Hugging Face's
/// `datasets` keeps objects that have not all the same fields, it is what the text says.
fn of_field(field: &Field, array: &dyn Array, at: usize, path: &Path<'_>) -> Result<Value> {
    let is_json = field.extension_type_name() == Some("arrow.json");
    match text(array, at).filter(|_| is_json) {
        Some(text) => parse_json(text).map_err(|_| invalid(path.to_string(), "expected JSON text")),
        None => value(array, at, path),
    }
}

fn value(array: &dyn Array, at: usize, path: &Path<'_>) -> Result<Value> {
    if array.is_null(at) {
        return Ok(Value::Null);
    }
    if let Some(text) = text(array, at) {
        return Ok(text.into());
    }
    if let Some(whole) = whole(array, at) {
        return Ok(whole);
    }
    if let Some(real) = real(array, at) {
        return Number::from_f64(real).map(Value::Number).ok_or_else(|| {
            invalid(path, format!("expected a number that JSON can hold, got {real}"))
        });
    }
    Ok(match array.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => array.as_boolean().value(at).into(),
        DataType::Struct(_) => fields(array.as_struct(), at, path, |_| true)?.into(),
        DataType::List(item) => items(item, &array.as_list::<i32>().value(at), path)?,
        DataType::LargeList(item) => items(item, &array.as_list::<i64>().value(at), path)?,
        DataType::ListView(item) => items(item, &array.as_list_view::<i32>().value(at), path)?,
        DataType::LargeListView(item) => items(item, &array.as_list_view::<i64>().value(at), path)?,
        DataType::FixedSizeList(item, _) => {
            items(item, &array.as_fixed_size_list().value(at), path)?
        }
        DataType::Map(..) => entries(&array.as_map().value(at), path)?,
        DataType::Dictionary(..) => match entry_of(array, at) {
            Some((values, at)) => value(values, at, path)?,
            None => Value::Null,
        },
        other if other.is_binary() => {
            let reason = format!(
                "expected what JSON can hold, got bytes (Arrow's {other}), as which Ray and others keep \
                 pickled objects; write the column as JSON texts or as structs"
            );
            return Err(invalid(path, reason));
        }
        other => {
            let reason = format!("expected what JSON can hold, got Arrow's {other}");
            return Err(invalid(path, reason));
        }
    })
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

/// Where a dictionary has the value of an item.
fn entry_of(array: &dyn Array, at: usize) -> Option<(&dyn Array, usize)> {
    let dictionary = array.as_any_dictionary_opt()?;
    let key = whole(dictionary.keys(), at)?.as_u64()?;
    Some((dictionary.values(), usize::try_from(key).ok()?))
}

fn whole(array: &dyn Array, at: usize) -> Option<Value> {
    Some(match array.data_type() {
        DataType::Int8 => array.as_primitive::<Int8Type>().value(at).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(at).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(at).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(at).into(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(at).into(),
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(at).into(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(at).into(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(at).into(),
        _ => return None,
    })
}

fn real(array: &dyn Array, at: usize) -> Option<f64> {
    Some(match array.data_type() {
        DataType::Float16 => array.as_primitive::<Float16Type>().value(at).into(),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(at).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(at),
        _ => return None,
    })
}

fn items(item: &Field, list: &ArrayRef, path: &Path<'_>) -> Result<Value> {
    (0..list.len()).map(|index| of_field(item, list, index, &Path::Item(path, index))).collect()
}

/// The entries of a map, whose keys must be texts.
fn entries(map: &StructArray, path: &Path<'_>) -> Result<Value> {
    let (Some(keys), Some(values)) = (map.columns().first(), map.columns().get(1)) else {
        return Err(invalid(path, "expected a map with keys and values"));
    };
    let entry = |at| {
        let key = text(keys, at).ok_or_else(|| {
            let reason = format!("expected a map whose keys are texts, got {}", keys.data_type());
            invalid(path, reason)
        })?;
        Ok((key.to_owned(), value(values, at, &Path::Member(path, key))?))
    };
    (0..map.len()).map(entry).collect::<Result<Map<_, _>>>().map(Value::Object)
}
