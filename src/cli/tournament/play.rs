//! Plays a tournament.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::Write;
use std::mem;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use crate::cli::bots::with_bots;
use crate::cli::exit::{Exit, Failure};
use crate::cli::json::{EliminatedVersion, Listening, MatchLine};
use crate::cli::luck::LuckOptions;
use crate::cli::options::random_seed;
use crate::cli::output::TolerantStdout;
use crate::cli::progress::{Progress, RunProgress};
use crate::cli::screen::{Screen, stderr_line};
use crate::cli::signals::interrupted_giving_up;
use crate::cli::tournament::{site, standings};
#[cfg(feature = "http")]
use crate::cli::watch::stay_on_stage;
use crate::cli::watch::{StageArgs, WatchArgs, WatchServer, announce};
use crate::cli::workers::{self, WorkersOptions};
use crate::files::StorageWait;
use crate::game::{Chain, Meta, counted, json};
use crate::report::page::PublicUrl;
use crate::report::{evidence_lines, result_line};
use crate::results::FirstFaults;
use crate::runner::{EndedMatch, LiveSchedule, NoShow, PlanScheduler, RunEvent};
use crate::runs::RunError;
use crate::runs::config::{Dollars, KnownGames};
#[cfg(feature = "http")]
use crate::runs::tournament::show_standings;
use crate::runs::tournament::{KeptSite, Tournament, TournamentConfig, TournamentEnd, TournamentEvent};
use crate::runs::workers::OpenedWorkers;
use crate::stats::Entrant;
use crate::stats::race::RaceState;
use crate::stats::schedule::Schedule;
use crate::store::{Leases, Results};
use crate::workers::Activity;

/// Play a tournament
///
/// While the disk is full no match begins; play goes on once there is space.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament run cup.toml
  referee tournament run cup.toml --dir results/cup --json
  referee tournament run cup.toml --strict
  referee tournament run cup.toml --watch 127.0.0.1:8080 --site public
  referee tournament run cup.toml --workers-listen 0.0.0.0:4711")]
pub(super) struct RunArgs {
    /// The tournament file
    config: PathBuf,
    /// A new directory for its results and records [default: named after the file, in the current directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    options: PlayOptions,
}

/// Options of a tournament that is started or resumed.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct PlayOptions {
    /// Do not wait until records and results are on the disk: faster, but a power failure may lose them
    #[arg(long)]
    no_fsync: bool,
    /// Exit with code 1 if a bot made a fault in any match of the tournament
    #[arg(long)]
    strict: bool,
    /// One JSON object per line: each match, then the standings, with --luck its lines
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Write a line for each match to standard error as it ends
    #[arg(long, conflicts_with = "json")]
    lines: bool,
    /// Keep the pages of `report --site` in this directory up to date: written at the start, at most every 3 s after results,
    /// and at the end. Each file is replaced as a whole
    #[arg(long, value_name = "OUT")]
    site: Option<PathBuf>,
    /// The URL under which these pages are published, see `report --site-url`
    #[arg(long, value_name = "URL", requires = "site")]
    site_url: Option<PublicUrl>,
    /// Interrupt the tournament once its matches have cost so many US dollars, with those before a resumption, as the bots
    /// report it in `info`; a match counts when it has ended [default: `max_cost` of the tournament file]
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<Dollars>,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    workers: WorkersOptions,
    #[command(flatten)]
    luck: LuckOptions,
}

/// Resume an interrupted tournament: plays exactly the missing matches
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament resume cup
  referee tournament resume cup --accept-changed
  referee tournament resume cup --site public")]
pub(super) struct ResumeArgs {
    /// Its directory
    dir: PathBuf,
    /// Resume even though a bot's program or scripts have changed
    #[arg(long)]
    accept_changed: bool,
    #[command(flatten)]
    options: PlayOptions,
}

pub(super) fn run(args: &RunArgs, games: &KnownGames) -> Result<Exit, Failure> {
    let config = TournamentConfig::read(&args.config)?;
    let stem = || args.config.file_stem().map(PathBuf::from).unwrap_or_default();
    let dir = args.dir.clone().unwrap_or_else(stem);
    begin(&dir, config, games, &args.options)
}

/// Plays a tournament in a new directory.
pub(in crate::cli) fn begin(
    dir: &Path,
    config: TournamentConfig,
    games: &KnownGames,
    options: &PlayOptions,
) -> Result<Exit, Failure> {
    if options.luck.is_given() {
        options.luck.check(config.find_game(&mut games.clone())?.meta(), true)?;
    }
    let seed = match config.seed()? {
        Some(seed) => seed,
        None => random_seed()?,
    };
    play(Tournament::create(dir, config, seed, games, !options.no_fsync)?, options)
}

pub(super) fn resume(args: &ResumeArgs, games: &KnownGames) -> Result<Exit, Failure> {
    let tournament = Tournament::open(&args.dir, games, !args.options.no_fsync)?;
    tournament.check_files(args.accept_changed).map_err(|why| match why {
        RunError::Changed(what) => Failure::usage(format!("{what}, or use --accept-changed")),
        why => why.into(),
    })?;
    args.options.luck.check(tournament.prepared.rules.meta(), true)?;
    play(tournament, &args.options)
}

fn play(mut tournament: Tournament, options: &PlayOptions) -> Result<Exit, Failure> {
    tournament.max_cost = options.max_cost;
    let config = &tournament.config;
    let (path, games, info) = (tournament.folder.path.clone(), tournament.games.clone(), config.publish.info);
    let meta = tournament.prepared.rules.meta();
    let watch = options.watch.open_stage(&options.stage, meta, games.catalog(), info)?;
    if let Some(server) = &watch {
        #[cfg(feature = "http")]
        tournament.show(server)?;
        announce(server, options.json)?;
    }
    let keep = |site: &PathBuf| -> Result<KeptSite, Failure> {
        let writer = site::open(site, options.site_url.as_ref(), info)?;
        let warn = |line: String| stderr_line(format_args!("--site: {line}"));
        Ok(KeptSite::begin(writer, &path, &games, warn)?)
    };
    let site = options.site.as_ref().map(keep).transpose()?;
    let workers = options.workers.or(config.workers.as_ref(), |path| config.resolve(path))?;
    let wait = StorageWait::new();
    let opened = workers.open_run(&path, Some(&wait))?;
    match &opened {
        Some(opened) => workers::announce(&opened.source, options.json)?,
        None => say_if_workers_played(&path)?,
    }
    let activity = opened.as_ref().map(|opened| opened.coordinators[0].activity());
    let placement = OpenedWorkers::placement(opened, &path);
    let mut printer = TournamentPrinter {
        path: &path,
        // The names of bots: a team has several.
        names: tournament.prepared.entrants.iter().map(|bot| bot.name.clone()).collect(),
        game: meta,
        is_json: options.json,
        has_lines: options.lines,
        #[cfg(feature = "http")]
        games: &games,
        #[cfg(feature = "http")]
        watch: watch.as_ref(),
        activity,
        progress: None,
        out: Screen(TolerantStdout::new()),
        unprinted: Vec::new(),
        first_faults: FirstFaults::default(),
        no_shows: NoShows::default(),
        race: None,
    };
    let live = || watch.as_ref().map(WatchServer::feed);
    let stop = || interrupted_giving_up(wait.clone());
    let end = with_bots(|| tournament.play(placement, &wait, live, stop, &mut |event| printer.print(event)));
    printer.end_progress();
    let end = end.map_err(Failure::from).and_then(|end| {
        let luck = |out: &mut Screen<TolerantStdout>| {
            options.luck.report(&path.join("records"), games.catalog(), options.json, out);
        };
        printer.finish(&end, options.strict, luck)
    });
    #[cfg(feature = "http")]
    if let (Some(server), Ok(exit)) = (&watch, &end)
        && *exit != Exit::Interrupted
    {
        stay_on_stage(server);
    }
    if let (Some(server), Ok(_)) = (watch, &end) {
        server.close();
        if !options.json {
            let path = path.display();
            stderr_line(format_args!("`referee tournament watch {path}` serves these pages"));
        }
    }
    let exit = end?;
    match (site.map(KeptSite::end), exit) {
        (Some(Err(error)), Exit::Done) => Err(error.into()),
        (Some(Err(error)), _) => {
            stderr_line(format_args!("error: --site: {}", Chain(&error)));
            Ok(exit)
        }
        _ => Ok(exit),
    }
}

/// Prints events for a person or a program.
struct TournamentPrinter<'a> {
    path: &'a Path,
    names: Vec<String>,
    game: &'static Meta,
    is_json: bool,
    /// Whether the output has a line for each match.
    has_lines: bool,
    #[cfg(feature = "http")]
    games: &'a KnownGames,
    #[cfg(feature = "http")]
    watch: Option<&'a WatchServer>,
    activity: Option<Activity>,
    progress: Option<Progress>,
    out: Screen<TolerantStdout>,
    /// A match is first stored in the results and then printed, after its record is on the disk.
    unprinted: Vec<String>,
    first_faults: FirstFaults,
    no_shows: NoShows,
    race: Option<RaceNews>,
}

impl TournamentPrinter<'_> {
    fn print(&mut self, event: TournamentEvent<'_>) {
        match event {
            TournamentEvent::Begins { config, scheduler } => self.begin(config, scheduler),
            TournamentEvent::Notice(notice) => stderr_line(notice),
            TournamentEvent::Change(Ok(message)) => stderr_line(format_args!("changed: {message}")),
            TournamentEvent::Change(Err(error)) => stderr_line(format_args!("not changed: {}", Chain(error))),
            TournamentEvent::Run(event) => self.print_of_run(event),
        }
    }

    fn begin(&mut self, config: &TournamentConfig, scheduler: &mut PlanScheduler) {
        self.end_progress();
        self.race = RaceNews::of(config, scheduler);
        let (shown, names, activity) = (scheduler.live_schedule(), config.names(), self.activity.clone());
        let progress = move || run_progress(&shown.look(), &names, activity.as_ref());
        self.progress = Some(Progress::of_changing(progress));
        #[cfg(feature = "http")]
        if let Some(server) = self.watch {
            // The run never waits for standings that spectators want.
            let shown = show_standings(self.path, config, self.games, scheduler.live_schedule(), server);
            if let Err(error) = shown {
                self.line(format!("error: --watch: {}", Chain(&error)));
            }
        }
    }

    fn line(&self, line: impl Display) {
        match &self.progress {
            Some(progress) => progress.line(line.to_string()),
            None => stderr_line(line),
        }
    }

    fn print_of_run(&mut self, event: RunEvent<'_>) {
        match event {
            RunEvent::Listening(address) => {
                self.line(format_args!("listening on {address}"));
                if self.is_json {
                    // `TolerantStdout` keeps the error until the end.
                    let _ = writeln!(self.out, "{}", json::text(&Listening { address }));
                }
            }
            RunEvent::Waiting(name) => self.line(format_args!("waiting for `{name}` to connect")),
            RunEvent::Connected(_) | RunEvent::Moved(_) => {}
            RunEvent::Ended(EndedMatch { fixture, finished, no_show, .. }) => {
                self.first_faults.add(finished, no_show.as_ref().map(|no_show| no_show.seat));
                let line = no_show.as_ref().and_then(|no_show| self.no_shows.note(&fixture.id, no_show));
                if let Some(line) = line {
                    self.line(line);
                }
                if self.is_json {
                    self.unprinted.push(json::text(&MatchLine::of(finished, self.game.id)));
                }
                if self.has_lines {
                    self.line(result_line(finished, self.game));
                }
            }
            RunEvent::Settled => {
                for line in self.unprinted.drain(..) {
                    let _ = writeln!(self.out, "{line}");
                }
                self.tell_race();
            }
        }
    }

    /// Says which versions are out of a race.
    fn tell_race(&mut self) {
        let Some(race) = &mut self.race else { return };
        let within = race.within;
        for out in race.news() {
            if self.is_json {
                let _ = writeln!(self.out, "{}", json::text(&out));
            }
            let EliminatedVersion { name, ahead, after, evidence, suffices, .. } = &out;
            let why = match (out.state, ahead) {
                (RaceState::NoBetter, Some(ahead)) => format!("at most {within} Elo better than {ahead}"),
                _ => "not the best".to_owned(),
            };
            let after = counted(*after, "set", "sets");
            self.line(format_args!(
                "out after {after}: {name} is {why} (evidence {evidence:.0}, {suffices:.0} suffices)"
            ));
        }
    }

    /// Ends the display of the progress, which a change begins again.
    fn end_progress(&mut self) {
        if let Some(progress) = self.progress.take() {
            mem::take(&mut self.no_shows).lines(&self.names).for_each(|line| progress.line(line));
            progress.finish();
        }
    }

    /// Prints the standings, and says why play ended.
    fn finish(
        mut self,
        end: &TournamentEnd,
        is_strict: bool,
        luck: impl FnOnce(&mut Screen<TolerantStdout>),
    ) -> Result<Exit, Failure> {
        let (TournamentEnd { results, schedule, .. }, path) = (end, self.path);
        standings::show(&mut self.out, path, results, &schedule.look(), self.is_json)?;
        if !self.is_json {
            for line in evidence_lines(&self.first_faults, |_| true) {
                // An error is kept for the end.
                let _ = writeln!(self.out, "{line}");
            }
        }
        if end.is_interrupted {
            let path = path.display();
            stderr_line(match &end.over_budget {
                Some(why) => format!(
                    "interrupted: {why}: `referee tournament resume {path} --max-cost DOLLARS` continues"
                ),
                None => format!("interrupted: `referee tournament resume {path}` continues"),
            });
            return Ok(Exit::Interrupted);
        }
        if !end.given_up.is_empty() {
            let sets = end.given_up.join("; ");
            stderr_line(format_args!(
                "error: workers were lost with these sets: {sets}. `referee tournament resume {}` tries again",
                path.display()
            ));
            return Ok(Exit::CannotRun);
        }
        luck(&mut self.out);
        let schedule = schedule.look();
        let is_undecided = schedule.race().is_some_and(|race| race.pick().is_none())
            || schedule.grading().is_some_and(|grading| !grading.is_graded);
        let exit = match is_undecided {
            true => Exit::Undecided,
            false if is_strict && has_faults(results)? => Exit::No,
            false => Exit::Done,
        };
        self.out.0.end(exit)
    }
}

/// Returns whether a bot made a fault in any match.
fn has_faults(results: &Results) -> Result<bool, Failure> {
    let mut has_faults = false;
    let read = results.for_each_match(|row| {
        has_faults |= row.faults.iter().any(|faults| !faults.is_empty());
        Ok(())
    });
    read.map(|()| has_faults).map_err(Failure::cannot_run)
}

/// The news of a race that have not been told.
struct RaceNews {
    schedule: LiveSchedule,
    names: Vec<String>,
    within: f64,
    /// The news that were told: the version, and for one that is no better than the anchor also the anchor.
    told: BTreeSet<(Entrant, Option<Entrant>)>,
}

impl RaceNews {
    fn of(config: &TournamentConfig, scheduler: &mut PlanScheduler) -> Option<RaceNews> {
        let schedule = scheduler.live_schedule();
        let within = schedule.look().race()?.terms().within;
        let mut news = RaceNews { names: config.names(), told: BTreeSet::new(), schedule, within };
        // News from before has been told.
        news.news();
        Some(news)
    }

    fn news(&mut self) -> Vec<EliminatedVersion> {
        let schedule = self.schedule.look();
        let Some(race) = schedule.race() else { return Vec::new() };
        let out = (0..).map(Entrant).zip(&self.names).filter_map(|(entrant, name)| {
            let (state, anchor) = (race.state(entrant), race.anchor());
            let (key, after) = match state {
                RaceState::Eliminated => ((entrant, None), race.eliminated_after(entrant)?),
                RaceState::NoBetter => ((entrant, anchor), race.sets()),
                _ => return None,
            };
            self.told.insert(key).then(|| EliminatedVersion {
                name: name.clone(),
                state,
                ahead: anchor.map(|anchor| self.names[anchor.index()].clone()),
                after,
                evidence: race.evidence(entrant),
                suffices: race.terms().alpha.recip(),
            })
        });
        out.collect()
    }
}

/// Counts the matches that each entrant could not play at all.
#[derive(Default)]
struct NoShows(BTreeMap<usize, u32>);

impl NoShows {
    /// Counts one. Returns a message for the first of each entrant.
    fn note(&mut self, match_id: &str, NoShow { entrant, why, .. }: &NoShow) -> Option<String> {
        let count = self.0.entry(*entrant).or_default();
        *count += 1;
        (*count == 1).then(|| format!("{match_id}: {why}"))
    }

    fn lines(&self, names: &[String]) -> impl Iterator<Item = String> {
        let several = self.0.iter().filter(|&(_, &count)| count > 1);
        several.map(|(&entrant, count)| format!("`{}` did not start in {count} matches", names[entrant]))
    }
}

/// Says that this process plays sets that workers played before.
fn say_if_workers_played(path: &Path) -> Result<(), Failure> {
    let leases = Leases::of_run(path).map_err(Failure::cannot_run)?;
    let workers = leases.map_or(Ok(Vec::new()), |leases| leases.workers()).map_err(Failure::cannot_run)?;
    if !workers.is_empty() {
        let workers = counted(workers.len(), "worker", "workers");
        stderr_line(format_args!(
            "{workers} played this tournament before; without --workers-listen or --workers all matches are played here"
        ));
    }
    Ok(())
}

/// The progress of the tournament.
fn run_progress(schedule: &Schedule, names: &[String], workers: Option<&Activity>) -> RunProgress {
    let position = (schedule.results().count() + schedule.voids()) as u64;
    let missing = schedule.missing();
    RunProgress {
        position,
        length: position + missing.least,
        is_certain: missing.is_certain(),
        message: match workers.map(|workers| (workers.slots(), workers.inactive())) {
            None => leaders(schedule, names),
            Some((0, 0)) => "no worker is connected".to_owned(),
            Some((0, inactive)) => {
                let workers = counted(inactive, "connected worker is", "connected workers are");
                format!("no worker is active: {workers} aside (`referee tournament status` says why)")
            }
            Some((slots, _)) => {
                let sets = counted(slots, "set", "sets");
                format!("{sets} at a time on workers; {}", leaders(schedule, names))
            }
        },
    }
}

/// The first three entrants.
fn leaders(schedule: &Schedule, names: &[String]) -> String {
    if let Some(race) = schedule.race() {
        let open = (0..names.len() as u16).filter(|&at| race.state(Entrant(at)) == RaceState::Open).count();
        let ahead = race.anchor().map(|anchor| format!(", {} is ahead", names[anchor.index()]));
        return format!("{open} open{}", ahead.unwrap_or_default());
    }
    let standings = schedule.standings();
    let first = standings.rows.iter().take(3);
    let first: Vec<String> =
        first.map(|row| format!("{} {}", names[row.entrant.index()], row.points)).collect();
    first.join(", ")
}
