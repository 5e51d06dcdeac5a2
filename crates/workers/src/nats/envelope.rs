//! The first line of every message: the version of the messages, and in those of a coordinator the run and a signature.
//!
//! A client that may publish at the broker can send anything to workers, and a unit starts programs. Workers therefore take nothing
//! that is not signed with a key that they trust. The signature covers the subject, so that no message can be repeated on
//! another one, and the time, so that a later state of a worker is not replaced by an earlier one.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use referee_files::{Folder, read_secret};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use referee_game::{Wrong, hex};

/// The version of the messages. Each version has a stream of its own, so that no worker gets a unit of another one.
pub(super) const VERSION: u32 = 2;

/// The key with which coordinators sign messages to workers (Ed25519).
pub struct SigningKey(Ed25519KeyPair);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public())
    }
}

fn create(file: &Path, text: &str) -> io::Result<()> {
    let (folder, name) = Folder::of_file(file)?;
    folder.create(&name)?.write_all(text.as_bytes())
}

const NO_KEY: Wrong = Wrong::new("it has no key: expected a line with 64 hex digits");

/// The keys of a text: lines of hex digits. Empty lines and those that begin with `#` are ignored.
fn keys(text: &str) -> Result<Vec<[u8; 32]>, Wrong> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let keys: Vec<[u8; 32]> = lines
        .map(|(number, line)| {
            hex::decode32(line)
                .ok_or_else(|| format!("line {number}: expected 64 lower-case hex digits").into())
        })
        .collect::<Result<_, Wrong>>()?;
    if keys.is_empty() { Err(NO_KEY) } else { Ok(keys) }
}

impl SigningKey {
    /// The key of a file.
    ///
    /// # Errors
    /// If the text is not one.
    pub fn parse(text: &str) -> Result<SigningKey, Wrong> {
        SigningKey::of(&keys(text)?[0])
    }

    fn of(seed: &[u8; 32]) -> Result<SigningKey, Wrong> {
        Ed25519KeyPair::from_seed_unchecked(seed).map(SigningKey).map_err(|_| NO_KEY)
    }

    /// Makes a key. Returns the text of its file.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn generate() -> io::Result<String> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        Ok(format!("{}\n", hex::encode(&seed)))
    }

    /// The key in this file, whose public key is in another one. Makes those that are missing.
    ///
    /// # Errors
    /// If a file cannot be read or written, or has no key.
    pub fn kept(file: &Path, public: &Path) -> Result<SigningKey, Wrong> {
        if !file.exists() {
            create(file, &SigningKey::generate()?)?;
        }
        let key = SigningKey::parse(&read_secret(file)?)?;
        if !public.exists() {
            create(public, &format!("{}\n", key.public()))?;
        }
        Ok(key)
    }

    /// The public key, which workers trust: 64 hex digits.
    pub fn public(&self) -> String {
        hex::encode(self.0.public_key().as_ref())
    }

    /// The keys that a worker of this coordinator alone trusts.
    pub(super) fn trusted(&self) -> TrustedKeys {
        TrustedKeys(self.0.public_key().as_ref().try_into().into_iter().collect())
    }

    /// Makes a message: the head and the body.
    pub(super) fn seal(&self, subject: &str, run: &str, at: u64, body: &[u8]) -> Vec<u8> {
        let signature = self.0.sign(&covered(subject, run, at, body));
        let head = SignedHead {
            version: VERSION,
            run: run.to_owned(),
            at,
            signature: hex::encode(signature.as_ref()),
        };
        let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(body);
        bytes
    }
}

/// Signs the messages of one sender, each with a later time than the one before.
#[derive(Debug)]
pub(super) struct Signer {
    key: SigningKey,
    /// The id of its run, or of its trials.
    run: String,
    /// The time of the last message.
    at: Cell<u64>,
}

impl Signer {
    pub(super) fn new(key: SigningKey, run: String) -> Signer {
        Signer { key, run, at: Cell::new(0) }
    }

    /// Makes a message: the head and the body.
    pub(super) fn seal(&self, subject: &str, body: &[u8]) -> Vec<u8> {
        self.at.set(later_than(self.at.get()));
        self.key.seal(subject, &self.run, self.at.get(), body)
    }
}

fn covered(subject: &str, run: &str, at: u64, body: &[u8]) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(&(VERSION, subject, run, at)).unwrap_or_default();
    bytes.push(b'\n');
    bytes.extend_from_slice(body);
    bytes
}

/// The keys of the coordinators that a worker trusts.
#[derive(Clone, Debug)]
pub struct TrustedKeys(Vec<[u8; 32]>);

impl TrustedKeys {
    /// The public keys of a file, one a line.
    ///
    /// # Errors
    /// If a line is not one.
    pub fn parse(text: &str) -> Result<TrustedKeys, Wrong> {
        keys(text).map(TrustedKeys)
    }

    /// Opens a message that arrived on this subject.
    pub(super) fn open<'a>(
        &self,
        subject: &str,
        payload: &'a [u8],
    ) -> Result<SignedMessage<'a>, EnvelopeError> {
        let (head, body) = split(payload);
        let version = version(head)?;
        if version != VERSION {
            return Err(EnvelopeError::Version(version));
        }
        let SignedHead { run, at, signature, .. } = serde_json::from_slice(head)?;
        let signature = hex::decode(&signature).unwrap_or_default();
        let covered = covered(subject, &run, at, body);
        let is_signed =
            |key: &[u8; 32]| UnparsedPublicKey::new(&ED25519, key).verify(&covered, &signature).is_ok();
        if self.0.iter().any(is_signed) {
            Ok(SignedMessage { run, at, body })
        } else {
            Err(Wrong::new("it is not signed with a key that this worker trusts").into())
        }
    }
}

/// The head of a message of a coordinator.
#[derive(Serialize, Deserialize)]
struct SignedHead {
    version: u32,
    run: String,
    /// The time of sending: microseconds since 1970. Later messages of a coordinator have later times.
    at: u64,
    /// The signature as 128 hex digits.
    signature: String,
}

/// A message that a trusted coordinator has signed.
#[derive(Debug)]
pub(super) struct SignedMessage<'a> {
    pub(super) run: String,
    pub(super) at: u64,
    pub(super) body: &'a [u8],
}

/// Reasons why a message is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum EnvelopeError {
    #[error("it has version {0} of the messages, this program {VERSION}")]
    Version(u32),
    #[error(transparent)]
    Wrong(#[from] Wrong),
}

impl From<serde_json::Error> for EnvelopeError {
    fn from(error: serde_json::Error) -> EnvelopeError {
        Wrong::at("it is malformed", error).into()
    }
}

/// The first line of a message, and the rest.
pub(super) fn split(payload: &[u8]) -> (&[u8], &[u8]) {
    let end = payload.iter().position(|&byte| byte == b'\n').unwrap_or(payload.len());
    (&payload[..end], payload.get(end + 1..).unwrap_or_default())
}

/// The version of a message with this head: 1 if it states none.
pub(super) fn version(head: &[u8]) -> Result<u32, EnvelopeError> {
    #[derive(Deserialize)]
    struct AnyHead {
        #[serde(default = "first")]
        version: u32,
    }
    fn first() -> u32 {
        1
    }
    let AnyHead { version } = serde_json::from_slice(head)?;
    Ok(version)
}

/// The time of a message that is sent after the one of time `last`.
#[expect(clippy::disallowed_methods, reason = "no result depends on it")]
fn later_than(last: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64);
    now.max(last + 1)
}

#[cfg(test)]
mod tests {
    use referee_game::Chain;

    use super::*;

    fn key(byte: u8) -> SigningKey {
        SigningKey::of(&[byte; 32]).unwrap()
    }

    #[test]
    fn only_messages_signed_by_trusted_key_are_taken() {
        let (own, other) = (key(1), key(2));
        let message = own.seal("q.workers", "ab", 17, b"{}\n{}");
        let opened = own.trusted().open("q.workers", &message).unwrap();
        assert_eq!((&*opened.run, opened.at, opened.body), ("ab", 17, &b"{}\n{}"[..]));
        let refused = |keys: &TrustedKeys, subject: &str, message: &[u8]| {
            Chain(&keys.open(subject, message).unwrap_err()).to_string()
        };
        let unsigned = "it is not signed with a key that this worker trusts";
        assert_eq!(refused(&other.trusted(), "q.workers", &message), unsigned);
        assert_eq!(refused(&own.trusted(), "q.worker.box", &message), unsigned);
        let text = String::from_utf8(message.clone()).unwrap();
        for altered in
            [text.replace("\"ab\"", "\"cd\""), text.replace("17", "18"), text.replace("\n{}\n", "\n[]\n")]
        {
            assert_eq!(refused(&own.trusted(), "q.workers", altered.as_bytes()), unsigned);
        }
        let both = TrustedKeys::parse(&format!("# two\n{}\n\n{}\n", other.public(), own.public())).unwrap();
        both.open("q.workers", &message).unwrap();
    }

    #[test]
    fn a_message_of_another_version_is_named_as_such() {
        let refused = |message: &str| {
            Chain(&key(1).trusted().open("q.workers", message.as_bytes()).unwrap_err()).to_string()
        };
        assert_eq!(refused("{\"type\":\"over\"}"), "it has version 1 of the messages, this program 2");
        assert_eq!(refused("{\"version\":3}\nx"), "it has version 3 of the messages, this program 2");
        assert!(refused("").starts_with("it is malformed"));
    }

    #[test]
    fn keys_are_lines_of_hex_digits() {
        assert_eq!(SigningKey::parse(&SigningKey::generate().unwrap()).unwrap().public().len(), 64);
        assert!(TrustedKeys::parse("# none\n").unwrap_err().to_string().starts_with("it has no key"));
        assert!(TrustedKeys::parse("\nxyz\n").unwrap_err().to_string().starts_with("line 2:"));
    }
}
