//! The bots that take part in a run.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use referee_bots::CommandDefect;
use referee_bots::sandbox::{Mode, Sandbox};
use referee_protocol::referee::Clock;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::driver::BotHello;
use crate::sources::Source;

/// Checks that the programs of the bots exist, as far as possible without starting them.
///
/// # Errors
/// Which bot cannot be started, and why.
pub fn check_programs(entrants: &[BotSpec]) -> Result<(), UnstartableBot> {
    entrants.iter().try_for_each(|entrant| {
        let checked = entrant.source.check();
        checked.map_err(|defect| UnstartableBot { name: entrant.name.clone(), defect })
    })
}

/// A bot whose command cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bot `{name}` cannot be started: {defect}")]
pub struct UnstartableBot {
    /// Its label.
    pub name: String,
    /// What is wrong with its command.
    pub defect: CommandDefect,
}

/// A bot that takes part in a run.
#[derive(Clone, Debug)]
pub struct BotSpec {
    /// Its label in results, unique in the run.
    pub name: String,
    /// Where it comes from.
    pub source: Arc<dyn Source>,
    /// The factor of the common clock: 2 for twice as much time.
    pub clock_factor: f64,
    /// Whether it is restarted for every match.
    pub is_fresh: bool,
    /// Path and SHA-256 of its program and scripts.
    pub files: Vec<(String, String)>,
}

/// The clock of a bot with this factor, if that is not the common one.
pub fn with_factor(common: Clock, factor: f64) -> Option<Clock> {
    let share = |ms: u64| (ms as f64 * factor).round() as u64;
    let clock = Clock {
        delay_ms: share(common.delay_ms),
        bank_ms: share(common.bank_ms),
        increment_ms: share(common.increment_ms),
    };
    (clock != common).then_some(clock)
}

#[derive(Serialize)]
struct InHeader<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<String>,
    /// Path -> SHA-256.
    files: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<&'a Sandbox>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<&'a str>,
}

impl BotSpec {
    /// Creates one bot per source, in order.
    pub fn of(sources: Vec<Arc<dyn Source>>) -> Vec<BotSpec> {
        BotSpec::named(sources.into_iter().map(|source| (source, None)).collect(), HashSet::new())
    }

    /// Creates one bot per source, in order. Given names are distinct; the others are derived from the sources and differ
    /// from those in `taken`.
    pub fn named(
        sources: Vec<(Arc<dyn Source>, Option<String>)>,
        mut taken: HashSet<String>,
    ) -> Vec<BotSpec> {
        taken.extend(sources.iter().filter_map(|(_, name)| name.clone()));
        let named = sources.into_iter().map(|(source, given)| {
            let (label, files) = (source.label(), source.fingerprints());
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
        with_factor(common, self.clock_factor)
    }

    /// Its entry in the header of a record.
    pub(crate) fn in_header(&self, hello: Option<&BotHello>) -> Option<Box<RawValue>> {
        let command = self.source.command();
        let sandbox = command.map(|command| &command.sandbox);
        let in_header = InHeader {
            command: command.map(|command| &*command.argv),
            connection: self.source.connects_as().map(|_| self.source.to_string()),
            sandbox: sandbox.filter(|sandbox| sandbox.mode() != Mode::None),
            files: self.files.iter().map(|(path, hash)| (path.as_str(), hash.as_str())).collect(),
            name: hello.map_or("", |hello| &hello.name),
            version: hello.and_then(|hello| hello.version.as_deref()),
            author: hello.and_then(|hello| hello.author.as_deref()),
        };
        to_raw_value(&in_header).ok()
    }
}
