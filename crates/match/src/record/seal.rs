//! The last line of a record.

use referee_game::chance::Seed;
use referee_game::hex;
use referee_game::json::{Object, key, opening};
use referee_protocol::referee::Reveal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The last line of a record.
#[derive(Debug, Serialize, Deserialize)]
pub struct Seal {
    /// The seed, salt, deal and nonces; `None` while another match of the deal has not ended.
    pub reveal: Option<Reveal>,
    /// SHA-256 of all bytes before this line.
    pub sha256: String,
}

impl Seal {
    /// Returns whether it reveals that this match on this deal was played with the seed of this run.
    pub fn is_of(&self, run: &Seed, deal: &str, match_id: &str) -> bool {
        self.reveal.as_ref().is_some_and(|reveal| {
            reveal.seed == run.of_deal(deal).to_hex() && reveal.salt == hex::encode(&run.salt(match_id))
        })
    }
}

/// Appends information about the bots from the shell, and how often the rules had to be asked again. It cannot be replayed;
/// the seal covers it.
pub fn add_bots(record: &mut Vec<u8>, bots: &impl Serialize, rules_restarts: u32) {
    let mut line = Object::open(record, opening!("bots"));
    line.value(key!("bots"), bots);
    if rules_restarts > 0 {
        line.number(key!("rules_restarts"), rules_restarts);
    }
    line.end_line();
}

/// Computes the `sha256` for the seal of an unsealed record.
pub fn digest(record: &[u8]) -> String {
    hex::encode(&Sha256::digest(record))
}

/// Appends the seal. Returns its `sha256`.
pub fn seal(record: &mut Vec<u8>, reveal: Reveal) -> String {
    let seal = Seal { reveal: Some(reveal), sha256: digest(record) };
    seal.write(record);
    seal.sha256
}

impl Seal {
    pub(super) fn write(&self, record: &mut Vec<u8>) {
        Object::open(record, opening!("seal")).fields(self).end_line();
    }
}
