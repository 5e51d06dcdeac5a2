//! `referee regress`: tests whether a new version of a bot is weaker or stronger than its base.

mod merge;

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args as ClapArgs, Subcommand};
use serde::Serialize;

use crate::cli::bots::{launch, run_in, with_bots};
use crate::cli::exit::{Exit, Failure};
use crate::cli::files::{OutFile, check_folder};
use crate::cli::find_game::DisguiseOptions;
use crate::cli::json::{Listening, MatchLine};
use crate::cli::listen::ListenOptions;
use crate::cli::luck::LuckOptions;
use crate::cli::openings::read_openings;
use crate::cli::options::{
    GameOptions, HideOptions, HypothesisOptions, LaneOptions, MatchOptions, option_names,
};
use crate::cli::output::TolerantStdout;
use crate::cli::progress::{Progress, Words};
use crate::cli::sandbox::SandboxOptions;
use crate::cli::screen;
use crate::cli::signals::interrupted;
use crate::cli::watch::{WatchArgs, WatchServer, announce};
use crate::cli::workers::{self, WorkersOptions};
use crate::game::{Catalog, Chain, Meta, counted, json};
use crate::record::PublishedInfo;
use crate::report::{RegressionOutcome, RegressionReport, interval, origin, result_line};
use crate::runner::{EndedMatch, MatchRunner, Openings, RunEvent, deal_leaks_information};
use crate::runs::RunError;
use crate::runs::config::{Dollars, Milliseconds, OpeningConfig, OpeningSource, parse_seed};
use crate::runs::play::check_fresh;
use crate::runs::regression::RegressionSet;
use crate::runs::regression::{
    Hypotheses, PreparedRegression, RegressionEnd, RegressionEvent, RegressionSetup, ResultsContents,
    is_same_version, tested_bot,
};
use crate::runs::workers::OpenedWorkers;
use crate::sources::{self, BotSpec, Source};
use crate::stats::estimates::expected_sets;
use crate::stats::regression::{Shard, Verdict};
use crate::stats::sprt::SetScores;

/// The default maximum number of sets of a test.
const MAX_SETS: u32 = 10_000;

/// Test whether a new version of a bot is weaker than its base, or with --gain whether it is stronger
///
/// Plays sets of matches, each deal or opening from every side, until a sequential test (SPRT) on the scores of the
/// sets accepts H0 (a difference of --elo0) or H1 (--elo1). By default these are -50 and 0 normalized Elo: the new
/// version passes unless it is weaker. In simulated tests with the draw rates of the games here (0% to 70%), 95% of
/// versions as strong as the base pass, after 135 sets on average. Of versions weaker by 20 normalized Elo 64% pass,
/// after 220 sets; of those weaker by 50 5%, after 135; of those weaker by 100 fewer than 0.1%, after 53. Smaller
/// losses take more sets: --elo0 -10 about 3,100; --gain takes about 800.
///
/// If both bots play the same moves in all sets, they pass once, at 95% confidence, the sets in which they may differ
/// are worth less than --elo0 even if all of them are lost: after 74 sets, with --elo0 -10 after 1,810, with --elo-model
/// logistic after 20. Once a set differs, the sequential test decides.
///
/// If the new version crashes, the run fails at once, unless --recover is given. A fault of the new version loses the
/// match. A set with a fault of the base is dropped, but the new version passes only if it does so too with the base as
/// the winner of the matches with its faults. Too many faults make the run invalid. A set with a void match
/// (aborted and not replayed) does not count. With --results, an interrupted run continues with --resume. With --shard,
/// several machines play the sets of one run, and `referee regress merge` prints its verdict. With three sides, each bot
/// has two of them in turn, of which it wins with one at most: a version that wins every match scores 87.5%, or +338 Elo.
/// A BOT is a command line in one argument, or tcp:NAME.
///
/// If each set has an opening or deal of its own, or draws its opening at random (--opening-plies), the verdict speaks of
/// openings like these, which takes a book of more openings than the test takes sets. Otherwise it speaks of the openings of the book, and the report states next to it
/// what they say of openings like them. A single opening says nothing of others, and with deterministic bots nothing at
/// all. Copies of a set do not count until an opening has given two different sets: deterministic bots have nothing more
/// to tell once they have played all openings, and after 100 copies in a row the run ends undecided. A book in a
/// systematic order needs --order random.
///
/// The exit code is the verdict: 0 passed (H1, or they play the same), 1 failed (H0, or the new version crashed), 3
/// undecided (after --max-sets or --max-time), 4 invalid, 5 could not run, 130 interrupted.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee regress checkers --new ./new --base ./old --clock delay=100ms,bank=10s --jobs 2
  referee regress checkers --new-dir . --new ./bot --base-dir build/base --base ./bot
  referee regress jeex --new ./new --base ./old --gain --max-time 30m
  referee regress jeex --new ./new --base ./old --elo0 -10 --max-sets 10000
  referee regress checkers --new ./new --base ./old --openings book.pdn
  referee regress keezen --seats 6 --new ./new --base ./old --json > events.ndjson
  referee regress saxum --new ./new --base ./old --fixed 500 --record records --luck auto
  referee regress checkers --new ./new --base ./old --results run.jsonl --resume
  referee regress jeex --new ./a --base ./b --seed-file key --max-sets 400 --shard 1/2 --results 1
  referee regress merge 1 2
  referee regress checkers --new ./new --base ./old --junit regress.xml --github")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Merge(merge::Args),
}

#[derive(Debug, ClapArgs)]
struct RunArgs {
    // `None` only with a subcommand.
    /// The game: see `referee games`; or the directory of one
    #[arg(required = true)]
    game: Option<String>,
    /// The bot to test
    #[arg(long, value_name = "BOT", required = true, value_parser = sources::parse)]
    new: Option<Arc<dyn Source>>,
    /// The bot to compare it with
    #[arg(long, value_name = "BOT", required = true, value_parser = sources::parse)]
    base: Option<Arc<dyn Source>>,
    /// The working directory of the new version. Relative paths in its command line are seen from it [default: the
    /// current directory]
    #[arg(long, value_name = "DIR")]
    new_dir: Option<PathBuf>,
    /// The working directory of the base. Versions that read files by relative paths need a directory each [default: the
    /// current directory]
    #[arg(long, value_name = "DIR")]
    base_dir: Option<PathBuf>,
    /// A file or directory that identifies the new version beside its program and scripts, seen from its directory, such as
    /// the modules that they import; may be repeated. A run is resumed and merged with the same ones only
    #[arg(long, value_name = "PATH")]
    new_files: Vec<PathBuf>,
    /// The same for the base
    #[arg(long, value_name = "PATH")]
    base_files: Vec<PathBuf>,
    /// The number of seats, if the game allows several [default: the game's]
    #[arg(long, value_name = "N")]
    seats: Option<u8>,
    #[command(flatten)]
    disguise: DisguiseOptions,
    #[command(flatten)]
    openings: OpeningConfig,
    /// Trust that the bots remember nothing of earlier matches, so that in games with chance or secrets they are not
    /// restarted for each match, and bots that connect may play them
    #[arg(long)]
    trust_bots: bool,
    #[command(flatten)]
    lanes: LaneOptions,
    #[command(flatten)]
    options: GameOptions,
    #[command(flatten)]
    terms: MatchOptions,
    #[command(flatten)]
    hidden: HideOptions,
    /// One JSON object per line during the run: each match, each set with its LLR, then the verdict
    #[arg(long)]
    json: bool,
    /// Write a line for each match to standard error as it ends
    #[arg(long, conflicts_with = "json")]
    lines: bool,
    #[command(flatten)]
    reports: ReportOptions,
    #[command(flatten)]
    kept: KeepOptions,
    #[command(flatten)]
    test: TestOptions,
    #[command(flatten)]
    listen: ListenOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    workers: WorkersOptions,
    #[command(flatten)]
    luck: LuckOptions,
}

/// Additional outputs of the verdict.
#[derive(Debug, ClapArgs)]
struct ReportOptions {
    /// Write the verdict to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// In GitHub Actions: add the verdict to the job summary, and annotate the job with it
    #[arg(long)]
    github: bool,
}

impl ReportOptions {
    fn open(&self) -> Result<Reports, Failure> {
        let summary = self.github.then(OutFile::job_summary).transpose()?;
        let junit = self.junit.as_deref().map(|path| OutFile::create("--junit", path)).transpose()?;
        Ok(Reports { junit, summary })
    }
}

/// The files of the verdict.
struct Reports {
    junit: Option<OutFile>,
    summary: Option<OutFile>,
}

impl Reports {
    fn write(self, report: &RegressionReport) -> Result<(), Failure> {
        if let Some(junit) = self.junit {
            junit.write(|file| report.junit(file))?;
        }
        if let Some(summary) = self.summary {
            summary.write(|file| file.write_all(report.markdown().as_bytes()))?;
            // If standard error is closed, the annotation is lost.
            let _ = write!(screen::stderr(), "{}", report.annotation());
        }
        Ok(())
    }
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Interruptions and shards")]
struct KeepOptions {
    /// Write the results to this new file, one line per complete set. It contains the run seed
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Resume the run of the results file, with its seed, the same options and the same programs; --max-sets may be
    /// larger, and --max-time is another period. If the file is missing, start
    #[arg(long, requires = "results")]
    resume: bool,
    /// Resume although a program or script has changed since the earlier sets were played; the verdict says so
    #[arg(long, requires = "resume")]
    accept_changed: bool,
    /// Play only every N-th set, starting with set I, without a verdict: `referee regress merge` prints it. All
    /// shards need the same seed and the same --max-sets
    #[arg(long, value_name = "I/N", requires_all = ["results", "max_sets"], conflicts_with = "fixed")]
    shard: Option<Shard>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Test")]
struct TestOptions {
    #[command(flatten)]
    hypotheses: HypothesisOptions,
    /// The maximum number of sets, including those that do not count [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_sets: Option<u32>,
    /// Instead of a test, play this number of sets and measure the difference
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000),
          conflicts_with_all = ["gain", "elo0", "elo1", "alpha", "beta", "elo_model", "max_sets"])]
    fixed: Option<u32>,
    /// The maximum share of matches with a fault, from 0 to 1: the run is invalid if the 95% interval of the share lies above it
    #[arg(long, value_name = "P", default_value_t = 0.01)]
    max_fault_rate: f64,
    /// Continue when the new version crashes: it loses the match, and the crash counts as a fault
    #[arg(long)]
    recover: bool,
    /// Stop once the matches have cost so many US dollars, with those of earlier parts, as the bots report it in `info`:
    /// undecided. A match counts when it has ended. With --results, --resume and a larger limit continues the run
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<Dollars>,
    /// Stop after this time without a verdict: undecided. With --results, --resume continues the run
    #[arg(long, value_name = "TIME", value_name = "TIME")]
    max_time: Option<Milliseconds>,
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    match args.command {
        Some(Command::Merge(args)) => merge::run(&args, catalog),
        None => play(args.run, catalog),
    }
}

fn play(args: RunArgs, catalog: &Catalog) -> Result<Exit, Failure> {
    let (Some(id), Some(new), Some(base)) = (args.game, args.new, args.base) else {
        return Err(Failure::usage("required: GAME, --new and --base"));
    };
    let (rules, mut catalog) = args.disguise.find_game(&id, catalog)?;
    let seating =
        rules.meta().seating(args.seats).map_err(|what| Failure::usage(format!("--seats: {what}")))?;
    let (rules, mut run) = args.terms.run_of(rules, seating, &mut catalog)?;
    let catalog = &catalog;
    let source = args.openings.source(rules.meta().openings.unwrap_or(0), Path::to_owned);
    let mut bots = [new, base];
    let directories = [(&args.new_dir, "--new-dir"), (&args.base_dir, "--base-dir")];
    for (bot, (directory, option)) in bots.iter_mut().zip(directories) {
        if let Some(directory) = directory {
            run_in(bot, directory, option)?;
        }
    }
    args.sandbox.confine(&mut bots)?;
    let tested = |bot: usize, files: &[PathBuf], option: &str| {
        tested_bot(&*bots[bot], files).map_err(|what| Failure::usage(format!("{option} {what}")))
    };
    let new = tested(0, &args.new_files, "--new-files")?;
    let base = tested(1, &args.base_files, "--base-files")?;
    let are_named = !args.new_files.is_empty() && !args.base_files.is_empty();
    let same_version =
        args.test.fixed.is_none() && is_same_version([&*bots[0], &*bots[1]], [&new, &base], are_named);
    let hidden = args.hidden.of(2)?;
    let hide_legal = [hidden[0], hidden[1]];
    let mut setup = RegressionSetup {
        hide_legal,
        format: RegressionSetup::FORMAT,
        game: rules.meta().id.to_owned(),
        rules_version: rules.meta().rules_version,
        program: rules.program().map(|program| serde_json::to_value(program).unwrap_or_default()),
        seats: seating.seats(),
        new,
        base,
        same_version,
        options: args.options.to_map()?,
        openings: source.in_words(option_names)?,
        are_openings_drawn: source.are_drawn(),
        trust_bots: args.trust_bots,
        test: args.test.fixed.is_none().then(|| args.test.hypotheses.hypotheses()),
        max_sets: args.test.fixed.or(args.test.max_sets).unwrap_or(MAX_SETS),
        max_fault_rate: args.test.max_fault_rate,
        recover: args.test.recover,
        clock: run.terms.clock,
        margin_ms: run.terms.margin_ms,
        on_fault: run.terms.on_fault,
        adjudication: run.terms.adjudication,
        hello_ms: run.terms.hello_ms,
        ready_ms: run.terms.first_ready_ms,
        later_ready_ms: run.terms.later_ready_ms,
        shard: args.kept.shard,
        sandbox: bots.iter().find_map(|bot| Some(bot.command()?.sandbox.clone())),
        seed: run.seed.to_hex(),
    };
    // A shard does not use the hypotheses, but invalid ones are rejected all the same.
    setup.test.as_ref().map(Hypotheses::sprt).transpose().map_err(Failure::usage)?;
    if setup.shard.is_some() && !args.terms.has_seed() {
        return Err(Failure::usage(
            "--shard: all shards need the same seed: give it with --seed or --seed-file",
        ));
    }
    args.kept.results.as_deref().map_or(Ok(()), |path| check_folder("--results", path))?;
    if let Some(path) = args.kept.results.as_deref().filter(|path| !args.kept.resume && path.exists()) {
        let path = path.display();
        return Err(Failure::usage(format!("--results {path}: the file exists; use --resume to continue")));
    }
    let earlier = args.kept.results.as_deref().filter(|path| args.kept.resume && path.exists());
    let earlier = earlier.map(ResultsContents::read).transpose()?;
    if let Some(earlier) = &earlier {
        let resumed = setup.resume(&earlier.setup, rules, args.terms.has_seed(), args.kept.accept_changed);
        resumed.map_err(|what| {
            let hint = match what {
                RunError::Changed(_) => "; --accept-changed continues with the programs as they are now",
                _ => "",
            };
            Failure::usage(format!("--resume: {}{hint}", Chain(&what)))
        })?;
        run.seed = parse_seed(&setup.seed).map_err(Failure::usage)?;
    }
    let openings = read_openings(&source, rules, seating, setup.options.clone(), &run.seed)?;
    if let Some(note) = short_book(&source, &openings, &setup) {
        screen::stderr_line(note);
    }
    let is_fresh = deal_leaks_information(rules.meta()) && !args.trust_bots;
    if is_fresh {
        check_fresh(rules, &bots)
            .map_err(|what| Failure::usage(format!("{what}; --trust-bots overrides this check")))?;
    }
    let listen = args.listen.listen(&bots)?;
    let names = ["new", "base"].map(|name| Some(name.to_owned()));
    let mut entrants = BotSpec::named(bots.into_iter().zip(names).collect(), HashSet::new());
    for (entrant, hide_legal) in entrants.iter_mut().zip(hide_legal) {
        entrant.hide_legal = hide_legal;
        entrant.is_fresh = is_fresh;
    }
    args.luck.check(rules.meta(), args.terms.has_records())?;
    let mut regression = PreparedRegression::new(setup, earlier, catalog)?;
    regression.names = option_names;
    regression.max_cost = args.test.max_cost;
    regression.max_time = args.test.max_time.map(Milliseconds::duration);
    // Opened after validation, so that a rejected command line creates no files.
    let reports = args.reports.open()?;
    if let Some(path) = &args.kept.results {
        regression.keep_in(path).map_err(|error| Failure::from(error).after("--results "))?;
    }
    let records = args.terms.records()?;
    let record_folder = records.as_ref().map(|records| records.folder().to_owned());
    let watch = args.watch.open(rules.meta(), catalog, PublishedInfo::After)?;
    if let Some(server) = &watch {
        announce(server, args.json)?;
    }
    // Tokens of workers and archives, for this run alone.
    let folder =
        tempfile::Builder::new().prefix("referee-regress-").tempdir().map_err(Failure::cannot_run)?;
    let opened = args.workers.config().open_run(folder.path(), None)?;
    if let Some(opened) = &opened {
        workers::announce(&opened.source, args.json)?;
    }
    let placement = OpenedWorkers::placement(opened, folder.path());
    let runner = MatchRunner {
        jobs: args.lanes.jobs as usize,
        slots: args.lanes.slots as usize,
        is_pinned: args.lanes.pin,
        listen,
        records,
        live: watch.as_ref().map(WatchServer::feed),
        ..MatchRunner::new(run, rules, seating, entrants, launch()?)
    };
    let mut printer = RegressPrinter::new(&regression, rules.meta(), (args.json, args.lines));
    let RegressionEnd { outcome, report } = with_bots(|| {
        regression.play(runner, openings, placement, interrupted(), &mut |event| printer.print(event))
    })?;
    if let Some(server) = watch {
        server.close();
    }
    printer.progress.finish();
    if let (Some(folder), RegressionOutcome::Judged(_)) = (record_folder, &outcome) {
        args.luck.report(&folder, catalog, args.json, &mut printer.out);
    }
    printer.verdict(&report);
    reports.write(&report)?;
    printer.out.end(exit(outcome)?)
}

/// The scores of a thousand pairs of equal bots, as they often are. In normalized Elo the length of a test hardly depends on them.
const USUAL_PAIRS: [u64; 5] = [30, 190, 560, 190, 30];

/// Says that a book has fewer openings than the test takes sets.
fn short_book(source: &OpeningSource, openings: &Openings, setup: &RegressionSetup) -> Option<String> {
    let OpeningSource::File(_) = source else { return None };
    let (needed, why) = match setup.test.as_ref().and_then(|test| test.sprt().ok()) {
        None => (u64::from(setup.max_sets), "the run takes"),
        Some(_) if setup.seats != 2 => return None,
        Some(sprt) => {
            let usual = SetScores::pentanomial(USUAL_PAIRS);
            let at = |elo| expected_sets(&usual, &sprt, elo).unwrap_or_default().ceil() as u64;
            let mean = at(sprt.elo0()).max(at(sprt.elo1())).min(setup.max_sets.into());
            (mean, "a test takes on average if the difference is --elo0 or --elo1")
        }
    };
    let there = openings.len() as u64;
    (there < needed).then(|| {
        let there = counted(there, "opening", "openings");
        format!("note: {there} for the {needed} sets that {why}: openings will be played again; `referee openings` makes books")
    })
}

fn exit(outcome: RegressionOutcome) -> Result<Exit, Failure> {
    match outcome {
        RegressionOutcome::Judged(Verdict::Passed | Verdict::PassedAlike | Verdict::Measured)
        | RegressionOutcome::SameVersion => Ok(Exit::Done),
        RegressionOutcome::Judged(
            Verdict::Failed | Verdict::OnlyWithoutFaults | Verdict::FailedAlike | Verdict::Crashed,
        ) => Ok(Exit::No),
        RegressionOutcome::Judged(Verdict::AtLimit | Verdict::OnlyRepeats)
        | RegressionOutcome::Undecided(_) => Ok(Exit::Undecided),
        RegressionOutcome::Judged(Verdict::Invalid) => Ok(Exit::Invalid),
        RegressionOutcome::Interrupted => Ok(Exit::Interrupted),
        RegressionOutcome::CouldNotRun(why) => Err(Failure::cannot_run(why)),
    }
}

const SETS: Words =
    Words { template: "{pos} of at most {len} sets, {elapsed}{msg}", of: " of at most ", what: "sets" };

/// Prints events for a person or a program.
struct RegressPrinter {
    game: &'static Meta,
    json: bool,
    /// Whether the output has a line for each match.
    has_lines: bool,
    progress: Progress,
    out: TolerantStdout,
}

impl RegressPrinter {
    fn new(
        regression: &PreparedRegression,
        game: &'static Meta,
        (json, has_lines): (bool, bool),
    ) -> RegressPrinter {
        let progress = Progress::new(regression.most_sets().into(), SETS);
        progress.inc(regression.judged().into());
        RegressPrinter { game, json, has_lines, progress, out: TolerantStdout::new() }
    }

    fn print(&mut self, event: RegressionEvent<'_>) {
        match event {
            RegressionEvent::Run(RunEvent::Listening(address)) => self.listening(*address),
            RegressionEvent::Run(RunEvent::Waiting(name)) => {
                self.progress.line(format!("waiting for `{name}` to connect"));
            }
            RegressionEvent::Run(RunEvent::Ended(EndedMatch { finished, .. })) => {
                self.event(&MatchLine::of(finished, self.game.id));
                if self.has_lines {
                    self.progress.line(result_line(finished, self.game));
                }
            }
            RegressionEvent::Run(_) => {}
            RegressionEvent::Set(set) => self.set(set),
        }
    }

    fn line(&mut self, line: &str) {
        // `TolerantStdout` keeps the error until the end.
        let _ = writeln!(self.out, "{line}");
    }

    fn listening(&mut self, address: std::net::SocketAddr) {
        self.progress.line(format!("listening on {address}"));
        if self.json {
            self.line(&json::text(&Listening { address }));
        }
    }

    fn event(&mut self, event: &impl Serialize) {
        if self.json {
            self.line(&json::text(event));
        }
    }

    fn set(&mut self, set: &RegressionSet) {
        self.event(set);
        let llr = set.llr.zip(set.bounds);
        let llr = llr.map(|(llr, (lower, upper))| format!(", LLR {llr:.2} ({lower:.2} to {upper:.2})"));
        let origin = origin(set.distinct_sets, set.openings);
        let elo = set.elo.map(|elo| format!(", Elo {} {origin}", interval(elo, 0)));
        self.progress.set_message(format!("{}{}", llr.unwrap_or_default(), elo.unwrap_or_default()));
        self.progress.inc(1);
    }

    fn verdict(&mut self, report: &RegressionReport) {
        if self.json {
            self.event(report);
        } else {
            self.line(&report.text());
        }
    }
}
