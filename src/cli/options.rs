//! Options shared by several subcommands.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use referee_protocol::limits;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::cli::exit::Failure;
use crate::driver::Run;
use crate::files::Records;
use crate::game::chance::Seed;
use crate::game::erased::Rules;
use crate::game::{Catalog, Chain, Seating};
use crate::runs::config::defaults::SLOTS;
use crate::runs::config::{self, TermsConfig};
use crate::runs::regression::Hypotheses;
use crate::stats::sprt::EloModel;

#[derive(Debug, Args)]
pub(super) struct GameOptions {
    /// An option of the game, as listed by `referee games`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, Value)>,
}

impl GameOptions {
    /// The options as a JSON object.
    pub(super) fn to_json(&self) -> Result<Box<RawValue>, Failure> {
        serde_json::value::to_raw_value(&self.to_map()?).map_err(Failure::usage)
    }

    /// Returns the options by name.
    pub(super) fn to_map(&self) -> Result<Map<String, Value>, Failure> {
        let mut options = Map::new();
        for (key, value) in &self.set {
            if options.insert(key.clone(), value.clone()).is_some() {
                return Err(Failure::usage(format!("--set {key} is given twice")));
            }
        }
        Ok(options)
    }
}

/// The options that stand for the keys of files.
pub(super) fn option_names(key: &str, value: Option<&str>) -> String {
    let (table, name) = key.split_once('.').unwrap_or(("", key));
    let option = match (table, name) {
        ("", "tcp") => return format!("tcp:{}", value.unwrap_or("NAME").trim_matches('"')),
        ("options", option) => return format!("--set {option}"),
        ("listen", "address") => "listen".to_owned(),
        ("", "watch_hosts") => "watch-host".to_owned(),
        ("sandbox", "mode") => "sandbox".to_owned(),
        ("sandbox", name) => format!("sandbox-{}", name.trim_start_matches("limits.")),
        (_, name) => name.to_owned(),
    };
    let option = format!("--{}", option.replace('_', "-"));
    match value {
        Some(value) => format!("{option} {}", value.trim_matches(['[', '"', ']'])),
        None => option,
    }
}

pub(super) fn key_value(text: &str) -> anyhow::Result<(String, Value)> {
    let (key, value) = text.split_once('=').with_context(|| format!("`{text}` is not KEY=VALUE"))?;
    // Text that is not JSON is a string: `--set fen=B:W18:B12` needs no quotes.
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok((key.to_owned(), value))
}

#[derive(Debug, Args)]
pub(super) struct MatchOptions {
    #[command(flatten)]
    terms: TermsConfig,
    /// The run seed, from which all randomness derives: 64 hex digits [default: from the operating system]
    #[arg(long, value_name = "HEX", conflicts_with = "seed_file", value_parser = config::parse_seed)]
    seed: Option<Seed>,
    /// A file with the run seed; unlike the command line, other users cannot see it
    #[arg(long, value_name = "FILE")]
    seed_file: Option<PathBuf>,
    /// The directory for records, one file per match; if it contains records already, the first of DIR-2, DIR-3, ...
    /// without records
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Do not wait until records are on the disk: faster, but after a power failure they may be empty
    #[arg(long, requires = "record")]
    no_fsync: bool,
}

/// The options of concurrency.
#[derive(Debug, Args)]
pub(super) struct LaneOptions {
    /// The number of processes or connections of each bot that play concurrently, each as many matches as it has
    /// slots; they share the CPUs
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) jobs: u32,
    /// The maximum number of concurrent matches per process or connection, even if its `slots` are more; each match
    /// keeps up to 1 MiB of `info` per seat
    #[arg(long, value_name = "N", default_value_t = SLOTS, value_parser = clap::value_parser!(u32).range(1..=limits::SLOTS as i64))]
    pub(super) slots: u32,
    /// Pin each lane and the processes of its bots to a CPU
    #[arg(long)]
    pub(super) pin: bool,
}

/// The options that hide facts from bots.
#[derive(Debug, Args)]
pub(super) struct HideOptions {
    /// Send requests without the list of legal moves: to all bots, or with =N to the N-th, in the order of the command line; may
    /// be repeated. Bots read in `start` that there is none
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    hide_legal: Vec<usize>,
}

impl HideOptions {
    /// Returns for each bot whether the list is hidden from it.
    pub(super) fn of(&self, bots: usize) -> Result<Vec<bool>, Failure> {
        if let Some(bot) = self.hide_legal.iter().find(|&&bot| bot > bots) {
            return Err(Failure::usage(format!("--hide-legal={bot}: expected a number from 1 to {bots}")));
        }
        Ok((1..=bots).map(|bot| self.hide_legal.iter().any(|&of| of == 0 || of == bot)).collect())
    }
}

impl MatchOptions {
    /// Makes the run that the options describe.
    pub(super) fn run(&self) -> Result<Run, Failure> {
        let seed = match (&self.seed, &self.seed_file) {
            (Some(seed), _) => *seed,
            (None, Some(path)) => config::read_seed(path).map_err(|what| {
                Failure::usage(format!("--seed-file {}: {}", path.display(), Chain(&what)))
            })?,
            (None, None) => random_seed()?,
        };
        Ok(Run { seed, terms: self.terms.terms() })
    }

    /// Makes the run of a game that the options describe, whose rules have the tables of endgames then, also in the catalog.
    pub(super) fn run_of(
        &self,
        rules: &'static dyn Rules,
        seating: Seating,
        catalog: &mut Catalog,
    ) -> Result<(&'static dyn Rules, Run), Failure> {
        let of_game = self.terms.of_game(rules, seating, Path::to_owned, option_names);
        let (rules, terms) = of_game.map_err(Failure::usage)?;
        catalog.replace(rules);
        Ok((rules, Run { terms, ..self.run()? }))
    }

    /// Returns whether the seed is given.
    pub(super) fn has_seed(&self) -> bool {
        self.seed.is_some() || self.seed_file.is_some()
    }

    /// Returns whether records are written.
    pub(super) fn has_records(&self) -> bool {
        self.record.is_some()
    }

    /// Opens the directory for records.
    pub(super) fn records(&self) -> Result<Option<Records>, Failure> {
        let open = |folder: &PathBuf| {
            Records::open(folder, !self.no_fsync).map_err(|error| {
                let what = format!("--record {error}");
                match error.kind() {
                    std::io::ErrorKind::AlreadyExists => Failure::usage(what),
                    _ => Failure::cannot_run(what),
                }
            })
        };
        self.record.as_ref().map(open).transpose()
    }
}

/// Gets a seed from the operating system.
pub(super) fn random_seed() -> Result<Seed, Failure> {
    Ok(config::random_seed()?)
}

/// The hypotheses of a sequential test.
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(super) struct HypothesisOptions {
    /// Test whether the new version is stronger (H0 0, H1 20) instead of not weaker
    #[arg(long)]
    gain: bool,
    /// H0: the difference at which the new version fails [default: -50, with --gain 0]
    #[arg(long, value_name = "ELO", allow_negative_numbers = true)]
    elo0: Option<f64>,
    /// H1: the difference at which the new version passes [default: 0, with --gain 20]
    #[arg(long, value_name = "ELO", allow_negative_numbers = true)]
    elo1: Option<f64>,
    /// The probability that a version at H0 passes
    ///
    /// In simulations with 5% for both errors, tests in logistic and in normalized Elo, from [-10, 0] and [0, 10] to
    /// [250, 350], with 0% to 80% draws and one or two matches per set, had an error rate of at most 6.5%, and much
    /// less if they took fewer than 30 sets on average. Tests of fewer than 10 sets or beyond a difference of 350 may
    /// exceed this.
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// The probability that a version at H1 fails
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    beta: f64,
    /// The unit of --elo0 and --elo1
    #[arg(long, value_enum, default_value_t = Model::Normalized)]
    elo_model: Model,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Model {
    /// In standard deviations of a match: the length of a test does not depend on the draw rate
    Normalized,
    /// By the expected score: 1 / (1 + 10^(-elo / 400))
    Logistic,
}

impl HypothesisOptions {
    /// The hypotheses with defaults filled in.
    pub(super) fn hypotheses(&self) -> Hypotheses {
        let elo_model = match self.elo_model {
            Model::Normalized => EloModel::Normalized,
            Model::Logistic => EloModel::Logistic,
        };
        let (elo0, elo1) = if self.gain { (0.0, 20.0) } else { (-50.0, 0.0) };
        let (elo0, elo1) = (self.elo0.unwrap_or(elo0), self.elo1.unwrap_or(elo1));
        Hypotheses { elo0, elo1, alpha: self.alpha, beta: self.beta, elo_model }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_for_keys() {
        for (key, value, option) in [
            ("opening_plies", Some("4"), "--opening-plies 4"),
            ("options.draw_plies", None, "--set draw_plies"),
            ("listen.address", Some("\"127.0.0.1:4700\""), "--listen 127.0.0.1:4700"),
            ("listen.token_file", None, "--token-file"),
            ("sandbox.limits.memory", None, "--sandbox-memory"),
            ("sandbox.allow_missing", Some("[\"LAYER\"]"), "--sandbox-allow-missing LAYER"),
            ("tcp", Some("\"alice\""), "tcp:alice"),
            ("watch_hosts", None, "--watch-host"),
        ] {
            assert_eq!(option_names(key, value), option);
        }
    }

    #[test]
    fn a_value_that_is_not_json_is_a_string() {
        assert_eq!(key_value("draw_plies=10").ok(), Some(("draw_plies".to_owned(), Value::from(10))));
        assert_eq!(key_value("fen=B:W18:B12").ok(), Some(("fen".to_owned(), Value::from("B:W18:B12"))));
        assert!(key_value("fen").is_err());
    }
}
