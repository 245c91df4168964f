//! The classes of sixty-four bytes at once, a bit for each byte.

pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
pub(super) mod vectors;

/// Which bytes are in which class of the pattern, or are what one of its rules asks for. The lowest
/// bit is that of the first byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Classes {
    pub(super) capital: u64,
    pub(super) small: u64,
    pub(super) digit: u64,
    /// `[\r\n]`.
    pub(super) newline: u64,
    /// White space that is no newline.
    pub(super) indent: u64,
    /// The space character.
    pub(super) blank: u64,
    pub(super) apostrophe: u64,
    pub(super) slash: u64,
    /// What is not ASCII, and in no other class.
    pub(super) non_ascii: u64,
}

impl Classes {
    pub(super) fn letter(&self) -> u64 {
        self.capital | self.small
    }

    pub(super) fn space(&self) -> u64 {
        self.newline | self.indent
    }

    /// All ASCII that is neither letter, digit nor white space, control characters too.
    pub(super) fn punctuation(&self) -> u64 {
        !(self.letter() | self.digit | self.space() | self.non_ascii)
    }

    /// Newlines right behind punctuation, which they belong to with those that follow.
    pub(super) fn first_newline_of_punctuation(&self) -> u64 {
        self.newline & self.punctuation() << 1
    }

    /// White space that begins a line.
    pub(super) fn line_indent(&self) -> u64 {
        self.indent & self.newline << 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::window::{WINDOW_LEN, Window};
    use super::*;

    /// By the names that the standard library has for them.
    fn expected(window: &Window) -> Classes {
        let mask = |is: fn(u8) -> bool| {
            (0..WINDOW_LEN).fold(0, |mask, at| mask | u64::from(is(window[at])) << at)
        };
        Classes {
            capital: mask(|byte| byte.is_ascii_uppercase()),
            small: mask(|byte| byte.is_ascii_lowercase()),
            digit: mask(|byte| byte.is_ascii_digit()),
            newline: mask(|byte| matches!(byte, b'\r' | b'\n')),
            indent: mask(|byte| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)),
            blank: mask(|byte| byte == b' '),
            apostrophe: mask(|byte| byte == b'\''),
            slash: mask(|byte| byte == b'/'),
            non_ascii: mask(|byte| !byte.is_ascii()),
        }
    }

    fn check(window: &Window) {
        let expected = expected(window);
        assert_eq!(portable::classes(window), expected, "of {window:?}");
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            assert_eq!(unsafe { vectors::classes(window) }, expected, "of {window:?}");
        }
    }

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=u8::MAX {
            check(&[byte; _]);
            for at in 0..WINDOW_LEN {
                let mut window: Window = [b'a'; _];
                window[at] = byte;
                check(&window);
            }
        }
    }

    proptest! {
        #[test]
        fn random_bytes(window in prop::array::uniform32(any::<[u8; 3]>())) {
            if let Some(window) = window.as_flattened().first_chunk() {
                check(window);
            }
        }
    }
}
