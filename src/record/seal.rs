//! The last line of a record.

use referee_protocol::referee::Reveal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::core::hex;
use crate::core::json::{Object, key, opening};

/// The last line of a record.
#[derive(Debug, Serialize, Deserialize)]
pub struct Seal {
    /// What the chance of the match came from; none while another match of the deal has not ended.
    pub reveal: Option<Reveal>,
    /// SHA-256 of all bytes before this line.
    pub sha256: String,
}

/// Adds what the shell knows of the bots. It cannot be replayed; the seal covers it.
pub fn add_bots(record: &mut Vec<u8>, bots: &impl Serialize) {
    Object::open(record, opening!("bots")).value(key!("bots"), bots).end_line();
}

/// Ends a record.
pub fn seal(record: &mut Vec<u8>, reveal: Reveal) {
    let seal = Seal { reveal: Some(reveal), sha256: hex::encode(&Sha256::digest(&*record)) };
    Object::open(record, opening!("seal")).fields(&seal).end_line();
}
