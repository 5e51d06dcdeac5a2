//! Programs that owners have handed in.

use std::io::Write;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::SubmissionLine;
use crate::cli::league::log;
use crate::cli::league::which::LeagueSelector;
use crate::cli::screen;
use crate::game::json;
use crate::league::{ActError, KeptOnLadder, League, OrganiserAct, Submission, SubmissionFiles};
use crate::report::table;

/// List the programs that owners have handed in, and how far they have come
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league submissions
  referee league submissions --owner alice --json")]
pub(super) struct ListArgs {
    /// Only those of this owner
    #[arg(long, value_name = "ID")]
    owner: Option<String>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

/// Print the log of a program that an owner has handed in, or decide whether it plays
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league submission show 7
  referee league submission approve 7")]
pub(super) struct SubmissionArgs {
    #[command(subcommand)]
    command: SubmissionCommand,
}

#[derive(Debug, Subcommand)]
enum SubmissionCommand {
    /// Print a submission, what its program keeps, and its log
    #[command(after_help = "Examples:
  referee league submission show 7
  referee league submission show 7 --json")]
    Show(ShowArgs),
    /// Let the bot of a submission play that has passed and waits for approval
    #[command(after_help = "Examples:
  referee league submission approve 7")]
    Approve(ApproveArgs),
    /// Refuse a submission that waits for approval
    #[command(after_help = "Examples:
  referee league submission reject 7 --reason 'the same program as that of bob'")]
    Reject(RejectArgs),
}

#[derive(Debug, ClapArgs)]
struct ShowArgs {
    /// Its number
    id: u32,
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

#[derive(Debug, ClapArgs)]
struct ApproveArgs {
    /// Its number
    id: u32,
    #[command(flatten)]
    which: LeagueSelector,
}

#[derive(Debug, ClapArgs)]
struct RejectArgs {
    /// Its number
    id: u32,
    /// Why; its owner reads it in the log
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let (_, league) = args.which.open()?;
    let rows = league.submissions(args.owner.as_deref()).map_err(Failure::cannot_run)?;
    let mut out = screen::stdout();
    if args.json {
        for row in &rows {
            let line = SubmissionLine { owner: &row.owner, submission: row, log: None, kept_data: None };
            writeln!(out, "{}", json::text(&line))?;
        }
    } else {
        let cells = rows.iter().map(|row| {
            let language = row.language.clone().unwrap_or_default();
            let (state, at) = (row.state.words().to_owned(), row.changed_at.clone());
            vec![row.id.to_string(), row.owner.clone(), row.player().unwrap_or_default(), language, state, at]
        });
        let head = ["number", "owner", "player", "language", "state", "since (UTC)"];
        writeln!(out, "{}", table(&head, cells.collect(), 0..1))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

pub(super) fn submission(args: SubmissionArgs) -> Result<Exit, Failure> {
    match args.command {
        SubmissionCommand::Show(args) => show(&args),
        SubmissionCommand::Approve(ApproveArgs { id, which }) => {
            decide(id, &which, OrganiserAct::ApproveSubmission(id), "approved, and plays from now on")
        }
        SubmissionCommand::Reject(RejectArgs { id, reason, which }) => {
            decide(id, &which, OrganiserAct::RejectSubmission { id, reason: &reason }, "rejected")
        }
    }
}

fn decide(id: u32, which: &LeagueSelector, act: OrganiserAct<'_>, what: &str) -> Result<Exit, Failure> {
    let (_, mut league) = which.open()?;
    log::act(&mut league, act)?;
    let row = existing(&league, id)?;
    writeln!(screen::stdout(), "{} of {} is {what}", row.player().unwrap_or_default(), row.owner)?;
    Ok(Exit::Done)
}

fn existing(league: &League, id: u32) -> Result<Submission, Failure> {
    let found = league.submission(id).map_err(Failure::cannot_run)?;
    found.ok_or_else(|| ActError::no_submission(id).into())
}

fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let (config, league) = args.which.open()?;
    let row = existing(&league, args.id)?;
    let kept = SubmissionFiles::kept_data_in_league(&config.folder, args.id);
    let mut out = screen::stdout();
    if args.json {
        let (log, kept_data) = (Some(&*row.log), Some(&*kept));
        let line = SubmissionLine { owner: &row.owner, submission: &row, log, kept_data };
        writeln!(out, "{}", json::text(&line))?;
    } else {
        let player = row.player().unwrap_or_else(|| "a program".to_owned());
        let Submission { id, owner, state, changed_at, size, .. } = &row;
        writeln!(out, "submission {id}: {player} of {owner}, {state} since {changed_at}, {size} bytes")?;
        writeln!(out, "archive {}", row.archive)?;
        if let Some(built) = &row.built {
            writeln!(out, "built   {built}")?;
        }
        for KeptOnLadder { ladder, bytes, refused } in &kept {
            write!(out, "keeps   {bytes} bytes on {ladder}")?;
            let why = refused.as_ref().map(|why| format!("; what it left last was not kept: {why}"));
            writeln!(out, "{}", why.unwrap_or_default())?;
        }
        write!(out, "\n{}", row.log)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
