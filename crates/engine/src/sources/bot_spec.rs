//! The bots that take part in a run.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use referee_bots::sandbox::{Mode, Sandbox};
use referee_game::Wrong;
use referee_game::name::{check_name, skeleton};
use referee_protocol::referee::Clock;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::driver::BotHello;
use crate::sources::Source;

/// Checks that the programs of the bots exist, as far as possible without starting them.
///
/// # Errors
/// Which bot cannot be started, and why.
pub fn check_programs(entrants: &[BotSpec]) -> Result<(), Wrong> {
    entrants.iter().try_for_each(|entrant| {
        let checked = entrant.source.check();
        checked.map_err(|defect| Wrong::at(format!("the bot `{}` cannot be started", entrant.name), defect))
    })
}

/// A bot that takes part in a run.
#[derive(Clone, Debug)]
pub struct BotSpec {
    /// The name in results, unique in the run.
    pub name: String,
    /// Whether the `hello` of the bot changes the name, until its first match begins.
    pub is_named_by_hello: bool,
    pub source: Arc<dyn Source>,
    /// The factor of the common clock: 2 for twice as much time.
    pub clock_factor: f64,
    /// Whether the bot is restarted for every match.
    pub is_fresh: bool,
    /// Whether requests to the bot come without the list of legal moves.
    pub hide_legal: bool,
    /// Path and SHA-256 of its program and scripts.
    pub files: Vec<(String, String)>,
}

/// Takes this name, or the first with a number that is free.
fn not_taken(label: String, taken: &mut HashSet<String>) -> String {
    let mut numbered = (2..).map(|n| format!("{label}-{n}"));
    let mut name = label.clone();
    while !taken.insert(name.clone()) {
        name = numbered.next().unwrap_or_default();
    }
    name
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
struct HeaderBot<'a> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a BTreeMap<String, String>>,
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
            let files = source.fingerprints();
            let name = given.unwrap_or_else(|| not_taken(source.label(), &mut taken));
            BotSpec {
                name,
                is_named_by_hello: false,
                source,
                clock_factor: 1.0,
                is_fresh: false,
                hide_legal: false,
                files,
            }
        });
        named.collect()
    }

    /// Creates bots as [`BotSpec::named`] does, but calls them as their `hello` says, unless they have a given name or connect
    /// by one.
    pub fn named_by_hello(sources: Vec<(Arc<dyn Source>, Option<String>)>) -> Vec<BotSpec> {
        let by_hello: Vec<bool> =
            sources.iter().map(|(source, given)| given.is_none() && source.is_started()).collect();
        let mut bots = BotSpec::named(sources, HashSet::new());
        bots.iter_mut().zip(by_hello).for_each(|(bot, by_hello)| bot.is_named_by_hello = by_hello);
        bots
    }

    /// Names the bots of a run before a match between some of them, which said these names, by index. A name that
    /// several bots say, or that looks like another one, does not tell them apart: then their command lines name them,
    /// and numbers if these do not either.
    ///
    /// Returns nothing if no name changes.
    pub(crate) fn settle_names(
        bots: &[Arc<BotSpec>],
        said: &BTreeMap<usize, Option<&str>>,
    ) -> Option<Vec<Arc<BotSpec>>> {
        let is_open = |at: usize| bots[at].is_named_by_hello && said.contains_key(&at);
        if !(0..bots.len()).any(is_open) {
            return None;
        }
        let said = |at: usize| {
            let said = said.get(&at).copied().flatten();
            said.filter(|name| is_open(at) && check_name(name).is_ok())
        };
        let fixed = (0..bots.len()).filter(|&at| !is_open(at)).map(|at| bots[at].name.clone());
        let mut taken: HashSet<String> = fixed.collect();
        let seen: Vec<String> =
            (0..bots.len()).map(|at| skeleton(said(at).unwrap_or(&bots[at].name))).collect();
        let name = |at: usize| {
            let label = bots[at].source.label();
            let Some(said) = said(at) else { return label };
            let alike: Vec<usize> = (0..bots.len()).filter(|&other| seen[other] == seen[at]).collect();
            let labels: HashSet<String> = alike.iter().map(|&other| bots[other].source.label()).collect();
            let before = alike.iter().filter(|&&other| other < at).count();
            match before {
                _ if alike.len() > 1 && labels.len() == alike.len() => label,
                0 => said.to_owned(),
                _ => format!("{said}-{}", before + 1),
            }
        };
        let settled = |at: usize| {
            if !is_open(at) {
                return bots[at].clone();
            }
            let name = not_taken(name(at), &mut taken);
            Arc::new(BotSpec { name, is_named_by_hello: false, ..(*bots[at]).clone() })
        };
        Some((0..bots.len()).map(settled).collect())
    }

    /// The clock, if that is not the common one.
    pub fn clock(&self, common: Clock) -> Option<Clock> {
        with_factor(common, self.clock_factor)
    }

    /// The entry in the header of a record.
    pub(crate) fn in_header(&self, hello: Option<&BotHello>) -> Option<Box<RawValue>> {
        let command = self.source.command();
        let sandbox = command.map(|command| &command.sandbox);
        let in_header = HeaderBot {
            command: command.map(|command| &*command.argv),
            connection: self.source.connects_as().map(|_| self.source.to_string()),
            sandbox: sandbox.filter(|sandbox| sandbox.mode() != Mode::None),
            files: self.files.iter().map(|(path, hash)| (path.as_str(), hash.as_str())).collect(),
            name: hello.map_or("", |hello| &hello.name),
            version: hello.and_then(|hello| hello.version.as_deref()),
            author: hello.and_then(|hello| hello.author.as_deref()),
            details: hello.map(|hello| &hello.details).filter(|details| !details.is_empty()),
        };
        to_raw_value(&in_header).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources;

    /// The names of bots with these command lines that say these names.
    fn named(bots: &[(&str, Option<&str>)]) -> Vec<String> {
        let sources = bots.iter().map(|(text, _)| (sources::parse(text).expect("a command line"), None));
        let specs: Vec<_> = BotSpec::named_by_hello(sources.collect()).into_iter().map(Arc::new).collect();
        let said = bots.iter().map(|&(_, said)| said).enumerate().collect();
        let settled = BotSpec::settle_names(&specs, &said).expect("new names");
        assert!(BotSpec::settle_names(&settled, &said).is_none(), "the first `hello` decides");
        settled.iter().map(|bot| bot.name.clone()).collect()
    }

    #[test]
    fn hello_names_bot_unless_it_distinguishes_none() {
        let cases: [(&[_], &[_]); 9] = [
            (&[("./a", Some("One")), ("./b", Some("Two"))], &["One", "Two"]),
            (&[("./a", Some("One")), ("./b", Some("One"))], &["a", "b"]),
            (&[("./a", Some("One")), ("./a", Some("0ne"))], &["One", "0ne-2"]),
            (&[("./a", None), ("./b", Some(" x"))], &["a", "b"]),
            (&[("./a", Some("b")), ("./b", None)], &["a", "b"]),
            (&[("tcp:One", Some("One")), ("./b", Some("One"))], &["One", "b"]),
            (&[("tcp:One", Some("x")), ("./One", Some("One"))], &["One", "One-2"]),
            (&[("./a", Some("a-2")), ("./b", Some("X")), ("./b", Some("X"))], &["a-2", "X", "X-2"]),
            (&[("./y", Some("z")), ("./z", Some("Y")), ("./w", Some("Y"))], &["z", "z-2", "w"]),
        ];
        for (bots, expected) in cases {
            assert_eq!(named(bots), expected, "{bots:?}");
        }
    }
}
