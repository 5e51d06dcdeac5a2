//! Plays a tournament to its end, on this machine or on workers, and takes up changes meanwhile.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::Duration;

use referee_engine::runner::{
    EndedMatch, Halt, LiveFeed, LiveSchedule, MatchRunner, PlanScheduler, RunEnd, RunEvent, Scoring,
};
use referee_engine::sources::ParkedLobby;
use referee_files::StorageWait;
use referee_game::Wrong;
use referee_stats::sample::MatchMoves;
use referee_stats::schedule::MatchId;
use referee_store::{MatchRow, Results};
use tokio::sync::oneshot;

use crate::Placement;
use crate::RunError;
use crate::budget::{BotBudget, Budget};
use crate::config::RunNotice;
use crate::placement::halt_on_error;
use crate::tournament::audit::{self, began_at};
use crate::tournament::change::{Applied, RequestedChange};
use crate::tournament::config::TournamentConfig;
use crate::tournament::open_results;
use crate::tournament::recover::{Tournament, TournamentFolder};

const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// An event of a tournament in progress.
#[derive(Debug)]
pub enum TournamentEvent<'a> {
    /// Play begins, or goes on after a change.
    Begins {
        config: &'a TournamentConfig,
        /// Gives copies of the schedule, to which results are added as they come in.
        scheduler: &'a mut PlanScheduler,
    },
    /// A warning about the settings.
    Notice(&'a RunNotice),
    /// A requested change was made, or has become impossible.
    Change(&'a Applied),
    /// An event of the matches. Results are stored before [`RunEvent::Settled`].
    Run(RunEvent<'a>),
}

#[derive(Debug)]
pub struct TournamentEnd {
    /// Whether the tournament was interrupted; it can be resumed.
    pub is_interrupted: bool,
    /// The reason why it costs more than it may, which interrupts it.
    pub over_budget: Option<String>,
    /// Sets that were not played because workers were lost with them too often, with the reason. Resuming tries them again.
    pub given_up: Vec<String>,
    pub results: Results,
    /// The schedule with all results.
    pub schedule: LiveSchedule,
}

enum Period {
    /// The play until the end.
    Ended(TournamentEnd),
    /// The play until a change was requested. The lobby keeps connected bots.
    Changed(Option<ParkedLobby>),
}

impl Tournament {
    /// Plays all missing matches. While the disk is full it waits in this way. `stop` makes futures that resolve when play
    /// should be interrupted; `live` gets the matches in progress.
    ///
    /// # Errors
    /// If it cannot be played on, as after a change of its files.
    pub fn play<S: Future<Output = ()>>(
        mut self,
        mut placement: Placement,
        wait: &StorageWait,
        live: impl Fn() -> Option<LiveFeed>,
        stop: impl Fn() -> S,
        on_event: &mut (dyn FnMut(TournamentEvent<'_>) + Send),
    ) -> Result<TournamentEnd, RunError> {
        let mut parked = None;
        let end = loop {
            self.prepared.notices.iter().for_each(|notice| on_event(TournamentEvent::Notice(notice)));
            self.applied.iter().for_each(|applied| on_event(TournamentEvent::Change(applied)));
            let (path, is_durable) = (self.folder.path.clone(), self.folder.is_durable);
            let (games, max_cost) = (self.games.clone(), self.max_cost);
            // The engine closes its journal before the last results are stored.
            let lock = self.folder.journal.share();
            let period = self.play_until_changed(&mut placement, wait, parked, live(), stop(), on_event)?;
            let opened = match period {
                Period::Changed(lobby) => {
                    parked = lobby;
                    Tournament::reopen(&path, &games, is_durable, lock)
                }
                Period::Ended(end) => {
                    drop(lock);
                    // A change that was requested while it was locked may have come too late for the watching thread.
                    if end.is_interrupted || end.results.requests::<RequestedChange>().is_empty()? {
                        break end;
                    }
                    parked = None;
                    Tournament::open(&path, &games, is_durable)
                }
            };
            self = Tournament { max_cost, ..opened? };
        };
        placement.end(!end.is_interrupted).map_err(RunError::machine)?;
        Ok(end)
    }

    fn play_until_changed(
        self,
        placement: &mut Placement,
        wait: &StorageWait,
        parked: Option<ParkedLobby>,
        live: Option<LiveFeed>,
        stop: impl Future<Output = ()>,
        on_event: &mut (dyn FnMut(TournamentEvent<'_>) + Send),
    ) -> Result<Period, RunError> {
        let unsealed = self.unsealed()?;
        let mut budget = self.budget()?;
        let Tournament { folder, config, prepared, schedule, games, .. } = self;
        let TournamentFolder { path, mut results, journal, records, .. } = folder;
        let scoring = Scoring {
            seating: schedule.plan().seating,
            legs: schedule.legs(),
            on_fault: prepared.run.terms.on_fault,
            roster: prepared.roster,
        };
        let (seating, rules) = (scoring.seating, prepared.rules);
        let mut scheduler = PlanScheduler::new(schedule, scoring.clone(), prepared.openings);
        let schedule = scheduler.live_schedule();
        on_event(TournamentEvent::Begins { config: &config, scheduler: &mut scheduler });
        if let Some(why) = budget.exceeded() {
            let over_budget = Some(why);
            let end =
                TournamentEnd { is_interrupted: true, over_budget, given_up: Vec::new(), results, schedule };
            return Ok(Period::Ended(end));
        }
        let runner = MatchRunner {
            jobs: prepared.jobs,
            processes: prepared.processes,
            slots: prepared.slots,
            is_pinned: prepared.is_pinned,
            listen: prepared.listen,
            lobby: parked,
            drain: Some(wait_for_changes(&path)?),
            records: Some(records.waiting(wait.clone())),
            journal: Some(journal.waiting(wait.clone())),
            unsealed: Some(unsealed),
            live,
            ..MatchRunner::new(prepared.run, rules, seating, prepared.entrants, games.launch().clone())
        };
        let mut writer = ResultsWriter {
            results: &mut results,
            wait,
            scoring: &scoring,
            // With chance each set has a deal of its own.
            can_repeat: !rules.meta().chance,
            unstored: Vec::new(),
            absent: BTreeSet::new(),
        };
        writer.results.set_absent(&writer.absent)?;
        let mut kept = Ok(());
        let mut keep = |event: RunEvent<'_>| -> Result<(), Halt> {
            halt_on_error(&mut kept, || writer.note(&event))?;
            if let RunEvent::Ended(EndedMatch { fixture, finished, .. }) = &event {
                budget.charge(&fixture.bots, &finished.totals);
            }
            let is_settled = matches!(event, RunEvent::Settled);
            on_event(TournamentEvent::Run(event));
            if is_settled && budget.exceeded().is_some() { Err(Halt::Done) } else { Ok(()) }
        };
        let end = placement.play(runner, scheduler, games.catalog(), stop, &mut keep)?;
        kept?;
        if let Some(why) = end.why {
            return Err(why.into());
        }
        results.check_in_place()?;
        let over_budget = budget.exceeded().filter(|_| end.is_done);
        if over_budget.is_none() && !end.is_interrupted && end.is_drained {
            return Ok(Period::Changed(end.lobby));
        }
        let RunEnd { is_interrupted, given_up, .. } = end;
        let is_interrupted = is_interrupted || over_budget.is_some();
        Ok(Period::Ended(TournamentEnd { is_interrupted, over_budget, given_up, results, schedule }))
    }

    /// The limit and its cost so far. Entrants that have withdrawn have no limit.
    fn budget(&self) -> Result<Budget, RunError> {
        let results = &self.folder.results;
        let rows = results.entrants()?;
        let (roster, specs) = (&self.prepared.roster, &self.prepared.entrants);
        let bots = self.config.bots().zip(specs).enumerate().map(|(bot, (config, spec))| {
            let has_left = rows.get(roster.entrant_of(bot)).is_some_and(|row| row.leaves.is_some());
            BotBudget { name: spec.name.clone(), most: config.max_cost.filter(|_| !has_left), spent: 0.0 }
        });
        let mut budget = Budget::new(self.max_cost.or(self.config.max_cost), bots.collect());
        if budget.is_limited() {
            let seating = self.schedule.plan().seating;
            results.for_each_match(|row| {
                budget.charge(&roster.seated_at(seating, &row.lineup), &row.totals);
                Ok(())
            })?;
        }
        Ok(budget)
    }
}

struct ResultsWriter<'a> {
    results: &'a mut Results,
    /// Waits while the disk is full.
    wait: &'a StorageWait,
    scoring: &'a Scoring,
    /// Whether matches can have the moves of earlier ones.
    can_repeat: bool,
    /// The matches whose records may not be on the disk.
    unstored: Vec<MatchRow>,
    /// The bots for which matches wait.
    absent: BTreeSet<String>,
}

impl ResultsWriter<'_> {
    fn note(&mut self, event: &RunEvent<'_>) -> Result<(), RunError> {
        match event {
            RunEvent::Listening(_) | RunEvent::Moved(_) => Ok(()),
            RunEvent::Waiting(name) => {
                self.absent.insert((*name).to_owned());
                self.store_absent()
            }
            RunEvent::Connected(name) => {
                self.absent.remove(*name);
                self.store_absent()
            }
            RunEvent::Ended(EndedMatch { fixture, finished, seal, .. }) => {
                let id: MatchId = fixture.id.parse().map_err(|why: Wrong| RunError::machine(why))?;
                let result = self.scoring.result(fixture, finished);
                let row = audit::row(id, self.scoring, fixture, finished, result, seal.clone());
                let began_at = finished.record.as_deref().and_then(|path| began_at(path, finished));
                let moves = finished.moves.filter(|_| self.can_repeat).map(MatchMoves::from);
                self.unstored.push(MatchRow { began_at, moves, ..row });
                Ok(())
            }
            RunEvent::Settled => {
                let ResultsWriter { results, wait, unstored, .. } = self;
                wait.retry("the results", || results.add_matches(unstored))?;
                unstored.clear();
                Ok(())
            }
        }
    }

    fn store_absent(&self) -> Result<(), RunError> {
        Ok(self.wait.retry("the results", || self.results.set_absent(&self.absent))?)
    }
}

/// Resolves when another process requests a change of the tournament.
fn wait_for_changes(path: &Path) -> Result<oneshot::Receiver<()>, RunError> {
    let results = open_results(path)?;
    let (sender, receiver) = oneshot::channel();
    let watch = move || {
        while !sender.is_closed() {
            // A read error is ignored here; the next attempt may succeed, and writers report lasting errors.
            if results.requests::<RequestedChange>().is_empty().is_ok_and(|is_empty| !is_empty) {
                // The channel is closed if the run has just ended.
                let _ = sender.send(());
                return;
            }
            thread::sleep(POLL_INTERVAL);
        }
    };
    thread::Builder::new().name("changes".to_owned()).spawn(watch)?;
    Ok(receiver)
}
