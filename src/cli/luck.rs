//! `referee luck`: results with the luck of the draws taken out.

mod value_bot;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Context as _;
use clap::Args as ClapArgs;

use crate::bot::Command;
use crate::cli::bots::with_bots;
use crate::cli::exit::{Exit, Failure};
use crate::cli::files::{expand, read};
use crate::cli::find_game::{ReplayOptions, check_rules};
use crate::cli::json::{LuckLine, SideLuck};
use crate::cli::output::TolerantStdout;
use crate::cli::progress::Progress;
use crate::cli::screen::{Screen, stderr_line};
use crate::game::{Catalog, Chain, Meta, counted, json};
use crate::record::{self, MatchLuck, NoLuck, RecordEntry, RecordLine, Valuation};
use crate::report::percent_interval;
use crate::stats::luck::AdjustedScores;
use crate::stats::rating::Estimate;
use value_bot::ValueBot;

/// The default number of playouts.
const PLAYOUTS: u32 = 500;

/// Take the luck of dice and shuffles out of the results of recorded matches
///
/// At each draw of the referee the luck of a side is the value of what came less the mean value of what could have come. The
/// value is the mean score of random playouts, or what a bot says. The adjusted score, the score less the luck, has the same mean as the
/// score, however good the values are, since nobody knows the seed before the match; its variance is smaller if the
/// values predict the results. With playouts the figures follow from the records alone, so everyone gets the same ones.
///
/// With --value-bot, a bot that gives a `score` and its `score_scale` in the `info` of its moves is asked for a move in the positions after each
/// result that a draw could have had. `referee spec results` says what it has to be able to do.
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
  referee luck records --game examples/games/pig
  referee luck records --value-bot 'python3 mybot.py'")]
pub(super) struct Args {
    /// Records of games with chance, packs of a league, or directories of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    replay: ReplayOptions,
    /// The number of playouts for the value of what came, and for the mean of what could have come. With --value-bot, the
    /// maximum number of results of a draw that the bot is asked about: of more, as many are drawn
    #[arg(long, value_name = "N", default_value_t = PLAYOUTS, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    playouts: u32,
    /// A bot that says what positions are worth, instead of playouts; it runs without a sandbox
    #[arg(long, value_name = "BOT")]
    value_bot: Option<Command>,
    /// One JSON object per line: each match, then each two bots
    #[arg(long)]
    json: bool,
}

/// The source of positions' values.
#[derive(Clone, Copy)]
struct ValuesFrom<'a> {
    playouts: u32,
    bot: Option<&'a Command>,
}

/// The amount by which the variance fell.
fn divisor(Estimate { value, low, high }: Estimate) -> String {
    format!("{value:.2} ({low:.2} to {high:.2} at 95%)")
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
            LuckLine::Trial { sets, playouts, value_bot, factor, pays } => {
                let figure = factor.map_or_else(|| "an unknown factor".to_owned(), divisor);
                let verdict = if *pays { "they pay" } else { "they do not pay, so the plain scores stand" };
                let sets = counted(*sets, "set", "sets");
                let values = match value_bot {
                    Some(bot) => format!("the values of `{bot}`"),
                    None => format!("{playouts} playouts"),
                };
                write!(f, "\nluck: {values} divide the variance of the first {sets} by {figure}: {verdict}")
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
                    write!(f, "\n  {:<20}divided by {}", "variance", divisor(*factor))?;
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
    let mut pairs = Pairs::default();
    let values = ValuesFrom { playouts: args.playouts, bot: args.value_bot.as_ref() };
    let exit = with_bots(|| pairs.add_all(&files, catalog, values, |line| print(&mut out, line, args.json)))?;
    pairs.lines().try_for_each(|line| print(&mut out, &line, args.json))?;
    out.0.end(exit)
}

fn print(out: &mut dyn Write, line: &LuckLine<'_>, is_json: bool) -> io::Result<()> {
    if is_json { writeln!(out, "{}", json::text(line)) } else { writeln!(out, "{line}") }
}

/// The number of playouts that take the luck out of the results of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Playouts {
    /// The default, if they pay in the first sets.
    Auto,
    Each(u32),
}

impl FromStr for Playouts {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Playouts> {
        let number = || text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
        let found = if text == "auto" { Some(Playouts::Auto) } else { number().map(Playouts::Each) };
        found.with_context(|| format!("`{text}` is neither auto nor a number from 1 to 1000000"))
    }
}

/// The luck in the results of a run.
#[derive(Debug, ClapArgs)]
pub(super) struct LuckOptions {
    /// Take the luck of dice and shuffles out of the results at the end, from the records, as `referee luck --playouts N`;
    /// `auto` tries 500 playouts on the first 50 sets, and goes on if they pay. The scores without luck are shown
    /// beside the others, and decide nothing
    #[arg(long, value_name = "N|auto")]
    luck: Option<Playouts>,
    /// A bot whose values take the place of the playouts of --luck, as in `referee luck --value-bot`
    #[arg(long, value_name = "BOT", requires = "luck")]
    value_bot: Option<Command>,
}

impl LuckOptions {
    /// Returns whether the luck is wanted.
    pub(super) fn is_given(&self) -> bool {
        self.luck.is_some()
    }

    /// Checks that there is luck to take out.
    pub(super) fn check(&self, game: &Meta, has_records: bool) -> Result<(), Failure> {
        match self.luck {
            Some(_) if !game.chance => {
                Err(Failure::usage(format!("--luck: {}", Chain(&NoLuck::NoChance(game.id)))))
            }
            Some(_) if !has_records => {
                Err(Failure::usage("--luck: the luck is computed from the records: add --record DIR"))
            }
            _ => Ok(()),
        }
    }

    /// Prints the luck in the records of a run that has ended. An error goes to standard error and changes no verdict.
    pub(super) fn report(&self, records: &Path, catalog: &Catalog, is_json: bool, out: &mut dyn Write) {
        let Some(playouts) = self.luck else { return };
        let bot = self.value_bot.as_ref();
        let reported = with_bots(|| report(playouts, bot, records, catalog, is_json, out));
        if let Err(failure) = reported {
            stderr_line(format_args!("--luck: {failure}"));
        }
    }
}

/// The number of sets on which `auto` tries the playouts.
const TRIED: usize = 50;

fn report(
    playouts: Playouts,
    bot: Option<&Command>,
    records: &Path,
    catalog: &Catalog,
    is_json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let sets = by_deal(expand(&[records.to_owned()], &["jsonl"])?)?;
    let (first, playouts) = match playouts {
        Playouts::Auto => (TRIED.min(sets.len()), PLAYOUTS),
        Playouts::Each(playouts) => (sets.len(), playouts),
    };
    let (tried, rest) = sets.split_at(first);
    let mut pairs = Pairs::default();
    let add = |pairs: &mut Pairs, sets: &[Vec<PathBuf>], out: &mut dyn Write| {
        let print = |line: &LuckLine<'_>| if is_json { print(out, line, true) } else { Ok(()) };
        pairs.add_all(&sets.concat(), catalog, ValuesFrom { playouts, bot }, print)
    };
    add(&mut pairs, tried, out)?;
    if !rest.is_empty() {
        let factor = pairs.factor();
        let pays = factor.is_some_and(|factor| factor.low > 1.0);
        let value_bot = bot.map(Command::to_string);
        print(out, &LuckLine::Trial { sets: tried.len(), playouts, value_bot, factor, pays }, is_json)?;
        if !pays {
            return Ok(());
        }
        add(&mut pairs, rest, out)?;
    }
    Ok(pairs.lines().try_for_each(|line| print(out, &line, is_json))?)
}

/// The records of each set, in the order in which they were begun.
fn by_deal(mut files: Vec<PathBuf>) -> Result<Vec<Vec<PathBuf>>, Failure> {
    // m2.jsonl comes before m10.jsonl.
    files.sort_by_cached_key(|file| (file.as_os_str().len(), file.clone()));
    let mut sets: Vec<(String, Vec<PathBuf>)> = Vec::new();
    for file in files {
        let bytes = read(&file)?;
        // An invalid record is named when its luck is computed.
        let deal = match record::lines(&bytes).next() {
            Some(Ok(RecordLine { entry: RecordEntry::Record(header), .. })) => header.deal,
            _ => String::new(),
        };
        match sets.last_mut().filter(|(last, _)| *last == deal) {
            Some((_, files)) => files.push(file),
            None => sets.push((deal, vec![file])),
        }
    }
    Ok(sets.into_iter().map(|(_, files)| files).collect())
}

/// The luck in each of these records, computed on all cores.
fn lucks(
    files: &[PathBuf],
    catalog: &Catalog,
    values: ValuesFrom<'_>,
) -> Result<Vec<Result<MatchLuck, NoLuck>>, Failure> {
    let progress = Progress::of_matches(files.len() as u64);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || -> Result<(), Failure> {
        // A thread has its own process of the bot.
        let mut bot = values.bot.map(ValueBot::start).transpose()?;
        while let Some((at, file)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            files.get(at).map(|file| (at, file))
        } {
            let bytes = read(file)?;
            check_rules(file, &bytes, catalog)?;
            let valuation = match &mut bot {
                Some(bot) => Valuation::Values(bot, values.playouts),
                None => Valuation::Playouts(values.playouts),
            };
            let luck = record::luck(&bytes, catalog, valuation);
            if matches!(luck, Err(NoLuck::NoChance(_) | NoLuck::NoPlayouts(_) | NoLuck::NoValue(_))) {
                next.store(files.len(), Ordering::Relaxed);
            }
            found.lock().unwrap_or_else(PoisonError::into_inner).insert(at, luck);
            progress.inc(1);
        }
        if let Some(bot) = bot {
            bot.end();
        }
        Ok(())
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

impl PairOfBots {
    /// The mean score of each unit, and the adjusted one.
    fn means(&self) -> impl Iterator<Item = [f64; 2]> {
        self.units.values().map(|(sums, count)| sums.map(|sum| sum / count))
    }
}

impl Pairs {
    /// Adds the records of these files. `each` gets a line for each match. Returns whether all are valid.
    fn add_all(
        &mut self,
        files: &[PathBuf],
        catalog: &Catalog,
        values: ValuesFrom<'_>,
        mut each: impl FnMut(&LuckLine<'_>) -> io::Result<()>,
    ) -> Result<Exit, Failure> {
        let mut exit = Exit::Done;
        for (file, found) in files.iter().zip(lucks(files, catalog, values)?) {
            match found {
                Ok(luck) => each(&self.add(file, &luck))?,
                Err(NoLuck::Difference(difference)) => {
                    exit = if difference.rules_failed { Exit::CannotRun } else { Exit::No };
                    stderr_line(format_args!("{}: {}", file.display(), Chain(&difference)));
                }
                Err(why @ (NoLuck::NoChance(_) | NoLuck::NoPlayouts(_))) => {
                    return Err(Failure::usage(format!("{}: {}", file.display(), Chain(&why))));
                }
                Err(why @ NoLuck::NoValue(_)) => {
                    return Err(Failure::cannot_run(format!("{}: {}", file.display(), Chain(&why))));
                }
            }
        }
        Ok(exit)
    }

    /// The amount by which the variance fell in the sets of all bots together.
    fn factor(&self) -> Option<Estimate> {
        let units: Vec<[f64; 2]> = self.0.values().flat_map(PairOfBots::means).collect();
        AdjustedScores::new(&units)?.factor
    }

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
            let units: Vec<[f64; 2]> = of.means().collect();
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
