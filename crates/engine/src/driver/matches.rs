//! The matches of a lane.

use std::collections::BTreeMap;
use std::time::Duration;

use referee_game::clock::Tick;
use referee_game::erased::Table;
use referee_game::seat::{Seat, SeatSet};
use referee_match::{AbortReason, Ending, Event, Lost, Match, MatchEvent, Outage, Received, Setup, Stamp};
use referee_transport::ByteStream;

use crate::driver::bot_fault::BotFault;
use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::lane::{Lane, Timer};
use crate::driver::match_clock::MatchClock;
use crate::driver::match_journal::MatchJournal;
use crate::driver::notice::{Finished, Notice};

/// The occupant of a seat: a session, or the fault that prevents it.
pub type SeatOccupant = Result<SessionKey, BotFault>;

#[derive(Debug)]
pub(super) struct Running {
    pub(super) play: Match,
    pub(super) clock: MatchClock,
    /// The accumulated pause that the match accounts for.
    pub(super) paused: u64,
    /// The part of the match's pauses that does not count, in microseconds.
    pub(super) forgiven: u64,
    pub(super) places: Vec<Option<SessionKey>>,
    /// By seat: the times without a connection.
    pub(super) outages: Vec<Vec<Outage>>,
    /// By seat: the beginning of the last line that was a fault.
    pub(super) malformed: BTreeMap<Seat, String>,
    pub(super) journal: Option<MatchJournal>,
    pub(super) alarm: Option<u64>,
    pub(super) is_touched: bool,
    /// Whether a request is being written.
    pub(super) is_asking: bool,
    /// Whether the spectator has news since the last flush, and the end of the match.
    pub(super) has_news: bool,
    pub(super) ending: Option<Ending>,
}

impl Running {
    /// Takes the events of the match. Returns the seats whose faults they are.
    fn poll_events(&mut self) -> SeatSet {
        let mut at_fault = SeatSet::EMPTY;
        while let Some(event) = self.play.poll_event() {
            match event {
                MatchEvent::Fault { seat, .. } => at_fault.insert(seat),
                MatchEvent::News => self.has_news = true,
                MatchEvent::Ended(ending) => self.ending = Some(ending),
                MatchEvent::Error(_) => {}
            }
        }
        at_fault
    }

    /// The loss of a seat's connection, if no other one has replaced it by now.
    pub(super) fn lost(&self, seat: Seat, now: u64) -> Option<Lost> {
        let Outage { lost_us, back_us: None } = self.outages[seat.index()].last()? else { return None };
        Some(Lost::between(*lost_us, self.clock.at(now).0))
    }
}

impl<S: ByteStream> Lane<S> {
    pub fn open(&mut self, setup: Setup, table: Box<dyn Table>, places: Vec<SeatOccupant>) -> MatchKey {
        let now = self.now();
        let clock = MatchClock::new(now, Tick::default());
        let key = self.enter(Match::open(setup, table), clock, &places);
        self.seat_all(key, &places, now);
        key
    }

    pub(super) fn enter(&mut self, play: Match, clock: MatchClock, places: &[SeatOccupant]) -> MatchKey {
        let id = play.setup().header.r#match.clone();
        let mut running = Running {
            play,
            clock,
            paused: self.clock.lane.paused(),
            forgiven: 0,
            outages: vec![Vec::new(); places.len()],
            places: places.iter().map(|place| place.as_ref().ok().copied()).collect(),
            malformed: BTreeMap::new(),
            journal: None,
            alarm: None,
            is_touched: false,
            is_asking: false,
            has_news: false,
            ending: None,
        };
        running.poll_events();
        let key = self.matches.insert(running);
        self.by_id.insert(id, key);
        key
    }

    /// Connects the seats of a match with their sessions, and reports those without one.
    pub(super) fn seat_all(&mut self, key: MatchKey, places: &[SeatOccupant], now: u64) {
        for (seat, place) in (0..).map(Seat).zip(places) {
            match place {
                Ok(session) => self.join(*session, key, seat),
                Err(BotFault { code, detail }) => {
                    self.notify_match(key, now, Event::Gone { seat, code: *code, detail });
                }
            }
        }
        self.touch(key);
    }

    fn join(&mut self, session: SessionKey, key: MatchKey, seat: Seat) {
        if let Some(session) = self.sessions.get_mut(session) {
            // The seats of a match are adjacent.
            session.matches += u32::from(session.seats.last().is_none_or(|&(last, _)| last != key));
            if session.seats.is_empty() {
                // Most sessions have one seat; a vector begins with room for four.
                session.seats.reserve_exact(1);
            }
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
            Err(BotFault { code, detail }) => {
                self.notify_match(key, now, Event::Gone { seat, code, detail: &detail });
            }
        }
    }

    pub fn abort(&mut self, key: MatchKey, reason: &AbortReason) {
        let now = self.now();
        self.notify_match(key, now, Event::Abort(reason));
    }

    pub fn running(&self) -> Vec<MatchKey> {
        self.matches.keys().collect()
    }

    pub fn match_mut(&mut self, key: MatchKey) -> Option<&mut Match> {
        self.matches.get_mut(key).map(|running| &mut running.play)
    }

    /// Passes an event to a match. Returns the seats of which it counted faults.
    pub(super) fn notify_match(&mut self, key: MatchKey, now: u64, event: Event<'_>) -> SeatSet {
        let Some(running) = self.matches.get_mut(key) else { return SeatSet::EMPTY };
        let is_answer =
            matches!(event, Event::Answer { .. } | Event::AcceptDraw { .. } | Event::Broken { .. });
        let stamp = running.clock.stamp(now, if is_answer { self.clock.lag } else { 0 });
        running.play.handle(stamp, event);
        let at_fault = running.poll_events();
        self.touch(key);
        at_fault
    }

    /// Tells a match the messages of its bots in place of the awaited ones.
    pub(super) fn report_received(&mut self, key: MatchKey, stamp: u64) {
        let seats = self.matches.get(key).map_or(0, |running| running.places.len());
        for seat in SeatSet::first(seats).iter() {
            let running = &self.matches[key];
            let Running { play, places, .. } = running;
            let session = places[seat.index()].and_then(|session| self.sessions.get(session));
            let answered = play.answered(seat);
            let lost = running.lost(seat, stamp).map(Received::ConnectionLost);
            let received =
                lost.or_else(|| match session.and_then(|session| session.received(play.refused(seat))) {
                    None | Some(Received::Nothing) if answered > 0 => Some(Received::Silence { answered }),
                    received => received,
                });
            self.notify_match(key, stamp, Event::Received { seat, received });
        }
    }

    pub(super) fn touch(&mut self, key: MatchKey) {
        if let Some(running) = self.matches.get_mut(key)
            && !std::mem::replace(&mut running.is_touched, true)
        {
            self.unflushed.touched.push(key);
        }
    }

    pub(super) fn finish(&mut self, key: MatchKey, ending: Ending, stamp: Stamp) {
        let Some(Running { play, outages, malformed, .. }) = self.take(key) else { return };
        let duration = Duration::from_micros(stamp.at.0);
        let finished = Finished { key, play, ending, malformed, outages, duration };
        self.notices.push_back(Notice::Ended(Box::new(finished)));
    }

    /// Takes a match from its sessions.
    pub(super) fn take(&mut self, key: MatchKey) -> Option<Running> {
        let running = self.matches.remove(key)?;
        let Running { play, places, alarm, .. } = &running;
        let alarm = *alarm;
        self.timers.cancel(alarm, Timer::Match(key));
        self.by_id.remove(&play.setup().header.r#match);
        for &session in places.iter().flatten() {
            if let Some(session) = self.sessions.get_mut(session) {
                let before = session.seats.len();
                session.seats.retain(|&(of, _)| of != key);
                session.matches -= u32::from(session.seats.len() < before);
                session.has_played = true;
            }
        }
        Some(running)
    }
}
