//! `referee regress`: is a new version of a bot stronger than its base?

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use indicatif::ProgressBar;
use serde::Serialize;
use tokio::time::Instant;

use crate::cli::files::OutFile;
use crate::cli::openings::OpeningOptions;
use crate::cli::options::{GameOptions, LaneOptions, ListenOptions, MatchOptions, game};
use crate::cli::progress;
use crate::cli::signals::interrupted;
use crate::cli::{Exit, Failure, block_on};
use crate::games;
use crate::report::{Outcome, TrialReport, interval};
use crate::server::{
    Board, Contest, Entrant, Halt, Happening, House, Scoring, SetOfTrial, Source, Stopped, Trial,
    check_fresh, is_told_by_a_deal,
};
use crate::tournament::Deals;
use crate::tournament::regression::{Regression, Terms, Verdict};
use crate::tournament::schedule::{Format, Plan, Schedule};
use crate::tournament::sprt::{EloModel, Sprt};

/// Test whether a new version of a bot is stronger than its base
///
/// Plays sets of matches, each deal or opening from every side, until a sequential test (SPRT) on the scores of the sets
/// accepts H0 (a difference of --elo0) or H1 (--elo1). A set with a fault of the base is dropped, one of the new version
/// loses the match; too many faults make the run invalid. A set whose moves repeat an earlier set's is not counted.
/// With three sides, one of the bots has two of them by turns. A BOT is a command line in one argument, or tcp:NAME.
///
/// The exit code is the verdict: 0 passed (H1), 1 failed (H0), 3 undecided, 4 invalid, 5 could not run.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee regress --game checkers --new ./new --base ./old --clock delay=100ms,bank=10s --jobs 2
  referee regress --game jeex --new ./new --base ./old --elo0 -10 --elo1 0 --max-sets 2000
  referee regress --game checkers --new ./new --base ./old --openings book.pdn
  referee regress --game keezen --seats 6 --new ./new --base ./old --json > events.ndjson
  referee regress --game saxum --new ./new --base ./old --fixed 500 --record records
  referee regress --game checkers --new ./new --base ./old --junit regress.xml --github")]
pub(super) struct Args {
    /// The game: see `referee games`
    #[arg(long)]
    game: String,
    /// The bot that is tested
    #[arg(long, value_name = "BOT")]
    new: Source,
    /// The bot that it is compared with
    #[arg(long, value_name = "BOT")]
    base: Source,
    /// How many seats, where the game is played with several numbers of them [default: the game's]
    #[arg(long, value_name = "N")]
    seats: Option<u8>,
    #[command(flatten)]
    openings: OpeningOptions,
    /// The bots remember nothing of earlier matches, so that in games with chance or secrets they are not started anew
    /// for each match, and bots that connect may play them
    #[arg(long)]
    trust_bots: bool,
    #[command(flatten)]
    lanes: LaneOptions,
    #[command(flatten)]
    options: GameOptions,
    #[command(flatten)]
    terms: MatchOptions,
    /// One JSON object a line while it runs: each match, each set with its LLR, then the verdict
    #[arg(long)]
    json: bool,
    /// Write the verdict to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// On GitHub: add the verdict to the summary of the job, and annotate the job with it
    #[arg(long)]
    github: bool,
    #[command(flatten)]
    test: TestOptions,
    #[command(flatten)]
    listen: ListenOptions,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Test")]
struct TestOptions {
    /// H0: the difference at which the new version fails
    #[arg(long, value_name = "ELO", default_value_t = 0.0, allow_negative_numbers = true)]
    elo0: f64,
    /// H1: the difference at which it passes
    #[arg(long, value_name = "ELO", default_value_t = 10.0, allow_negative_numbers = true)]
    elo1: f64,
    /// How often a version at H0 may pass
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// How often a version at H1 may fail
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    beta: f64,
    /// What --elo0 and --elo1 mean
    #[arg(long, value_enum, default_value_t = Model::Normalized)]
    elo_model: Model,
    /// How many sets at most, those included that do not count
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_sets: u32,
    /// No test: play so many sets and measure the difference
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000),
          conflicts_with_all = ["elo0", "elo1", "alpha", "beta", "elo_model", "max_sets"])]
    fixed: Option<u32>,
    /// The greatest part of the matches that may have a fault, from 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.01)]
    max_fault_rate: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Model {
    /// In standard deviations of a match: tests take as long whatever part of the matches is drawn
    Normalized,
    /// By the expected score: 1 / (1 + 10^(-elo / 400))
    Logistic,
}

impl TestOptions {
    fn terms(&self) -> Result<Terms, Failure> {
        let model = match self.elo_model {
            Model::Normalized => EloModel::Normalized,
            Model::Logistic => EloModel::Logistic,
        };
        let sprt = match self.fixed {
            Some(_) => None,
            None => {
                Some(Sprt::new(self.elo0, self.elo1, self.alpha, self.beta, model).map_err(Failure::usage)?)
            }
        };
        let max_fault_rate = self.max_fault_rate;
        Ok(Terms { max_fault_rate, ..Terms::new(sprt, self.fixed.unwrap_or(self.max_sets)) })
    }
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let rules = game(&args.game)?;
    let seating =
        games::seating(rules, args.seats).map_err(|what| Failure::usage(format!("--seats: {what}")))?;
    let terms = args.test.terms()?;
    let deals = Deals::Mirrored;
    let regression = Regression::new(terms, seating, deals).map_err(Failure::usage)?;
    let plan = Plan::new(Format::Duel { sets: terms.max_sets }, seating, deals, 2);
    let schedule = Schedule::new(plan).map_err(Failure::usage)?;
    let run = args.terms.run()?;
    let plies = rules.meta().openings.unwrap_or(0);
    let openings = args.openings.openings(rules, seating, args.options.to_map()?, &run.seed, plies)?;
    let bots = [args.new, args.base];
    let is_fresh = is_told_by_a_deal(rules) && !args.trust_bots;
    if is_fresh {
        check_fresh(rules, &bots)
            .map_err(|what| Failure::usage(format!("{what}; --trust-bots plays nevertheless")))?;
    }
    let listen = args.listen.listen(&bots)?;
    let commands = [bots[0].to_string(), bots[1].to_string()];
    let names = ["new", "base"].map(|name| Some(name.to_owned()));
    let mut entrants = Entrant::named(bots.into_iter().zip(names).collect());
    for entrant in &mut entrants {
        entrant.is_fresh = is_fresh;
    }
    let summary = args.github.then(OutFile::job_summary).transpose()?;
    // Nothing is left behind by what is refused.
    let junit = args.junit.as_deref().map(OutFile::create).transpose()?;
    let records = args.terms.records()?;

    let begun = Instant::now();
    let seed = run.seed.to_hex();
    let scoring = Scoring { seating, legs: schedule.legs(), on_fault: run.terms.on_fault };
    let contest = Contest::new((Board::new(schedule), scoring), openings, None);
    let can_repeat = !rules.meta().chance;
    let mut trial = Trial::new(regression, scoring, can_repeat);
    let house = House {
        run,
        rules,
        seating,
        entrants,
        jobs: args.lanes.jobs as usize,
        is_pinned: args.lanes.pin,
        listen,
        records,
        unsealed: None,
        watch: None,
    };
    let mut printer = Printer::new(terms.max_sets, args.json);
    let mut has_played = false;
    let stopped = block_on(async {
        let tell = |happening: Happening<'_>| {
            match happening {
                Happening::Listening(address) => printer.listening(address),
                Happening::Waiting(name) => printer.note(&format!("waiting for `{name}` to connect")),
                Happening::Ended { fixture, report, record, never_came } => {
                    printer.event(report);
                    for set in trial.add(fixture, report, record) {
                        printer.set(&set);
                    }
                    // One that has played before is there: that it does not start once more is a fault as any other.
                    match never_came {
                        Some(why) if !has_played => return Err(Halt::Because(why)),
                        Some(_) => {}
                        None => has_played = true,
                    }
                    if trial.regression.verdict().is_some() {
                        return Err(Halt::Enough);
                    }
                }
            }
            Ok(())
        };
        house.play(contest, interrupted(), tell).await
    })?;
    let outcome = outcome(stopped, trial.regression.verdict());
    let report =
        TrialReport::new(outcome.clone(), rules.meta().id, commands, seed, &trial.regression, trial.faults());
    let printed = printer.finish(&report);
    if let Some(junit) = junit {
        junit.write(|file| report.junit(begun.elapsed(), file))?;
    }
    if let Some(summary) = summary {
        summary.write(|mut file| file.write_all(report.markdown().as_bytes()))?;
        eprint!("{}", report.annotation());
    }
    let exit = exit(outcome)?;
    printed?;
    Ok(exit)
}

/// How it ended. What stops a run after the verdict does not change that.
fn outcome(stopped: Stopped, verdict: Option<Verdict>) -> Outcome {
    match (verdict, stopped) {
        (Some(verdict), Stopped { why: None, .. }) => Outcome::Judged(verdict),
        (_, Stopped { why: Some(why), .. }) => Outcome::CouldNotRun(why),
        (None, _) => Outcome::Interrupted,
    }
}

fn exit(outcome: Outcome) -> Result<Exit, Failure> {
    match outcome {
        Outcome::Judged(Verdict::Passed | Verdict::Measured) => Ok(Exit::Done),
        Outcome::Judged(Verdict::Failed) => Ok(Exit::No),
        Outcome::Judged(Verdict::AtLimit | Verdict::OnlyRepeats) => Ok(Exit::Undecided),
        Outcome::Judged(Verdict::Invalid) => Ok(Exit::Invalid),
        Outcome::Interrupted => Ok(Exit::Interrupted),
        Outcome::CouldNotRun(why) => Err(Failure::cannot_run(why)),
    }
}

/// Tells a person or a program what happens.
struct Printer {
    json: bool,
    progress: ProgressBar,
    /// The first error of standard output; the matches go on.
    failed: Option<io::Error>,
}

impl Printer {
    fn new(max_sets: u32, json: bool) -> Printer {
        let progress = progress::bar(max_sets.into(), "{pos} of at most {len} sets, {elapsed}{msg}");
        Printer { json, progress, failed: None }
    }

    fn line(&mut self, line: &str) {
        if self.failed.is_none() {
            let mut out = io::stdout().lock();
            self.failed = writeln!(out, "{line}").and_then(|()| out.flush()).err();
        }
    }

    fn note(&self, what: &str) {
        self.progress.suspend(|| eprintln!("{what}"));
    }

    fn listening(&mut self, address: std::net::SocketAddr) {
        self.note(&format!("listening on {address}"));
        if self.json {
            self.line(&format!(r#"{{"type":"listening","address":"{address}"}}"#));
        }
    }

    fn event(&mut self, event: &impl Serialize) {
        if self.json {
            match serde_json::to_string(event) {
                Ok(line) => self.line(&line),
                Err(error) => self.failed = self.failed.take().or(Some(error.into())),
            }
        }
    }

    fn set(&mut self, set: &SetOfTrial) {
        self.event(set);
        let llr = set.llr.zip(set.bounds);
        let llr = llr.map(|(llr, (lower, upper))| format!(", LLR {llr:.2} ({lower:.2} to {upper:.2})"));
        let elo = set.elo.map(|elo| format!(", Elo {}", interval(elo, 0)));
        self.progress.set_message(format!("{}{}", llr.unwrap_or_default(), elo.unwrap_or_default()));
        self.progress.inc(1);
    }

    fn finish(mut self, report: &TrialReport) -> io::Result<()> {
        self.progress.finish_and_clear();
        if self.json {
            self.event(report);
        } else {
            self.line(&report.text());
        }
        self.failed.map_or(Ok(()), Err)
    }
}
