//! Playing a tournament.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::cli::options::random_seed;
use crate::cli::progress;
use crate::cli::signals::interrupted;
use crate::cli::tournament::config::Config;
use crate::cli::tournament::folder::{Folder, fingerprints};
use crate::cli::tournament::standings;
use crate::cli::{Exit, Failure, block_on};
use crate::server::{Board, Contest, Fixture, Halt, Happening, House, MatchReport, Scoring};
use crate::store::{MatchRow, Results, VOID};
use crate::tournament::schedule::{MatchId, Schedule};

/// Play a tournament
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament run cup.toml
  referee tournament run cup.toml --dir results/cup --json")]
pub(super) struct RunArgs {
    /// The file that describes it
    config: PathBuf,
    /// A new folder for its results and records [default: the name of the file, in this folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// One JSON object a line: each match, then the standings
    #[arg(long)]
    json: bool,
}

/// Go on with a tournament that was interrupted: exactly what is missing is played
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament resume cup
  referee tournament resume cup --allow-changed")]
pub(super) struct ResumeArgs {
    /// Its folder
    dir: PathBuf,
    /// Go on although a bot's program or scripts have changed
    #[arg(long)]
    allow_changed: bool,
    /// One JSON object a line: each match, then the standings
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let config = Config::read(&args.config)?;
    let seed = match config.seed()? {
        Some(seed) => seed,
        None => random_seed()?,
    };
    let stem = || args.config.file_stem().map(PathBuf::from).unwrap_or_default();
    let dir = args.dir.clone().unwrap_or_else(stem);
    play(Folder::create(&dir, config, seed)?, args.json)
}

pub(super) fn resume(args: &ResumeArgs) -> Result<Exit, Failure> {
    let folder = Folder::open(&args.dir)?;
    let rows = folder.results.entrants().map_err(Failure::cannot_run)?;
    let entrants = folder.prepared.entrants.iter().enumerate().zip(rows);
    let changed: Vec<(usize, String)> = entrants
        .filter(|((_, entrant), row)| row.leaves.is_none() && fingerprints(entrant) != row.files)
        .map(|((index, entrant), _)| (index, entrant.name.clone()))
        .collect();
    for (index, name) in changed {
        if !args.allow_changed {
            return Err(Failure::usage(format!(
                "the program or a script of `{name}` is not what it was when the tournament began: put it back, or \
                 say --allow-changed"
            )));
        }
        folder
            .results
            .set_files(index, &fingerprints(&folder.prepared.entrants[index]))
            .map_err(Failure::cannot_run)?;
    }
    play(folder, args.json)
}

fn play(folder: Folder, is_json: bool) -> Result<Exit, Failure> {
    let records = folder.records()?;
    let unsealed = folder.unsealed(&records)?;
    let Folder { path, mut results, journal, prepared, schedule, .. } = folder;
    let on_fault = prepared.run.terms.on_fault;
    let seating = schedule.plan().seating;
    let scoring = Scoring { seating, legs: schedule.legs(), on_fault };
    let progress = progress(&schedule);
    let board = Board::new(schedule);
    let contest = Contest::new((board.clone(), scoring), prepared.openings, Some(journal));
    let names: Vec<String> = prepared.entrants.iter().map(|entrant| entrant.name.clone()).collect();
    let house = House {
        run: prepared.run,
        rules: prepared.rules,
        seating,
        entrants: prepared.entrants,
        jobs: prepared.jobs,
        is_pinned: prepared.is_pinned,
        listen: prepared.listen,
        records: Some(records),
        unsealed: Some(unsealed),
        watch: None,
    };
    let say =
        |line: &str| writeln!(io::stdout(), "{line}").map_err(|error| format!("standard output: {error}"));
    let mut shown: Option<Instant> = None;
    let mut tell = |happening: Happening<'_>| -> Result<(), Halt> {
        match happening {
            Happening::Listening(address) => {
                progress.suspend(|| eprintln!("listening on {address}"));
                if is_json {
                    say(&format!(r#"{{"type":"listening","address":"{address}"}}"#))?;
                }
            }
            Happening::Waiting(name) => progress.suspend(|| eprintln!("waiting for `{name}` to connect")),
            Happening::Ended { fixture, report, never_came, .. } => {
                if let Some(why) = never_came {
                    progress.suspend(|| eprintln!("{}: {why}", fixture.id));
                }
                let is_void = store(&mut results, (&board, scoring), fixture, report);
                let is_void = is_void.map_err(|error| error.to_string())?;
                progress.inc(u64::from(!report.is_cut_off && !is_void));
                if !progress.is_hidden() && shown.is_none_or(|at| at.elapsed() > OFTEN) {
                    shown = Some(now());
                    let schedule = board.look();
                    progress.set_length(length(&schedule));
                    progress.set_message(leaders(&schedule, &names));
                }
                if is_json {
                    let line = serde_json::to_string(&Told { report, is_void })
                        .map_err(|error| error.to_string())?;
                    say(&line)?;
                }
            }
        }
        Ok(())
    };
    let stopped = block_on(async { house.play(contest, interrupted(), &mut tell).await })?;
    progress.finish_and_clear();
    if let Some(why) = stopped.why {
        return Err(Failure::cannot_run(why));
    }
    standings::show(&path, &results, &board.look(), is_json)?;
    if stopped.is_interrupted {
        eprintln!("interrupted: `referee tournament resume {}` goes on", path.display());
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Done)
}

/// How often the leaders are looked for, which takes its time when there are many matches.
const OFTEN: Duration = Duration::from_millis(500);

#[expect(clippy::disallowed_methods, reason = "for people who look on")]
fn now() -> Instant {
    Instant::now()
}

/// How many matches there are, as far as that is known.
fn length(schedule: &Schedule) -> u64 {
    (schedule.results().count() + schedule.due().count()) as u64
}

fn progress(schedule: &Schedule) -> ProgressBar {
    let progress = progress::of_matches(length(schedule));
    progress.set_position(schedule.results().count() as u64);
    progress
}

/// The first three.
fn leaders(schedule: &Schedule, names: &[String]) -> String {
    let standings = schedule.standings();
    let first = standings.rows.iter().take(3);
    let first: Vec<String> =
        first.map(|row| format!("{} {}", names[row.entrant.index()], row.points)).collect();
    first.join(", ")
}

/// A match that has ended, as `--json` prints it.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    report: &'a MatchReport,
    /// It does not count: its pair was decided while it ran.
    #[serde(rename = "void", skip_serializing_if = "std::ops::Not::not")]
    is_void: bool,
}

/// Keeps what became of a match, and says whether it came to its end without counting: the schedule, which has heard of
/// it before, did not take it.
fn store(
    results: &mut Results,
    (board, scoring): (&Board, Scoring),
    fixture: &Fixture,
    report: &MatchReport,
) -> io::Result<bool> {
    let id: MatchId = fixture.id.parse().map_err(io::Error::other)?;
    let result = scoring.result(fixture, report).filter(|_| board.look().has_result(id.number));
    let is_void = result.is_none() && !report.is_cut_off;
    let row = MatchRow {
        id,
        set: id.set(scoring.legs),
        lineup: fixture.entrants.iter().map(|&entrant| entrant as u16).collect(),
        ranks: result.map(|result| result.ranks()),
        faulted: result.map(|result| result.faulted).unwrap_or_default(),
        forfeited: result.map(|result| result.forfeited).unwrap_or_default(),
        ended_by: if is_void { VOID.to_owned() } else { report.ended_by.to_string() },
        reason: report.reason.clone(),
        scores: report.scores.clone().filter(|_| !is_void),
        faults: report
            .faults
            .iter()
            .map(|faults| faults.iter().map(|(code, count)| (code.to_string(), count)).collect())
            .collect(),
        decisions: report.decisions,
        duration_us: report.duration_us,
        lag_ms: report.lag_ms,
        cpu_ms: report.cpu_ms.clone(),
        record: report
            .record
            .as_ref()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
    };
    results.add_match(&row)?;
    Ok(is_void)
}
