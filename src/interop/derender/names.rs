//! Tokens by their names in the file of a byte-level tokenizer, which is how vLLM keeps them in a state.

use crate::error::{ErrorKind, Result};
use crate::path::Path;
use crate::tokenizer::{TokenId, Tokenizer};

/// A visible Latin-1 character represents its own byte; the other bytes are numbered from here on.
const HIDDEN: u32 = 256;

fn is_visible(byte: u8) -> bool {
    matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF)
}

/// The bytes without a visible character of their own, in order.
fn hidden() -> impl Iterator<Item = u8> {
    (0..=u8::MAX).filter(|&byte| !is_visible(byte))
}

pub(super) fn name(tokenizer: Tokenizer, token: TokenId) -> Result<String> {
    let bytes = tokenizer.decode_bytes([token])?;
    let character = |byte: u8| {
        let at = hidden().position(|hidden| hidden == byte).unwrap_or_default();
        let numbered = || (HIDDEN + u32::try_from(at).unwrap_or_default()).try_into().ok();
        if is_visible(byte) { Some(char::from(byte)) } else { numbered() }
    };
    Ok(bytes.into_iter().filter_map(character).collect())
}

/// The text of tokens given by name.
pub(super) fn text(names: &[String]) -> Result<String> {
    let byte = |character: char| match u8::try_from(u32::from(character)) {
        Ok(byte) if is_visible(byte) => Some(byte),
        _ => {
            let at = u32::from(character).checked_sub(HIDDEN)?;
            hidden().nth(usize::try_from(at).ok()?)
        }
    };
    let bytes: Option<Vec<u8>> = names.iter().flat_map(|name| name.chars()).map(byte).collect();
    let bytes = bytes.ok_or_else(|| ErrorKind::InvalidRequest {
        path: Path::of("stream_state").then("prev_tokens".to_owned()),
        reason: crate::error::Reason::is("not tokens of this tokenizer"),
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_name_of_its_own() {
        let tokenizer = Tokenizer::o200k_harmony();
        let bytes: Vec<_> = (0..=u8::MAX).map(Tokenizer::byte_token).collect();
        let names: Vec<_> = bytes.iter().filter_map(|&id| name(tokenizer, id).ok()).collect();
        assert_eq!(names[b' ' as usize], "\u{120}");
        assert_eq!(names[b'\n' as usize], "\u{10A}");
        for (byte, name) in (0..=127_u8).zip(&names) {
            assert_eq!(text(std::slice::from_ref(name)).ok(), Some(char::from(byte).to_string()));
        }
        let all: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(all.len(), 256);
    }
}
