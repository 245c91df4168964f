//! How the tables that build.rs wrote are read: in place, as slices of little-endian numbers.

/// Bytes that begin at a cache line, so that no slot of a table crosses one.
#[repr(C, align(64))]
pub(super) struct Aligned<T: ?Sized>(pub(super) T);

/// Declares a static slice over a file of `OUT_DIR`, with the width of its elements in bytes.
///
/// The bytes are only in a static: a constant, even one for their number, would put them into the
/// crate's metadata again and double the size of the `rlib`.
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
