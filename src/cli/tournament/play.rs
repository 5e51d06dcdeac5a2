//! Plays a tournament.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use clap::Args as ClapArgs;
use tokio::sync::oneshot;

use crate::cli::bots::{launch, with_bots};
use crate::cli::json::Listening;
use crate::cli::options::random_seed;
use crate::cli::output::TolerantStdout;
use crate::cli::progress::{Progress, RunProgress};
use crate::cli::screen::{Screen, stderr_line};
use crate::cli::signals::interrupted_giving_up;
use crate::cli::tournament::config::Config;
use crate::cli::tournament::entrant_row::fingerprints;
use crate::cli::tournament::folder::TournamentFolder;
use crate::cli::tournament::kept_site::KeptSite;
use crate::cli::tournament::live_standings::LiveStandings;
use crate::cli::tournament::spectators::{SeatedBots, entrants_of_bots, was_cut_off};
use crate::cli::tournament::{audit, standings};
use crate::cli::watch::{WatchArgs, announce};
use crate::cli::workers::{WorkersOptions, pack_game, unit_bots};
use crate::cli::{Exit, Failure, screen};
use crate::files::StorageWait;
use crate::game::Catalog;
use crate::game::{counted, json};
use crate::report::evidence_lines;
use crate::report::page::PublicUrl;
use crate::runner::{
    FirstFaults, Halt, MatchRunner, NoShow, RunEvent, Scoring, TournamentScheduler, short_moves_of_match,
};
use crate::sources::ParkedLobby;
use crate::stats::schedule::{MatchId, Schedule};
use crate::store::{Leases, MatchRow, Results};
use crate::web::{EarlierMatch, WatchServer};
use crate::workers::{Activity, Coordinator, Job, JobBots};

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

/// How to play a tournament, whether it is started or resumed.
#[derive(Debug, ClapArgs)]
struct PlayOptions {
    /// Do not wait until records and results are on the disk: faster, but a power failure may lose them
    #[arg(long)]
    no_fsync: bool,
    /// Exit with code 1 if a bot made a fault in any match of the tournament
    #[arg(long)]
    strict: bool,
    /// One JSON object per line: each match, then the standings
    #[arg(long)]
    json: bool,
    /// Keep the pages of `report --site` in this directory up to date: written at the start, at most every 3 s after results,
    /// and at the end. Each file is replaced as a whole
    #[arg(long, value_name = "OUT")]
    site: Option<PathBuf>,
    /// The URL under which these pages are published, see `report --site-url`
    #[arg(long, value_name = "URL", requires = "site")]
    site_url: Option<PublicUrl>,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    workers: WorkersOptions,
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

pub(super) fn run(args: &RunArgs, catalog: &Catalog) -> Result<Exit, Failure> {
    let config = Config::read(&args.config)?;
    let seed = match config.seed()? {
        Some(seed) => seed,
        None => random_seed()?,
    };
    let stem = || args.config.file_stem().map(PathBuf::from).unwrap_or_default();
    let dir = args.dir.clone().unwrap_or_else(stem);
    play(TournamentFolder::create(&dir, config, seed, catalog, !args.options.no_fsync)?, &args.options)
}

pub(super) fn resume(args: &ResumeArgs, catalog: &Catalog) -> Result<Exit, Failure> {
    let folder = TournamentFolder::open(&args.dir, catalog, !args.options.no_fsync)?;
    let rows = folder.results.entrants().map_err(Failure::cannot_run)?;
    let files = |index| fingerprints(folder.prepared.bots_of(index));
    let changed: Vec<(usize, String)> = (rows.into_iter().enumerate())
        .filter(|(index, row)| row.leaves.is_none() && files(*index) != row.files)
        .map(|(index, row)| (index, row.name))
        .collect();
    for (index, name) in changed {
        if !args.accept_changed {
            return Err(Failure::usage(format!(
                "the program or a script of `{name}` has changed since the tournament began: restore it, or \
                 use --accept-changed"
            )));
        }
        folder.results.set_files(index, &files(index)).map_err(Failure::cannot_run)?;
    }
    play(folder, &args.options)
}

/// Why playing stopped.
enum PlayEnd {
    /// The tournament is over or was interrupted.
    Ended(Exit),
    /// A change is requested. The lobby keeps connected bots.
    Changes(Option<ParkedLobby>),
}

fn play(mut folder: TournamentFolder, options: &PlayOptions) -> Result<Exit, Failure> {
    let mut parked = None;
    let mut first_faults = FirstFaults::default();
    let watch =
        options.watch.open(folder.prepared.rules.meta(), &folder.catalog, folder.config.publish.info)?;
    if let Some(server) = &watch {
        server.set_name(&folder.results.about().map_err(Failure::cannot_run)?.name);
        server.set_entrants(entrants_of_bots(&folder.config));
        list_earlier(&folder, server)?;
        announce(&server.url(), options.json)?;
    }
    let site = options.site.as_deref();
    let site = site
        .map(|site| {
            let published = (site, options.site_url.as_ref(), folder.config.publish.info);
            KeptSite::begin(published, &folder.path, &folder.catalog)
        })
        .transpose()?;
    let section = folder.config.workers.as_ref();
    let workers = options.workers.or(section, |path| folder.config.resolve(path))?;
    let wait = StorageWait::new();
    let mut opened = workers.open_run(&folder.path, Some(&wait))?;
    match &opened {
        Some(opened) => opened.announce(options.json)?,
        None => say_if_workers_played(&folder.path)?,
    }
    let mut coordinator = opened.as_mut().and_then(|opened| opened.coordinators.pop());
    loop {
        let (path, catalog) = (folder.path.clone(), folder.catalog.clone());
        let others = (watch.as_ref(), coordinator.as_mut());
        match play_until_changed((folder, &wait), parked, &mut first_faults, others, options)? {
            PlayEnd::Ended(exit) => {
                if let Some(server) = watch {
                    server.close();
                    if !options.json {
                        let path = path.display();
                        stderr_line(format_args!("`referee tournament watch {path}` serves these pages"));
                    }
                }
                if let Some(coordinator) = coordinator {
                    let is_over = exit != Exit::Interrupted;
                    coordinator.end(is_over).map_err(Failure::cannot_run)?;
                }
                match (site.map(KeptSite::end), exit) {
                    (Some(Err(failure)), Exit::Done) => return Err(failure),
                    (Some(Err(Failure { error, .. })), _) => {
                        stderr_line(format_args!("error: --site: {error}"));
                    }
                    _ => {}
                }
                return Ok(exit);
            }
            PlayEnd::Changes(lobby) => parked = lobby,
        }
        folder = TournamentFolder::open(&path, &catalog, !options.no_fsync)?;
    }
}

/// Lists the matches that were played before, for spectators.
fn list_earlier(folder: &TournamentFolder, server: &WatchServer) -> Result<(), Failure> {
    let bots = SeatedBots::of(&folder.config, folder.schedule.plan().seating);
    let mut unsealed = folder.unsealed()?;
    let read = folder.results.for_each_match(|row| {
        let id = row.id.to_string();
        let record = row.record.is_some().then(|| folder.records.path(&id));
        let at = unsealed.iter().position(|other| other.match_id == id);
        let unsealed = at.map(|at| unsealed.swap_remove(at));
        if !was_cut_off(&row) {
            server.add_earlier(EarlierMatch { unsealed, ..bots.earlier(row, record) });
        }
        Ok(())
    });
    read.map_err(Failure::cannot_run)
}

/// How often requested changes are checked for.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Resolves when another process requests a change of the tournament.
fn wait_for_changes(path: &Path) -> Result<oneshot::Receiver<()>, Failure> {
    let results = super::database::open(path)?;
    let (sender, receiver) = oneshot::channel();
    let watch = move || {
        while !sender.is_closed() {
            // A read error is ignored here; the next attempt may succeed, and writers report lasting errors.
            if results.asked().is_ok_and(|asked| !asked.is_empty()) {
                // The channel is closed if the run has just ended.
                let _ = sender.send(());
                return;
            }
            thread::sleep(POLL_INTERVAL);
        }
    };
    thread::Builder::new().name("changes".to_owned()).spawn(watch).map_err(Failure::cannot_run)?;
    Ok(receiver)
}

fn play_until_changed(
    (folder, wait): (TournamentFolder, &StorageWait),
    parked: Option<ParkedLobby>,
    first_faults: &mut FirstFaults,
    (watch, coordinator): (Option<&WatchServer>, Option<&mut Coordinator>),
    options: &PlayOptions,
) -> Result<PlayEnd, Failure> {
    let is_json = options.json;
    let unsealed = folder.unsealed()?;
    let TournamentFolder { path, mut results, journal, records, config, prepared, schedule, catalog } =
        folder;
    let (journal, records) = (journal.waiting(wait.clone()), records.waiting(wait.clone()));
    let on_fault = prepared.run.terms.on_fault;
    // With chance each set has a deal of its own.
    let can_repeat = !prepared.rules.meta().chance;
    let seating = schedule.plan().seating;
    let scoring = Scoring { seating, legs: schedule.legs(), on_fault, roster: prepared.roster };
    // The names of bots: a team has several.
    let names: Vec<String> = prepared.entrants.iter().map(|bot| bot.name.clone()).collect();
    let mut no_shows = NoShows::default();
    let mut scheduler = TournamentScheduler::new(schedule, scoring.clone(), prepared.openings);
    let live = scheduler.live_schedule();
    let (shown, shown_names) = (live.clone(), config.names());
    let activity = coordinator.as_ref().map(|coordinator| coordinator.activity());
    let progress =
        Progress::of_changing(move || run_progress(&shown.look(), &shown_names, activity.as_ref()));
    if let Some(server) = watch {
        // The run never waits for standings that spectators want.
        let shown = scheduler.live_schedule();
        let mut standings = LiveStandings::open(&path, &config)?;
        server.set_standings(Box::new(move || standings.view(&shown.look())));
    }
    let (bots, game_files) = match &coordinator {
        Some(_) => (unit_bots(&prepared.entrants, &path)?, pack_game(prepared.rules, &path)?),
        None => (Vec::new(), None),
    };
    let runner = MatchRunner {
        jobs: prepared.jobs,
        processes: prepared.processes,
        slots: prepared.slots,
        is_pinned: prepared.is_pinned,
        listen: prepared.listen,
        lobby: parked,
        drain: Some(wait_for_changes(&path)?),
        records: Some(records),
        journal: Some(journal),
        unsealed: Some(unsealed),
        live: watch.map(WatchServer::feed),
        ..MatchRunner::new(prepared.run, prepared.rules, seating, prepared.entrants, launch()?)
    };
    let mut out = Screen(TolerantStdout::new());
    // A match is first stored in the results and then printed, after its record is on the disk.
    let (mut unstored, mut unprinted) = (Vec::new(), Vec::new());
    let mut absent = BTreeSet::new();
    results.set_absent(&absent).map_err(Failure::cannot_run)?;
    let mut on_event = |event: RunEvent<'_>| -> Result<(), Halt> {
        match event {
            RunEvent::Listening(address) => {
                progress.line(format!("listening on {address}"));
                if is_json {
                    // `TolerantStdout` keeps the error until the end.
                    let _ = writeln!(out, "{}", json::text(&Listening { address }));
                }
            }
            RunEvent::Waiting(name) => {
                progress.line(format!("waiting for `{name}` to connect"));
                absent.insert(name.to_owned());
                let stored = wait.retry("the results", || results.set_absent(&absent));
                stored.map_err(|error| error.to_string())?;
            }
            RunEvent::Connected(name) => {
                absent.remove(name);
                let stored = wait.retry("the results", || results.set_absent(&absent));
                stored.map_err(|error| error.to_string())?;
            }
            RunEvent::Moved(_) => {}
            RunEvent::Ended { fixture, report, record, seal, no_show, .. } => {
                first_faults.add(report, no_show.as_ref().map(|no_show| no_show.seat));
                if let Some(line) = no_show.and_then(|no_show| no_shows.note(&fixture.id, no_show)) {
                    progress.line(line);
                }
                let id: MatchId = fixture.id.parse().map_err(|error| format!("{error}"))?;
                let result = scoring.result(fixture, report);
                let row = audit::row((id, &scoring), fixture, report, result, seal);
                let began_at = report.record.as_deref().and_then(|path| audit::began_at(path, report));
                let moves = can_repeat.then(|| short_moves_of_match(fixture.bots.len(), record));
                let moves = moves.transpose().map_err(|difference| format!("{id}: {difference}"))?;
                unstored.push(MatchRow { began_at, moves, ..row });
                if is_json {
                    unprinted.push(json::text(report));
                }
            }
            RunEvent::Settled => {
                let added = wait.retry("the results", || results.add_matches(&unstored));
                added.map_err(|error| error.to_string())?;
                unstored.clear();
                for line in unprinted.drain(..) {
                    let _ = writeln!(out, "{line}");
                }
            }
        }
        Ok(())
    };
    let stopped = with_bots(|| match coordinator {
        None => runner.play(scheduler, interrupted_giving_up(wait.clone()), &mut on_event),
        Some(coordinator) => {
            let mut runner = runner;
            // Its lock keeps other processes from playing the tournament.
            let _journal = runner.journal.take();
            let job = Job::of_runner(runner, JobBots::new(bots), game_files, &catalog);
            coordinator.play(job, scheduler, interrupted_giving_up(wait.clone()), &mut on_event)
        }
    });
    no_shows.lines(&names).for_each(|line| progress.line(line));
    progress.finish();
    if let Some(why) = stopped.why {
        return Err(Failure::cannot_run(why));
    }
    results.check_in_place().map_err(Failure::cannot_run)?;
    if !stopped.is_interrupted
        && (stopped.is_drained || !results.asked().map_err(Failure::cannot_run)?.is_empty())
    {
        return Ok(PlayEnd::Changes(stopped.lobby));
    }
    standings::show(&mut out, &path, &results, &live.look(), is_json)?;
    if !is_json {
        for line in evidence_lines(first_faults, |_| true) {
            // An error is kept for the end.
            let _ = writeln!(out, "{line}");
        }
    }
    if stopped.is_interrupted {
        stderr_line(format_args!("interrupted: `referee tournament resume {}` continues", path.display()));
        return Ok(PlayEnd::Ended(Exit::Interrupted));
    }
    if !stopped.given_up.is_empty() {
        let sets = stopped.given_up.join("; ");
        stderr_line(format_args!(
            "error: workers were lost with these sets: {sets}. `referee tournament resume {}` tries again",
            path.display()
        ));
        return Ok(PlayEnd::Ended(Exit::CannotRun));
    }
    let exit = if options.strict && has_faults(&results)? { Exit::No } else { Exit::Done };
    out.0.end(exit).map(PlayEnd::Ended)
}

/// Whether a bot made a fault in any match.
fn has_faults(results: &Results) -> Result<bool, Failure> {
    let mut has_faults = false;
    let read = results.for_each_match(|row| {
        has_faults |= row.faults.iter().any(|faults| !faults.is_empty());
        Ok(())
    });
    read.map(|()| has_faults).map_err(Failure::cannot_run)
}

/// Counts the matches that each entrant could not play at all.
#[derive(Default)]
struct NoShows(BTreeMap<usize, u32>);

impl NoShows {
    /// Counts one. Returns a message for the first of each entrant.
    fn note(&mut self, match_id: &str, NoShow { entrant, why, .. }: NoShow) -> Option<String> {
        let count = self.0.entry(entrant).or_default();
        *count += 1;
        (*count == 1).then(|| format!("{match_id}: {why}"))
    }

    /// Messages for the others.
    fn lines(&self, names: &[String]) -> impl Iterator<Item = String> {
        let several = self.0.iter().filter(|&(_, &count)| count > 1);
        several.map(|(&entrant, count)| format!("`{}` did not start in {count} matches", names[entrant]))
    }
}

/// Says that this process plays what workers played before.
fn say_if_workers_played(path: &Path) -> Result<(), Failure> {
    let leases = Leases::of_run(path).map_err(Failure::cannot_run)?;
    let workers = leases.map_or(Ok(Vec::new()), |leases| leases.workers()).map_err(Failure::cannot_run)?;
    if !workers.is_empty() {
        let workers = counted(workers.len(), "worker", "workers");
        screen::stderr_line(format_args!(
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
    let standings = schedule.standings();
    let first = standings.rows.iter().take(3);
    let first: Vec<String> =
        first.map(|row| format!("{} {}", names[row.entrant.index()], row.points)).collect();
    first.join(", ")
}
