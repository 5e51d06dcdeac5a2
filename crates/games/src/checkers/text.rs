//! Square numbers and short texts, without heap allocation.

use std::fmt;

/// A text of at most `N` ASCII characters, built on the stack.
pub(super) struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    pub(super) const fn new() -> Self {
        Text { bytes: [0; N], len: 0 }
    }

    pub(super) fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_else(|_| unreachable!("only ASCII is pushed"))
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Passes the number of the square with this index, 1 to 32, to `push`.
pub(super) fn spell_square(square: u32, mut push: impl FnMut(u8)) {
    let number = square as u8 + 1;
    if number >= 10 {
        push(b'0' + number / 10);
    }
    push(b'0' + number % 10);
}

/// Parses a square number; `None` unless it is 1 to 32, without sign or leading zero. Returns the index.
pub(super) fn read_square(number: &str) -> Option<u32> {
    let number = match *number.as_bytes() {
        [ones @ b'1'..=b'9'] => ones - b'0',
        [tens @ b'1'..=b'3', ones @ b'0'..=b'9'] => (tens - b'0') * 10 + (ones - b'0'),
        _ => return None,
    };
    (number <= 32).then(|| u32::from(number) - 1)
}
