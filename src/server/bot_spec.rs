//! The bots that take part in a run.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::str::FromStr;

use referee_protocol::limits;
use referee_protocol::referee::Clock;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::bot::Command;
use crate::server::BotHello;

/// Where a bot comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The referee starts it.
    Command(Command),
    /// It connects with this name in its `hello`.
    Tcp(String),
}

impl FromStr for Source {
    type Err = String;
    fn from_str(text: &str) -> Result<Source, String> {
        let Some(name) = text.strip_prefix("tcp:") else { return text.parse().map(Source::Command) };
        check_name(name).map_err(|what| format!("`{text}`: {what}"))?;
        Ok(Source::Tcp(name.to_owned()))
    }
}

/// Validates a bot name.
///
/// # Errors
/// A description of valid names.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._- ".contains(c);
    if (1..=limits::NAME).contains(&name.len()) && name.chars().all(is_plain) {
        Ok(())
    } else {
        Err("a name has 1 to 64 characters: ASCII letters, digits, `.`, `_`, `-` and space".to_owned())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Command(command) => command.fmt(f),
            Source::Tcp(name) => write!(f, "tcp:{name}"),
        }
    }
}

/// Checks that the programs of the bots exist, as far as possible without starting them.
///
/// # Errors
/// Which bot cannot be started, and why.
pub fn check_programs(entrants: &[BotSpec]) -> Result<(), String> {
    entrants.iter().try_for_each(|entrant| match &entrant.source {
        Source::Command(command) => {
            command.check().map_err(|what| format!("the bot `{}` cannot be started: {what}", entrant.name))
        }
        Source::Tcp(_) => Ok(()),
    })
}

/// A bot that takes part in a run.
#[derive(Clone, Debug)]
pub struct BotSpec {
    /// Its label in results, unique in the run.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// The factor of the common clock: 2 for twice as much time.
    pub clock_factor: f64,
    /// Whether it is restarted for every match.
    pub is_fresh: bool,
    /// Path and SHA-256 of its program and scripts.
    pub files: Vec<(String, String)>,
}

#[derive(Serialize)]
struct InHeader<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<String>,
    /// Path -> SHA-256.
    files: BTreeMap<&'a str, &'a str>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<&'a str>,
}

impl BotSpec {
    /// Creates one bot per source, in order.
    pub fn of(sources: Vec<Source>) -> Vec<BotSpec> {
        BotSpec::named(sources.into_iter().map(|source| (source, None)).collect(), HashSet::new())
    }

    /// Creates one bot per source, in order. Given names are distinct; the others are derived from the sources and differ
    /// from those in `taken`.
    pub fn named(sources: Vec<(Source, Option<String>)>, mut taken: HashSet<String>) -> Vec<BotSpec> {
        taken.extend(sources.iter().filter_map(|(_, name)| name.clone()));
        let named = sources.into_iter().map(|(source, given)| {
            let (label, files) = match &source {
                Source::Command(command) => (command.label(), command.fingerprints()),
                Source::Tcp(name) => (name.clone(), Vec::new()),
            };
            let name = given.unwrap_or_else(|| {
                let mut numbered = (2..).map(|n| format!("{label}-{n}"));
                let mut name = label.clone();
                while !taken.insert(name.clone()) {
                    name = numbered.next().unwrap_or_default();
                }
                name
            });
            BotSpec { name, source, clock_factor: 1.0, is_fresh: false, files }
        });
        named.collect()
    }

    /// Its clock, if that is not the common one.
    pub fn clock(&self, common: Clock) -> Option<Clock> {
        let share = |ms: u64| (ms as f64 * self.clock_factor).round() as u64;
        let clock = Clock {
            delay_ms: share(common.delay_ms),
            bank_ms: share(common.bank_ms),
            increment_ms: share(common.increment_ms),
        };
        (clock != common).then_some(clock)
    }

    /// Its entry in the header of a record.
    pub(super) fn in_header(&self, hello: Option<&BotHello>) -> Option<Box<RawValue>> {
        let (command, connection) = match &self.source {
            Source::Command(command) => (Some(&*command.argv), None),
            Source::Tcp(_) => (None, Some(self.source.to_string())),
        };
        let in_header = InHeader {
            command,
            connection,
            files: self.files.iter().map(|(path, hash)| (path.as_str(), hash.as_str())).collect(),
            name: hello.map_or("", |hello| &hello.name),
            version: hello.and_then(|hello| hello.version.as_deref()),
            author: hello.and_then(|hello| hello.author.as_deref()),
        };
        to_raw_value(&in_header).ok()
    }
}
