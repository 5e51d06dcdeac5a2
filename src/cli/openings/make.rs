//! `referee openings`: makes a book of balanced openings.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args as ClapArgs;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::cli::bots::{launch, with_bots};
use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::find_game;
use crate::cli::options::{GameOptions, LaneOptions, option_names, random_seed};
use crate::cli::output::TolerantStdout;
use crate::cli::progress::{Progress, Words};
use crate::cli::sandbox::SandboxOptions;
use crate::cli::screen::{Screen, stderr_line};
use crate::cli::signals::{interrupted, is_interrupted};
use crate::driver::{Run, Terms};
use crate::files::{Records, has_extension};
use crate::game::chance::Seed;
use crate::game::erased::Rules;
use crate::game::{Catalog, MatchTags, MoveNote, Seating, Sheet, counted, json};
use crate::record;
use crate::referee::{Adjudication, Faults, opening, stated_score};
use crate::report::evidence_lines;
use crate::results::FinishedMatch;
use crate::runner::MatchRunner;
use crate::runs::config::{self, ClockLimits, OpeningSource};
use crate::runs::play::{Play, PlayEvent};
use crate::sources::{self, BotSpec, Source};
use crate::stats::schedule::MatchId;

/// Make a book of openings that a bot calls balanced
///
/// Draws lines of random moves and plays one move of each side after them. A line is an opening of the book if both moves come
/// with a score from -S to S in their `info`, the first one for the side that moves first, the second one for the other. Each position is in the
/// book once, whatever moves lead to it. With the same seed, a bot that gives the same answers each time makes the same book, however many
/// processes it has.
///
/// The extension of the file is its format, as of `--openings`: .epd, .fen or .pgn for chess, .pdn or .fen for checkers, .txt
/// for other games. In .epd, `ce` is the first score. An interrupted run leaves the openings that it has found.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee openings chess --bot ./engine -n 1000 --balance 50 -o book.epd
  referee openings checkers --bot ./bot -n 200 --balance 30 --plies 8 --jobs 4 -o book.pdn
  referee openings jeex --bot ./bot -n 100 --balance 40 --plies 6 -o book.txt --json")]
pub(in crate::cli) struct Args {
    /// The game: see `referee games`; or the directory of a game
    game: String,
    /// The bot that judges; it moves for both sides
    #[arg(long, value_name = "BOT", value_parser = sources::parse)]
    bot: Arc<dyn Source>,
    /// The number of openings
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    number: u32,
    /// The largest score for either side, in the unit of the bot, in chess usually centipawns
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    balance: u32,
    /// The length of the lines, in random moves [default: 8 for chess, 6 for checkers, 4 for jeex]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(opening::MAX_PLIES)))]
    plies: Option<u32>,
    /// The new file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Give up after this number of lines [default: 100 for each opening]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    tries: Option<u32>,
    /// The clock of the bot, as of `referee play`
    #[arg(long, value_name = "CLOCK", default_value = "delay=5s,bank=60s")]
    clock: ClockLimits,
    /// The run seed, from which the lines derive: 64 hex digits [default: from the operating system]
    #[arg(long, value_name = "HEX", value_parser = config::parse_seed)]
    seed: Option<Seed>,
    /// One JSON object per line: each opening, then the summary
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lanes: LaneOptions,
    #[command(flatten)]
    options: GameOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
}

const OPENINGS: Words = Words { template: "{pos}/{len} openings, {elapsed}{msg}", of: "/", what: "openings" };

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OutputLine<'a> {
    /// A balanced line.
    Opening { number: u32, moves: &'a [String], scores: [f64; 2] },
    /// The number of openings that were found.
    Openings(&'a Count),
}

/// Counts of the lines by their fate.
#[derive(Default, Serialize)]
struct Count {
    openings: u32,
    tried: u32,
    repeated: u32,
    unbalanced: u32,
    /// The game ended within two moves.
    over: u32,
    seed: String,
}

/// A line with the moves that the bot made after it.
struct JudgedLine {
    sheet: Sheet,
    /// By side, the first to move first; `None` if the game ended before both had moved.
    scores: Option<[f64; 2]>,
}

/// The book that is being written.
struct Book<'a> {
    rules: &'static dyn Rules,
    seating: Seating,
    catalog: &'a Catalog,
    balance: f64,
    most: u32,
    ending: &'static str,
    file: File,
    /// Lines that were judged before an earlier one was, by number.
    ahead: BTreeMap<u32, JudgedLine>,
    next: u32,
    positions: HashSet<String>,
    count: Count,
    json: bool,
    progress: Progress,
    out: Screen<TolerantStdout>,
}

pub(in crate::cli) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (rules, catalog) = &find_game(&args.game, catalog)?;
    let rules = *rules;
    let seating = rules.meta().seating(None::<u8>).map_err(Failure::usage)?;
    let adjudication = Adjudication { max_moves: Some(1), ..Adjudication::default() };
    adjudication.check(rules.meta(), seating).map_err(Failure::usage)?;
    let seed = args.seed.map_or_else(random_seed, Ok)?;
    let usual = rules
        .meta()
        .openings
        .ok_or_else(|| Failure::usage(format!("{} has no openings", rules.meta().id)))?;
    let source = OpeningSource::Random { plies: args.plies.unwrap_or(usual).max(1) };
    let (openings, _) = source.openings(rules, seating, args.options.to_map()?, &seed, option_names)?;
    let path = &args.output;
    let endings: Vec<&'static str> = rules.opening_files().iter().map(|format| format.ending).collect();
    let ending = endings.iter().find(|ending| has_extension(path, ending)).ok_or_else(|| {
        let (path, endings) = (path.display(), endings.join(" or ."));
        Failure::usage(format!(
            "-o {path}: opening files of {} have the extension .{endings}",
            rules.meta().id
        ))
    })?;
    let mut bots = vec![args.bot; 2];
    args.sandbox.confine(&mut bots)?;
    let file = File::create_new(path).map_err(|error| {
        let what = format!("-o {}: {error}", path.display());
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => Failure::usage(what),
            _ => Failure::cannot_run(what),
        }
    })?;
    // The answers are read from records, which are deleted then.
    let folder =
        tempfile::Builder::new().prefix("referee-openings-").tempdir().map_err(Failure::cannot_run)?;
    let records = Records::open(&folder.path().join("records"), false).map_err(Failure::cannot_run)?;
    let terms = Terms { clock: args.clock.0, adjudication, ..Terms::default() };
    let bots = BotSpec::named_by_hello(bots.into_iter().map(|bot| (bot, None)).collect());
    let runner = MatchRunner {
        jobs: args.lanes.jobs as usize,
        slots: args.lanes.slots as usize,
        is_pinned: args.lanes.pin,
        records: Some(records),
        ..MatchRunner::new(Run { seed, terms }, rules, seating, bots, launch()?)
    };
    let matches = args.tries.unwrap_or(args.number.saturating_mul(100));
    let play = Play { runner, matches, openings, mirror: None, trust_bots: false, max_cost: None };
    let mut book = Book {
        rules,
        seating,
        catalog,
        balance: args.balance.into(),
        most: args.number,
        ending,
        file,
        ahead: BTreeMap::new(),
        next: 1,
        positions: HashSet::new(),
        count: Count { seed: seed.to_hex(), ..Count::default() },
        json: args.json,
        progress: Progress::new(args.number.into(), OPENINGS),
        out: Screen(TolerantStdout::new()),
    };
    let (stop, stopped) = oneshot::channel();
    let (mut stop, mut failure) = (Some(stop), None);
    let signal = interrupted();
    let until = async {
        tokio::select! {
            () = signal => {}
            _ = stopped => {}
        }
    };
    let played = with_bots(|| {
        play.run(until, |event| {
            let PlayEvent::Ended(finished) = event else { return };
            // The matches that are still in progress then are aborted.
            if stop.is_none() || is_interrupted() {
                return;
            }
            let added = book.add(finished);
            if added.is_err() || book.count.openings == book.most {
                failure = added.err();
                // The run may be over already.
                let _ = stop.take().map(|stop| stop.send(()));
            }
        })
    });
    book.progress.finish();
    if let Some(failure) = failure {
        evidence_lines(&played.summary.first_faults, |_| true).iter().for_each(stderr_line);
        return Err(failure);
    }
    if let Some(why) = played.stopped {
        return Err(Failure::cannot_run(why));
    }
    let is_complete = book.count.openings == book.most;
    book.summary(path)?;
    book.out.0.end(match (is_complete, is_interrupted()) {
        (true, _) => Exit::Done,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::No,
    })
}

impl Book<'_> {
    /// Adds the line of a match that has ended, and those that waited for it.
    fn add(&mut self, finished: &FinishedMatch) -> Result<(), Failure> {
        if !finished.faults.iter().all(Faults::is_empty) {
            return Err(Failure::cannot_run("the bot failed"));
        }
        let Some(path) = finished.record.as_ref().filter(|_| !finished.is_to_be_replayed()) else {
            return Ok(());
        };
        let text = std::fs::read(path).map_err(Failure::cannot_run)?;
        // The record is in a directory that is deleted at the end anyway.
        let _ = std::fs::remove_file(path);
        let Ok(MatchId { number, .. }) = finished.id.parse() else { return Ok(()) };
        let judged = self.judge(&text, finished.decisions)?;
        self.ahead.insert(number, judged);
        while let Some(judged) = self.ahead.remove(&self.next) {
            self.next += 1;
            self.decide(judged)?;
            if self.count.openings == self.most {
                break;
            }
        }
        Ok(())
    }

    /// Reads line and scores from a record.
    fn judge(&self, text: &[u8], decisions: u32) -> Result<JudgedLine, Failure> {
        let (_, mut sheet) = record::sheet(text, self.catalog).map_err(|differences| {
            let first = differences.into_iter().next();
            first.map_or_else(|| Failure::cannot_run(""), Failure::cannot_run)
        })?;
        if decisions != 2 || !sheet.ended.starts_with("adjudication") {
            return Ok(JudgedLine { sheet, scores: None });
        }
        let line = sheet.moves.len() - 2;
        let notes = sheet.notes.split_off(line);
        sheet.moves.truncate(line);
        // A score is that of the side that moved, unless it says otherwise, and then it counts from 0.
        let seat = self.position(&sheet).map_or(0, |(seat, _)| seat);
        let stated = |(side, note): (usize, &MoveNote)| stated_score(side, note.info.as_ref()?.get());
        let scores: Option<Vec<f64>> = [seat, 1 - seat].into_iter().zip(&notes).map(stated).collect();
        match scores.as_deref() {
            Some(&[first, second]) => Ok(JudgedLine { sheet, scores: Some([first, second]) }),
            _ => Err(Failure::cannot_run(
                "the bot does not judge: its moves have no `info` with a number `score`, or it is in points",
            )),
        }
    }

    /// The side to move after the moves of a line, and its view.
    fn position(&self, sheet: &Sheet) -> Option<(usize, Value)> {
        let mut table = self.rules.open(&sheet.options, self.seating).ok()?;
        for text in &sheet.moves {
            let decision = table.ask().decide()?;
            let index = table.find(&decision, decision.seats().iter().next()?, text).ok()?;
            table.play(decision, &[index]).ok()?;
        }
        let decision = table.ask().decide()?;
        let seat = decision.seats().iter().next()?;
        let mut view = Vec::new();
        table.write_view(&decision, seat, &mut view);
        Some((self.seating.side(seat), serde_json::from_slice(&view).ok()?))
    }

    /// Decides on the next line.
    fn decide(&mut self, JudgedLine { mut sheet, scores }: JudgedLine) -> Result<(), Failure> {
        self.count.tried += 1;
        let Some((scores, (_, view))) = scores.zip(self.position(&sheet)) else {
            self.count.over += 1;
            return Ok(());
        };
        // Counts of moves, which follow in FEN, are no part of the position; neither are the moves to it.
        let fen = view["fen"].as_str();
        let placed = fen.map(|fen| fen.split(' ').take(4).collect::<Vec<_>>().join(" "));
        let position = placed.clone().unwrap_or_else(|| view.to_string());
        if !self.positions.insert(position) {
            self.count.repeated += 1;
            return Ok(());
        }
        if scores.iter().any(|score| score.abs() > self.balance) {
            self.count.unbalanced += 1;
            return Ok(());
        }
        self.count.openings += 1;
        let number = self.count.openings;
        let text = match (self.ending, placed, fen) {
            ("epd", Some(placed), _) => format!("{placed} ce {:.0};\n", scores[0]),
            ("fen", _, Some(fen)) => format!("{fen}\n"),
            (ending, ..) => match self.rules.notation(ending) {
                None => sheet.moves.join(", ") + "\n",
                Some(notation) => {
                    let mut text = String::new();
                    (sheet.match_id, sheet.ranks) = (number.to_string(), None);
                    (sheet.names, sheet.notes, sheet.clocks) = (Vec::new(), Vec::new(), Vec::new());
                    (sheet.ended, sheet.tags) = ("opening".to_owned(), MatchTags::default());
                    notation.write(&sheet, &mut text).map_err(Failure::cannot_run)?;
                    text
                }
            },
        };
        self.file.write_all(text.as_bytes()).map_err(Failure::cannot_run)?;
        self.progress.inc(1);
        if self.json {
            let line = OutputLine::Opening { number, moves: &sheet.moves, scores };
            // `TolerantStdout` keeps the error until the end.
            let _ = writeln!(self.out, "{}", json::text(&line));
        }
        Ok(())
    }

    fn summary(&mut self, path: &Path) -> Result<(), Failure> {
        self.file.sync_all().map_err(Failure::cannot_run)?;
        let Count { openings, tried, repeated, unbalanced, over, seed } = &self.count;
        let text = if self.json {
            json::text(&OutputLine::Openings(&self.count))
        } else {
            format!(
                "{}: {} of {}; {unbalanced} not balanced, {repeated} repeated, {over} over at once\nrun seed {seed}",
                path.display(),
                counted(*openings, "opening", "openings"),
                counted(*tried, "line", "lines"),
            )
        };
        // An error appears when the output ends.
        let _ = writeln!(self.out, "{text}");
        Ok(())
    }
}
