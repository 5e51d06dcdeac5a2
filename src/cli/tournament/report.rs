//! `referee tournament report`: the full report.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::site;
use crate::cli::exit::{Exit, Failure};
use crate::cli::files::{OutFile, OutputOptions};
use crate::cli::progress;
use crate::cli::screen;
use crate::cli::tournament::unreadable;
use crate::game::erased::Rules;
use crate::game::json;
use crate::game::printable::printable_lines;
use crate::report::page::PublicUrl;
use crate::report::tournament::{self, RecallReport, StandingsReport, TournamentReport};
use crate::runs::config::KnownGames;
use crate::runs::tournament::{StoredTournament, open_results};

/// Report on a tournament: standings, cross table, rounds or bracket, ratings, faults, time use, matches
///
/// Ratings are Elo from a Bradley-Terry fit with 95% intervals and separate seat advantages, fitted together with the
/// distribution of strengths in the field, and Weng-Lin with 1.96 times its own deviations. Time use is computed from the records: thinking times of each bot without the referee's own lag, which is listed separately.
///
/// The list of matches has the entrants, time, result and record of each match; table and markdown list 200, html
/// 5,000, json and `export` all.
///
/// junit has a test case per entrant, which fails if the entrant made a fault, and one that fails if a match has no
/// result, with the list of these matches. csv has one row per entrant; for one row per match see `export --format
/// csv`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee tournament report cup
  referee tournament report cup --format html -o cup.html --force
  referee tournament report cup --recall cup-in-disguise
  referee tournament report cup --site public --site-url https://cup.example/spring/
  referee tournament report cup --format junit -o junit.xml --github")]
pub(super) struct Args {
    /// The directory of the tournament
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ReportFormat::Table)]
    format: ReportFormat,
    #[command(flatten)]
    output: OutputOptions,
    /// The directory of the same tournament with the key `disguise` in its file: the report also has the recall gap of each
    /// entrant, its Elo here less its Elo there, with its 95% interval. A program that finds its moves by search has none; a model
    /// that remembers matches of the game has a large one
    #[arg(long, value_name = "DISGUISED")]
    recall: Option<PathBuf>,
    /// Write pages to a directory, for a web server or to open from disk: the report, a page per entrant, and a page
    /// per match with its replay and its record. Existing pages are replaced
    #[arg(long, value_name = "OUT", conflicts_with_all = ["format", "output"])]
    site: Option<PathBuf>,
    /// The URL under which the pages of --site are published: pages then name pictures of matches and standings (PNG), which
    /// chats show beside links
    #[arg(long, value_name = "URL", requires = "site")]
    site_url: Option<PublicUrl>,
    /// In GitHub Actions: also add the report in Markdown to the job summary ($GITHUB_STEP_SUMMARY), and write
    /// annotations to standard error: an error for each entrant that lost by a fault, a warning for other faults
    #[arg(long)]
    github: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReportFormat {
    /// Tables for a terminal
    Table,
    /// One JSON object
    Json,
    /// One row per entrant
    Csv,
    /// GitHub-flavoured Markdown
    Markdown,
    /// JUnit XML
    Junit,
    /// One self-contained HTML file
    Html,
}

pub(super) fn run(args: &Args, games: &KnownGames) -> Result<Exit, Failure> {
    let summary = args.github.then(OutFile::job_summary).transpose()?;
    let progress = progress::bar(0, "{bar:30} {pos}/{len} records, {eta} left");
    let tick = |done, all| {
        progress.set_length(all);
        progress.set_position(done);
    };
    let db = open_results(&args.folder)?;
    let stored = StoredTournament::read(&args.folder, &db, games)?;
    let mut report = TournamentReport::of(&args.folder, &db, &stored.schedule, &stored.settings(), tick)
        .map_err(|error| unreadable(&args.folder, &error))?;
    if let Some(twin) = &args.recall {
        report.recall = Some(recall(args, twin, &report.standings, stored.rules, games)?);
    }
    progress.finish_and_clear();
    let exit = match &args.site {
        Some(site) => {
            let (url, info) = (args.site_url.as_ref(), stored.config.publish.info);
            site::write(&site::open(site, url, info)?, &args.folder, &report, stored.games.catalog())?
        }
        None => {
            args.output.write(&formatted(args.format, &report)?)?;
            Exit::Done
        }
    };
    if let Some(summary) = summary {
        summary.write(|file| file.write_all(tournament::markdown(&report).as_bytes()))?;
        // If standard error is closed, the annotations are lost.
        let _ = screen::stderr().write_all(tournament::annotations(&report).as_bytes());
    }
    Ok(exit)
}

/// The points that the entrants lose in the tournament `twin`, whose game is that of these rules in disguise.
fn recall(
    args: &Args,
    twin: &Path,
    plain: &StandingsReport,
    rules: &dyn Rules,
    games: &KnownGames,
) -> Result<RecallReport, Failure> {
    let named = |dir: &Path, what: &str| Failure::usage(format!("{}: {what}", dir.display()));
    if rules.disguised().is_some() {
        return Err(named(&args.folder, "its game is disguised; this tournament comes second"));
    }
    let db = open_results(twin)?;
    let stored = StoredTournament::read(twin, &db, games)?;
    let Some(other) = stored.rules.disguised() else {
        return Err(named(twin, "its game is not disguised: `disguise = \"TEXT\"` in its file does that"));
    };
    let (game, other) = (rules.meta().id, other.meta().id);
    if game != other {
        return Err(named(twin, &format!("its game is {other}, and not {game}")));
    }
    let disguised = StandingsReport::of(&db, &stored.schedule).map_err(|error| unreadable(twin, &error))?;
    RecallReport::of(plain, &disguised).map_err(|missing| {
        named(if missing.in_disguised { twin } else { &args.folder }, &missing.to_string())
    })
}

fn formatted(format: ReportFormat, report: &TournamentReport) -> Result<Vec<u8>, Failure> {
    Ok(match format {
        ReportFormat::Table => printable_lines(&tournament::tables(report)).into_owned().into_bytes(),
        ReportFormat::Json => (json::text(report) + "\n").into_bytes(),
        ReportFormat::Csv => tournament::csv(report).into_bytes(),
        ReportFormat::Markdown => tournament::markdown(report).into_bytes(),
        ReportFormat::Junit => tournament::junit(report).into_bytes(),
        ReportFormat::Html => tournament::html(report).into_bytes(),
    })
}
