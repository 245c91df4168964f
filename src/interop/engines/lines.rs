//! Bytes -> lines, and the data in them.

use super::{EngineFault, Fault};

/// The longest line that an engine may send, in bytes; longer ones are not events.
const MOST: usize = 16 << 20;

/// Cuts bytes into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
}

impl Lines {
    /// Gives each complete line to `take`.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(&[u8]) -> Fault<()>,
    ) -> Fault<()> {
        let mut bytes = bytes;
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            if self.rest.is_empty() {
                take(&bytes[..end])?;
            } else {
                self.rest.extend_from_slice(&bytes[..end]);
                take(&std::mem::take(&mut self.rest))?;
            }
            bytes = &bytes[end + 1..];
        }
        self.rest.extend_from_slice(bytes);
        if self.rest.len() > MOST {
            return Err(EngineFault::broke(format!("sends a line of more than {MOST} bytes")));
        }
        Ok(())
    }

    /// What follows the last line.
    pub(super) fn into_rest(self) -> Vec<u8> {
        self.rest
    }
}

/// The data in a line of a server-sent event, or a line of JSON. Comments, event names and `[DONE]` have none.
pub(super) fn data(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    if let Some(data) = line.strip_prefix(b"data:") {
        let data = data.trim_ascii_start();
        return if data == b"[DONE]" { b"" } else { data };
    }
    let fields: [&[u8]; 4] = [b":", b"event:", b"id:", b"retry:"];
    if fields.iter().any(|field| line.starts_with(field)) { b"" } else { line }
}
