//! Memory that crosses the border: borrowed inputs, and buffers that the caller owns and uses again.

use std::{ptr, slice, str};

use super::error::Failure;

/// Bytes of the caller's, to which functions append. Begin with all members 0; set `len` to 0 to use it again; free it
/// with [`harmony_buffer_free`].
#[repr(C)]
pub struct HarmonyBuffer {
    /// The bytes; NULL while there is no memory.
    pub data: *mut u8,
    /// How many bytes there are.
    pub len: usize,
    /// For how many there is room.
    pub capacity: usize,
}

/// Token ids of the caller's, to which functions append: as [`HarmonyBuffer`].
#[repr(C)]
pub struct HarmonyTokens {
    /// The token ids; NULL while there is no memory.
    pub data: *mut u32,
    /// How many token ids there are.
    pub len: usize,
    /// For how many there is room.
    pub capacity: usize,
}

/// Frees the memory of a buffer and sets its members to 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_buffer_free(buffer: *mut HarmonyBuffer) {
    // SAFETY: NULL, or a buffer whose members come from this library or are 0.
    if let Some(buffer) = unsafe { buffer.as_mut() } {
        drop(unsafe { taken(&mut buffer.data, &mut buffer.len, &mut buffer.capacity) });
    }
}

/// Frees the memory of token ids and sets the members to 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_tokens_free(tokens: *mut HarmonyTokens) {
    // SAFETY: as for a buffer.
    if let Some(tokens) = unsafe { tokens.as_mut() } {
        drop(unsafe { taken(&mut tokens.data, &mut tokens.len, &mut tokens.capacity) });
    }
}

/// Makes room for this many more bytes, so that a caller can write an input: for WebAssembly, where memory is the
/// library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn harmony_buffer_reserve(buffer: *mut HarmonyBuffer, more: usize) {
    // SAFETY: as for `harmony_buffer_free`.
    let room = |bytes: &mut Vec<u8>| {
        bytes.reserve(more);
        Ok(())
    };
    let _ = unsafe { append(buffer, room) };
}

/// The vector that the members describe; they become 0.
unsafe fn taken<T>(data: &mut *mut T, len: &mut usize, capacity: &mut usize) -> Vec<T> {
    if data.is_null() {
        (*len, *capacity) = (0, 0);
        return Vec::new();
    }
    // SAFETY: the members are those of a vector that `put` took apart; a caller may only lower `len`.
    let whole = unsafe { Vec::from_raw_parts(*data, (*len).min(*capacity), *capacity) };
    (*data, *len, *capacity) = (ptr::null_mut(), 0, 0);
    whole
}

fn put<T>(mut whole: Vec<T>, data: &mut *mut T, len: &mut usize, capacity: &mut usize) {
    (*len, *capacity) = (whole.len(), whole.capacity());
    *data = if whole.capacity() == 0 { ptr::null_mut() } else { whole.as_mut_ptr() };
    std::mem::forget(whole);
}

/// Lets a function append to a buffer. What it appended before an error stays.
pub(crate) unsafe fn append<R>(
    buffer: *mut HarmonyBuffer,
    write: impl FnOnce(&mut Vec<u8>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    // SAFETY: NULL, or the caller's buffer, which nothing else uses during the call.
    let buffer =
        unsafe { buffer.as_mut() }.ok_or_else(|| Failure::argument("the buffer is NULL"))?;
    let HarmonyBuffer { data, len, capacity } = buffer;
    let mut bytes = unsafe { taken(data, len, capacity) };
    let written = write(&mut bytes);
    put(bytes, data, len, capacity);
    written
}

/// Appends token ids.
pub(crate) unsafe fn append_tokens(
    tokens: *mut HarmonyTokens,
    more: &[u32],
) -> Result<(), Failure> {
    // SAFETY: as for a buffer.
    let tokens =
        unsafe { tokens.as_mut() }.ok_or_else(|| Failure::argument("the tokens are NULL"))?;
    let HarmonyTokens { data, len, capacity } = tokens;
    let mut all = unsafe { taken(data, len, capacity) };
    all.extend_from_slice(more);
    put(all, data, len, capacity);
    Ok(())
}

/// An input of the caller's.
pub(crate) unsafe fn borrowed<'a, T>(data: *const T, len: usize) -> Result<&'a [T], Failure> {
    if data.is_null() || len == 0 {
        let is_empty = len == 0;
        return if is_empty { Ok(&[]) } else { Err(Failure::argument("an input is NULL")) };
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
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::argument("the handle is NULL"))
}

/// The same, to change it.
pub(crate) unsafe fn handle_mut<'a, T>(handle: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: as for `handle`; one thread at a time uses it.
    unsafe { handle.as_mut() }.ok_or_else(|| Failure::argument("the handle is NULL"))
}

/// Gives the caller a new handle.
pub(crate) unsafe fn give<T>(to: *mut *mut T, value: T) -> Result<(), Failure> {
    // SAFETY: NULL, or a place for a handle.
    let to = unsafe { to.as_mut() }.ok_or_else(|| Failure::argument("the place is NULL"))?;
    *to = Box::into_raw(Box::new(value));
    Ok(())
}

/// Frees a handle.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: it comes from `give`, and the caller frees it once.
        drop(unsafe { Box::from_raw(handle) });
    }
}
