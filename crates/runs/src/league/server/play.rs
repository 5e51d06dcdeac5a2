//! Plays the ladders of a league.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use referee_bots::Launch;
use referee_engine::driver::Run;
use referee_engine::runner::{MatchRunner, RunEnd, RunEvent, RunFailure, SetScheduler, signalled};
use referee_engine::sources::Listen;
use referee_files::{Folder, RecordFolder};
use referee_game::Chain;
use referee_league::{League, SubmissionFiles};
use referee_store::now;
use referee_web::WatchServer;
use referee_workers::{Coordinator, Job};
use tokio::sync::{mpsc, oneshot};

use super::LeagueEvent;
use super::control::{Control, ControlRequest, tokens};
use super::open::OpenedLadder;
use super::reload::ConfigFile;
use super::results::LadderResults;
use super::retention::RetentionWork;
use super::stop::{LeagueStop, StopSignals};
use crate::Placement;
use crate::RunError;
use crate::league::config::{LadderGame, PreparedLadder};
use crate::league::{LadderScheduler, ladder_folder};
use crate::placement::halt_on_error;

/// The maximum number of idle processes of programs that are kept.
const PROCESSES: usize = 64;
/// The reason in `bye` when the server stops.
const CLOSED: &str = "the league is closed for now: connect again later";

/// Resources that the ladders of a league share.
#[derive(Clone, Copy)]
pub(super) struct LeagueRun<'a> {
    pub(super) folder: &'a Folder,
    pub(super) stop: &'a LeagueStop,
    pub(super) file: &'a ConfigFile,
    pub(super) launch: &'a Launch,
    pub(super) on_event: &'a (dyn Fn(LeagueEvent<'_>) + Sync),
}

impl LeagueRun<'_> {
    /// Plays a ladder until it is stopped.
    pub(super) fn play(self, opened: OpenedLadder) -> Result<(), RunError> {
        let ladder = opened.config.name.clone();
        self.play_ladder(opened).map_err(|why| RunError::of_ladder(&ladder, why))
    }

    fn play_ladder(self, opened: OpenedLadder) -> Result<(), RunError> {
        let LeagueRun { folder, stop, file, launch, on_event } = self;
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
            placement,
            job_bots,
            programs,
            ..
        } = opened;
        let PreparedLadder { game, terms, limits, listen, .. } = prepared;
        let LadderGame { rules, seating, catalog } = game;
        let can_repeat = !rules.meta().chance;
        let name = &config.name;
        let league = League::open(folder)?;
        let (bots, owners) = (league.bots()?, league.owners()?);
        let tokens = tokens(&bots, &owners, now());
        let refusals = pages.refusals.clone();
        let listen = listen.map(|listen| Listen { tokens: Some(tokens), refusals, ..listen });
        let StopSignals { drained, interrupted } = stop.part(wait.clone());
        let (changes, changed) = mpsc::unbounded_channel();
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
            live: watch.as_ref().map(WatchServer::feed),
            // The ladder judges the rules instead.
            judges_rules: false,
            ..MatchRunner::new(Run { seed, terms }, rules, seating, Vec::new(), launch.clone())
        };
        let job = placement.shared(&runner, job_bots.clone(), &catalog)?;
        let (coordinator, job_bots) = match placement {
            Placement::Here => (None, None),
            Placement::Workers { coordinator, directory } => (Some(coordinator), Some((job_bots, directory))),
        };
        let is_open = runner.listen.is_some();
        let (control_asked, control_requests) = channel();
        let asked = control_asked.clone();
        // The ladder may have ended.
        pages.take_up.get_or_init(|| Box::new(move |done| _ = asked.send(ControlRequest::TakeUp(done))));
        let end_control = EndControl(control_asked);
        let (end_retention, retention_ends) = channel::<()>();
        let retention = RetentionWork {
            name: name.clone(),
            folder: folder.path().to_owned(),
            file: file.clone(),
            league: League::open(folder)?,
            records: RecordFolder::new(ladder_folder(folder, name)?.make_within("records")?),
            sending: pages.sending.clone(),
            info: file.current().config.publish.info,
        };
        let keep =
            limits.keep.map(|size| Ok::<_, io::Error>((size, Arc::new(SubmissionFiles::open(folder)?))));
        let keep = keep.transpose()?;
        let control = Control {
            name,
            on_event,
            file: file.clone(),
            job_bots,
            programs,
            keep,
            ladder: ladder.clone(),
            league: League::open(folder)?,
            changes,
        };
        let results = || {
            Ok::<_, RunError>(LadderResults {
                name,
                ladder: ladder.clone(),
                league: League::open(folder)?,
                running: running.clone(),
                wait: wait.clone(),
                on_event,
                can_repeat,
                unstored: Vec::new(),
            })
        };
        let (mut local, mut remote) = (results()?, results()?);
        let mut kept = Ok(());
        let keep = |event: RunEvent<'_>| {
            if let RunEvent::Listening(address) = event {
                on_event(LeagueEvent::Listening { ladder: name, address });
                on_event(LeagueEvent::Ready(name));
                pages.port.get_or_init(|| address.port());
            }
            halt_on_error(&mut kept, || local.note(event))
        };
        if !is_open {
            on_event(LeagueEvent::Ready(name));
        }
        let scheduler = || LadderScheduler(ladder.clone());
        let (end_here, ended) = oneshot::channel();
        let (end, on_workers, controlled, retained) = thread::scope(|scope| {
            let named = |name: &str| thread::Builder::new().name(name.to_owned());
            let control = named("control").spawn_scoped(scope, move || control.work(&control_requests))?;
            let retention =
                named("retention").spawn_scoped(scope, move || retention.work(&retention_ends))?;
            let on_workers = coordinator.zip(job).map(|(coordinator, job)| {
                let StopSignals { drained, interrupted } = stop.part(wait.clone());
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
            let end = runner.play(scheduler(), interrupt, keep);
            // The workers may be missing.
            let _ = end_here.send(());
            let on_workers = on_workers
                .map_or(Ok(()), |playing| playing.join().unwrap_or(Err(RunFailure::panicked().into())));
            drop((end_control, end_retention));
            Ok::<_, RunError>((end, on_workers, control.join(), retention.join()))
        })?;
        let RunEnd { why, lobby, .. } = end;
        if let Some(lobby) = lobby {
            lobby.close(CLOSED)?;
        }
        if let Some(server) = watch {
            server.close();
        }
        kept?;
        why.map_or(Ok(()), Err)?;
        on_workers?;
        controlled.map_err(|_| RunFailure::panicked())??;
        Ok(retained.map_err(|_| RunFailure::panicked())?)
    }
}

/// Ends the thread that takes up changes when it is dropped.
struct EndControl(Sender<ControlRequest>);

impl Drop for EndControl {
    fn drop(&mut self) {
        // The thread may have ended.
        let _ = self.0.send(ControlRequest::End);
    }
}

/// Plays the matches of a ladder that workers play, until it is stopped. Matches that are out then stay with
/// their workers.
fn play_on_workers(
    mut coordinator: Box<Coordinator>,
    job: Job,
    mut schedule: LadderScheduler,
    interrupt: impl Future<Output = ()>,
    results: &mut LadderResults<'_>,
) -> Result<(), RunError> {
    let mut kept = Ok(());
    let end = coordinator.play(job, LadderScheduler(schedule.0.clone()), interrupt, |event| {
        halt_on_error(&mut kept, || results.note(event))
    });
    let played = kept.and(end.why.map_or(Ok(()), |why| Err(why.into())));
    // The other matches are played here from now on.
    schedule.set_slots(0);
    if let Err(why) = &played {
        tracing::error!("workers get no matches until the server is restarted: {}", Chain(why));
    }
    let ended = coordinator.end(false);
    played?;
    ended.map_err(RunError::machine)
}
