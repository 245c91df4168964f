//! How the tables that build.rs wrote are read: in place, as slices of little-endian numbers.

/// Bytes that begin at a cache line, so that no slot of a table lies across two.
#[repr(C, align(64))]
pub(super) struct Aligned<T: ?Sized>(pub(super) T);

/// Declares a static slice over a file of `OUT_DIR`, with the width of its elements in bytes.
///
/// The bytes are in a static and nowhere else: a constant, if only for their number, would put
/// them into the crate's metadata once more, and the `rlib` would be twice as large.
macro_rules! table {
    ($(#[$meta:meta])* $name:ident, $width:literal, $file:literal) => {
        $(#[$meta])*
        static $name: &[[u8; $width]] = {
            static TABLE: &crate::tokenizer::tables::Aligned<[u8]> =
                &crate::tokenizer::tables::Aligned(*include_bytes!(concat!(
                    env!("OUT_DIR"),
                    "/",
                    $file
                )));
            TABLE.0.as_chunks().0
        };
    };
}

pub(super) use table;
