//! Lower-case hex, the encoding of seeds, hashes and nonces.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

pub fn encode(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Decodes hex; `None` if it is not lower case or of odd length.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |digit| DIGITS.iter().position(|&known| known == digit).map(|value| value as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| if let [high, low] = *pair { Some(digit(high)? << 4 | digit(low)?) } else { None })
        .collect()
}

/// Decodes exactly 32 bytes: 64 digits.
pub fn decode32(text: &str) -> Option<[u8; 32]> {
    decode(text)?.try_into().ok()
}
