//! A lane: the matches and streams that one thread serves.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use referee_protocol::bot;
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};
use serde_json::value::RawValue;

use crate::core::clock::Tick;
use crate::core::erased::Table;
use crate::core::seat::Seat;
use crate::referee::{Abort, Detail, Ending, Event, Match, Setup, Stamp};
use crate::server::arena::{Arena, key};
use crate::server::ready_queue::ReadyQueue;
use crate::server::session::{DetachedSession, Role, Session, SessionKey, Sessions};
use crate::server::spin::Spin;
use crate::server::timers::Timers;
use crate::server::watchdog::LaneClock;
use crate::transport::Stream;

key! {
    /// A match of a lane.
    MatchKey
}

/// What a lane reports to its owner.
#[derive(Debug)]
pub enum Notice {
    /// The `hello` of a bot has arrived.
    Greeted(SessionKey),
    /// The `hello` of a connection has arrived: admit or reject it.
    HelloReceived(SessionKey),
    /// The first line of a connection is long and not complete.
    LongLine(SessionKey),
    /// A session has ended; call [`Lane::forget`].
    Gone {
        /// The session.
        session: SessionKey,
        /// Why it ended.
        code: FaultCode,
        /// The details.
        detail: Detail,
        /// Seats to be filled by another process of the bot: it ended properly after an earlier match, when these
        /// seats had been announced already. See [`Lane::seat`].
        waiting: Vec<(MatchKey, Seat)>,
        /// Seats whose matches have this fault. It counts once, however many there are.
        lost: Vec<(MatchKey, Seat)>,
    },
    /// A host asks for a match.
    OpenAsked(SessionKey, Box<bot::Open<Box<RawValue>>>),
    /// A watched match has news.
    Moved(MatchKey),
    /// A match has ended.
    Ended(Box<Finished>),
}

/// A match that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its key.
    pub key: MatchKey,
    /// The final state.
    pub play: Match,
    /// The result.
    pub ending: Ending,
    /// By seat: the beginning of the last line that was the fault `malformed`.
    pub malformed: BTreeMap<Seat, String>,
    /// From opening to end.
    pub duration: Duration,
}

/// Who plays a seat: a session, or the fault that prevents it.
pub type SeatOccupant = Result<SessionKey, (FaultCode, Detail)>;

#[derive(Debug)]
pub(super) struct Running {
    pub(super) play: Match,
    /// The lane's time and lag when it was opened.
    opened: (u64, u64),
    /// The accumulated pause that the match has been told of.
    paused: u64,
    pub(super) places: Vec<Option<SessionKey>>,
    /// By seat: the beginning of the last line that was a fault.
    pub(super) malformed: BTreeMap<Seat, String>,
    alarm: Option<u64>,
    is_touched: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Session(SessionKey),
    Match(MatchKey),
}

/// The matches and streams that one thread serves.
#[derive(Debug)]
pub struct Lane {
    clock: LaneClock,
    pub(super) sessions: Sessions,
    pub(super) matches: Arena<MatchKey, Running>,
    pub(super) by_id: BTreeMap<String, MatchKey>,
    ready_queue: Arc<ReadyQueue>,
    timers: Timers<Timer>,
    /// Since the last flush: matches that have handled an event, and sessions with output.
    touched: Vec<MatchKey>,
    dirty: Vec<SessionKey>,
    /// Sessions owed `end`, held for one flush: the receiver often opens the next match at once, whose `start` then
    /// goes out with it.
    owed_end: Vec<SessionKey>,
    /// The session that was last sent a request.
    asked: Option<SessionKey>,
    spin: Spin,
    /// The session whose answer was found by spinning.
    answered: Option<SessionKey>,
    /// Sessions that are ready; at the start of a round, those with lines left from the previous one.
    pub(super) ready: Vec<SessionKey>,
    pub(super) notices: VecDeque<Notice>,
    /// The accumulated time, in microseconds, during which the lane could not poll its streams. Pauses of the referee
    /// are not lag.
    lag: u64,
    /// The accumulated pause that the matches have been told of.
    paused: u64,
    /// The time up to which lag is accounted for.
    measured: u64,
    /// Since when the owner of the lane has had control.
    away: Option<u64>,
    /// Whether connections need a token.
    needs_token: bool,
}

impl Default for Lane {
    fn default() -> Self {
        Self::new()
    }
}

impl Lane {
    /// A lane without matches.
    pub fn new() -> Lane {
        Lane {
            clock: LaneClock::new(),
            sessions: Sessions::default(),
            matches: Arena::default(),
            by_id: BTreeMap::new(),
            ready_queue: Arc::default(),
            ready: Vec::new(),
            timers: Timers::new(),
            touched: Vec::new(),
            dirty: Vec::new(),
            owed_end: Vec::new(),
            asked: None,
            spin: Spin::default(),
            answered: None,
            notices: VecDeque::new(),
            lag: 0,
            paused: 0,
            measured: 0,
            away: None,
            needs_token: false,
        }
    }

    /// A lane for pending connections.
    pub(super) fn for_guests(needs_token: bool) -> Lane {
        Lane { needs_token, ..Lane::new() }
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Adds a stream and sends `hello`. The peer has `hello_limit` to answer.
    pub fn add(&mut self, role: Role, stream: Stream, hello_limit: Duration) -> SessionKey {
        let (hello, ready_queue) = ((self.now(), hello_limit), self.ready_queue.clone());
        let needs_token = role == Role::Connection && self.needs_token;
        let key = self.sessions.insert(|key| {
            let mut session = Session::new(key, role, stream, hello, ready_queue);
            session.say(&message::FromReferee::Hello(message::Hello {
                protocol: referee_protocol::PROTOCOL,
                server: crate::SERVER.to_owned(),
                auth: if needs_token { message::Auth::Token } else { message::Auth::None },
                may_open: role == Role::Host { may_open: true },
            }));
            session
        });
        self.dirty.push(key);
        // The first poll registers the stream with the reactor.
        self.ready.push(key);
        key
    }

    /// Takes over a session from another lane.
    ///
    /// # Errors
    /// If the stream has ended or cannot be registered.
    pub fn adopt(&mut self, moving: DetachedSession) -> io::Result<SessionKey> {
        let ready_queue = self.ready_queue.clone();
        let key = self.sessions.try_insert(|key| Session::arrive(key, moving, ready_queue))?;
        self.dirty.push(key);
        // Input may have arrived in between.
        self.ready.push(key);
        Ok(key)
    }

    /// Detaches a session that plays no match. `None` if it has ended.
    pub fn release(&mut self, session: SessionKey) -> Option<DetachedSession> {
        self.sessions.get(session).filter(|session| session.seats.is_empty())?;
        let now = self.now();
        let mut session = self.sessions.remove(session)?;
        session.write(now);
        session.depart()
    }

    /// The process of a session has exited.
    pub fn exited(&mut self, key: SessionKey, how: Detail) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.exited = Some(how);
            session.drain();
            self.ready.push(key);
        }
    }

    /// The `hello` of a bot, once it has arrived.
    pub fn hello(&self, session: SessionKey) -> Option<&super::BotHello> {
        self.sessions.get(session)?.hello.as_ref()
    }

    /// Whether a match has ended on a session.
    pub fn has_played(&self, session: SessionKey) -> bool {
        self.sessions.get(session).is_some_and(|session| session.has_played)
    }

    /// Ends a session: writes pending output as far as possible, then closes the stream.
    pub fn forget(&mut self, session: SessionKey) {
        if let Some(mut session) = self.sessions.remove(session) {
            session.end(0);
        }
    }

    /// Sends `bye`.
    pub fn dismiss(&mut self, session: SessionKey, reason: &str) {
        if let Some(open) = self.sessions.get_mut(session) {
            open.say(&message::FromReferee::Bye(message::Bye { reason: reason.to_owned() }));
            let now = self.clock.now();
            open.write(now);
        }
    }

    /// Sends an error.
    pub fn refuse(&mut self, session: SessionKey, code: ErrorCode, message: String, id: Option<String>) {
        if let Some(open) = self.sessions.get_mut(session) {
            open.refuse(code, message, id, None);
            self.dirty.push(session);
        }
    }

    /// Whether the stream of a session is open.
    pub fn is_live(&self, session: SessionKey) -> bool {
        self.sessions.get(session).is_some_and(|session| session.stream.is_some())
    }

    /// Waits until the output of a session has been written, at most for `patience`.
    pub async fn drained(&mut self, session: SessionKey, patience: Duration) {
        let drained = poll_fn(|cx| match self.sessions.get_mut(session) {
            Some(open) if open.stream.is_some() && open.has_output() => {
                self.ready_queue.attach(cx.waker());
                open.write(0);
                if open.has_output() { Poll::Pending } else { Poll::Ready(()) }
            }
            _ => Poll::Ready(()),
        });
        let _ = tokio::time::timeout(patience, drained).await;
    }

    /// Opens a match.
    pub fn open(&mut self, setup: Setup, table: Box<dyn Table>, places: Vec<SeatOccupant>) -> MatchKey {
        let id = setup.header.r#match.clone();
        let sessions = places.iter().map(|place| place.as_ref().ok().copied()).collect();
        let (opened, paused) = ((self.now(), self.lag), self.clock.paused());
        let play = Match::open(setup, table);
        let running = Running {
            play,
            opened,
            paused,
            places: sessions,
            malformed: BTreeMap::new(),
            alarm: None,
            is_touched: false,
        };
        let key = self.matches.insert(|_| running);
        self.by_id.insert(id, key);
        for (seat, place) in (0..).map(Seat).zip(&places) {
            match place {
                Ok(session) => self.join(*session, key, seat),
                Err((code, detail)) => {
                    self.notify_match(key, opened.0, Event::Gone { seat, code: *code, detail });
                }
            }
        }
        self.touch(key);
        key
    }

    fn join(&mut self, session: SessionKey, key: MatchKey, seat: Seat) {
        if let Some(session) = self.sessions.get_mut(session) {
            // The seats of a match are adjacent.
            session.matches += u32::from(session.seats.last().is_none_or(|&(last, _)| last != key));
            session.seats.push((key, seat));
        }
    }

    /// Fills a seat that waits for another process of its bot. The process has `ready_ms` for `ready`.
    pub fn seat(&mut self, key: MatchKey, seat: Seat, place: SeatOccupant, ready_ms: u64) {
        let now = self.now();
        let Some(running) = self.matches.get_mut(key) else { return };
        match place {
            Ok(session) => {
                running.places[seat.index()] = Some(session);
                self.join(session, key, seat);
                let wants = self.hello(session).map(|hello| hello.wants).unwrap_or_default();
                self.notify_match(key, now, Event::Restart { seat, ready_ms, wants });
            }
            Err((code, detail)) => self.notify_match(key, now, Event::Gone { seat, code, detail: &detail }),
        }
    }

    /// Aborts a match.
    pub fn abort(&mut self, key: MatchKey, reason: &Abort) {
        let now = self.now();
        self.notify_match(key, now, Event::Abort(reason));
    }

    /// The matches in progress.
    pub fn running(&self) -> Vec<MatchKey> {
        self.matches.keys().collect()
    }

    /// A match in progress.
    pub fn match_mut(&mut self, key: MatchKey) -> Option<&mut Match> {
        self.matches.get_mut(key).map(|running| &mut running.play)
    }

    /// Serves the streams until there is a notice.
    pub async fn next(&mut self) -> Notice {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Takes a notice that is already pending.
    pub(super) fn noticed(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Notice> {
        self.ready_queue.attach(cx.waker());
        loop {
            if let Some(notice) = self.notices.pop_front() {
                // The time starts at the first of several notices in a row.
                let now = self.now();
                self.away.get_or_insert(now);
                return Poll::Ready(notice);
            }
            self.serve();
            if self.notices.is_empty()
                && self.ready.is_empty()
                && !self.spin()
                && self.timers.poll(&self.clock, cx).is_pending()
            {
                return Poll::Pending;
            }
        }
    }

    /// Spins for the answer to the latest request, if no other match has to wait for it.
    fn spin(&mut self) -> bool {
        let Some(key) = self.asked.take() else { return false };
        if self.matches.len() != 1 || !self.spin.is_due(self.measured) {
            return false;
        }
        let found = self.sessions.get_mut(key).is_some_and(|session| {
            // The bot may have run as soon as it was written to.
            session.spin() || {
                std::thread::yield_now();
                session.spin()
            }
        });
        if !found {
            self.spin.note_missed();
            return false;
        }
        self.answered = Some(key);
        true
    }

    /// Reads all ready streams, handles the input, then the timers, then writes.
    fn serve(&mut self) {
        self.ready_queue.take(&mut self.ready);
        let mut ready = std::mem::take(&mut self.ready);
        let (started, asked) = (self.now(), self.measured);
        let away = self.away.take().map_or(0, |since| started - since);
        // Timers may fire one millisecond late. Anything more is lag, even if a bot blocked the lane. Lag must be
        // known before the input is judged.
        let late = self.timers.overdue(started).min(started - self.measured);
        self.lag += away.max(if late > 2_000 { late } else { 0 }).max(self.clock.take_waited());
        for &key in &ready {
            if let Some(session) = self.sessions.get_mut(key) {
                session.read();
            }
        }
        let stamp = if ready.len() > 1 { self.now() } else { started };
        self.lag += stamp - started;
        self.measured = stamp;
        self.report_pauses(stamp);
        match self.answered.take() {
            Some(key) => {
                self.spin.note_found(started - asked);
                ready.push(key);
            }
            None => self.spin.note_turn(started),
        }
        for key in ready.drain(..) {
            self.handle_lines(key, stamp);
            self.check_session(key, stamp);
        }
        // Sessions with lines left.
        ready.append(&mut self.ready);
        self.ready = ready;
        while let Some(due) = self.timers.pop(stamp) {
            match due {
                Timer::Session(key) => {
                    if let Some(session) = self.sessions.get_mut(key) {
                        session.alarm = None;
                    }
                    self.check_session(key, stamp);
                }
                Timer::Match(key) => self.expire(key, stamp),
            }
        }
        self.flush(stamp);
    }

    /// Tells the matches how long the referee was paused, and aborts those that were paused for too long.
    fn report_pauses(&mut self, stamp: u64) {
        let paused = self.clock.paused();
        if paused == self.paused {
            return;
        }
        self.paused = paused;
        for key in self.running() {
            let running = &mut self.matches[key];
            let us = paused - std::mem::replace(&mut running.paused, paused);
            if us > 0 {
                self.notify_match(key, stamp, Event::Paused { us });
            }
            let play = &self.matches[key].play;
            if play.has_clock() && play.paused() > limits::PAUSED_MS * 1000 {
                self.notify_match(key, stamp, Event::Abort(&Abort::Paused { most_ms: limits::PAUSED_MS }));
            }
        }
    }

    /// Handles the deadline of a match. Input that has arrived by now is read first.
    fn expire(&mut self, key: MatchKey, stamp: u64) {
        let Some(running) = self.matches.get_mut(key) else { return };
        running.alarm = None;
        let opened = running.opened.0;
        if running.play.deadline().is_some_and(|at| opened + at.0 <= stamp) {
            for session in running.places.clone().into_iter().flatten() {
                if let Some(session) = self.sessions.get_mut(session) {
                    session.drain();
                }
                self.handle_lines(session, stamp);
            }
            if let Some(Running { play, places, .. }) = self.matches.get_mut(key) {
                for (seat, place) in (0..).map(Seat).zip(places) {
                    let session = place.and_then(|session| self.sessions.get(session));
                    play.note_received(
                        seat,
                        session.and_then(|session| session.received(play.refused(seat))),
                    );
                }
            }
            self.notify_match(key, stamp, Event::Tick);
        }
        self.touch(key);
    }

    /// Passes an event to a match.
    pub(super) fn notify_match(&mut self, key: MatchKey, now: u64, event: Event<'_>) {
        let Some(running) = self.matches.get_mut(key) else { return };
        let stamp =
            Stamp { at: Tick(now.saturating_sub(running.opened.0)), lag: self.lag - running.opened.1 };
        running.play.handle(stamp, event);
        self.touch(key);
    }

    fn touch(&mut self, key: MatchKey) {
        if let Some(running) = self.matches.get_mut(key)
            && !std::mem::replace(&mut running.is_touched, true)
        {
            self.touched.push(key);
        }
    }

    /// Checks whether a session has ended, and sets its timer.
    pub(super) fn check_session(&mut self, key: SessionKey, now: u64) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.date_end(|| self.clock.now());
        }
        let Some(session) = self.sessions.get(key) else { return };
        if session.has_output() {
            self.dirty.push(key);
        }
        if session.has_lines {
            return;
        }
        if let Some((code, detail)) = session.over(now, || self.open_requests(key).next().is_some()) {
            return match (session.role, code) {
                (Role::Connection, FaultCode::NoStart) => self.reject(key, ErrorCode::NoStart, detail, now),
                (_, FaultCode::Protocol) => self.end_for_violation(key, now, detail),
                _ => self.end_session(key, now, (code, &detail), None),
            };
        }
        let Some(session) = self.sessions.get_mut(key) else { return };
        let Some(due) = session.deadline().map(|due| if due <= now { now + 1_000_000 } else { due }) else {
            return;
        };
        if session.alarm.is_none_or(|alarm| due < alarm) {
            session.alarm = Some(due);
            self.timers.set(due, Timer::Session(key));
            self.timers.tidy(self.sessions.len() + self.matches.len(), |due| match *due {
                Timer::Session(key) => self.sessions.get(key).is_some(),
                Timer::Match(key) => self.matches.get(key).is_some(),
            });
        }
    }

    /// Writes the output of the matches: one write per session.
    pub(super) fn flush(&mut self, stamp: u64) {
        self.dirty.append(&mut self.owed_end);
        if !self.touched.is_empty() {
            let at = self.now();
            self.lag += at - stamp;
            self.measured = at;
            let mut touched = std::mem::take(&mut self.touched);
            for key in touched.drain(..) {
                self.flush_match(key, at);
            }
            self.touched = touched;
        }
        let mut dirty = std::mem::take(&mut self.dirty);
        for key in dirty.drain(..) {
            if let Some(session) = self.sessions.get_mut(key) {
                session.write(stamp);
                if session.deadline().is_some() {
                    // Rare: a stream that is blocked, closed or new.
                    self.check_session(key, stamp);
                }
            }
        }
        // Sessions that were checked again; the allocation is reused.
        dirty.append(&mut self.dirty);
        self.dirty = dirty;
    }

    fn flush_match(&mut self, key: MatchKey, at: u64) {
        let Some(running) = self.matches.get_mut(key) else { return };
        running.is_touched = false;
        let stamp = Stamp { at: Tick(at - running.opened.0), lag: self.lag - running.opened.1 };
        let told = if running.play.ending().is_some() { &mut self.owed_end } else { &mut self.dirty };
        for (seat, place) in (0..).map(Seat).zip(&running.places) {
            if running.play.outbox(seat).is_empty() {
                continue;
            }
            let is_asking = running.play.is_asking(seat);
            running.play.handle(stamp, Event::Sent(seat));
            let outbox = running.play.outbox(seat);
            if let Some(session) = place.and_then(|key| self.sessions.get_mut(key)) {
                if is_asking {
                    session.since_request = (0, 0);
                    self.asked = *place;
                }
                session.queue(outbox);
                told.extend(*place);
            }
            outbox.clear();
        }
        if running.play.ending().is_some() {
            return self.finish(key, stamp);
        }
        if !running.play.news().is_empty() {
            self.notices.push_back(Notice::Moved(key));
        }
        let Some(deadline) = running.play.deadline() else { return };
        let due = running.opened.0 + deadline.0;
        if running.alarm.is_none_or(|alarm| due < alarm) {
            running.alarm = Some(due);
            self.timers.set(due, Timer::Match(key));
        }
    }

    fn finish(&mut self, key: MatchKey, stamp: Stamp) {
        let Some(Running { play, places, malformed, .. }) = self.matches.remove(key) else { return };
        self.by_id.remove(&play.setup().header.r#match);
        for session in places.into_iter().flatten() {
            if let Some(session) = self.sessions.get_mut(session) {
                let before = session.seats.len();
                session.seats.retain(|&(of, _)| of != key);
                session.matches -= u32::from(session.seats.len() < before);
                session.has_played = true;
            }
        }
        let Some(ending) = play.ending().cloned() else {
            unreachable!("only matches that ended are finished")
        };
        let duration = Duration::from_micros(stamp.at.0);
        let finished = Finished { key, play, ending, malformed, duration };
        self.notices.push_back(Notice::Ended(Box::new(finished)));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use referee_protocol::referee::Clock as Limits;

    use super::*;
    use crate::core::Seating;
    use crate::core::chance::Seed;
    use crate::games;
    use crate::referee::{Leg, Opening, Wants};
    use crate::server::{MatchPlan, PlannedSeat, Run, Terms};
    use crate::transport::Wire;

    /// A lane with a match for which no seat has to be ready, the other end of its stream, which sends nothing, and a
    /// function that pauses the referee.
    fn playing(clock: Option<Limits>) -> (Lane, MatchKey, UnixStream, impl Fn(Duration)) {
        let (clock_of_lane, pause) = LaneClock::unwatched();
        let mut lane = Lane { clock: clock_of_lane, ..Lane::new() };
        let (near, mut far) = UnixStream::pair().unwrap();
        let wire = Wire::pipes(near.try_clone().unwrap().into(), near.into(), None);
        let host =
            lane.add(Role::Host { may_open: false }, Stream::watch(wire).unwrap(), Duration::from_secs(9));
        far.write_all(b"{\"type\":\"hello\",\"protocol\":1}\n").unwrap();
        let rules = games::find("checkers").unwrap();
        let seat = PlannedSeat {
            name: "host".to_owned(),
            ready_ms: 5000,
            clock: None,
            bot: None,
            wants: Wants::default(),
        };
        let terms = Terms { clock, ..Terms::default() };
        let plan = MatchPlan {
            id: "m1".to_owned(),
            deal: None,
            seed: None,
            rules,
            options: &rules.default_options(),
            seating: Seating::new(2, 2),
            seats: vec![seat; 2],
            opening: Opening::None,
            leg: Leg::Only,
            open_id: None,
            auto_ready: true,
            watched: false,
        };
        let (setup, table) = Run { seed: Seed([1; 32]), terms }.set_up(&terms, plan).unwrap();
        let key = lane.open(setup, table, vec![Ok(host); 2]);
        (lane, key, far, pause)
    }

    const SECOND: Option<Limits> = Some(Limits { delay_ms: 1000, bank_ms: 0, increment_ms: 0 });

    /// The result of a match, if it ends within 20 ms.
    async fn news(lane: &mut Lane) -> Option<Finished> {
        loop {
            match tokio::time::timeout(Duration::from_millis(20), lane.next()).await {
                Ok(Notice::Ended(finished)) => return Some(*finished),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    #[tokio::test]
    async fn a_match_that_is_paused_for_too_long_is_aborted() {
        let (mut lane, key, _far, pause) = playing(SECOND);
        assert!(news(&mut lane).await.is_none());
        for _ in 0..2 {
            pause(Duration::from_secs(30));
            assert!(news(&mut lane).await.is_none());
        }
        pause(Duration::from_millis(1));
        let Finished { key: ended, play, ending, .. } = news(&mut lane).await.unwrap();
        assert_eq!((ended, ending.ranks), (key, None));
        assert_eq!(play.paused(), 60_001_000);
        let record = String::from_utf8_lossy(play.log());
        assert!(record.contains(r#""reason":{"kind":"paused","most_ms":60000}"#), "{record}");
    }

    #[tokio::test]
    async fn a_match_without_a_clock_may_be_paused_indefinitely() {
        let (mut lane, key, _far, pause) = playing(None);
        assert!(news(&mut lane).await.is_none());
        pause(Duration::from_secs(3600));
        assert!(news(&mut lane).await.is_none());
        assert_eq!(lane.match_mut(key).unwrap().paused(), 3_600_000_000);
    }

    #[tokio::test]
    async fn a_pause_postpones_deadlines() {
        let (mut lane, _, _far, pause) = playing(SECOND);
        assert!(news(&mut lane).await.is_none());
        // As if the last 400 ms had been a pause.
        std::thread::sleep(Duration::from_millis(400));
        pause(Duration::from_millis(400));
        let ended = tokio::time::timeout(Duration::from_millis(900), async {
            while news(&mut lane).await.is_none() {}
        });
        assert!(ended.await.is_err(), "its second is not over");
        let ended = tokio::time::timeout(Duration::from_secs(30), async {
            loop {
                if let Some(finished) = news(&mut lane).await {
                    return finished;
                }
            }
        });
        assert_eq!(ended.await.unwrap().ending.reason, "timeout");
    }
}
