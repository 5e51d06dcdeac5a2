//! `referee league verify`: verifies results against records.

use std::collections::BTreeSet;
use std::io::Write;

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::known_games;
use crate::cli::json::{LeagueAuditLine, LeagueAuditSummary};
use crate::cli::league::which::LeagueSelector;
use crate::cli::verify::trusted_tables;
use crate::cli::{progress, screen};
use crate::game::{Catalog, Chain, counted, json};
use crate::runs::league::{ChangedRules, LadderDifference, audit_ladder};

/// Verify the results of a league against its records
///
/// Every record is verified as by `referee verify`, and must derive from the seed of its ladder. The result computed from
/// it must equal the one in the database, and so must the wins, draws and losses of each player when the rulings are replayed, also
/// those in the final standings of seasons. The exit code is 1 if one differs or is missing, or a file has the name of a record
/// but not that of a match. What Syzygy tables said is recomputed with those that `syzygy` of the ladder names.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league verify
  referee league verify --json | jq 'select(.type == \"difference\")'")]
pub(super) struct Args {
    /// One JSON object per line: each difference, then the summary
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (config, mut league) = args.which.open()?;
    let games = known_games(catalog)?;
    let mut out = screen::stdout();
    let mut summary = LeagueAuditSummary::default();
    let rulings = league.rulings().map_err(Failure::cannot_run)?;
    summary.rulings = rulings.iter().filter(|row| row.is_in_force()).count();
    for ladder in &config.ladders {
        let mut game = ladder.game(&games, &config.folder)?;
        if let Err(why) = ladder.add_tables(&mut game, &config.folder) {
            tracing::warn!("ladder {}: {}", ladder.name, Chain(&why));
        }
        let audit = progress::of_records(|on_record| {
            audit_ladder(&config, &mut league, ladder, &game, &rulings, on_record)
        })?;
        if let [(first, why), ..] = &audit.unplayable[..] {
            let count = counted(audit.unplayable.len(), "record", "records");
            let what = "its files are kept in `games` in the directory of the ladder: restore it";
            return Err(Failure::usage(format!(
                "{}: {count}, the first of {first}: {why}; {what}",
                ladder.name
            )));
        }
        for changed in ChangedRules::all(&league, &ladder.name, &game).map_err(Failure::cannot_run)? {
            if args.json {
                let ChangedRules { files, since } = &changed;
                let since = since.as_ref().map(|(number, _)| *number);
                writeln!(
                    out,
                    "{}",
                    json::text(&LeagueAuditLine::Rules { ladder: &ladder.name, files, since })
                )?;
            } else {
                writeln!(out, "{}: rules: {changed}", ladder.name)?;
            }
        }
        summary.results += audit.results;
        summary.records += audit.records;
        summary.erased += audit.erased;
        summary.tables_trusted += audit.tables_trusted;
        let differing: BTreeSet<&String> =
            audit.differences.iter().map(|difference| &difference.of).collect();
        summary.differing += differing.len();
        for LadderDifference { of, what } in &audit.differences {
            if args.json {
                let line = LeagueAuditLine::Difference {
                    ladder: &ladder.name,
                    r#match: of,
                    what: &what.to_string(),
                };
                writeln!(out, "{}", json::text(&line))?;
            } else {
                writeln!(out, "{} {of}: {what}", ladder.name)?;
            }
        }
    }
    let LeagueAuditSummary { results, records, erased, tables_trusted, rulings, differing } = summary;
    if args.json {
        writeln!(out, "{}", json::text(&LeagueAuditLine::Summary(&summary)))?;
    } else {
        let with_rulings = match rulings {
            0 => String::new(),
            _ => format!(", with {}", counted(rulings, "ruling", "rulings")),
        };
        writeln!(out, "{results} results, {records} records, {differing} differ{with_rulings}")?;
        if erased > 0 {
            let of = counted(erased, "record", "records");
            writeln!(out, "private lines of {of} were erased by `private_after`, or published without them")?;
        }
        if let Some(trusted) = trusted_tables(tables_trusted) {
            writeln!(out, "{trusted}")?;
        }
    }
    out.flush()?;
    Ok(if differing == 0 { Exit::Done } else { Exit::No })
}
