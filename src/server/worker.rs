//! Plays the pairings of a lane.
//!
//! A pairing consists of one process or connection of each bot of a match. It plays as many concurrent matches as
//! each of them has slots for, and ends when the schedule has no more matches between these bots.

use std::collections::{HashMap, VecDeque};
use std::future;
use std::mem;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use referee_protocol::words::FaultCode;
use slab::Slab;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::core::seat::Seat;
use crate::referee::{Abort, Detail, Wants};
use crate::server::arena::Arena;
use crate::server::bot_spec::Source;
use crate::server::bots::{Bot, BotKey, BotUsage, State};
use crate::server::journal::Beginning;
use crate::server::lane::{Finished, Lane, MatchKey, Notice};
use crate::server::lane_messages::{BotArrival, EndedMatch, LaneEvent, LaneOrder, OVER, ReportEvent};
use crate::server::reporter::WatchFeed;
use crate::server::results::{Loss, MatchReport, cause_of};
use crate::server::run::{Common, MatchPlan, PlannedSeat};
use crate::server::scheduler::{self, Fixture, SharedScheduler, Wait};
use crate::server::session::{Role, SessionKey};
use crate::tournament::Cause;
use crate::tournament::schedule::MatchId;
use crate::transport::Stream;

/// The maximum number of ended matches that the reporter has not been told of.
const MOST_UNTOLD: usize = 16;
/// How long an idle lane waits for a journal entry before it does anything else: the entry mostly arrives at once,
/// and the `start` of the next match goes out with the `end` of the last.
const NOTED_SOON: Duration = Duration::from_millis(1);

/// Bots that play each other.
struct Pairing {
    bots: Vec<BotKey>,
    /// Their configurations, in the same order.
    specs: Vec<usize>,
    /// Matches that wait for the bots.
    next: VecDeque<QueuedMatch>,
    /// The number of matches that wait for their journal entry.
    noting: usize,
    /// The number of matches in progress.
    running: usize,
    /// Whether a bot is restarted for every match.
    is_fresh: bool,
}

/// A match that is to be opened.
struct QueuedMatch {
    fixture: Fixture,
    is_noted: bool,
}

struct OpenMatch {
    pairing: usize,
    fixture: Fixture,
    /// By seat.
    bots: Vec<BotKey>,
    lost: Vec<Loss>,
}

pub(super) struct Worker {
    number: usize,
    common: Arc<Common>,
    schedule: SharedScheduler,
    /// The maximum number of pairings.
    jobs: usize,
    /// The maximum number of idle processes in addition to those that the pairings need.
    spare: usize,
    lane: Lane,
    bots: Arena<BotKey, Bot>,
    by_session: HashMap<SessionKey, BotKey>,
    /// Idle processes; the longest idle first.
    idle: Vec<BotKey>,
    pairings: Slab<Pairing>,
    open: HashMap<MatchKey, OpenMatch>,
    runner: mpsc::UnboundedSender<(usize, LaneEvent)>,
    /// A sender for the lane's own orders, through which the scheduler wakes it.
    orders: mpsc::UnboundedSender<LaneOrder>,
    /// Matches that have ended. They are reported a few at a time, or when the lane is idle.
    ended: Vec<EndedMatch>,
    reports: Sender<ReportEvent>,
    /// The journal of match starts, if there is one.
    journal: Option<Sender<Beginning>>,
    watched: Option<WatchFeed>,
    is_stopping: bool,
    /// Whether the schedule has no more matches.
    is_over: bool,
}

impl Worker {
    pub(super) fn new(
        (number, (jobs, spare)): (usize, (usize, usize)),
        common: Arc<Common>,
        schedule: SharedScheduler,
        (runner, orders): (mpsc::UnboundedSender<(usize, LaneEvent)>, mpsc::UnboundedSender<LaneOrder>),
        (reports, journal): (Sender<ReportEvent>, Option<Sender<Beginning>>),
        watched: Option<WatchFeed>,
    ) -> Worker {
        Worker {
            number,
            common,
            schedule,
            jobs,
            spare,
            lane: Lane::new(),
            bots: Arena::default(),
            by_session: HashMap::new(),
            idle: Vec::new(),
            pairings: Slab::new(),
            open: HashMap::new(),
            runner,
            orders,
            ended: Vec::new(),
            reports,
            journal,
            watched,
            is_stopping: false,
            is_over: false,
        }
    }

    /// Plays until the schedule is exhausted.
    pub(super) async fn work(mut self, mut orders: mpsc::UnboundedReceiver<LaneOrder>) {
        self.fill();
        while !(self.is_over && self.pairings.is_empty()) {
            if self.open.is_empty()
                && self.pairings.iter().any(|(_, pairing)| pairing.noting > 0)
                && let Ok(Some(order)) = timeout(NOTED_SOON, orders.recv()).await
            {
                self.handle_order(order);
                continue;
            }
            tokio::select! {
                biased;
                // Never `None`: the lane holds a sender.
                Some(order) = orders.recv() => self.handle_order(order),
                notice = self.lane.next() => self.handle_notice(notice),
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
            // The receiver is gone if the run is failing.
            let _ = self.reports.send(ReportEvent::Ended(Box::new(ended)));
        }
    }

    /// Sends an event to the runner.
    fn send_event(&self, word: LaneEvent) {
        // The receiver is gone if the run is failing.
        let _ = self.runner.send((self.number, word));
    }

    fn handle_order(&mut self, order: LaneOrder) {
        match order {
            LaneOrder::Wake => {
                for pairing in self.pairing_keys() {
                    self.continue_pairing(pairing);
                }
                self.fill();
            }
            LaneOrder::Journaled(pairing, fixture) => self.begin(pairing, fixture),
            LaneOrder::Stop => self.stop(),
            LaneOrder::Exited(session, how) => self.lane.exited(session, how),
            LaneOrder::BotArrived(key, come) => self.handle_arrival(key, come),
            LaneOrder::PutBack(bots) => self.put_back(&bots),
        }
    }

    fn stop(&mut self) {
        self.is_stopping = true;
        self.is_over = true;
        for key in self.lane.running() {
            self.lane.abort(key, &Abort::Interrupted);
        }
        for pairing in self.pairing_keys() {
            self.pairings[pairing].next.clear();
            self.continue_pairing(pairing);
        }
    }

    fn pairing_keys(&self) -> Vec<usize> {
        self.pairings.iter().map(|(key, _)| key).collect()
    }

    /// Starts pairings up to the limit.
    fn fill(&mut self) {
        while self.pairings.len() < self.jobs && !self.is_over {
            match self.schedule.next((self.number, &self.orders), None) {
                scheduler::Next::Match(fixture) => self.pair(fixture),
                scheduler::Next::Later => return,
                scheduler::Next::Never => self.is_over = true,
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
                None => self.bots.insert(|_| Bot::new(spec)),
            });
        }
        let is_fresh = specs.iter().any(|&spec| self.common.bots[spec].is_fresh);
        let next = VecDeque::from([QueuedMatch { fixture, is_noted: false }]);
        let pairing = Pairing { bots, specs, next, noting: 0, running: 0, is_fresh };
        let key = self.pairings.insert(pairing);
        self.make_room();
        self.continue_pairing(key);
    }

    /// Ends idle processes while there are too many; the longest idle first.
    fn make_room(&mut self) {
        let is_process = |spec: &&usize| matches!(self.common.bots[**spec].source, Source::Command(_));
        let specs = self.pairings.iter().flat_map(|(_, pairing)| &pairing.specs);
        let playing = specs.filter(is_process).count();
        let most = (self.jobs * self.common.seating.seats()).saturating_add(self.spare);
        while playing + self.idle.len() > most && !self.idle.is_empty() {
            let key = self.idle.remove(0);
            self.retire(key, "the process is needed for other bots");
        }
    }

    /// Opens matches of a pairing while its bots have free slots. Disbands the pairing if nothing is left to play.
    fn continue_pairing(&mut self, key: usize) {
        loop {
            let Some(pairing) = self.pairings.get_mut(key) else { return };
            let begun = pairing.running + pairing.noting;
            let next = match pairing.next.pop_front() {
                Some(next) => next,
                None if self.is_stopping || pairing.is_fresh || begun >= self.slots(key) => break,
                None => {
                    let specs = &self.pairings[key].specs;
                    match self.schedule.next((self.number, &self.orders), Some(specs)) {
                        scheduler::Next::Match(fixture) => QueuedMatch { fixture, is_noted: false },
                        scheduler::Next::Later | scheduler::Next::Never => break,
                    }
                }
            };
            if !self.are_available(key, next.fixture.wait) {
                self.pairings[key].next.push_front(next);
                return;
            }
            let QueuedMatch { fixture, is_noted } = next;
            let begun = if is_noted { self.open(key, fixture) } else { self.note(key, fixture) };
            if let Err(why) = begun {
                return self.send_event(LaneEvent::Failed(why));
            }
        }
        let pairing = &self.pairings[key];
        if pairing.running + pairing.noting == 0 {
            self.disband(key);
        }
    }

    /// Journals the start of a match; without a journal, opens it at once.
    fn note(&mut self, pairing: usize, fixture: Fixture) -> Result<(), String> {
        let Some(journal) = &self.journal else { return self.open(pairing, fixture) };
        let beginning = Beginning { lane: self.orders.clone(), pairing, fixture };
        journal.send(beginning).map_err(|_| "the journal's thread panicked".to_owned())?;
        self.pairings[pairing].noting += 1;
        Ok(())
    }

    /// Handles a journal entry. `None` means that it failed; then the run will be stopped.
    fn begin(&mut self, key: usize, noted: Option<Fixture>) {
        let pairing = &mut self.pairings[key];
        pairing.noting -= 1;
        if let Some(fixture) = noted.filter(|_| !self.is_stopping) {
            pairing.next.push_back(QueuedMatch { fixture, is_noted: true });
        }
        self.continue_pairing(key);
    }

    /// The maximum number of concurrent matches of a pairing.
    fn slots(&self, pairing: usize) -> usize {
        let slots = |&key: &BotKey| {
            let hello = self.bots[key].session().and_then(|session| self.lane.hello(session));
            hello.map_or(1, |hello| hello.slots)
        };
        self.pairings[pairing].bots.iter().map(slots).min().unwrap_or(1).min(self.common.slots)
    }

    /// Whether all bots of a pairing are connected or have failed. Requests those that are missing.
    fn are_available(&mut self, pairing: usize, wait: Wait) -> bool {
        let bots = &self.pairings[pairing].bots;
        let missing: Vec<(BotKey, usize)> = bots
            .iter()
            .filter(|&&key| matches!(self.bots[key].state, State::Absent))
            .map(|&key| (key, self.bots[key].spec))
            .collect();
        let are_available =
            bots.iter().all(|&key| matches!(self.bots[key].state, State::Ready(_) | State::Failed(..)));
        self.request_bots(missing, wait);
        are_available
    }

    fn request_bots(&mut self, missing: Vec<(BotKey, usize)>, wait: Wait) {
        if missing.is_empty() {
            return;
        }
        for &(key, _) in &missing {
            self.bots[key].state = State::Requested;
        }
        self.send_event(LaneEvent::NeedsBots(missing, wait));
    }

    /// Returns the match that needs these bots to the schedule: one of them is not connected.
    fn put_back(&mut self, bots: &[BotKey]) {
        for &key in bots {
            if let Some(bot) = self.bots.get_mut(key) {
                bot.state = State::Absent;
            }
        }
        let mut pairings = self.pairings.iter();
        let needs = |pairing: &Pairing| bots.iter().any(|key| pairing.bots.contains(key));
        let Some((key, _)) = pairings.find(|(_, pairing)| needs(pairing)) else { return };
        for QueuedMatch { fixture, .. } in mem::take(&mut self.pairings[key].next) {
            self.schedule.put_back(&fixture);
        }
        self.continue_pairing(key);
    }

    /// Handles a requested bot that has arrived or is not available.
    fn handle_arrival(&mut self, key: BotKey, come: Result<BotArrival, (FaultCode, Detail)>) {
        // The bot may not be needed any more when the lane is stopping.
        let is_wanted = self.bots.get(key).is_some_and(|bot| matches!(bot.state, State::Requested));
        let come = match come {
            Ok(come) if is_wanted => come,
            Ok(BotArrival::Process(process, ..)) => return self.send_event(LaneEvent::EndProcess(process)),
            Ok(BotArrival::Connection(moving)) => {
                return self.send_event(LaneEvent::ReturnsConnection(moving));
            }
            Err(_) if !is_wanted => return,
            Err((code, detail)) => return self.fail(key, code, detail),
        };
        let bot = &mut self.bots[key];
        bot.cpu_before = Duration::ZERO;
        match come {
            BotArrival::Process(process, wire, tell) => {
                bot.process = Some(process);
                let stream = match Stream::watch(wire) {
                    Ok(stream) => stream,
                    Err(error) => {
                        let detail = Detail::NoStream { error: error.to_string() };
                        return self.fail(key, FaultCode::NoStart, detail);
                    }
                };
                let hello = Duration::from_millis(self.common.run.terms.hello_ms);
                let session = self.lane.add(Role::Process, stream, hello);
                // If the process has exited already, the receiver is gone, and the end of the stream is detected.
                let _ = tell.send(session);
                bot.state = State::Greeting(session);
                self.by_session.insert(session, key);
            }
            BotArrival::Connection(moving) => match self.lane.adopt(*moving) {
                Ok(session) => {
                    bot.state = State::Ready(session);
                    self.by_session.insert(session, key);
                    self.handle_hello(key);
                }
                // It disconnected without a match, which is not a fault; another one may connect.
                Err(error) => {
                    let spec = bot.spec;
                    tracing::debug!(bot = self.common.bots[spec].name, %error, "gone");
                    self.send_event(LaneEvent::ConnectionEnded(spec));
                    let wait = self.wait_for(key);
                    self.request_bots(vec![(key, spec)], wait);
                }
            },
        }
    }

    /// What a match does if this bot is not connected. A match that has begun waits.
    fn wait_for(&self, key: BotKey) -> Wait {
        let pairing = self.pairings.iter().find(|(_, pairing)| pairing.bots.contains(&key));
        let next = pairing.and_then(|(_, pairing)| pairing.next.front());
        match next.filter(|_| self.bots[key].waiting.is_empty()) {
            Some(next) => next.fixture.wait,
            None => Wait::Always,
        }
    }

    /// The `hello` of a bot has arrived.
    fn handle_hello(&mut self, key: BotKey) {
        let bot = &mut self.bots[key];
        let Some(session) = bot.session() else { return };
        bot.state = State::Ready(session);
        let id = self.common.rules.meta().id;
        let games = self.lane.hello(session).and_then(|hello| hello.games.as_ref());
        if let Some(games) = games.filter(|games| !games.iter().any(|game| game == id)) {
            let detail = Detail::OtherGames { game: id.to_owned(), plays: games.clone() };
            self.reject(key, session);
            return self.fail(key, FaultCode::NoStart, detail);
        }
        let ready_ms = self.common.run.terms.first_ready_ms;
        for (game, seat) in mem::take(&mut bot.waiting) {
            self.lane.seat(game, seat, Ok(session), ready_ms);
        }
        self.continue_pairing_of(key);
    }

    /// Dismisses a bot that does not play the game.
    fn reject(&mut self, key: BotKey, session: SessionKey) {
        self.lane.dismiss(session, "the bot does not play this game");
        self.lane.forget(session);
        self.by_session.remove(&session);
        self.release(key);
    }

    /// Returns the process or connection of a bot to the runner.
    fn release(&mut self, key: BotKey) {
        let bot = &mut self.bots[key];
        match bot.process.take() {
            Some(process) => {
                bot.gone.push(process.stderr().clone());
                self.send_event(LaneEvent::EndProcess(process));
            }
            None => {
                let spec = bot.spec;
                self.send_event(LaneEvent::ConnectionEnded(spec));
            }
        }
    }

    /// A bot is not available.
    fn fail(&mut self, key: BotKey, code: FaultCode, detail: Detail) {
        let bot = &mut self.bots[key];
        bot.state = State::Failed(code, detail.clone());
        for (game, seat) in mem::take(&mut bot.waiting) {
            self.lane.seat(game, seat, Err((code, detail.clone())), 0);
        }
        self.continue_pairing_of(key);
    }

    /// Continues with the pairing of a bot.
    fn continue_pairing_of(&mut self, key: BotKey) {
        if let Some((pairing, _)) = self.pairings.iter().find(|(_, pairing)| pairing.bots.contains(&key)) {
            self.continue_pairing(pairing);
        }
    }

    fn handle_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Ended(finished) => self.end(*finished),
            Notice::Moved(key) => {
                if let Some((play, watched)) = self.lane.match_mut(key).zip(self.watched.as_mut()) {
                    watched.show(play);
                }
            }
            Notice::Greeted(session) => {
                if let Some(&key) = self.by_session.get(&session) {
                    self.handle_hello(key);
                }
            }
            Notice::Gone { session, code, detail, waiting, lost } => {
                self.note_loss(code, &lost);
                let had_come = self.lane.hello(session).is_some();
                self.lane.forget(session);
                let Some(key) = self.by_session.remove(&session) else { return };
                let bot = &mut self.bots[key];
                let spec = bot.spec;
                tracing::debug!(bot = self.common.bots[spec].name, %code, %detail, "gone");
                self.release(key);
                if !had_come {
                    return self.fail(key, code, detail);
                }
                let bot = &mut self.bots[key];
                bot.state = State::Absent;
                bot.waiting.extend(waiting);
                if !bot.waiting.is_empty() {
                    self.request_bots(vec![(key, spec)], Wait::Always);
                }
                if let Some(index) = self.idle.iter().position(|idle| *idle == key) {
                    self.idle.remove(index);
                    self.bots.remove(key);
                }
            }
            Notice::OpenAsked(..) | Notice::HelloReceived(_) | Notice::LongLine(_) => {}
        }
    }

    /// Links the matches that lost the same process or connection.
    fn note_loss(&mut self, code: FaultCode, lost: &[(MatchKey, Seat)]) {
        let id = |key: &MatchKey| self.open.get(key).map(|open| open.fixture.id.clone());
        let matches: Vec<String> = lost.iter().filter_map(|(key, _)| id(key)).collect();
        let Some(counted_in) = matches.first().filter(|_| matches.len() > 1).cloned() else { return };
        let mut matches = Some(matches);
        for &(key, seat) in lost {
            if let Some(open) = self.open.get_mut(&key) {
                let counted_in = counted_in.clone();
                open.lost.push(Loss { seat, code, counted_in, matches: matches.take() });
            }
        }
    }

    fn open(&mut self, pairing: usize, fixture: Fixture) -> Result<(), String> {
        let common = self.common.clone();
        let terms = &common.run.terms;
        // A bot with several seats fills them with its processes in order.
        let mut free = self.pairings[pairing].bots.clone();
        let mut bots = Vec::with_capacity(free.len());
        for &spec in &fixture.bots {
            let fits = free.iter().position(|&key| self.bots[key].spec == spec);
            let index = fits.ok_or("the schedule confuses the bots of two pairings")?;
            bots.push(free.remove(index));
        }
        let seats = bots.iter().map(|&key| {
            let bot = &self.bots[key];
            let spec = &common.bots[bot.spec];
            let session = bot.session();
            let hello = session.and_then(|session| self.lane.hello(session));
            PlannedSeat {
                name: spec.name.clone(),
                ready_ms: terms.ready_ms(!session.is_some_and(|session| self.lane.has_played(session))),
                clock: terms.clock.and_then(|clock| spec.clock(clock)),
                bot: spec.in_header(hello),
                wants: hello.map_or(Wants::default(), |hello| hello.wants),
            }
        });
        let plan = MatchPlan {
            id: fixture.id.clone(),
            deal: fixture.deal.clone(),
            seed: None,
            opening: (*fixture.opening).clone(),
            leg: fixture.leg,
            rules: common.rules,
            options: &fixture.options,
            seating: common.seating,
            seats: seats.collect(),
            open_id: None,
            auto_ready: false,
            watched: self.watched.is_some(),
        };
        let (setup, table) = common.run.set_up(terms, plan).map_err(|error| error.to_string())?;
        let places = bots.iter().map(|&key| match &self.bots[key].state {
            State::Ready(session) => Ok(*session),
            State::Failed(code, detail) => Err((*code, detail.clone())),
            State::Requested | State::Greeting(_) | State::Absent => {
                Err((FaultCode::NoStart, Detail::NotHere))
            }
        });
        let places = places.collect();
        let key = self.lane.open(setup, table, places);
        self.open.insert(key, OpenMatch { pairing, fixture, bots, lost: Vec::new() });
        self.pairings[pairing].running += 1;
        Ok(())
    }

    /// Handles a match that has ended.
    fn end(&mut self, Finished { key, mut play, ending, malformed, duration }: Finished) {
        let Some(OpenMatch { pairing, fixture, bots, lost }) = self.open.remove(&key) else { return };
        if let Some(watched) = &mut self.watched {
            watched.show(&mut play);
        }
        let usages: Vec<BotUsage> =
            bots.iter().enumerate().map(|(seat, &key)| self.bots[key].usage(seat)).collect();
        let mut no_show = None;
        for (seat, &key) in bots.iter().enumerate() {
            let bot = &mut self.bots[key];
            let State::Failed(code, detail) = &bot.state else { continue };
            let spec = &self.common.bots[bot.spec];
            let why = format!("the bot `{}` does not start ({code}: {detail}): `{}`", spec.name, spec.source);
            no_show = Some((seat, why));
            bot.state = State::Absent;
        }
        let (record, reveal) = (play.take_log(), play.reveal());
        let source = |&spec: &usize| self.common.bots[spec].source.to_string();
        let header = &play.setup().header;
        let cause = ending.ranks.is_none().then(|| cause_of(play.broken_off()));
        let attempt = fixture.id.parse().map_or(1, |MatchId { attempt, .. }| attempt);
        let report = MatchReport {
            is_cut_off: cause == Some(Cause::Interrupted),
            cause,
            is_void: cause.is_some_and(|cause| cause.is_void(attempt)),
            id: header.r#match.clone(),
            game: header.game.clone(),
            seats: header.seats.iter().map(|seat| seat.name.clone()).collect(),
            bots: fixture.bots.iter().map(source).collect(),
            ranks: ending.ranks,
            scores: ending.scores,
            ended_by: ending.ended_by,
            reason: ending.reason,
            fault: ending.fault.as_ref().map(Into::into),
            faults: play.setup().seating.all().iter().map(|seat| play.faults(seat)).collect(),
            // The reporter adds it: the standard error of the bots is complete there.
            evidence: Vec::new(),
            lost,
            decisions: play.decisions(),
            duration_us: duration.as_micros() as u64,
            lag_ms: play.worst_lag() / 1000,
            paused_ms: play.paused() / 1000,
            cpu_ms: usages.iter().map(|bot| bot.cpu_ms).collect(),
            record: self.common.records.as_ref().map(|records| records.path(&fixture.id)),
        };
        self.schedule.ended(&fixture, &report, record.len());
        self.ended.push(EndedMatch { fixture, report, record, reveal, malformed, bots: usages, no_show });
        if self.ended.len() == MOST_UNTOLD {
            self.report();
        }
        self.pairings[pairing].running -= 1;
        self.continue_pairing(pairing);
    }

    /// Ends a pairing; its bots are free for others.
    fn disband(&mut self, key: usize) {
        let pairing = self.pairings.remove(key);
        for key in pairing.bots {
            let bot = &self.bots[key];
            if bot.process.is_some()
                && !self.common.bots[bot.spec].is_fresh
                && !self.is_stopping
                && matches!(bot.state, State::Ready(_))
            {
                self.idle.push(key);
            } else {
                let reason = if self.is_stopping { OVER } else { "the match is over" };
                self.retire(key, reason);
            }
        }
        if !self.is_stopping {
            self.fill();
        }
    }

    /// Releases a bot.
    fn retire(&mut self, key: BotKey, reason: &str) {
        let Some(bot) = self.bots.remove(key) else { return };
        let session = bot.session();
        if let Some(session) = session {
            self.by_session.remove(&session);
        }
        match (bot.process, session) {
            (Some(process), session) => {
                if let Some(session) = session {
                    self.lane.dismiss(session, reason);
                    self.lane.forget(session);
                }
                self.send_event(LaneEvent::EndProcess(process));
            }
            (None, Some(session)) => match self.lane.release(session) {
                Some(moving) => self.send_event(LaneEvent::ReturnsConnection(Box::new(moving))),
                None => {
                    self.lane.forget(session);
                    self.send_event(LaneEvent::ConnectionEnded(bot.spec));
                }
            },
            (None, None) => {}
        }
    }
}
