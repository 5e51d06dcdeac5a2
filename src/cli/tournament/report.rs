//! `referee tournament report`: all that there is to tell.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;

use super::{results, unreadable};
use crate::cli::files::{OutFile, OutputOptions};
use crate::cli::progress;
use crate::cli::tournament::folder::{Reading, read};
use crate::cli::{Exit, Failure, screen};
use crate::core::json;
use crate::core::printable::printable_lines;
use crate::report::tournament::{self, TournamentReport};

/// Report on a tournament: standings, cross table, rounds or bracket, ratings, faults, time use, matches
///
/// Ratings are Elo from a Bradley-Terry fit with 95% intervals, with the advantage of the seats apart, Glicko-2 and
/// Weng-Lin with 1.96 of their own deviations. In a Swiss tournament or a knockout, where results decide who meets next,
/// Elo is fitted together with the distribution of strengths in the field.
/// Time use is read from the records: thinking times of each bot without the referee's own lag, which is shown apart.
///
/// The list of matches tells who played whom, when, with which result, and the record; the forms that are text list 200, html
/// 5,000, json and `export` all.
///
/// junit has a test case for each entrant, which fails if the entrant made a fault, and one that fails if a match has no
/// result and lists the matches. csv has a row for each entrant; for a row for each match see `export --format csv`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee tournament report cup
  referee tournament report cup --format html -o cup.html --force
  referee tournament report cup --format junit -o junit.xml --github")]
pub(super) struct Args {
    /// The folder of the tournament
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// How it is told
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    output: OutputOptions,
    /// In GitHub Actions: also add the report in Markdown to the job's summary ($GITHUB_STEP_SUMMARY), and write
    /// annotations to standard error: an error for each entrant that lost by a fault, a warning for other faults
    #[arg(long)]
    github: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Tables for a terminal
    Table,
    /// One JSON object
    Json,
    /// A row for each entrant
    Csv,
    /// Markdown as GitHub shows it
    Markdown,
    /// JUnit XML
    Junit,
    /// One HTML file that needs nothing else
    Html,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let summary = args.github.then(OutFile::job_summary).transpose()?;
    let progress = progress::bar(0, "{bar:30} {pos}/{len} records, {eta} left");
    let tick = |done, all| {
        progress.set_length(all);
        progress.set_position(done);
    };
    let db = results(&args.folder)?;
    let Reading { schedule, config, .. } = read(&db)?;
    let report = TournamentReport::of(&args.folder, &db, &schedule, &config.bot_names(), tick)
        .map_err(|error| unreadable(&args.folder, &error))?;
    progress.finish_and_clear();
    args.output.write(&told(args.format, &report)?)?;
    if let Some(summary) = summary {
        summary.write(|mut file| file.write_all(tournament::markdown(&report).as_bytes()))?;
        // Without standard error there is nothing to annotate.
        let _ = screen::stderr().write_all(tournament::annotations(&report).as_bytes());
    }
    Ok(Exit::Done)
}

fn told(format: Format, report: &TournamentReport) -> Result<Vec<u8>, Failure> {
    Ok(match format {
        Format::Table => printable_lines(&tournament::tables(report)).into_owned().into_bytes(),
        Format::Json => (json::text(report) + "\n").into_bytes(),
        Format::Csv => tournament::csv(report)?,
        Format::Markdown => tournament::markdown(report).into_bytes(),
        Format::Junit => tournament::junit(report).map_err(Failure::cannot_run)?.into_bytes(),
        Format::Html => tournament::html(report).into_bytes(),
    })
}
