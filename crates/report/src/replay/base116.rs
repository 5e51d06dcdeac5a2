//! Bytes as text in a page: six bytes are seven digits, which are ASCII characters that neither a parser of HTML nor
//! programs that copy text change. Base64 is 14% longer, and base 91 is 5% longer.

use std::sync::LazyLock;

const BASE: u64 = 116;
/// The bytes and the digits of a group. The last group may be shorter: its bytes and one digit more.
const BYTES: usize = 6;
const DIGITS: usize = BYTES + 1;

/// The ASCII characters that are not digits: NUL, BEL, BS, TAB, LF, FF, CR, SUB, ESC, `&`, `<`, DEL.
const EXCLUDED: [u8; 12] = *b"\x00\x07\x08\t\n\x0c\r\x1a\x1b&<\x7f";

/// The digits in order, and by character the value of the digit.
static ALPHABET: LazyLock<(Vec<u8>, [Option<u8>; 128])> = LazyLock::new(|| {
    let digits: Vec<u8> = (0..128).filter(|digit| !EXCLUDED.contains(digit)).collect();
    let mut values = [None; 128];
    (0..).zip(&digits).for_each(|(value, &digit)| values[usize::from(digit)] = Some(value));
    (digits, values)
});

/// The digits of these bytes.
pub(super) fn encode(bytes: &[u8]) -> String {
    let (digits, _) = &*ALPHABET;
    let mut text = String::with_capacity(bytes.len() * DIGITS / BYTES + 2);
    for group in bytes.chunks(BYTES) {
        let mut number = group.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        for _ in 0..=group.len() {
            text.push(char::from(digits[(number % BASE) as usize]));
            number /= BASE;
        }
    }
    text
}

/// The bytes of these digits; `None` if they are not what [`encode`] writes.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let (_, values) = &*ALPHABET;
    let mut bytes = Vec::with_capacity(text.len() * BYTES / DIGITS + 1);
    for group in text.as_bytes().chunks(DIGITS) {
        let mut number = 0;
        for &digit in group.iter().rev() {
            number = number * BASE + u64::from((*values.get(usize::from(digit))?)?);
        }
        let count = group.len() - 1;
        bytes.extend_from_slice(&number.to_le_bytes()[..count]);
        if count == 0 || number >> (8 * count) != 0 {
            return None;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_restored() {
        let all: Vec<u8> =
            (0..=255).flat_map(|first| (0..=255).flat_map(move |next| [first, next])).collect();
        let digits = encode(&all);
        assert_eq!(decode(&digits).expect("digits"), all);
        let is_safe = |byte: u8| byte.is_ascii() && !EXCLUDED.contains(&byte);
        assert!(digits.bytes().all(is_safe));
        for length in 0..=13 {
            for byte in [0, 0x7f, 0xff] {
                let bytes = vec![byte; length];
                let digits = encode(&bytes);
                assert_eq!(digits.len(), length + length.div_ceil(BYTES));
                assert_eq!(decode(&digits).expect("digits"), bytes);
            }
        }
    }

    #[test]
    fn rejects_what_is_not_encoded() {
        for text in ["1", "1234567<", "\u{e9}\u{e9}", "~~", "~~~~~~~", "12345671"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
