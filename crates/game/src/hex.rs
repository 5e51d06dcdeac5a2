//! Lower-case hex, the encoding of seeds, hashes and nonces.

/// Encodes bytes as hex.
pub fn encode(bytes: &[u8]) -> String {
    const_hex::encode(bytes)
}

/// Decodes hex; `None` if it is not lower case or of odd length.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    const_hex::decode(lower_case(text)?).ok()
}

/// Decodes exactly 32 bytes: 64 digits.
pub fn decode32(text: &str) -> Option<[u8; 32]> {
    const_hex::decode_to_array(lower_case(text)?).ok()
}

/// The text, unless it has capital digits or the prefix `0x`, which the library accepts.
fn lower_case(text: &str) -> Option<&str> {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).then_some(text)
}
