//! `referee verify`: verifies records, and collections of games in other notations.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};
use crate::cli::files::{expand, read};
use crate::cli::find_game::{ReplayOptions, check_rules, of_changed_files};
use crate::cli::json::{CollectionCount, VerifyLine};
use crate::cli::options::option_names;
use crate::cli::output::TolerantStdout;
use crate::cli::screen::Screen;
use crate::files::has_extension;
use crate::game::counted;
use crate::game::json;
use crate::game::{Catalog, Chain, CheckedGame, Flaw, Notation, Validity};
use crate::record;
use crate::runs::config::add_syzygy;
use anyhow::Context as _;

/// Verify records: seal, commitment, draws, legality, clocks, faults, result; PDN files of checkers, PGN files of chess
///
/// Every record is replayed through the rules. Differences are printed with match, turn and line; the exit code is
/// then 1. Files that are compressed with gzip are decompressed. A page of a match on a tournament's site contains its
/// record, and counts as one.
///
/// A file with the extension .pdn, or one that is neither named .jsonl nor starts with a brace, is a collection of
/// games in PDN, and one with the extension .pgn a collection in PGN (`referee rules checkers` and `referee rules chess`
/// describe the accepted notation). Every move must be legal, and the results
/// must agree with each other and with the end of the game. Errors are printed with game, ply and line. Unambiguous
/// deviations from the notation, such as `10x14` for a plain move, are counted as remarks; --strict rejects them.
/// Games of other game types and variants are skipped.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee verify records
  referee verify records/m1.jsonl --json
  referee verify m1.jsonl.gz
  referee verify matches-1-1000.zip
  referee verify public/matches/m1.html
  referee verify public/m1.jsonl --private owners/m1.seat0.jsonl
  referee verify records --game examples/games/connect_four
  referee verify records --syzygy tables
  referee verify games.pgn
  referee verify games.pdn --strict")]
pub(super) struct Args {
    /// Records, PDN and PGN files, packs of a league, or directories of them; up to 1 GiB each, and compressed ones up to 100 times
    /// their size
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    replay: ReplayOptions,
    /// Private lines of a seat, which `referee publish --private` writes: whether they are those of which a record has the
    /// SHA-256; may be repeated
    #[arg(long, value_name = "FILE")]
    private: Vec<PathBuf>,
    /// The directory of the Syzygy tables by which matches were adjudicated; without it, what tables said is taken from the records, and
    /// the output says so
    #[arg(long, value_name = "DIR")]
    syzygy: Option<PathBuf>,
    /// Reject deviations from the notation even if they are unambiguous
    #[arg(long)]
    strict: bool,
    /// One JSON object per line: each record, each error and each collection, then the summary
    #[arg(long)]
    json: bool,
}

impl fmt::Display for VerifyLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VerifyLine::Record { file, ok, differences, changed_files, tables_trusted } => {
                if let Some(changed) = of_changed_files(changed_files) {
                    writeln!(f, "{}: {changed}", file.display())?;
                }
                match (ok, tables_trusted) {
                    (true, false) => writeln!(f, "{}: ok", file.display())?,
                    (true, true) => writeln!(
                        f,
                        "{}: ok; what tables say was not recomputed (--syzygy DIR)",
                        file.display()
                    )?,
                    (false, _) => {}
                }
                differences.iter().try_for_each(|what| writeln!(f, "{}: {}", file.display(), Chain(what)))
            }
            VerifyLine::Private { file, what: None, .. } => writeln!(f, "{}: ok", file.display()),
            VerifyLine::Private { file, what: Some(what), .. } => writeln!(f, "{}: {what}", file.display()),
            VerifyLine::Flaw { file, flaw } => writeln!(f, "{}: {flaw}", file.display()),
            VerifyLine::Skipped { file, flaw } => writeln!(f, "{}: skipped: {flaw}", file.display()),
            VerifyLine::Collection {
                file,
                ok,
                differing,
                count: CollectionCount { games, plies, skipped, remarks },
            } => {
                let verdict = if *ok { "ok".to_owned() } else { format!("{differing} differ") };
                let skipped = if *skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
                let remarks = match remarks {
                    0 => String::new(),
                    _ => format!(", {}", counted(*remarks, "remark", "remarks")),
                };
                let (games, plies) = (counted(*games, "game", "games"), counted(*plies, "ply", "plies"));
                writeln!(f, "{}: {verdict}; {games}, {plies}{skipped}{remarks}", file.display())
            }
            VerifyLine::Summary { records, differing, games } => {
                let games = games.map(|count| format!(", {}", counted(count.games, "game", "games")));
                let records = counted(*records, "record", "records");
                writeln!(f, "{records}{}, {differing} differ", games.unwrap_or_default())
            }
        }
    }
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let mut catalog = args.replay.catalog(catalog)?;
    if let Some(directory) = &args.syzygy {
        add_syzygy(&mut catalog, directory, option_names).map_err(Failure::usage)?;
    }
    let catalog = &catalog;
    let files = expand(&args.files, &["jsonl", "html", "pdn", "pgn"])?;
    let out = Screen(TolerantStdout::new());
    let mut printer = VerifyPrinter {
        out,
        catalog,
        json: args.json,
        strict: args.strict,
        records: 0,
        differing: 0,
        have_rules_failed: false,
        games: None,
        digests: BTreeMap::new(),
    };
    for file in &files {
        let bytes = read(file)?;
        match notation(file, &bytes, catalog) {
            None => {
                check_rules(file, &bytes, catalog)?;
                printer.record(file, &bytes)?;
            }
            Some(notation) => printer.collection(file, notation, &bytes)?,
        }
    }
    for file in &args.private {
        printer.private(file, &read(file)?)?;
    }
    if args.json || files.len() > 1 {
        let VerifyPrinter { records, differing, games, .. } = printer;
        printer.print(&VerifyLine::Summary { records, differing, games })?;
    }
    let exit = match printer.differing {
        0 => Exit::Done,
        _ if printer.have_rules_failed => Exit::CannotRun,
        _ => Exit::No,
    };
    printer.out.0.end(exit)
}

/// The notation of a file; `None` for a record, even an invalid one.
/// Says in how many records of a run what tables say was not recomputed, if there are any.
pub(super) fn trusted_tables(records: usize) -> Option<String> {
    let counted = counted(records, "record", "records");
    (records > 0).then(|| {
        format!("what tables say was not recomputed in {counted}: `syzygy` names none that are here")
    })
}

fn notation(file: &Path, bytes: &[u8], catalog: &Catalog) -> Option<&'static dyn Notation> {
    let by_name = file.extension().and_then(|ending| catalog.notation(ending.to_str()?));
    let looks_like_record = || has_extension(file, "jsonl") || bytes.trim_ascii_start().starts_with(b"{");
    by_name.or_else(|| if looks_like_record() { None } else { catalog.notation("PDN") })
}

struct VerifyPrinter<'a, W> {
    out: W,
    catalog: &'a Catalog,
    json: bool,
    strict: bool,
    records: usize,
    differing: usize,
    /// Whether the rules of a game that is a program failed during a replay.
    have_rules_failed: bool,
    games: Option<CollectionCount>,
    /// The SHA-256 of the private lines of each seat, by match.
    digests: BTreeMap<String, Vec<String>>,
}

impl<W: Write> VerifyPrinter<'_, W> {
    fn print(&mut self, line: &VerifyLine<'_>) -> io::Result<()> {
        if self.json { writeln!(self.out, "{}", json::text(line)) } else { write!(self.out, "{line}") }
    }

    fn record(&mut self, file: &Path, record: &[u8]) -> io::Result<()> {
        let differences = record::verify(record, self.catalog);
        let ok = differences.is_empty();
        self.records += 1;
        self.differing += usize::from(!ok);
        self.have_rules_failed |= differences.iter().any(|difference| difference.rules_failed);
        self.digests.extend(record::private_digests(record));
        let changed_files = record::changed_files(record, self.catalog);
        let tables_trusted = record::trusts_tables(record, self.catalog);
        self.print(&VerifyLine::Record { file, ok, differences: &differences, changed_files, tables_trusted })
    }

    fn private(&mut self, file: &Path, lines: &[u8]) -> io::Result<()> {
        let what = self.difference(lines).err().map(|what| what.to_string());
        self.differing += usize::from(what.is_some());
        self.print(&VerifyLine::Private { file, ok: what.is_none(), what })
    }

    /// Compares private lines with the public record of their match.
    fn difference(&self, lines: &[u8]) -> anyhow::Result<()> {
        let (of, seat) = record::private_seat(lines)?;
        let digests = self.digests.get(&of);
        let digests =
            digests.with_context(|| format!("no public record of match {of} is among the files"))?;
        match digests.get(seat.index()) {
            Some(digest) if *digest == record::digest(lines) => Ok(()),
            _ => anyhow::bail!(
                "the public record of {of} has another SHA-256 for seat {seat}: the lines were changed"
            ),
        }
    }

    fn collection(&mut self, file: &Path, notation: &dyn Notation, bytes: &[u8]) -> io::Result<()> {
        let (mut count, mut differing) = (CollectionCount::default(), 0);
        let Some(games) = notation.check(bytes) else {
            let name = notation.name();
            let what = format!("the rules write {name}, but cannot check it; verify the records");
            self.differing += 1;
            return self.print(&VerifyLine::Flaw { file, flaw: &Flaw { game: 0, ply: 0, line: 1, what } });
        };
        for CheckedGame { plies, remarks, mut verdict } in games {
            count.games += 1;
            count.plies += plies;
            count.remarks += remarks.len();
            if self.strict
                && verdict == Validity::Sound
                && let Some(remark) = remarks.into_iter().next()
            {
                verdict = Validity::Wrong(remark);
            }
            match verdict {
                Validity::Sound => {}
                Validity::Skipped(flaw) => {
                    count.skipped += 1;
                    self.print(&VerifyLine::Skipped { file, flaw: &flaw })?;
                }
                Validity::Wrong(flaw) => {
                    differing += 1;
                    self.print(&VerifyLine::Flaw { file, flaw: &flaw })?;
                }
            }
        }
        if count.games == 0 {
            // The file may not be the intended one.
            differing = 1;
            let what = format!("this {} file contains no games", notation.name());
            self.print(&VerifyLine::Flaw { file, flaw: &Flaw { game: 0, ply: 0, line: 1, what } })?;
        }
        self.differing += differing;
        self.games.get_or_insert_default().add(count);
        self.print(&VerifyLine::Collection { file, ok: differing == 0, differing, count })
    }
}

impl CollectionCount {
    fn add(&mut self, other: CollectionCount) {
        self.games += other.games;
        self.plies += other.plies;
        self.skipped += other.skipped;
        self.remarks += other.remarks;
    }
}
