//! A C array -> an array of `arrow-array`, of which the columns that are not read are left out.

use std::ffi::c_void;
use std::ptr::null_mut;

use arrow_array::ffi::{FFI_ArrowArray, from_ffi_and_data_type};
use arrow_array::{ArrayRef, make_array};
use arrow_data::layout;
use arrow_schema::DataType;

use super::schema::RowType;

/// The C struct `ArrowArray`, whose fields `arrow-data` shows only by functions that panic.
#[repr(C)]
struct RawArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut FFI_ArrowArray)>,
    private_data: *mut c_void,
}

const _: () = assert!(size_of::<RawArray>() == size_of::<FFI_ArrowArray>());

/// What is behind a [`selection`]: the producer's array, and the pointers to the columns that are read.
struct Selection {
    children: Vec<*mut RawArray>,
    #[expect(dead_code, reason = "dropping it releases it")]
    all: FFI_ArrowArray,
}

/// Checks and imports an array.
pub(super) fn import(array: FFI_ArrowArray, row_type: &RowType) -> Result<ArrayRef, String> {
    let RowType { data_type, columns } = row_type;
    let array = match columns {
        Some((columns, count)) => selection(array, columns, *count)?,
        None => array,
    };
    raw(&array).check(data_type)?;
    // SAFETY: the producer promises Arrow's C interface; what it may have got wrong nevertheless, and would
    // be read here, was checked. `validate_full` looks at what the buffers hold.
    let data = unsafe { from_ffi_and_data_type(array, data_type.clone()) };
    let data = data.map_err(|error| error.to_string())?;
    data.validate_full().map_err(|error| error.to_string())?;
    Ok(make_array(data))
}

fn raw(array: &FFI_ArrowArray) -> &RawArray {
    // SAFETY: by Arrow's C interface both are the same struct.
    unsafe { &*(&raw const *array).cast() }
}

/// A struct with some of the columns of another, which it owns.
fn selection(
    all: FFI_ArrowArray,
    columns: &[usize],
    count: usize,
) -> Result<FFI_ArrowArray, String> {
    let struct_ = raw(&all);
    let children = struct_.children(count)?;
    let children: Vec<_> = columns.iter().map(|&column| children[column]).collect();
    let &RawArray { length, null_count, offset, n_buffers, buffers, dictionary, .. } = struct_;
    let mut selection = Box::new(Selection { children, all });
    let selected = RawArray {
        length,
        null_count,
        offset,
        n_buffers,
        n_children: i64::try_from(columns.len()).unwrap_or(-1),
        buffers,
        children: selection.children.as_mut_ptr(),
        dictionary,
        release: Some(release),
        private_data: Box::into_raw(selection).cast(),
    };
    // SAFETY: by Arrow's C interface both are the same struct, and this one keeps its contract: what its
    // pointers point to lives until `release`, which is called once.
    Ok(unsafe { std::mem::transmute::<RawArray, FFI_ArrowArray>(selected) })
}

/// Releases a selection, and with it the array that it selects from.
unsafe extern "C" fn release(array: *mut FFI_ArrowArray) {
    let array: *mut RawArray = array.cast();
    // SAFETY: this is the callback of selections alone, whose private data is this box; without a callback
    // the array is released, so that nobody calls it again.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Selection>()));
        (*array).private_data = null_mut();
        (*array).release = None;
    }
}

impl RawArray {
    /// Whether counts and pointers are those that a type needs.
    fn check(&self, data_type: &DataType) -> Result<(), String> {
        self.check_length(data_type)?;
        self.check_buffers(data_type)?;
        let children = children_of(data_type);
        for (child, data_type) in self.children(children.len())?.into_iter().zip(children) {
            // SAFETY: it is not null, and by Arrow's C interface another array.
            unsafe { &*child }.check(data_type)?;
        }
        // SAFETY: by Arrow's C interface it is null or another array.
        match (unsafe { self.dictionary.as_ref() }, data_type) {
            (Some(dictionary), DataType::Dictionary(_, values)) => dictionary.check(values),
            (None, DataType::Dictionary(..)) => Err(wrong(data_type, "dictionary is missing")),
            (Some(_), _) => Err(wrong(data_type, "dictionary is one too many")),
            (None, _) => Ok(()),
        }
    }

    /// Whether buffers of this length have a size.
    fn check_length(&self, data_type: &DataType) -> Result<(), String> {
        const WIDEST: usize = 32;
        let width = match data_type {
            DataType::FixedSizeBinary(width) | DataType::FixedSizeList(_, width) => {
                usize::try_from(*width).unwrap_or(usize::MAX)
            }
            _ => WIDEST,
        };
        let length = |number: i64| usize::try_from(number).ok();
        let end = length(self.length).zip(length(self.offset));
        let bits = end
            .and_then(|(length, offset)| length.checked_add(offset)?.checked_add(1))
            .and_then(|end| end.checked_mul(width.max(WIDEST))?.checked_mul(8));
        let is_sound = bits.is_some_and(|bits| isize::try_from(bits).is_ok());
        if is_sound { Ok(()) } else { Err(wrong(data_type, "length or offset is none")) }
    }

    fn check_buffers(&self, data_type: &DataType) -> Result<(), String> {
        let layout = layout(data_type);
        // Views have a buffer with the lengths of those that their texts are in.
        let lengths = usize::from(layout.variadic);
        let least = layout.buffers.len() + usize::from(layout.can_contain_null_mask) + lengths;
        let count = usize::try_from(self.n_buffers).unwrap_or_default();
        // Before Arrow 1.0 unions had a null mask, and some write an empty list of buffers for no rows.
        let is_sound = if layout.variadic { count >= least } else { count == least };
        if !is_sound || (count > 0 && self.buffers.is_null()) {
            return Err(wrong(data_type, &format!("number of buffers is {}", self.n_buffers)));
        }
        if count == least || !layout.variadic {
            return Ok(());
        }
        // SAFETY: by Arrow's C interface there are `n_buffers` pointers, the last of which points to a number
        // for each buffer behind the null mask and the views.
        let lengths = unsafe { *self.buffers.add(count - 1) }.cast::<i64>();
        let is_length = |index| unsafe { lengths.add(index).read_unaligned() } >= 0;
        if lengths.is_null() || !(0..count - least).all(is_length) {
            return Err(wrong(data_type, "length of a buffer is none"));
        }
        Ok(())
    }

    /// The children, of which there must be so many.
    fn children(&self, count: usize) -> Result<Vec<*mut Self>, String> {
        let is_sound = usize::try_from(self.n_children).is_ok_and(|children| children == count);
        if !is_sound || (count > 0 && self.children.is_null()) {
            let reason = format!("an array has {} children instead of {count}", self.n_children);
            return Err(reason);
        }
        // SAFETY: by Arrow's C interface there are so many pointers.
        let child = |index| unsafe { *self.children.add(index) };
        let children: Vec<_> = (0..count).map(child).collect();
        if children.iter().any(|child| child.is_null()) {
            return Err("an array's child is missing".to_owned());
        }
        Ok(children)
    }
}

/// The types of what an array of a type has inside.
fn children_of(data_type: &DataType) -> Vec<&DataType> {
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => vec![item.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.data_type()).collect(),
        DataType::RunEndEncoded(ends, values) => vec![ends.data_type(), values.data_type()],
        _ => Vec::new(),
    }
}

fn wrong(data_type: &DataType, reason: &str) -> String {
    // A type's whole name may be as long as the schema.
    let name = data_type.to_string();
    let name = name.split(['(', ' ']).next().unwrap_or_default();
    format!("of an array of {name}, the {reason}")
}
