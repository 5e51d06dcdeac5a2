//! `referee tournament verify`: verifies results against records.

use std::io::Write;
use std::path::PathBuf;

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::AuditLine;
use crate::cli::output::TolerantStdout;
use crate::cli::progress;
use crate::cli::screen::Screen;
use crate::cli::verify::trusted_tables;
use crate::game::json;
use crate::report::tournament::standings_table;
use crate::runs::config::KnownGames;
use crate::runs::tournament::{AuditSummary, PointsByRecords, open_results, verify};

/// Verify results against records: recompute the standings, and list every row that differs
///
/// Every record is verified as by `referee verify`. It must derive from the tournament's own seed, and have the seal
/// that is stored with its result; the row computed from it must equal the stored one. The printed standings are
/// computed from the records. The exit code is 1 if a row differs, a record has no row, a result has no record, or a file has
/// the name of a record but not that of a match. What Syzygy tables said is recomputed with those that `syzygy` of the tournament's file names.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee tournament verify cup
  referee tournament verify cup --json | jq 'select(.type == \"difference\")'")]
pub(super) struct Args {
    /// The directory of the tournament
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// One JSON object per line: each difference, then the standings computed from the records, then the summary
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, games: &KnownGames) -> Result<Exit, Failure> {
    let db = open_results(&args.folder)?;
    let progress = progress::bar(0, "{bar:30} {pos}/{len} records, {eta} left");
    let tick = |done, all| {
        progress.set_length(all);
        progress.set_position(done);
    };
    let audit = verify(&args.folder, &db, games, tick)?;
    progress.finish_and_clear();
    let mut out = Screen(TolerantStdout::new());
    if args.json {
        let mut print =
            |line: AuditLine<'_>| -> Result<(), Failure> { Ok(writeln!(out, "{}", json::text(&line))?) };
        for (id, what) in &audit.differences {
            print(AuditLine::Difference { id: id.map(|id| id.to_string()), what })?;
        }
        print(AuditLine::Standings { report: &audit.standings })?;
        print(AuditLine::Summary(&audit.summary))?;
    } else {
        for (id, what) in &audit.differences {
            match id {
                Some(id) => writeln!(out, "{id}: {what}")?,
                None => writeln!(out, "{what}")?,
            }
        }
        write!(out, "{}", standings_table(&audit.standings))?;
        let AuditSummary { rows, records, differing, taken_back, tables_trusted, points } = &audit.summary;
        for PointsByRecords { name, results, records } in points {
            writeln!(out, "{name}: {records} points by the records, {results} in the results")?;
        }
        writeln!(out, "{rows} results, {records} records, {differing} differ")?;
        if *taken_back > 0 {
            writeln!(
                out,
                "{taken_back} were taken back with their workers (`referee worker void`), or paired by such results"
            )?;
        }
        if let Some(trusted) = trusted_tables(*tables_trusted) {
            writeln!(out, "{trusted}")?;
        }
    }
    out.0.end(if audit.summary.differing == 0 { Exit::Done } else { Exit::No })
}
