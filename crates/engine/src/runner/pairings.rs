//! Plays the pairings of a lane.
//!
//! A pairing consists of one process or connection of each bot of a match. It plays as many concurrent matches as
//! each of them has slots for, and ends when the schedule has no more matches between these bots.

mod arrivals;
mod matches;
mod reconnect;
mod resumed;

use std::collections::{HashMap, VecDeque};
use std::future;
use std::mem;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use referee_match::AbortReason;
use referee_results::SharedFault;
use slotmap::SlotMap;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::driver::{BotFault, Lane, MatchKey, Notice, SessionKey};
use crate::runner::bots::{Bot, BotKey, BotState, PairingKey};
use crate::runner::common::RunContext;
use crate::runner::fixture::{Fixture, Wait};
use crate::runner::journal::Beginning;
use crate::runner::lane_messages::{
    EndedOnLane, EventSender, LaneEvent, LaneHandle, LaneOrder, OVER, ReportEvent,
};
use crate::runner::live::LiveMatch;
use crate::runner::pairings::resumed::ExpectedBots;
use crate::runner::reporter::WatchFeed;
use crate::runner::resumed::ResumedMatch;
use crate::runner::run_failure::RunFailure;
use crate::runner::scheduler::{self, SharedScheduler};
use referee_game::Wrong;

/// The maximum number of ended matches that have not been reported.
const MOST_UNREPORTED: usize = 16;
/// The time for which an idle lane waits for a journal entry before it does anything else: the entry mostly
/// arrives at once, and the `start` of the next match goes out with the `end` of the last.
const JOURNAL_WAIT: Duration = Duration::from_millis(1);

/// Bots that play each other.
struct Pairing {
    bots: Vec<BotKey>,
    /// The configurations, in the same order.
    specs: Vec<usize>,
    /// Matches that wait for the bots.
    next: VecDeque<QueuedMatch>,
    /// The number of matches that wait for their journal entry.
    noting: usize,
    /// The number of matches in progress.
    running: usize,
    /// Whether bots are restarted for every match.
    is_fresh: bool,
}

/// A match that is to be opened.
struct QueuedMatch {
    fixture: Fixture,
    is_noted: bool,
    /// The match, if it has begun in an earlier process.
    resumed: Option<Box<ResumedMatch>>,
}

impl QueuedMatch {
    fn new(fixture: Fixture) -> QueuedMatch {
        QueuedMatch { fixture, is_noted: false, resumed: None }
    }
}

struct OpenMatch {
    pairing: PairingKey,
    fixture: Fixture,
    /// By seat.
    bots: Vec<BotKey>,
    lost: Vec<SharedFault>,
    live: Option<LiveMatch>,
    /// The number of requests for its progress while a bot was within its time limit.
    waits: u32,
}

pub(super) struct LaneShare {
    /// The maximum number of pairings.
    pub(super) jobs: usize,
    /// The maximum number of idle processes in addition to those that the pairings need.
    pub(super) spare: usize,
}

pub(super) struct LaneChannels {
    /// The lane itself: the schedule and the journal wake it through its own orders.
    pub(super) handle: LaneHandle,
    pub(super) events: EventSender,
    pub(super) reports: Sender<ReportEvent>,
    /// The journal of match starts, if there is one.
    pub(super) journal: Option<Sender<Beginning>>,
}

/// A lane's demand for matches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Supply {
    Open,
    /// The schedule has no more matches.
    Exhausted,
    /// The run ends before its matches have ended.
    Stopped,
}

pub(super) struct LanePairings {
    share: LaneShare,
    common: Arc<RunContext>,
    schedule: SharedScheduler,
    channels: LaneChannels,
    lane: Lane,
    bots: SlotMap<BotKey, Bot>,
    by_session: HashMap<SessionKey, BotKey>,
    /// Idle processes; the longest idle first.
    idle: Vec<BotKey>,
    expected: ExpectedBots,
    pairings: SlotMap<PairingKey, Pairing>,
    open: HashMap<MatchKey, Box<OpenMatch>>,
    /// Matches that have ended. They are reported a few at a time, or when the lane is idle.
    ended: Vec<EndedOnLane>,
    watched: Option<WatchFeed>,
    supply: Supply,
    /// The number of requests for the progress of its matches.
    asked: u32,
}

impl LanePairings {
    pub(super) fn new(
        share: LaneShare,
        common: Arc<RunContext>,
        schedule: SharedScheduler,
        channels: LaneChannels,
        watched: Option<WatchFeed>,
    ) -> LanePairings {
        let mut lane = Lane::new();
        lane.set_reconnect_timeout(common.reconnect);
        LanePairings {
            share,
            common,
            schedule,
            channels,
            lane,
            bots: SlotMap::default(),
            by_session: HashMap::new(),
            idle: Vec::new(),
            expected: ExpectedBots::default(),
            pairings: SlotMap::default(),
            open: HashMap::new(),
            ended: Vec::new(),
            watched,
            supply: Supply::Open,
            asked: 0,
        }
    }

    /// Plays these matches of an earlier process, and further ones until the schedule is exhausted.
    pub(super) async fn work(
        mut self,
        mut orders: mpsc::UnboundedReceiver<LaneOrder>,
        resumed: Vec<(Fixture, ResumedMatch)>,
    ) {
        self.expect_all(resumed);
        self.fill();
        while self.supply == Supply::Open || !self.pairings.is_empty() {
            if self.open.is_empty()
                && self.pairings.iter().any(|(_, pairing)| pairing.noting > 0)
                && let Ok(Some(order)) = timeout(JOURNAL_WAIT, orders.recv()).await
            {
                self.handle_order(order);
                continue;
            }
            tokio::select! {
                biased;
                // Never `None`: the lane holds a sender.
                Some(order) = orders.recv() => self.handle_order(order),
                notice = self.lane.next() => self.handle_notice(notice),
                () = at(self.expected.until), if self.expected.until.is_some() => self.give_up_expected(),
                () = future::ready(()), if !self.ended.is_empty() => self.report(),
            }
        }
        // Later orders return to the runner as errors.
        orders.close();
        while let Ok(order) = orders.try_recv() {
            self.handle_order(order);
        }
        for key in mem::take(&mut self.idle) {
            self.retire(key, OVER);
        }
        self.report();
    }

    /// Reports the matches that have ended.
    fn report(&mut self) {
        for ended in self.ended.drain(..) {
            // The channel is closed if the run is failing.
            let _ = self.channels.reports.send(ReportEvent::Ended(Box::new(ended)));
        }
    }

    /// Sends an event to the runner.
    fn send_event(&self, event: LaneEvent) {
        self.channels.events.send(event);
    }

    fn handle_order(&mut self, order: LaneOrder) {
        match order {
            LaneOrder::Wake => {
                for pairing in self.pairings.keys().collect::<Vec<_>>() {
                    self.continue_pairing(pairing);
                }
                self.fill();
            }
            LaneOrder::Journaled(pairing, fixture) => self.begin(pairing, fixture),
            LaneOrder::Progress(to) => self.send_progress(&to),
            LaneOrder::Stop => self.stop(),
            LaneOrder::Exited(session, how) => self.lane.exited(session, how),
            LaneOrder::BotArrived(key, come) => self.handle_arrival(key, come),
            LaneOrder::TakeOver(key, moving) => self.take_over(key, moving),
            LaneOrder::PutBack(bots) => self.put_back(&bots),
        }
    }

    fn send_progress(&mut self, to: &mpsc::UnboundedSender<(String, u32)>) {
        for key in self.lane.running() {
            let (Some(open), Some(play)) = (self.open.get_mut(&key), self.lane.match_mut(key)) else {
                continue;
            };
            // A bot within its time limit does not hold the match up.
            open.waits += u32::from(play.next_deadline().is_some());
            // The channel is closed if the wait has timed out.
            let _ = to.send((open.fixture.id.clone(), play.decisions() + open.waits));
        }
        // Bots that start have limits too.
        self.asked += 1;
        for (_, pairing) in self.pairings.iter().filter(|(_, pairing)| pairing.running == 0) {
            for queued in &pairing.next {
                let _ = to.send((queued.fixture.id.clone(), self.asked));
            }
        }
    }

    fn stop(&mut self) {
        self.supply = Supply::Stopped;
        self.leave_expected();
        for key in self.lane.running() {
            if self.lane.is_journaled(key) {
                self.leave(key);
            } else {
                self.lane.abort(key, &AbortReason::Interrupted);
            }
        }
        for pairing in self.pairings.keys().collect::<Vec<_>>() {
            self.pairings[pairing].next.clear();
            self.continue_pairing(pairing);
        }
    }

    /// Starts pairings up to the limit.
    fn fill(&mut self) {
        while self.pairings.len() < self.share.jobs && self.supply == Supply::Open {
            match self.schedule.next(&self.channels.handle, None) {
                scheduler::Next::Match(fixture) => self.pair(fixture),
                scheduler::Next::Later => return,
                scheduler::Next::Never => self.supply = Supply::Exhausted,
            }
        }
    }

    fn pair(&mut self, fixture: Fixture) {
        let specs = fixture.bots.clone();
        let mut bots = Vec::with_capacity(specs.len());
        for &spec in &specs {
            let idle = self.idle.iter().position(|&key| self.bots[key].spec == spec);
            bots.push(match idle {
                Some(index) => self.idle.remove(index),
                None => self.bots.insert(Bot::new(spec)),
            });
        }
        let is_fresh = specs.iter().any(|&spec| self.common.bots.get(spec).is_fresh);
        let next = VecDeque::from([QueuedMatch::new(fixture)]);
        let pairing = Pairing { bots, specs, next, noting: 0, running: 0, is_fresh };
        let key = self.add_pairing(pairing);
        self.make_room();
        self.continue_pairing(key);
    }

    fn add_pairing(&mut self, pairing: Pairing) -> PairingKey {
        let bots = pairing.bots.clone();
        let key = self.pairings.insert(pairing);
        for bot in bots {
            self.bots[bot].pairing = Some(key);
        }
        key
    }

    /// Ends idle processes while there are too many; the longest idle first.
    fn make_room(&mut self) {
        if self.idle.is_empty() {
            return;
        }
        let is_started = |spec: &&usize| self.common.bots.get(**spec).source.is_started();
        let specs = self.pairings.iter().flat_map(|(_, pairing)| &pairing.specs);
        let playing = specs.filter(is_started).count();
        let most = (self.share.jobs * self.common.seating.seats()).saturating_add(self.share.spare);
        while playing + self.idle.len() > most && !self.idle.is_empty() {
            let key = self.idle.remove(0);
            self.retire(key, "the process is needed for other bots");
        }
    }

    /// Opens matches of a pairing while its bots have free slots. Disbands the pairing if nothing is left to play.
    fn continue_pairing(&mut self, key: PairingKey) {
        loop {
            let Some(pairing) = self.pairings.get_mut(key) else { return };
            let begun = pairing.running + pairing.noting;
            let next = match pairing.next.pop_front() {
                Some(next) => {
                    if pairing.next.is_empty() {
                        // A pairing has a match in its queue only until its bots are available.
                        pairing.next = VecDeque::new();
                    }
                    next
                }
                None if self.supply == Supply::Stopped || pairing.is_fresh || begun >= self.slots(key) => {
                    break;
                }
                None => {
                    let specs = &self.pairings[key].specs;
                    match self.schedule.next(&self.channels.handle, Some(specs)) {
                        scheduler::Next::Match(fixture) => QueuedMatch::new(fixture),
                        scheduler::Next::Later | scheduler::Next::Never => break,
                    }
                }
            };
            if !self.are_available(key, next.fixture.wait) {
                self.pairings[key].next.push_front(next);
                return;
            }
            let QueuedMatch { fixture, is_noted, resumed } = next;
            let begun = match (resumed, is_noted) {
                (Some(resumed), _) => self.restore(key, fixture, *resumed),
                (None, true) => self.open(key, fixture),
                (None, false) => self.note(key, fixture),
            };
            if let Err(why) = begun {
                return self.send_event(LaneEvent::Failed(why));
            }
        }
        let pairing = &self.pairings[key];
        if pairing.running + pairing.noting == 0 {
            self.end_pairing(key);
        }
    }

    /// Journals the start of a match; without a journal, opens it at once.
    fn note(&mut self, pairing: PairingKey, fixture: Fixture) -> Result<(), RunFailure> {
        let Some(journal) = &self.channels.journal else { return self.open(pairing, fixture) };
        let beginning = Beginning { lane: self.channels.handle.clone(), pairing, fixture };
        journal.send(beginning).map_err(|_| Wrong::new("the journal's thread panicked"))?;
        self.pairings[pairing].noting += 1;
        Ok(())
    }

    /// Handles a journal entry. `None` means that it failed; then the run will be stopped.
    fn begin(&mut self, key: PairingKey, noted: Option<Fixture>) {
        let pairing = &mut self.pairings[key];
        pairing.noting -= 1;
        if let Some(fixture) = noted.filter(|_| self.supply != Supply::Stopped) {
            pairing.next.push_back(QueuedMatch { is_noted: true, ..QueuedMatch::new(fixture) });
        }
        self.continue_pairing(key);
    }

    /// The maximum number of concurrent matches of a pairing.
    fn slots(&self, pairing: PairingKey) -> usize {
        let slots = |&key: &BotKey| {
            let session = self.bots[key].session().filter(|&session| !self.lane.is_silent(session));
            session.and_then(|session| self.lane.hello(session)).map_or(1, |hello| hello.slots)
        };
        self.pairings[pairing].bots.iter().map(slots).min().unwrap_or(1).min(self.common.slots)
    }

    /// Returns whether all bots of a pairing are connected or have failed. Requests those that are missing.
    fn are_available(&mut self, pairing: PairingKey, wait: Wait) -> bool {
        let bots = &self.pairings[pairing].bots;
        let missing: Vec<(BotKey, usize)> = bots
            .iter()
            .filter(|&&key| matches!(self.bots[key].state, BotState::Absent))
            .map(|&key| (key, self.bots[key].spec))
            .collect();
        let are_available =
            bots.iter().all(|&key| matches!(self.bots[key].state, BotState::Ready(_) | BotState::Failed(..)));
        self.request_bots(missing, wait);
        are_available
    }

    /// Gives back the match that needs these bots to the schedule: one of them is not connected.
    fn put_back(&mut self, bots: &[BotKey]) {
        for &key in bots {
            if let Some(bot) = self.bots.get_mut(key) {
                bot.state = BotState::Absent;
            }
        }
        let Some(key) = bots.iter().find_map(|&key| self.bots.get(key)?.pairing) else { return };
        for QueuedMatch { fixture, .. } in mem::take(&mut self.pairings[key].next) {
            self.schedule.put_back(&fixture);
        }
        self.continue_pairing(key);
    }

    fn continue_pairing_of(&mut self, key: BotKey) {
        if let Some(pairing) = self.bots.get(key).and_then(|bot| bot.pairing) {
            self.continue_pairing(pairing);
        }
    }

    fn handle_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Ended(finished) => self.end(*finished),
            Notice::Moved(key) => {
                let Some(play) = self.lane.match_mut(key) else { return };
                let (news, infos) = (mem::take(play.news()), mem::take(play.infos()));
                if let Some(watched) = &mut self.watched {
                    watched.show(play, &news);
                }
                if let Some(live) = self.open.get_mut(&key).and_then(|open| open.live.as_mut()) {
                    live.show(play, &news, infos);
                }
            }
            Notice::Greeted(session) => {
                if let Some(&key) = self.by_session.get(&session) {
                    self.handle_hello(key);
                }
            }
            Notice::Gone { session, code, detail, waiting, lost } => {
                self.note_loss(code, &lost);
                let had_greeted = self.lane.hello(session).is_some();
                let Some(key) = self.forget(session) else { return };
                let bot = &mut self.bots[key];
                let spec = bot.spec;
                tracing::debug!(bot = self.common.bots.get(spec).name, %code, %detail, "gone");
                self.release(key);
                if !had_greeted {
                    return self.fail(key, BotFault { code, detail });
                }
                self.expect_again(key);
                let bot = &mut self.bots[key];
                bot.waiting.extend(waiting);
                if !bot.waiting.is_empty() {
                    self.request_bots(vec![(key, spec)], Wait::Always);
                }
                if let Some(index) = self.idle.iter().position(|idle| *idle == key) {
                    self.idle.remove(index);
                    self.bots.remove(key);
                }
            }
            Notice::Lost { session, faulty } => self.lose(session, &faulty),
            Notice::OpenAsked(..) | Notice::LongLine(_) => {}
        }
    }

    /// Ends a pairing; its bots are free for others.
    fn end_pairing(&mut self, key: PairingKey) {
        let Some(pairing) = self.pairings.remove(key) else { return };
        for key in pairing.bots {
            let bot = &mut self.bots[key];
            bot.pairing = None;
            if bot.process.is_some()
                && !self.common.bots.get(bot.spec).is_fresh
                && self.supply != Supply::Stopped
                && matches!(bot.state, BotState::Ready(_))
            {
                self.idle.push(key);
            } else {
                let reason = if self.supply == Supply::Stopped { OVER } else { "the match is over" };
                self.retire(key, reason);
            }
        }
        if self.supply != Supply::Stopped {
            self.fill();
        }
    }
}

/// Waits until this time; forever without one.
async fn at(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => future::pending().await,
    }
}
