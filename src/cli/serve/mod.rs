//! `referee serve`: plays a league.

mod control;
mod ladder_results;
mod open;
mod reload;
mod retention;
mod stop;
mod submissions;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use clap::Args as ClapArgs;
use control::{Control, tokens};
use ladder_results::LadderResults;
use open::{OpenedLadder, open};
use reload::{ConfigFile, CurrentConfig, Following};
use retention::RetentionWork;
use stop::{LadderStop, LadderStops};
use tokio::signal::unix::SignalKind;
use tokio::sync::{mpsc, oneshot};

use crate::cli::bots::{launch, with_bots};
use crate::cli::json::{LadderListening, LadderWatching, OwnersAt};
use crate::cli::league::config::{LadderGame, LeagueConfig, PreparedLadder, WORKERS};
use crate::cli::screen::stderr_line;
use crate::cli::service::Service;
use crate::cli::today::now;
use crate::cli::workers::{self, WorkersOptions};
use crate::cli::{Exit, Failure, screen, signals};
use crate::driver::Run;
use crate::files::{Folder, RecordFolder};
use crate::game::{Catalog, json};
use crate::runner::{MatchRunner, RunEnd, RunEvent, RunFailure, SetScheduler, signalled};
use crate::runs::league::LadderScheduler;
use crate::runs::league::ladder_folder;
use crate::sources::Listen;
use crate::store::League;
use crate::web::{OwnersLadder, OwnersServer, SubmissionIntake, WatchServer};
use crate::workers::packing::pack_game;
use crate::workers::{Coordinator, Job};

/// The maximum number of idle processes of programs that are kept.
const PROCESSES: usize = 64;
/// The reason in `bye` when the server stops.
const CLOSED: &str = "the league is closed for now: connect again later";

/// Play a league: a server that stays, to which bots connect when they like
///
/// Bots that connect with a token, and programs that the server starts, are paired for as long as they stay. SIGTERM and
/// Ctrl-C drain: no match begins, those in progress end, and the exit code is 0; a second signal stops at once. After that,
/// or a crash, no result is lost or counted twice, and matches whose bots connect again continue. `referee league` manages the
/// league meanwhile. SIGHUP reads the file again and says what has changed, and what of it needs a restart.
///
/// With workers (`referee worker`), which connect to the league or pull from a NATS server, matches between programs are played
/// on other machines. They are played here while no worker is active, and so are those of bots that connect.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league init mine
  cd mine
  referee serve league.toml
  referee serve league.toml --json --log-format json
  referee serve league.toml --workers-listen 0.0.0.0:4711

`referee spec league` explains pairings, ratings and the files of a league.")]
pub(super) struct Args {
    /// The file of the league; its directory holds everything
    #[arg(default_value = "league.toml")]
    config: PathBuf,
    /// One JSON object per line: addresses, and each match that ends
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    workers: WorkersOptions,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let config = LeagueConfig::read(&args.config)?;
    let mut prepared = Vec::new();
    for ladder in &config.ladders {
        prepared.push((ladder, ladder.prepare(catalog, &config.folder)?));
    }
    let workers = config.workers(&args.workers)?;
    config.retention()?;
    let file = ConfigFile::new(args.config.clone(), CurrentConfig::of(config.clone())?);
    let folder = Folder::open(&config.folder).map_err(Failure::cannot_run)?;
    let mut league = League::open(&folder).map_err(Failure::cannot_run)?;
    config.store_programs(&mut league, now())?;
    config.check_sandboxes(&league)?;
    let mut opened = Vec::new();
    for (ladder, prepared) in prepared {
        opened.push(open(&config, ladder, prepared, workers.is_given(), &folder, &mut league)?);
    }
    let leases = opened.iter_mut().filter_map(|ladder| ladder.leases.take()).collect();
    if workers.is_given() {
        folder.make_within(WORKERS).map_err(Failure::cannot_run)?;
    }
    let coordinated = workers.open(&folder.path().join(WORKERS), leases, config.lets_workers_build())?;
    if let Some(coordinated) = &coordinated {
        workers::announce(coordinated, args.json)?;
    }
    let trials = coordinated.as_ref().and_then(|coordinated| coordinated.trials.clone());
    let submissions = submissions::open(&config, &opened, &folder, trials)?;
    // One for each ladder, or none.
    let mut coordinators = coordinated.into_iter().flat_map(|coordinated| coordinated.coordinators);
    let terms = submissions.as_ref().map(|opened| opened.terms.clone());
    let (intake, queue) = submissions.map(|opened| (opened.intake, opened.queue)).unzip();
    let owners = open_owners(&config, &opened, &folder, intake)?;
    let service = Arc::new(Service::new(opened.len()));
    let stops = LadderStops::new(service.clone());
    let pages =
        opened.iter().map(|ladder| (ladder.pages.clone(), ladder.watch.as_ref().map(WatchServer::naming)));
    let following =
        Following { pages: pages.collect(), owners: owners.as_ref().map(OwnersServer::reload), terms };
    let on_signal = on_signal(&file, &folder, &stops, following)?;
    if let Some(owners) = &owners {
        let url = owners.url();
        announce(args.json.then(|| json::text(&OwnersAt { url })), format_args!("owners: {url}"));
    }
    let result = with_bots(|| {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        signals::on_each(kinds, on_signal);
        for OpenedLadder { config, watch, .. } in &opened {
            if let Some(server) = watch {
                let (ladder, url) = (&config.name, &server.url());
                let line = args.json.then(|| json::text(&LadderWatching { ladder, url }));
                announce(line, format_args!("{ladder}: watch at {url}"));
            }
        }
        thread::scope(|scope| {
            let league = LeagueRun {
                folder: &folder,
                stops: &stops,
                service: &service,
                file: &file,
                is_json: args.json,
            };
            let playing: Vec<_> = opened
                .into_iter()
                .map(|ladder| (ladder, coordinators.next()))
                .map(|(ladder, coordinator)| scope.spawn(move || play(ladder, coordinator, league)))
                .collect();
            let (end, ended) = oneshot::channel::<()>();
            let working = queue.flatten().map(|queue| {
                let stops = &stops;
                scope.spawn(move || submissions::work(queue, stops, ended))
            });
            let mut result = Ok(());
            for ladder in playing {
                let ended = ladder.join().unwrap_or_else(|_| Err(Failure::cannot_run("a thread panicked")));
                result = result.and(ended);
            }
            // There may be no queue.
            let _ = end.send(());
            if let Some(working) = working {
                let ended = working.join().unwrap_or_else(|_| Err(Failure::cannot_run("a thread panicked")));
                result = result.and(ended);
            }
            result
        })
    });
    if let Some(owners) = owners {
        owners.close();
    }
    result?;
    Ok(if stops.is_aborted() { Exit::Interrupted } else { Exit::Done })
}

/// Starts the server for the owners of bots, if the league has one.
fn open_owners(
    config: &LeagueConfig,
    ladders: &[OpenedLadder<'_>],
    folder: &Folder,
    intake: Option<Arc<dyn SubmissionIntake>>,
) -> Result<Option<OwnersServer>, Failure> {
    let Some(options) = config.owners()? else { return Ok(None) };
    let ladders = ladders.iter().map(|OpenedLadder { config, prepared, pages, watch, .. }| OwnersLadder {
        name: config.name.clone(),
        seats: prepared.game.seating.seats(),
        watch_port: watch.as_ref().map(WatchServer::port),
        watch_url: config.watch_url.as_ref().map(ToString::to_string),
        records: pages.records.clone(),
        view: pages.clone(),
    });
    let address = options.address;
    let league = League::open(folder).map_err(Failure::cannot_run)?;
    let server = OwnersServer::open(options, league, ladders.collect(), intake);
    let failed = |error: io::Error| Failure::cannot_run(format!("owners: listen {address}: {error}"));
    server.map(Some).map_err(failed)
}

/// What each signal does: SIGHUP reads the file of the league again, unless it says that the terminal was closed; others
/// stop the ladders.
fn on_signal(
    file: &ConfigFile,
    folder: &Folder,
    stops: &LadderStops,
    following: Following,
) -> Result<impl FnMut(SignalKind) + Send + use<>, Failure> {
    let (file, stops) = (file.clone(), stops.clone());
    let folder = Folder::open(folder.path()).map_err(Failure::cannot_run)?;
    let mut number = 0;
    Ok(move |kind| {
        if kind != SignalKind::hangup() || file.has_lost_terminal() {
            number += 1;
            return stops.signal(number);
        }
        match file.reload(&folder, &following) {
            Ok(changes) if changes.is_empty() => stderr_line("reloaded: nothing has changed"),
            Ok(changes) => changes.iter().for_each(|change| stderr_line(format_args!("reloaded: {change}"))),
            Err(failure) => stderr_line(format_args!("not reloaded: {:#}", failure.error)),
        }
    })
}

/// Prints a line of JSON, or a line for people. A closed standard output does not stop the league.
fn announce(line: Option<String>, text: impl std::fmt::Display) {
    match line {
        Some(line) => {
            let mut out = screen::stdout();
            let _ = writeln!(out, "{line}").and_then(|()| out.flush());
        }
        None => stderr_line(text),
    }
}

/// What the ladders of a league have in common.
#[derive(Clone, Copy)]
struct LeagueRun<'a> {
    folder: &'a Folder,
    stops: &'a LadderStops,
    service: &'a Arc<Service>,
    file: &'a ConfigFile,
    is_json: bool,
}

/// Plays a ladder until it is stopped.
fn play(
    opened: OpenedLadder<'_>,
    coordinator: Option<Coordinator>,
    LeagueRun { folder, stops, service, file, is_json }: LeagueRun<'_>,
) -> Result<(), Failure> {
    let OpenedLadder {
        config,
        prepared,
        seed,
        ladder,
        records,
        journal,
        running,
        resumed,
        wait,
        watch,
        pages,
        job_bots,
        ..
    } = opened;
    let PreparedLadder { game, terms, limits, listen, reconnect } = prepared;
    let LadderGame { rules, seating, catalog } = game;
    let name = &config.name;
    let wrong = |error: io::Error| Failure::cannot_run(format!("ladder {name}: {error}"));
    let league = League::open(folder).map_err(wrong)?;
    let (bots, owners) = (league.bots().map_err(wrong)?, league.owners().map_err(wrong)?);
    let listen = listen.map(|(address, certificate, connections)| Listen {
        address,
        certificate,
        tokens: Some(tokens(&bots, &owners, now())),
        is_open: true,
        connections,
        wait: Duration::ZERO,
        reconnect,
        refusals: pages.refusals.clone(),
    });
    let (stop, drained, interrupted) = LadderStop::new(wait.clone());
    stops.add(stop);
    let (changes, changed) = mpsc::unbounded_channel();
    let live = watch.as_ref().map(WatchServer::feed);
    let workers = folder.path().join(WORKERS);
    let job = Job {
        run: Run { seed, terms },
        game: rules.meta().id,
        rules: rules.meta().rules_version,
        game_files: coordinator.as_ref().map_or(Ok(None), |_| pack_game(rules, &workers))?,
        seating,
        bots: job_bots.clone(),
        catalog,
        records: Some(records.clone()),
        unsealed: None,
        live: live.clone(),
        drain: None,
        judges_rules: false,
    };
    let runner = MatchRunner {
        jobs: limits.jobs,
        processes: PROCESSES.max(limits.jobs * seating.seats()),
        listen,
        drain: Some(drained),
        records: Some(records),
        journal: Some(journal),
        running: Some(running.clone()),
        resumed,
        changes: Some(changed),
        live,
        // The ladder does.
        judges_rules: false,
        ..MatchRunner::new(Run { seed, terms }, rules, seating, Vec::new(), launch()?)
    };
    let is_open = runner.listen.is_some();
    let (end_control, control_ends) = channel::<()>();
    let (end_retention, retention_ends) = channel::<()>();
    let retention = RetentionWork {
        name: name.clone(),
        folder: folder.path().to_owned(),
        file: file.clone(),
        league: League::open(folder).map_err(wrong)?,
        records: RecordFolder::new(
            ladder_folder(folder, name)
                .map_err(Failure::cannot_run)?
                .make_within("records")
                .map_err(wrong)?,
        ),
        sending: pages.sending.clone(),
        info: file.current().config.publish.info,
    };
    let control = Control {
        name: name.clone(),
        file: file.clone(),
        job_bots: coordinator.is_some().then_some((job_bots, workers)),
        service: service.clone(),
        ladder: ladder.clone(),
        league: League::open(folder).map_err(wrong)?,
        changes,
    };
    let results = || {
        let league = League::open(folder).map_err(wrong)?;
        Ok::<_, Failure>(LadderResults::new(
            name,
            ladder.clone(),
            league,
            running.clone(),
            wait.clone(),
            is_json,
        ))
    };
    let (mut local, mut remote) = (results()?, results()?);
    let on_event = |event: RunEvent<'_>| {
        if let RunEvent::Listening(address) = event {
            let line = is_json.then(|| json::text(&LadderListening { ladder: name, address }));
            announce(line, format_args!("{name}: bots connect to {address}"));
            service.ready(name);
            pages.port.get_or_init(|| address.port());
        }
        local.note(event)
    };
    let control =
        thread::Builder::new().name("control".to_owned()).spawn(move || control.work(&control_ends));
    let control = control.map_err(Failure::cannot_run)?;
    let retention = thread::Builder::new()
        .name("retention".to_owned())
        .spawn(move || retention.work(&retention_ends))
        .map_err(Failure::cannot_run)?;
    if !is_open {
        service.ready(name);
    }
    let scheduler = || LadderScheduler(ladder.clone());
    let (end_here, ended) = oneshot::channel();
    let (end, on_workers) = thread::scope(|scope| {
        let on_workers = coordinator.map(|coordinator| {
            let (stop, drained, interrupted) = LadderStop::new(wait.clone());
            stops.add(stop);
            let job = Job { drain: Some(drained), ..job };
            let schedule = scheduler();
            let interrupt = async {
                let (mut interrupted, mut ended) = (Some(interrupted), Some(ended));
                tokio::select! {
                    () = signalled(&mut interrupted) => {}
                    // The runner may have failed.
                    () = signalled(&mut ended) => {}
                }
            };
            scope.spawn(move || play_on_workers(coordinator, job, schedule, interrupt, &mut remote))
        });
        let interrupt = async { signalled(&mut Some(interrupted)).await };
        let end = runner.play(scheduler(), interrupt, on_event);
        // There may be no workers.
        let _ = end_here.send(());
        let on_workers =
            on_workers.map_or(Ok(()), |playing| playing.join().unwrap_or(Err(RunFailure::Panicked)));
        (end, on_workers)
    });
    let RunEnd { why, lobby, .. } = end;
    let why = why.or_else(|| on_workers.err());
    drop((end_control, end_retention));
    let controlled = control.join();
    let retained = retention.join();
    if let Some(lobby) = lobby {
        lobby.close(CLOSED).map_err(wrong)?;
    }
    if let Some(server) = watch {
        server.close();
    }
    match (why, controlled) {
        (Some(why), _) => Err(Failure::cannot_run(format!("ladder {name}: {why}"))),
        (None, Ok(Ok(()))) => Ok(()),
        (None, Ok(Err(error))) => Err(wrong(error)),
        (None, Err(_)) => Err(Failure::cannot_run("a thread panicked")),
    }?;
    retained.map_err(|_| Failure::cannot_run("a thread panicked"))
}

/// Plays the matches of a ladder that workers play, until it is stopped. Those that are out then stay with their workers.
fn play_on_workers(
    mut coordinator: Coordinator,
    job: Job,
    mut schedule: LadderScheduler,
    interrupt: impl Future<Output = ()>,
    results: &mut LadderResults<'_>,
) -> Result<(), RunFailure> {
    let played = coordinator
        .play(job, LadderScheduler(schedule.0.clone()), interrupt, |event| results.note(event))
        .why;
    // The other matches are played here from now on.
    schedule.set_slots(0);
    if let Some(why) = &played {
        tracing::error!("workers get no matches until the server is restarted: {why}");
    }
    let ended = coordinator.end(false).map_err(RunFailure::other);
    played.map_or(ended, Err)
}
