//! Runs a workshop.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::bots::with_bots;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::TolerantStdout;
use crate::cli::progress::Progress;
use crate::cli::screen::{Screen, stderr_line};
use crate::cli::signals::{interrupted, is_interrupted};
use crate::cli::workshop::{directory, ratings, short};
use crate::game::{counted, json};
use crate::runs::config::KnownGames;
use crate::runs::workshop::{
    EditOutcome, EditReport, HandIn, Workshop, WorkshopEnd, WorkshopEvent, WorkshopLine,
};

/// Run a workshop
///
/// The agents edit one after the other. An agent that hangs, breaks its bot or exceeds its budget keeps the version that it handed
/// in before, and the others go on.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee workshop run shop.toml
  referee workshop run shop.toml --dir results/shop --json")]
pub(super) struct RunArgs {
    /// The workshop file
    file: PathBuf,
    /// A new directory for all that happens [default: named after the file, in the current directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// One JSON object per line: all that happens
    #[arg(long)]
    json: bool,
}

/// Resume an interrupted workshop: an edit in progress begins again, with what is left of its matches, and exactly the missing
/// matches are played
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:
  referee workshop resume shop")]
pub(super) struct ResumeArgs {
    /// Its directory
    dir: PathBuf,
    /// One JSON object per line: all that happens from now on
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &RunArgs, games: &KnownGames) -> Result<Exit, Failure> {
    let folder = directory(&args.file, args.dir.as_ref());
    play(Workshop::create(&args.file, &folder, games)?, args.json)
}

pub(super) fn resume(args: &ResumeArgs, games: &KnownGames) -> Result<Exit, Failure> {
    play(Workshop::open(&args.dir, games)?, args.json)
}

fn play(workshop: Workshop, is_json: bool) -> Result<Exit, Failure> {
    let mut out = Screen(TolerantStdout::new());
    let (folder, time) = (workshop.folder.clone(), workshop.config.edit_time.to_string());
    let mut progress: Option<Progress> = None;
    // A signal may come while nothing waits for one.
    let stop = || {
        let interrupted = interrupted();
        async move {
            if !is_interrupted() {
                interrupted.await;
            }
        }
    };
    let end = with_bots(|| {
        workshop.run(stop, &mut |event| match event {
            WorkshopEvent::Edits { round, agent } => {
                stderr_line(format_args!("round {round}: {agent} edits, at most {time}"));
            }
            WorkshopEvent::Tournament { round, matches } => {
                stderr_line(format_args!("round {round}: {}", counted(matches, "match", "matches")));
                progress = Some(Progress::of_matches(matches));
            }
            WorkshopEvent::Match => progress.iter().for_each(|progress| progress.inc(1)),
            WorkshopEvent::Line(line) => {
                if let WorkshopLine::Round(_) = line {
                    progress = None;
                }
                if is_json {
                    // `TolerantStdout` keeps the error until the end.
                    let _ = writeln!(out, "{}", json::text(line));
                }
                if let Some(line) = in_words(line) {
                    stderr_line(line);
                }
            }
        })
    });
    drop(progress);
    let WorkshopEnd { is_interrupted, lines } = end?;
    if is_interrupted {
        stderr_line(format_args!("interrupted: `referee workshop resume {}` continues", folder.display()));
        return Ok(Exit::Interrupted);
    }
    if !is_json {
        write!(out, "{}", ratings(&lines))?;
    }
    out.0.end(Exit::Done)
}

fn in_words(line: &WorkshopLine) -> Option<String> {
    match line {
        WorkshopLine::Practice { round, agent, tool, matches, .. } => {
            Some(format!("round {round}: {agent}: {tool}, {}", counted(*matches, "match", "matches")))
        }
        WorkshopLine::Edit(EditReport {
            round,
            agent,
            outcome,
            took_ms,
            matches,
            cost,
            hand_in,
            version,
        }) => {
            let outcome = match outcome {
                EditOutcome::Done => "done".to_owned(),
                EditOutcome::Failed { why } => format!("ended: {why}"),
                EditOutcome::TimedOut => "timed out".to_owned(),
                EditOutcome::OverCost => "spent more than it may".to_owned(),
                EditOutcome::NoBudget => "has nothing left to spend".to_owned(),
                EditOutcome::NotStarted { why } => format!("not started: {why}"),
                EditOutcome::WroteOutside { paths } => {
                    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                    format!("changed files that are not its own: {}", paths.join(", "))
                }
            };
            let hand_in = match hand_in {
                HandIn::New => format!("new version {}", short(version)),
                HandIn::Unchanged => format!("unchanged, version {}", short(version)),
                HandIn::Refused { log } => {
                    format!("refused, version {} plays on: {}", short(version), log.trim_end())
                }
            };
            let (matches, seconds) = (counted(*matches, "match", "matches"), *took_ms as f64 / 1000.0);
            Some(format!(
                "round {round}: {agent}: {outcome} after {seconds:.1} s, {matches}, cost {cost:.2}; {hand_in}"
            ))
        }
        _ => None,
    }
}
