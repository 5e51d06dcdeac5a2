//! Messages between a coordinator and its workers: units of work and their outcomes.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use referee_protocol::referee::Clock;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use crate::archive::ArchiveId;
use referee_bots::Command;
use referee_bots::sandbox::{Mode, Sandbox};
use referee_engine::driver::Terms;
use referee_engine::runner::{Fixture, MatchSecret, Wait};
use referee_engine::sources::{BotSpec, with_factor};
use referee_game::chance::Seed;
use referee_game::{Wrong, hex};
use referee_match::{Leg, Opening};

/// The maximum size of a work unit as JSON, in bytes.
pub const UNIT_BYTES: usize = 1024 * 1024;
/// The maximum size of an encoded outcome, in bytes.
pub const OUTCOME_BYTES: usize = 64 * 1024 * 1024;
/// The maximum size of the records of an outcome, in bytes.
pub const RECORD_BYTES: usize = 256 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnitId {
    /// The id of the run: 32 hex digits, random.
    pub run: String,
    /// The number of the set, from 1.
    pub set: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
}

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.attempt {
            1 => write!(f, "s{}", self.set),
            attempt => write!(f, "s{}.{attempt}", self.set),
        }
    }
}

/// The matches of a set that are to be played on one machine, with all that is needed to play them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkUnit {
    pub id: UnitId,
    pub game: String,
    /// The version of its rules.
    pub rules: u32,
    /// The archive of its directory, if its rules are a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game_files: Option<ArchiveId>,
    pub seats: u8,
    pub sides: u8,
    /// The terms of its matches.
    pub terms: Terms,
    pub options: Box<RawValue>,
    pub opening: Opening,
    /// The deal that the matches share; `None` if there is one match with a deal of its own.
    pub deal: Option<String>,
    pub bots: Vec<UnitBot>,
    /// Workers that do not get it, since a bot did not start there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub avoid: Vec<String>,
    /// The matches, in the order in which they are played, one at a time. If one has to be replayed, those after it
    /// are not played.
    pub matches: Vec<UnitMatch>,
}

impl WorkUnit {
    /// The position of a match in its mirrored set.
    pub(super) fn leg(&self, index: usize) -> Leg {
        match (&self.deal, index + 1 == self.matches.len()) {
            (None, _) => Leg::Only,
            (Some(_), true) => Leg::Last,
            (Some(_), false) => Leg::Earlier,
        }
    }

    /// The archives that a machine needs to play it.
    pub fn archives(&self) -> impl Iterator<Item = ArchiveId> {
        let of_bot = |bot: &UnitBot| match bot.place {
            Place::Archive(id, _) => Some(id),
            Place::Installed(_) => None,
        };
        self.game_files.into_iter().chain(self.bots.iter().filter_map(of_bot))
    }

    /// The matches, in a run in which the bots of the unit have these indices.
    pub fn fixtures(&self, bots: &[usize]) -> Vec<Fixture> {
        let (options, opening) = (Arc::from(self.options.clone()), Arc::new(self.opening.clone()));
        let fixture = |(index, of): (usize, &UnitMatch)| Fixture {
            id: of.id.clone(),
            deal: self.deal.clone(),
            leg: self.leg(index),
            options: Arc::clone(&options),
            opening: Arc::clone(&opening),
            bots: of.bots.iter().map(|&bot| bots[bot]).collect(),
            wait: Wait::Always,
            secret: Some(MatchSecret { seed: of.seed, salt: of.salt.0 }),
        };
        self.matches.iter().enumerate().map(fixture).collect()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnitMatch {
    /// The id: m17, or m17.2.
    pub id: String,
    /// By seat: the index in [`WorkUnit::bots`].
    pub bots: Vec<usize>,
    /// The seed of its deal.
    #[serde(with = "seed")]
    pub seed: Seed,
    /// The salt of its commitment, 64 hex digits.
    pub salt: Salt,
}

/// The salt of a commitment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(pub [u8; 32]);

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(secret)")
    }
}

impl Serialize for Salt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Salt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Salt, D::Error> {
        digits(deserializer).map(Salt)
    }
}

/// Serializes seeds as 64 hex digits.
mod seed {
    use super::{Deserializer, Seed, Serializer, digits};

    pub(super) fn serialize<S: Serializer>(seed: &Seed, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&seed.to_hex())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seed, D::Error> {
        digits(deserializer).map(Seed)
    }
}

fn digits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
    let text = String::deserialize(deserializer)?;
    hex::decode32(&text).ok_or_else(|| de::Error::custom("expected 64 lower-case hex digits"))
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitBot {
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Environment variables in addition to those that every bot gets.
    pub env: BTreeMap<String, String>,
    pub place: Place,
    /// Path -> SHA-256 of its program and scripts, as the coordinator has them.
    pub files: BTreeMap<String, String>,
    /// The sandbox. The machine needs all its layers.
    pub sandbox: Sandbox,
    /// The factor of the common clock.
    pub clock_factor: f64,
    /// Whether the bot is restarted for every match.
    pub is_fresh: bool,
    /// Whether requests to the bot come without the list of legal moves.
    #[serde(default)]
    pub hide_legal: bool,
}

impl UnitBot {
    /// A bot whose files are in this place on the machines of workers; `None` if it connects by itself.
    pub fn new(spec: &BotSpec, place: Place) -> Option<UnitBot> {
        let BotSpec { name, is_named_by_hello: _, source, clock_factor, is_fresh, hide_legal, files } = spec;
        let command = source.command()?;
        Some(UnitBot {
            name: name.clone(),
            argv: command.argv.clone(),
            env: command.env.clone(),
            place,
            files: files.iter().cloned().collect(),
            sandbox: command.sandbox.clone(),
            clock_factor: *clock_factor,
            is_fresh: *is_fresh,
            hide_legal: *hide_legal,
        })
    }

    /// The clock, if that is not the common one.
    pub fn clock(&self, common: Clock) -> Option<Clock> {
        with_factor(common, self.clock_factor)
    }

    /// Compares the files of the bot on another machine with those of the coordinator. A program that is found by its
    /// name is that of the machine, which may be another build.
    ///
    /// # Errors
    /// The first file that is missing or differs.
    pub fn compare_files(&self, others: &BTreeMap<String, String>) -> Result<(), Wrong> {
        let command = Command { argv: self.argv.clone(), ..Command::default() };
        let is_named = self.argv.is_empty() || !command.program().contains('/');
        let own = self.files.iter().filter(|(path, _)| !is_named || self.argv.contains(path));
        for (path, digest) in own {
            match others.get(path) {
                None => return Err(format!("{path} is missing").into()),
                Some(other) if other != digest => {
                    let (path, found, expected) = (path.clone(), other.clone(), digest.clone());
                    return Err(format!("{path} differs: its SHA-256 is {found}, not {expected}").into());
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Compares a sandbox with that of the unit, whose layers it needs.
    ///
    /// # Errors
    /// What differs.
    pub fn compare_sandbox(&self, other: &Sandbox) -> Result<(), Wrong> {
        if other.mode() != self.sandbox.mode() {
            return Err(format!(
                "the sandbox `{found}` instead of `{expected}`",
                found = other.mode(),
                expected = self.sandbox.mode()
            )
            .into());
        }
        if self.sandbox.mode() == Mode::None {
            // Records do not describe it.
            return Ok(());
        }
        if other.limits() != self.sandbox.limits() {
            return Err(format!("the sandbox `{}` with other limits", other.mode()).into());
        }
        match other.lacks(&self.sandbox) {
            Some(layer) => Err(format!("its sandbox lacks the layer {layer}").into()),
            None => Ok(()),
        }
    }
}

/// The location of a bot's files on the machine of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The working directory of a bot that is installed there.
    Installed(PathBuf),
    /// The archive in which the files travel, and the working directory relative to that of the archive.
    Archive(ArchiveId, PathBuf),
}

/// The records of a unit that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitOutcome {
    pub unit: UnitId,
    /// The sealed records of its matches in order. If one has to be replayed, it is the last.
    pub records: Vec<Vec<u8>>,
}

/// An outcome as it travels, which is decoded when it is verified.
#[derive(Clone, Debug)]
pub struct EncodedOutcome {
    /// The unit, as its sender says.
    pub unit: UnitId,
    /// See [`UnitOutcome::encode`].
    pub bytes: Vec<u8>,
    /// The memory that is reserved for it.
    pub place: Option<Arc<OwnedSemaphorePermit>>,
}

impl EncodedOutcome {
    /// Decodes it.
    ///
    /// # Errors
    /// If it is no outcome, see [`UnitOutcome::decode`], or that of another unit.
    pub fn decode(&self) -> Result<UnitOutcome, Wrong> {
        let outcome = UnitOutcome::decode(&self.bytes)?;
        match outcome.unit == self.unit {
            true => Ok(outcome),
            false => Err("it is the outcome of another unit".into()),
        }
    }
}

/// The first line of an encoded outcome.
#[derive(Serialize, Deserialize)]
struct OutcomeHead {
    unit: UnitId,
    /// The sizes of the records.
    records: Vec<usize>,
}

impl UnitOutcome {
    /// Encodes it: a line of JSON with the sizes of the records, then the records, compressed with zlib.
    ///
    /// # Errors
    /// If it exceeds the limits.
    pub fn encode(&self) -> Result<Vec<u8>, Wrong> {
        let records: Vec<usize> = self.records.iter().map(Vec::len).collect();
        check_size(&self.unit, records.iter().sum())?;
        let head = OutcomeHead { unit: self.unit.clone(), records };
        let mut bytes = serde_json::to_vec(&head).map_err(|why| Wrong::at("its first line", why))?;
        bytes.push(b'\n');
        let mut encoder = ZlibEncoder::new(bytes, Compression::fast());
        self.records
            .iter()
            .try_for_each(|record| encoder.write_all(record))
            .and_then(|()| encoder.finish())
            .map_err(|why| Wrong::at("it is not compressed", why))
            .and_then(|bytes| match bytes.len() {
                0..=OUTCOME_BYTES => Ok(bytes),
                size => {
                    Err(format!("{}: {size} bytes exceed the limit of {OUTCOME_BYTES}", self.unit).into())
                }
            })
    }

    #[cfg(test)]
    pub(super) fn encoded(&self) -> EncodedOutcome {
        EncodedOutcome { unit: self.unit.clone(), bytes: self.encode().unwrap(), place: None }
    }

    /// Decodes one.
    ///
    /// # Errors
    /// If it is malformed or exceeds the limits.
    pub fn decode(bytes: &[u8]) -> Result<UnitOutcome, Wrong> {
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or(Wrong::new("it has no first line"))?;
        let head: OutcomeHead =
            serde_json::from_slice(&bytes[..end]).map_err(|why| Wrong::at("its first line", why))?;
        let sum = head.records.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size));
        check_size(&head.unit, sum.unwrap_or(usize::MAX))?;
        let mut decoder = ZlibDecoder::new(&bytes[end + 1..]);
        let mut read = |&size: &usize| {
            // Not allocated before the bytes are there.
            let mut record = Vec::new();
            let got = decoder.by_ref().take(size as u64).read_to_end(&mut record);
            got.map_err(|why| Wrong::at("it is not compressed", why)).and_then(|got| match got == size {
                true => Ok(record),
                false => Err("it ends within a record".into()),
            })
        };
        let records = head.records.iter().map(&mut read).collect::<Result<_, _>>()?;
        match decoder.read(&mut [0]) {
            Ok(0) => Ok(UnitOutcome { unit: head.unit, records }),
            Ok(_) => Err("it is longer than its first line says".into()),
            Err(error) => Err(Wrong::at("it is not compressed", error)),
        }
    }
}

fn check_size(unit: &UnitId, size: usize) -> Result<(), Wrong> {
    if size <= RECORD_BYTES {
        return Ok(());
    }
    Err(format!("{unit}: the records exceed the limit of {RECORD_BYTES} bytes").into())
}

#[cfg(test)]
mod tests {
    use referee_game::Chain;

    use super::*;

    fn outcome() -> UnitOutcome {
        let unit = UnitId { run: "ab".repeat(16), set: 17, attempt: 2 };
        UnitOutcome { unit, records: vec![b"{}\n{}\n".to_vec(), Vec::new(), vec![7; 100_000]] }
    }

    #[test]
    fn outcomes_survive_encoding() {
        let bytes = outcome().encode().unwrap();
        assert!(bytes.len() < 2000, "{} bytes", bytes.len());
        assert_eq!(UnitOutcome::decode(&bytes).unwrap(), outcome());
    }

    #[test]
    fn damaged_outcomes_are_rejected() {
        let bytes = outcome().encode().unwrap();
        for cut in 0..bytes.len() {
            assert!(UnitOutcome::decode(&bytes[..cut]).is_err(), "{cut}");
        }
        let first_line = bytes.iter().position(|&byte| byte == b'\n').unwrap();
        let with_size = |size: &str| {
            let head = String::from_utf8(bytes[..first_line].to_vec()).unwrap().replace("100000", size);
            Chain(&UnitOutcome::decode(&[head.as_bytes(), &bytes[first_line..]].concat()).unwrap_err())
                .to_string()
        };
        assert_eq!(with_size("100001"), "it ends within a record");
        assert_eq!(with_size("99999"), "it is longer than its first line says");
        assert!(with_size("18446744073709551615").contains("exceed the limit"), "no overflow");
    }
}
