//! HMAC-SHA256 (RFC 2104).

use sha2::{Digest, Sha256};

/// The size of a block of SHA-256, in bytes.
const BLOCK: usize = 64;

/// A key of 32 bytes that has been hashed, which is half of the work for a short text.
#[derive(Clone, Debug)]
pub(crate) struct Hmac {
    inner: Sha256,
    outer: Sha256,
}

impl Hmac {
    pub(crate) fn new(key: &[u8; 32]) -> Hmac {
        let padded = |pad: u8| {
            let mut block = [pad; BLOCK];
            block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
            Sha256::new_with_prefix(block)
        };
        Hmac { inner: padded(0x36), outer: padded(0x5c) }
    }

    /// Authenticates the parts, joined.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        let inner = parts.iter().fold(self.inner.clone(), |inner, part| inner.chain_update(part));
        self.outer.clone().chain_update(inner.finalize()).finalize().into()
    }
}
