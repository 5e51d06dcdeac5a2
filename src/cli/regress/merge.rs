//! `referee regress merge`: the verdict of a run that was played in shards.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{ReportOptions, exit};
use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::{in_words, with_games};
use crate::cli::options::option_names;
use crate::cli::output::TolerantStdout;
use crate::game::Catalog;
use crate::game::json;
use crate::referee::InfoTotals;
use crate::report::{RegressionOutcome, RegressionReport, RegressionSetting};
use crate::results::FirstFaults;
use crate::runs::RunError;
use crate::runs::regression::ResultLine;
use crate::runs::regression::{ResultsContents, changed_bots};

/// Merge the results of shards, or evaluate those of one run, and print the verdict
///
/// The sets of all files count in the order of their numbers, up to the one that decides: the verdict and its error
/// rates are those of one run that plays the same sets without shards. What lies after it is ignored, including crashes
/// of the new version; an earlier crash fails the run. If a set is missing, evaluation stops there, undecided: the
/// shard that should play it can be resumed. No matches are played.
///
/// The exit code is the verdict: 0 passed, 1 failed, 3 undecided, 4 invalid.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee regress merge shard-1.jsonl shard-2.jsonl shard-3.jsonl
  referee regress merge shard-*.jsonl --junit regress.xml --github")]
pub(super) struct Args {
    /// The files written by --results, one per shard
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The directory of the game, if its rules are a program
    #[arg(long = "game", value_name = "DIR")]
    games: Vec<PathBuf>,
    /// Merge although a program or script is not the same in all files; the verdict says so
    #[arg(long)]
    accept_changed: bool,
    /// Print the verdict as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reports: ReportOptions,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let read: Result<Vec<ResultsContents>, RunError> =
        args.files.iter().map(|path| ResultsContents::read(path)).collect();
    let read = read?;
    let setup = read[0].setup.clone();
    for (path, other) in args.files.iter().zip(&read).skip(1) {
        if let Some(what) = other.setup.difference(&setup, &["shard"]) {
            let (path, first) = (path.display(), args.files[0].display());
            return Err(Failure::usage(format!(
                "{path} and {first} are of different runs: {path} has {what}"
            )));
        }
        if let Some(what) = other.setup.changed_bot(&setup).filter(|_| !args.accept_changed) {
            let (path, first) = (path.display(), args.files[0].display());
            return Err(Failure::usage(format!(
                "{path} and {first} are of different programs: {what}; --accept-changed merges them"
            )));
        }
    }
    let catalog = &with_games(&args.games, catalog)?;
    for (path, contents) in args.files.iter().zip(&read) {
        let rules = contents.setup.rules(catalog).map_err(|what| Failure::usage(in_words(&what)))?;
        let wrong = |what| Failure::usage(format!("{}: {}", path.display(), in_words(&what)));
        contents.setup.check_program(rules).map_err(wrong)?;
    }
    let mut shards: Vec<_> = read.iter().map(|contents| contents.setup.shard).collect();
    shards.sort_unstable();
    if read.len() > 1 || shards[0].is_some() {
        let of = shards.iter().flatten().map(|shard| shard.of).max().unwrap_or(1);
        let is_whole = shards.len() == of as usize
            && shards
                .iter()
                .zip(1..)
                .all(|(shard, number)| shard.is_some_and(|shard| (shard.number, shard.of) == (number, of)));
        if !is_whole {
            let given: Vec<String> = shards
                .iter()
                .map(|shard| shard.map_or("all".to_owned(), |shard| shard.to_string()))
                .collect();
            let given = given.join(", ");
            return Err(Failure::usage(format!("expected one file per shard, of {of} shards; got {given}")));
        }
    }
    let reports = args.reports.open()?;
    let changed = changed_bots(read.iter().flat_map(|contents| &contents.setups));
    let played_by = read.iter().flat_map(|contents| contents.played_by.clone()).collect();
    let duration = read.iter().map(|contents| contents.played).sum();
    let mut totals = <[InfoTotals; 2]>::default();
    for contents in &read {
        totals.iter_mut().zip(&contents.totals).for_each(|(sums, more)| sums.merge(more));
    }
    let kept: Vec<ResultLine> = read.into_iter().flat_map(|contents| contents.kept).collect();
    let (_, running) = setup.begin(catalog, &kept, true)?;
    let outcome = match running.regression.verdict() {
        _ if setup.same_version => RegressionOutcome::SameVersion,
        Some(verdict) => RegressionOutcome::Judged(verdict),
        None => {
            let missing = running.regression.tally().sets + 1;
            let shard =
                setup.shard.map(|shard| format!(" of shard {}/{}", (missing - 1) % shard.of + 1, shard.of));
            let shard = shard.unwrap_or_default();
            RegressionOutcome::Undecided(format!("set {missing}{shard} is missing; --resume plays it"))
        }
    };
    let mut first_faults = FirstFaults::default();
    if let Some(crash) = running.crash() {
        crash.add_to(&mut first_faults);
    }
    let versions = running.versions(&played_by);
    let setting = RegressionSetting { changed, versions, duration, totals, ..setup.setting(option_names) };
    let report = RegressionReport::new(outcome.clone(), setting, running.findings(), &first_faults);
    let mut out = TolerantStdout::new();
    let text = if args.json { json::text(&report) } else { report.text() };
    // `TolerantStdout` keeps the error until the end.
    let _ = writeln!(out, "{text}");
    reports.write(&report)?;
    out.end(exit(outcome)?)
}
