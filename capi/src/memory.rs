//! Memory that crosses the border: borrowed inputs, and buffers that the caller owns and uses again.

use std::{mem, ptr, slice, str};

use super::error::Failure;

/// Memory of the caller's, to which functions append: a vector, taken apart. Begin with all members 0; set `len` to 0 to
/// use it again; free it with [`harmony_buffer_free`] or [`harmony_tokens_free`].
#[repr(C)]
pub struct HarmonyOutput<T> {
    /// The items; NULL while there is no memory.
    pub data: *mut T,
    /// How many items there are.
    pub len: usize,
    /// For how many there is room.
    pub capacity: usize,
}

/// Bytes.
pub type HarmonyBuffer = HarmonyOutput<u8>;
/// Token ids.
pub type HarmonyTokens = HarmonyOutput<u32>;

/// Frees the memory of a buffer and sets its members to 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_buffer_free(buffer: *mut HarmonyBuffer) {
    drop(unsafe { taken(buffer) });
}

/// Frees the memory of token ids and sets the members to 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_tokens_free(tokens: *mut HarmonyTokens) {
    drop(unsafe { taken(tokens) });
}

/// Makes room for this many more bytes, so that a caller can write an input: for WebAssembly, where memory is the
/// library's. Without enough memory the capacity stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_buffer_reserve(buffer: *mut HarmonyBuffer, more: usize) {
    let room = |bytes: &mut Vec<u8>| {
        // The capacity says whether there is room.
        let _ = bytes.try_reserve(more);
        Ok(())
    };
    let _ = unsafe { append(buffer, room) };
}

/// The vector of an output, the members of which become 0; `None` for NULL.
unsafe fn taken<T>(output: *mut HarmonyOutput<T>) -> Option<Vec<T>> {
    // SAFETY: NULL, or the caller's output, which nothing else uses during the call.
    let output = unsafe { output.as_mut() }?;
    let (len, capacity) = (mem::take(&mut output.len), mem::take(&mut output.capacity));
    let data = mem::replace(&mut output.data, ptr::null_mut());
    if data.is_null() {
        return Some(Vec::new());
    }
    // SAFETY: the members are those of a vector that `append` took apart; a caller may only lower `len`.
    Some(unsafe { Vec::from_raw_parts(data, len.min(capacity), capacity) })
}

/// Lets a function append to an output. What it appended before an error stays.
pub(crate) unsafe fn append<T>(
    output: *mut HarmonyOutput<T>, write: impl FnOnce(&mut Vec<T>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut all = there(unsafe { taken(output) }, "an output")?;
    let written = write(&mut all);
    // SAFETY: it is not NULL, since it was taken.
    let output = unsafe { &mut *output };
    (output.len, output.capacity) = (all.len(), all.capacity());
    if output.capacity != 0 {
        output.data = mem::ManuallyDrop::new(all).as_mut_ptr();
    }
    written
}

/// Appends items.
pub(crate) unsafe fn extend<T: Clone>(
    output: *mut HarmonyOutput<T>, more: &[T],
) -> Result<(), Failure> {
    let all = |all: &mut Vec<T>| {
        all.extend_from_slice(more);
        Ok(())
    };
    unsafe { append(output, all) }
}

/// An input of the caller's.
pub(crate) unsafe fn borrowed<'a, T>(data: *const T, len: usize) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    there((!data.is_null()).then_some(()), "an input")?;
    if !data.is_aligned() || len > isize::MAX as usize / size_of::<T>() {
        return Err(Failure::argument(format!("no input is at {data:p} with the length {len}")));
    }
    // SAFETY: the caller's pointer is valid for its length.
    Ok(unsafe { slice::from_raw_parts(data, len) })
}

/// The same as text.
pub(crate) unsafe fn text<'a>(data: *const u8, len: usize) -> Result<&'a str, Failure> {
    // SAFETY: as for `borrowed`.
    str::from_utf8(unsafe { borrowed(data, len) }?)
        .map_err(|error| Failure::argument(format!("not UTF-8 at byte {}", error.valid_up_to())))
}

/// A handle of the caller's.
pub(crate) unsafe fn handle<'a, T>(handle: *const T) -> Result<&'a T, Failure> {
    // SAFETY: NULL, or a handle from this library that is not freed.
    there(unsafe { handle.as_ref() }, "the handle")
}

/// The same, to change it.
pub(crate) unsafe fn handle_mut<'a, T>(handle: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: as for `handle`; one thread at a time uses it.
    there(unsafe { handle.as_mut() }, "the handle")
}

/// Gives the caller a new handle.
pub(crate) unsafe fn give<T>(to: *mut *mut T, value: T) -> Result<(), Failure> {
    // SAFETY: NULL, or a place for a handle.
    *there(unsafe { to.as_mut() }, "the place of a handle")? = Box::into_raw(Box::new(value));
    Ok(())
}

fn there<T>(found: Option<T>, what: &str) -> Result<T, Failure> {
    found.ok_or_else(|| Failure::argument(format!("{what} is NULL")))
}

/// Frees a handle.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: it comes from `give`, and the caller frees it once.
        drop(unsafe { Box::from_raw(handle) });
    }
}
