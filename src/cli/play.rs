//! `referee play`: plays matches between bots.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args as ClapArgs, ValueEnum};

use crate::cli::bots::{launch, run_in, with_bots};
use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::DisguiseOptions;
use crate::cli::json::{Listening, MatchLine};
use crate::cli::listen::ListenOptions;
use crate::cli::luck::LuckOptions;
use crate::cli::openings::read_openings;
use crate::cli::options::{GameOptions, HideOptions, LaneOptions, MatchOptions};
use crate::cli::output::{TolerantStdout, is_terminal};
use crate::cli::progress::Progress;
use crate::cli::sandbox::SandboxOptions;
use crate::cli::screen::{Screen, stderr_line};
use crate::cli::signals::interrupted;
use crate::cli::watch::{WatchArgs, announce};
use crate::game::json;
use crate::game::name::NameSet;
use crate::game::printable::printable;
use crate::game::{Catalog, Meta, Viewer, counted};
use crate::record::PublishedInfo;
use crate::referee::Match;
use crate::report::{
    RunSummary, Scoresheet, answers_tables, difference_lines, evidence_lines, result_line, sets_line,
    summary_table,
};
use crate::results::FinishedMatch;
use crate::runner::{MatchRunner, Watch};
use crate::runs::config::{Dollars, OpeningConfig};
use crate::runs::play::{InvalidPlay, Mirror, Play, PlayEvent, PlayResult, seating_for};
use crate::sources::{self, BotSpec, Source};

/// Play matches between bots that the referee starts or that connect to it
///
/// A BOT is a command line in one argument, split as a shell would and run without a shell; or tcp:NAME for a bot
/// that connects to --listen with this name. The first bot has seat 0 in the first match; the bots rotate by one seat
/// from match to match. Processes and connections are reused. A bot that sends `slots` in its `hello` plays that many
/// matches concurrently; --jobs runs several processes or connections of each bot.
///
/// Several matches of two bots end with the Elo difference of the first bot to the second, with a 95% interval, and
/// the likelihood of superiority, by the formulas of cutechess and fastchess from 30 sets on. The unit is the mirrored set
/// (pentanomial) or, without --mirror, the match (trinomial). Copies of a set do not count if the bots are deterministic,
/// and one distinct set has no interval. If sets share openings of a file, the figures speak of the openings that were played, and
/// a second interval speaks of openings like these. The figures assume that the number of matches was fixed in advance;
/// `referee regress` tests while it plays.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee play checkers 'python3 bots/python/random_bot.py' 'python3 bots/python/greedy_bot.py'
  referee play checkers ./old ./new -n 100 --record records --clock delay=100ms,bank=10s
  referee play jeex ./old ./new -n 100 --opening-plies 6 --mirror
  referee play checkers ./old ./new -n 200 --mirror --openings book.pdn --order random
  referee play jeex ./bot ./bot --dir old --dir new --name old --name new -n 100 --mirror
  referee play saxum ./old ./new -n 1000 --jobs 2 --pin
  referee play saxum ./old ./new -n 400 --mirror --record records --luck auto
  referee play chess ./old ./new -n 200 --mirror --openings book.epd --resign score=600,moves=3 --draw score=10,moves=8,after=40
  referee play chess ./old ./new -n 200 --mirror --openings book.epd --syzygy tables
  referee play checkers tcp:alice ./bot --listen 127.0.0.1:4700 --token-file tokens
  referee play checkers ./old ./new -n 100 --disguise 'a text that no bot knows'
  referee play checkers ./bot ./bot --set draw_plies=80 --on-fault retry=3 --json
  referee play examples/games/connect_four ./old ./new -n 100 --mirror --opening-plies 2")]
pub(super) struct Args {
    /// The game: see `referee games`; or the directory of a game with its game.toml: see `referee spec games`
    game: String,
    /// The bots, one per seat: command lines, or tcp:NAME
    #[arg(required = true, value_name = "BOT", value_parser = sources::parse)]
    bots: Vec<Arc<dyn Source>>,
    /// The working directory of a bot that the referee starts: once for each of them, in order. Relative paths in its
    /// command line are seen from it [default: the current directory for all]
    #[arg(long = "dir", value_name = "DIR")]
    directories: Vec<PathBuf>,
    /// The name in results of a bot that the referee starts: once for each of them, in order [default: the name in its
    /// `hello`; its program if several bots say the same name]
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// The number of matches; with --mirror whole sets [default: 1, with --mirror one set]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    matches: Option<u32>,
    /// The number of seats, if the game allows several [default: one per bot, otherwise one side per bot]
    #[arg(long, value_name = "N")]
    seats: Option<u8>,
    /// One JSON object per line: each match, with --mirror each set, then the summary, with --luck its lines
    #[arg(long)]
    json: bool,
    /// Write a line for each match to standard error as it ends
    #[arg(long, conflicts_with = "json")]
    lines: bool,
    /// Exit with code 1 if there was any fault
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    disguise: DisguiseOptions,
    #[command(flatten)]
    openings: OpeningConfig,
    /// Play each deal, with its opening and its cards, once with each bot in each place; `all`: once with the bots in
    /// every order. In games with chance or secrets the bots are restarted for each match
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "rotations")]
    mirror: Option<MirrorOption>,
    /// With --mirror: trust that the bots remember nothing of earlier matches, so that they are reused, and bots that
    /// connect may play games with chance or secrets
    #[arg(long, requires = "mirror")]
    trust_bots: bool,
    /// Interrupt the run once its matches have cost so many US dollars, as the bots report it in `info`; a match counts when
    /// it has ended
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<Dollars>,
    #[command(flatten)]
    lanes: LaneOptions,
    #[command(flatten)]
    options: GameOptions,
    #[command(flatten)]
    terms: MatchOptions,
    #[command(flatten)]
    hidden: HideOptions,
    #[command(flatten)]
    listen: ListenOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    luck: LuckOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MirrorOption {
    /// As many matches as bots
    Rotations,
    /// Every order of the bots: 6 matches for three
    All,
}

pub(super) fn run(mut args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (rules, mut catalog) = args.disguise.find_game(&args.game, catalog)?;
    let seating = seating_for(rules, args.bots.len(), args.seats).map_err(|what| match args.seats {
        Some(seats) => Failure::usage(format!("--seats {seats}: {what}")),
        None => Failure::usage(format!("{}: {what}", counted(args.bots.len(), "bot", "bots"))),
    })?;
    change_directories(&mut args.bots, &args.directories)?;
    let names = given_names(&args.bots, args.names)?;
    let (rules, run) = args.terms.run_of(rules, seating, &mut catalog)?;
    let catalog = &catalog;
    let openings = args.openings.source(0, Path::to_owned);
    let openings = read_openings(&openings, rules, seating, args.options.to_map()?, &run.seed)?;
    let mirror = args.mirror.map(|mirror| match mirror {
        MirrorOption::Rotations => Mirror::Rotations,
        MirrorOption::All => Mirror::All,
    });
    let size = mirror.map_or(1, |mirror| mirror.size(args.bots.len()) as u32);
    let matches = args.matches.unwrap_or(size);
    let listen = args.listen.listen(&args.bots)?;
    args.sandbox.confine(&mut args.bots)?;
    let bots = args.bots.into_iter().zip(names).collect();
    let mut bots = BotSpec::named_by_hello(bots);
    let hidden = args.hidden.of(bots.len())?;
    bots.iter_mut().zip(hidden).for_each(|(bot, hide_legal)| bot.hide_legal = hide_legal);
    let runner = MatchRunner {
        jobs: args.lanes.jobs as usize,
        slots: args.lanes.slots as usize,
        is_pinned: args.lanes.pin,
        listen,
        watch: (matches == 1 && !args.json).then(scoresheet),
        ..MatchRunner::new(run, rules, seating, bots, launch()?)
    };
    let max_cost = args.max_cost;
    let mut play = Play { runner, matches, openings, mirror, trust_bots: args.trust_bots, max_cost };
    play.check().map_err(|why| {
        Failure::usage(match why {
            InvalidPlay::NotRestartable(why) => format!("--mirror: {why}; --trust-bots overrides this check"),
            InvalidPlay::IncompleteSet { matches, size } => {
                format!("-n {matches}: --mirror needs a multiple of {size}, the number of matches of a set")
            }
        })
    })?;
    args.luck.check(rules.meta(), args.terms.has_records())?;
    // Opened after validation, so that a rejected command line creates no directory.
    let records = args.terms.records()?;
    let folder = records.as_ref().map(|records| records.folder().to_owned());
    play.runner.records = records;
    let mut printer = MatchPrinter::new(matches, (args.json, args.lines), rules.meta());
    let watch = args.watch.open(rules.meta(), catalog, PublishedInfo::After)?;
    if let Some(server) = &watch {
        announce(server, args.json)?;
        play.runner.live = Some(server.feed());
    }
    let PlayResult { summary, over_budget, stopped } =
        with_bots(|| play.run(interrupted(), |step| printer.print(step)));
    printer.summary(&summary, mirror.is_some());
    if let Some(server) = watch {
        server.close();
    }
    if let Some(why) = over_budget {
        stderr_line(format_args!("interrupted: {why} (--max-cost)"));
    }
    if summary.interrupted {
        return Ok(Exit::Interrupted);
    }
    if let Some(why) = stopped {
        return Err(Failure::cannot_run(why));
    }
    if let Some(folder) = folder {
        args.luck.report(&folder, catalog, args.json, &mut printer.out);
    }
    let has_faults = summary.bots.iter().any(|bot| bot.faults.total() > 0);
    printer.out.0.end(if args.strict && has_faults { Exit::No } else { Exit::Done })
}

/// Checks that an option is given for all bots that the referee starts, or for none.
fn check_count<T>(option: &str, given: &[T], started: usize) -> Result<(), Failure> {
    if !given.is_empty() && given.len() != started {
        let (given, bots) = (given.len(), counted(started, "bot", "bots"));
        return Err(Failure::usage(format!(
            "{option}: {given} given for {bots} that the referee starts; expected one for each"
        )));
    }
    Ok(())
}

/// Gives each bot that the referee starts its working directory.
fn change_directories(bots: &mut [Arc<dyn Source>], directories: &[PathBuf]) -> Result<(), Failure> {
    let mut started: Vec<&mut Arc<dyn Source>> = bots.iter_mut().filter(|bot| bot.is_started()).collect();
    check_count("--dir", directories, started.len())?;
    started.iter_mut().zip(directories).try_for_each(|(bot, directory)| run_in(bot, directory, "--dir"))
}

fn given_names(bots: &[Arc<dyn Source>], names: Vec<String>) -> Result<Vec<Option<String>>, Failure> {
    check_count("--name", &names, bots.iter().filter(|bot| bot.is_started()).count())?;
    let mut known = NameSet::default();
    // The same bot may connect several times.
    bots.iter().filter_map(|bot| bot.connects_as()).for_each(|name| drop(known.add(name)));
    for name in &names {
        known.add(name).map_err(|what| Failure::usage(format!("--name {name}: {what}")))?;
    }
    let mut names = names.into_iter();
    Ok(bots.iter().map(|bot| if bot.is_started() { names.next() } else { None }).collect())
}

/// Formats a match as it progresses.
fn scoresheet() -> Watch {
    let mut scoresheet = Scoresheet::new(Viewer::Public, is_terminal());
    let mut has_begun = false;
    let mut write = move |out: &mut Vec<u8>, play: &Match, news: &[u8]| -> io::Result<()> {
        if !std::mem::replace(&mut has_begun, true) {
            let header = &play.setup().header;
            let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
            writeln!(out, "{}: {}\n", header.game, printable(&names.join(" - ")))?;
        }
        scoresheet.add(out, play, news)
    };
    Box::new(move |play, news| {
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = write(&mut text, play, news);
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// Prints events for a person or a program.
struct MatchPrinter {
    json: bool,
    /// Whether the output has a line for each of several matches.
    has_lines: bool,
    is_single: bool,
    game: &'static Meta,
    progress: Progress,
    out: Screen<TolerantStdout>,
}

impl MatchPrinter {
    fn new(matches: u32, (json, has_lines): (bool, bool), game: &'static Meta) -> MatchPrinter {
        let progress = if matches > 1 { Progress::of_matches(matches.into()) } else { Progress::hidden() };
        let is_single = matches == 1;
        MatchPrinter { json, has_lines, is_single, game, progress, out: Screen(TolerantStdout::new()) }
    }

    fn line(&mut self, line: impl Display) {
        // `TolerantStdout` keeps the error until the end.
        let _ = writeln!(self.out, "{line}");
    }

    fn print(&mut self, step: PlayEvent<'_>) {
        match step {
            PlayEvent::Listening(address) => {
                self.progress.line(format!("listening on {address}"));
                if self.json {
                    self.line(json::text(&Listening { address }));
                }
            }
            PlayEvent::Waiting(name) => self.progress.line(format!("waiting for `{name}` to connect")),
            PlayEvent::Moved(text) => {
                // Untrusted text has been escaped by the formatter, and the board contains colours.
                let _ = self.out.0.write_all(text.as_bytes()).and_then(|()| self.out.0.flush());
            }
            PlayEvent::Ended(finished) => {
                self.progress.inc(1);
                self.ended(finished);
            }
            PlayEvent::SetEnded(report) if self.json => self.line(json::text(report)),
            PlayEvent::SetEnded(_) => {}
        }
    }

    fn ended(&mut self, finished: &FinishedMatch) {
        if self.json {
            self.line(json::text(&MatchLine::of(finished, self.game.id)));
        } else if self.is_single {
            self.line(result_line(finished, self.game));
            if let Some(path) = &finished.record {
                self.line(format_args!("record: {}", path.display()));
            }
        } else if self.has_lines {
            self.progress.line(result_line(finished, self.game));
        }
    }

    fn summary(&mut self, summary: &RunSummary, is_mirrored: bool) {
        self.progress.finish();
        if self.json {
            return self.line(json::text(summary));
        }
        // The sandbox is the same for all bots that the referee starts.
        let sandbox = summary.bots.iter().find_map(|bot| bot.sandbox.as_ref());
        if let Some(sandbox) = sandbox.filter(|sandbox| !sandbox.is_default()) {
            self.line(format_args!("sandbox {sandbox}"));
        }
        // The result of a single match has the detail of the fault.
        let is_single = self.is_single;
        let evidence = evidence_lines(&summary.first_faults, |evidence| !is_single || evidence.is_quote());
        let answers = answers_tables(summary);
        if is_single {
            answers.iter().for_each(|table| self.line(table.trim_fmt()));
            return evidence.iter().for_each(|line| self.line(line));
        }
        self.line(summary_table(summary).trim_fmt());
        answers.iter().for_each(|table| self.line(table.trim_fmt()));
        if is_mirrored {
            self.line(sets_line(summary));
        }
        evidence.iter().for_each(|line| self.line(line));
        if let Some(lines) = difference_lines(summary) {
            self.line(lines);
        }
        if summary.aborted > 0 {
            self.line(format_args!("{} aborted", summary.aborted));
        }
        if summary.void > 0 {
            self.line(format_args!("{} void: no points, no rating", summary.void));
        }
        if summary.paused > 0 {
            let matches = counted(summary.paused, "match", "matches");
            self.line(format_args!("the referee was suspended during {matches}"));
        }
        if summary.rules_restarts > 0 {
            let times = counted(summary.rules_restarts, "time", "times");
            self.line(format_args!("the rules failed and were asked again {times}"));
        }
        self.line(format_args!("run seed {}", summary.seed));
    }
}
