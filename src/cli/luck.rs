//! `referee luck`: results with the luck of the draws taken out.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Args as ClapArgs;

use crate::cli::files::{expand, read};
use crate::cli::find_game::{ReplayOptions, check_rules};
use crate::cli::json::{LuckLine, SideLuck};
use crate::cli::output::TolerantStdout;
use crate::cli::progress::Progress;
use crate::cli::screen::Screen;
use crate::cli::{Exit, Failure};
use crate::game::{Catalog, counted, json};
use crate::record::{self, MatchLuck, NoLuck};
use crate::report::percent_interval;
use crate::stats::luck::AdjustedScores;

/// Take the luck of dice and shuffles out of the results of recorded matches
///
/// At each draw of the referee the luck of a side is the value of what came less the mean value of what could have come. The
/// value is the mean score of random playouts. The adjusted score, the score less the luck, has the same mean as the
/// score, however good the playouts are, since nobody knows the seed before the match; its variance is smaller if the
/// playouts predict the results. The figures follow from the records alone, so everyone gets the same ones.
///
/// For each two bots the output has the mean score, plain and adjusted, with 95% intervals, and the factor by which the variance
/// fell: with a factor of 2 half of the matches give the same interval. Matches on one deal are one unit. With hidden
/// information or bots that play at random the factor may be near 1. Few playouts add noise: then it may be
/// below 1, and the plain score is the better one. Every record is verified
/// first; if one has errors, the exit code is 1.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee luck records
  referee luck records --playouts 1000 --json
  referee luck records --game examples/games/pig")]
pub(super) struct Args {
    /// Records of games with chance, packs of a league, or directories of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    replay: ReplayOptions,
    /// The number of playouts for the value of what came, and for the mean of what could have come
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    playouts: u32,
    /// One JSON object per line: each match, then each two bots
    #[arg(long)]
    json: bool,
}

impl fmt::Display for LuckLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LuckLine::Match { id, sides: None, .. } => write!(f, "{id}: aborted"),
            LuckLine::Match { id, sides: Some(sides), .. } => {
                write!(f, "{id}:")?;
                for (at, SideLuck { bots, score, luck, adjusted, .. }) in sides.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(f, "{comma} {} {score:.2} {luck:+.3} luck = {adjusted:.3}", bots.join(" and "))?;
                }
                Ok(())
            }
            LuckLine::Pair { game, bots: [first, second], matches, units, score, adjusted, factor } => {
                let matches = counted(*matches, "match", "matches");
                let units = counted(*units, "deal", "deals");
                write!(f, "\n{first} against {second} in {game}: {matches} on {units}")?;
                let rows = [("score", score), ("adjusted for luck", adjusted)];
                for (name, estimate) in rows {
                    let text = estimate.map_or("unknown from one deal".to_owned(), percent_interval);
                    write!(f, "\n  {name:<20}{text}")?;
                }
                if let Some(factor) = factor {
                    let (value, low, high) = (factor.value, factor.low, factor.high);
                    write!(f, "\n  {:<20}divided by {value:.2} ({low:.2} to {high:.2} at 95%)", "variance")?;
                }
                Ok(())
            }
        }
    }
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let catalog = &args.replay.catalog(catalog)?;
    let files = expand(&args.files, &["jsonl", "html"])?;
    let mut out = Screen(TolerantStdout::new());
    let mut exit = Exit::Done;
    let mut pairs = Pairs::default();
    for (file, found) in files.iter().zip(lucks(&files, catalog, args.playouts)?) {
        match found {
            Ok(luck) => {
                let line = pairs.add(file, &luck);
                if args.json { writeln!(out, "{}", json::text(&line))? } else { writeln!(out, "{line}")? }
            }
            Err(NoLuck::Difference(difference)) => {
                exit = if difference.rules_failed { Exit::CannotRun } else { Exit::No };
                crate::cli::screen::stderr_line(format_args!("{}: {difference}", file.display()));
            }
            Err(why @ (NoLuck::NoChance(_) | NoLuck::NoPlayouts(_))) => {
                return Err(Failure::usage(format!("{}: {why}", file.display())));
            }
        }
    }
    for line in pairs.lines() {
        if args.json { writeln!(out, "{}", json::text(&line))? } else { writeln!(out, "{line}")? }
    }
    out.0.end(exit)
}

/// The luck in each of these records, computed on all cores.
fn lucks(
    files: &[PathBuf],
    catalog: &Catalog,
    playouts: u32,
) -> Result<Vec<Result<MatchLuck, NoLuck>>, Failure> {
    let progress = Progress::of_matches(files.len() as u64);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || -> Result<(), Failure> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(at) else { return Ok(()) };
            let bytes = read(file)?;
            check_rules(file, &bytes, catalog)?;
            let luck = record::luck(&bytes, catalog, playouts);
            if matches!(luck, Err(NoLuck::NoChance(_) | NoLuck::NoPlayouts(_))) {
                next.store(files.len(), Ordering::Relaxed);
            }
            found.lock().unwrap_or_else(PoisonError::into_inner).insert(at, luck);
            progress.inc(1);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len().max(1));
    thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        started.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    progress.finish();
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect())
}

/// Game, and the names of two bots.
type PairKey = (String, [String; 2]);

/// The matches of each two bots.
#[derive(Default)]
struct Pairs(BTreeMap<PairKey, PairOfBots>);

#[derive(Default)]
struct PairOfBots {
    matches: usize,
    /// By match seed: the sums of the scores and of the adjusted ones, and the number of comparisons.
    units: BTreeMap<String, ([f64; 2], f64)>,
}

impl Pairs {
    /// Adds a match, and describes it.
    fn add<'a>(&mut self, file: &'a Path, luck: &'a MatchLuck) -> LuckLine<'a> {
        let name = |side: usize| {
            let mut names: Vec<&str> =
                luck.seating.members(side).iter().map(|seat| &*luck.seats[seat.index()]).collect();
            names.dedup();
            names
        };
        for pair in luck.pairs.iter().flatten() {
            let mut bots = pair.sides.map(|side| name(side).join(" and "));
            let (mut score, mut of_luck) = (pair.score, pair.luck);
            if bots[0] == bots[1] {
                continue;
            }
            if bots[0] > bots[1] {
                bots.reverse();
                (score, of_luck) = (1.0 - score, -of_luck);
            }
            let of_bots = self.0.entry((luck.game.clone(), bots)).or_default();
            of_bots.matches += 1;
            let (sums, count) = of_bots.units.entry(luck.seed.to_hex()).or_default();
            *sums = [sums[0] + score, sums[1] + score - of_luck];
            *count += 1.0;
        }
        let sides = (0..luck.seating.sides()).map(|side| {
            let (score, of_luck) = luck.of_side(side)?;
            let seats = luck.seating.members(side).iter().map(|seat| seat.0).collect();
            Some(SideLuck { seats, bots: name(side), score, luck: of_luck, adjusted: score - of_luck })
        });
        LuckLine::Match {
            id: &luck.match_id,
            file,
            game: &luck.game,
            draws: luck.draws,
            sides: sides.collect(),
        }
    }

    fn lines(&self) -> impl Iterator<Item = LuckLine<'_>> {
        self.0.iter().map(|((game, bots), of)| {
            let units: Vec<[f64; 2]> =
                of.units.values().map(|(sums, count)| sums.map(|sum| sum / count)).collect();
            let scores = AdjustedScores::new(&units);
            LuckLine::Pair {
                game,
                bots,
                matches: of.matches,
                units: units.len(),
                score: scores.map(|scores| scores.plain),
                adjusted: scores.map(|scores| scores.adjusted),
                factor: scores.and_then(|scores| scores.factor),
            }
        })
    }
}
