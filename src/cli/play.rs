//! `referee play`: matches between bots that the referee starts.

use std::io::{self, IsTerminal, Write};

use clap::{Args as ClapArgs, ValueEnum};
use indicatif::ProgressBar;

use crate::cli::openings::OpeningOptions;
use crate::cli::options::{GameOptions, LaneOptions, ListenOptions, MatchOptions, game};
use crate::cli::progress;
use crate::cli::signals::interrupted;
use crate::cli::{Exit, Failure, block_on};
use crate::core::Viewer;
use crate::referee::Match;
use crate::report::{Scoresheet, result_line, sets_line, summary_table};
use crate::server::{
    Entrant, House, MatchReport, Mirror, Play, Played, SetReport, Source, Step, Watch, seating_for,
};

/// Play matches between bots that the referee starts or that connect to it
///
/// A BOT is a command line in one argument, split as a shell would and run without a shell; or tcp:NAME, a bot that
/// connects to --listen and calls itself NAME. The first bot has seat 0 in the first match; from match to match the
/// bots move on by one seat. Processes and connections are used again. A bot that says `slots` in its `hello` plays as
/// many matches at once; --jobs has several processes or connections of each bot play side by side.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee play checkers 'python3 bots/python/random_bot.py' 'python3 bots/python/greedy_bot.py'
  referee play checkers ./old ./new -n 100 --record records --clock delay=100ms,bank=10s
  referee play jeex ./old ./new -n 100 --opening-plies 6 --mirror
  referee play checkers ./old ./new -n 200 --mirror --openings book.pdn --order random
  referee play saxum ./old ./new -n 1000 --jobs 2 --pin
  referee play checkers tcp:alice ./bot --listen 127.0.0.1:4700 --token-file tokens
  referee play checkers ./bot ./bot --set draw_plies=80 --on-fault retry=3 --json")]
pub(super) struct Args {
    /// The game: see `referee games`
    game: String,
    /// The bots, one for each seat: command lines, or tcp:NAME
    #[arg(required = true, value_name = "BOT")]
    bots: Vec<Source>,
    /// How many matches; with --mirror whole sets [default: 1, with --mirror one set]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    matches: Option<u32>,
    /// How many seats, where the game is played with several numbers of them [default: one for each bot, else one side
    /// for each bot]
    #[arg(long, value_name = "N")]
    seats: Option<u8>,
    #[command(flatten)]
    openings: OpeningOptions,
    /// Play each deal, with its opening and its cards, once with each bot in each place; `all`: with the bots in every
    /// order. In games with chance or secrets the bots are started anew for each match
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "rotations")]
    mirror: Option<MirrorOption>,
    /// With --mirror: the bots remember nothing of earlier matches, so they are used again, and bots that connect may
    /// play games with chance or secrets
    #[arg(long, requires = "mirror")]
    trust_bots: bool,
    #[command(flatten)]
    lanes: LaneOptions,
    #[command(flatten)]
    options: GameOptions,
    #[command(flatten)]
    terms: MatchOptions,
    #[command(flatten)]
    listen: ListenOptions,
    /// One JSON object a line: each match, with --mirror each set, then the summary
    #[arg(long)]
    json: bool,
    /// End with exit code 1 if there was any fault
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MirrorOption {
    /// As many matches as bots
    Rotations,
    /// Every order of the bots: 6 matches for three
    All,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let rules = game(&args.game)?;
    let seating = seating_for(rules, args.bots.len(), args.seats).map_err(|what| match args.seats {
        Some(seats) => Failure::usage(format!("--seats {seats}: {what}")),
        None => Failure::usage(format!("{} bots: {what}", args.bots.len())),
    })?;
    let run = args.terms.run()?;
    let openings = args.openings.openings(rules, seating, args.options.to_map()?, &run.seed, 0)?;
    let mirror = args.mirror.map(|mirror| match mirror {
        MirrorOption::Rotations => Mirror::Rotations,
        MirrorOption::All => Mirror::All,
    });
    let size = mirror.map_or(1, |mirror| mirror.size(args.bots.len()) as u32);
    let matches = args.matches.unwrap_or(size);
    let listen = args.listen.listen(&args.bots)?;
    let house = House {
        run,
        rules,
        seating,
        entrants: Entrant::of(args.bots),
        jobs: args.lanes.jobs as usize,
        is_pinned: args.lanes.pin,
        listen,
        records: None,
        unsealed: None,
        watch: (matches == 1 && !args.json).then(scoresheet),
    };
    let mut play = Play { house, matches, openings, mirror, trust_bots: args.trust_bots };
    play.check().map_err(Failure::usage)?;
    // Nothing is left behind by what is refused.
    play.house.records = args.terms.records()?;
    let mut printer = Printer::new(matches, args.json);
    let Played { summary, stopped } =
        block_on(async { play.run(interrupted(), |step| printer.tell(step)).await })?;
    let written = printer.finish(|out| {
        if args.json {
            writeln!(out, "{}", serde_json::to_string(&summary)?)
        } else if matches > 1 {
            writeln!(out, "{}", summary_table(&summary).trim_fmt())?;
            if mirror.is_some() {
                writeln!(out, "{}", sets_line(&summary))?;
            }
            if summary.aborted > 0 {
                writeln!(out, "{} aborted", summary.aborted)?;
            }
            writeln!(out, "run seed {}", summary.seed)
        } else {
            Ok(())
        }
    });
    if summary.interrupted {
        return Ok(Exit::Interrupted);
    }
    if let Some(why) = stopped {
        return Err(Failure::cannot_run(why));
    }
    written?;
    let has_faults = summary.bots.iter().any(|bot| bot.faults.total() > 0);
    Ok(if args.strict && has_faults { Exit::No } else { Exit::Done })
}

/// Writes a match down as it goes on.
fn scoresheet() -> Watch {
    let mut scoresheet = Scoresheet::new(Viewer::Public, io::stdout().is_terminal());
    let mut has_begun = false;
    let mut write = move |play: &Match, news: &[u8]| -> io::Result<()> {
        let mut out = io::stdout().lock();
        if !std::mem::replace(&mut has_begun, true) {
            let header = &play.setup().header;
            let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
            writeln!(out, "{}: {}\n", header.game, names.join(" - "))?;
        }
        scoresheet.add(&mut out, play, news)?;
        out.flush()
    };
    let mut is_broken = false;
    Box::new(move |play, news| {
        // The match goes on; the result tells the error.
        is_broken = is_broken || write(play, news).is_err();
    })
}

/// Tells a person or a program what happens.
struct Printer {
    json: bool,
    is_single: bool,
    progress: ProgressBar,
    /// The first error of standard output; the matches go on.
    failed: Option<io::Error>,
}

impl Printer {
    fn new(matches: u32, json: bool) -> Printer {
        let progress = if matches > 1 { progress::of_matches(matches.into()) } else { ProgressBar::hidden() };
        Printer { json, is_single: matches == 1, progress, failed: None }
    }

    fn write(&mut self, write: impl FnOnce(&mut Self, &mut io::StdoutLock<'_>) -> io::Result<()>) {
        if self.failed.is_none() {
            let mut out = io::stdout().lock();
            self.failed = write(self, &mut out).and_then(|()| out.flush()).err();
        }
    }

    fn tell(&mut self, step: Step<'_>) {
        match step {
            Step::Listening(address) => {
                self.progress.suspend(|| eprintln!("listening on {address}"));
                if self.json {
                    self.write(|_, out| writeln!(out, r#"{{"type":"listening","address":"{address}"}}"#));
                }
            }
            Step::Waiting(name) => {
                self.progress.suspend(|| eprintln!("waiting for `{name}` to connect"));
            }
            Step::Ended(report) => {
                self.progress.inc(1);
                self.write(|printer, out| printer.ended(out, report));
            }
            Step::SetEnded(report) => self.write(|printer, out| printer.set_ended(out, report)),
        }
    }

    fn set_ended(&self, out: &mut impl Write, report: &SetReport) -> io::Result<()> {
        if self.json { writeln!(out, "{}", serde_json::to_string(report)?) } else { Ok(()) }
    }

    fn ended(&self, out: &mut impl Write, report: &MatchReport) -> io::Result<()> {
        if self.json {
            writeln!(out, "{}", serde_json::to_string(report)?)
        } else if self.is_single {
            writeln!(out, "{}", result_line(report))?;
            match &report.record {
                Some(path) => writeln!(out, "record: {}", path.display()),
                None => Ok(()),
            }
        } else {
            Ok(())
        }
    }

    fn finish(mut self, write: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>) -> io::Result<()> {
        self.progress.finish_and_clear();
        self.write(|_, out| write(out));
        self.failed.map_or(Ok(()), Err)
    }
}
