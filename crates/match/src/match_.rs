//! A match and its phases.

use std::ops::ControlFlow;

use referee_game::Outcome;
use referee_game::clock::Tick;
use referee_game::erased::{OpenDecision, Table};
use referee_game::seat::Seat;
use referee_protocol::referee as message;

use crate::common::Common;
use crate::detail::AbortReason;
use crate::ending::{Ended, Ending};
use crate::event::{Event, GivenInfo, MatchEvent, Stamp};
use crate::log::Log;
use crate::player::Faults;
use crate::playing::Playing;
use crate::received::RefusedLine;
use crate::setup::Setup;
use crate::starting::Starting;
use crate::totals::InfoTotals;

/// A match, from `start` to its end.
///
/// The shell calls, in this order:
///
/// 1. [`handle`](Match::handle) for each event that has happened;
/// 2. [`poll_event`](Match::poll_event) until it returns `None`;
/// 3. [`poll_transmit`](Match::poll_transmit) for each seat, writing the bytes at once;
/// 4. [`next_deadline`](Match::next_deadline), and [`Event::Tick`] when it has passed.
///
/// [`Match::open`] counts as an event: 2 to 4 follow it too. Only 1 and [`Match::open`] change what 2 to 4 return, except
/// that sending a request in 3 starts its clock, which can give an earlier deadline.
#[derive(Debug)]
pub struct Match {
    common: Common,
    phase: Phase,
}

#[derive(Debug)]
pub(super) enum Phase {
    /// The phase until every seat is ready or has failed to be.
    Starting(Starting),
    /// The phase from the first decision on.
    Playing(Playing),
    /// The phase after `end`.
    Ended(Ended),
}

/// The flow of a match: it stays in its phase, or continues with another one.
pub(super) type PhaseFlow<C = ()> = ControlFlow<Phase, C>;

/// Bytes for the stream of a seat. Dropping it drains the outbox.
#[derive(Debug)]
pub struct Transmit<'a> {
    /// The bytes to write at once: the clock of a request among them is running. The buffer may be exchanged for another one,
    /// whose contents are discarded.
    pub bytes: &'a mut Vec<u8>,
    /// Whether the bytes contain a new request.
    pub has_request: bool,
}

impl Drop for Transmit<'_> {
    fn drop(&mut self) {
        self.bytes.clear();
    }
}

impl Match {
    /// Opens a match and writes `start` to every outbox.
    pub fn open(setup: Setup, table: Box<dyn Table>) -> Match {
        let mut common = Common::new(setup, table);
        let starting = Starting::new(&mut common);
        let phase = if common.setup.header.auto_ready {
            starting.begin(&mut common, Stamp::default())
        } else {
            Phase::Starting(starting)
        };
        Match { common, phase }
    }

    /// Handles an event. Events after the end have no effect.
    pub fn handle(&mut self, stamp: Stamp, event: Event<'_>) {
        let stamp = self.common.in_order(stamp);
        let flow = match &mut self.phase {
            Phase::Starting(starting) => starting.handle(&mut self.common, stamp, event),
            Phase::Playing(playing) => playing.handle(&mut self.common, stamp, event),
            Phase::Ended(_) => return,
        };
        if let ControlFlow::Break(next) = flow {
            self.phase = next;
        }
    }

    /// Takes the next event for the shell.
    pub fn poll_event(&mut self) -> Option<MatchEvent> {
        self.common.events.pop_front()
    }

    /// The bytes to write to a seat's stream now; `None` if there are none. Starts the clock of the request among them.
    pub fn poll_transmit(&mut self, seat: Seat, stamp: Stamp) -> Option<Transmit<'_>> {
        if self.common.players[seat.index()].outbox.is_empty() {
            return None;
        }
        let stamp = self.common.in_order(stamp);
        let has_request = match &mut self.phase {
            Phase::Starting(starting) => {
                starting.sent(&mut self.common, stamp, seat);
                false
            }
            Phase::Playing(playing) => playing.sent(&mut self.common, stamp, seat),
            Phase::Ended(_) => false,
        };
        Some(Transmit { bytes: &mut self.common.players[seat.index()].outbox, has_request })
    }

    /// Returns the time at which the shell has to send [`Event::Tick`], unless another event comes first.
    pub fn next_deadline(&self) -> Option<Tick> {
        match &self.phase {
            Phase::Starting(starting) => starting.next_deadline(),
            Phase::Playing(playing) => playing.next_deadline(),
            Phase::Ended(_) => None,
        }
    }

    /// Sets whether bots are trusted to say that they cannot play; see [`Setup::trust_outages`].
    pub fn trust_outages(&mut self, is_trusted: bool) {
        self.common.setup.trust_outages = is_trusted;
    }

    /// In a replay without tables of endgames: ends the match with their outcome after this number of decisions.
    pub(super) fn trust_tables(&mut self, verdict: Option<(u32, Outcome)>) {
        self.common.tables_verdict = verdict;
    }

    pub fn setup(&self) -> &Setup {
        &self.common.setup
    }

    pub fn has_clock(&self) -> bool {
        self.common.players.iter().any(|player| player.bank.is_some())
    }

    /// The time in the bank of a seat, in milliseconds; `None` without a clock.
    pub fn bank_ms(&self, seat: Seat) -> Option<u64> {
        self.common.players[seat.index()].bank.map(|bank| bank.shown(0).bank_ms)
    }

    /// Returns the game in progress.
    pub fn table(&self) -> &dyn Table {
        &*self.common.table
    }

    /// The open decision, for the legal moves on [`Match::table`].
    pub fn decision(&self) -> Option<&OpenDecision> {
        match &self.phase {
            Phase::Playing(playing) => playing.decision(),
            Phase::Starting(_) | Phase::Ended(_) => None,
        }
    }

    /// Returns whether a seat's outbox contains a request that has not been sent yet.
    pub fn is_asking(&self, seat: Seat) -> bool {
        matches!(&self.phase, Phase::Playing(playing) if playing.is_asking(seat))
    }

    /// The request in flight of a seat.
    pub fn open_request(&self, seat: Seat) -> Option<u32> {
        match &self.phase {
            Phase::Playing(playing) => playing.open_request(seat),
            Phase::Starting(_) | Phase::Ended(_) => None,
        }
    }

    /// Returns whether the match waits for this seat to be ready.
    pub fn awaits_ready(&self, seat: Seat) -> bool {
        matches!(&self.phase, Phase::Starting(starting) if starting.awaits(seat))
    }

    /// The number of requests that a seat has answered with a legal move.
    pub fn answered(&self, seat: Seat) -> u32 {
        match &self.phase {
            Phase::Playing(playing) => playing.answered(seat),
            Phase::Starting(_) | Phase::Ended(_) => 0,
        }
    }

    /// Returns whether the match waits for this seat to be ready, and the time for that is up.
    pub fn is_ready_overdue(&self, seat: Seat, at: Tick) -> bool {
        matches!(&self.phase, Phase::Starting(starting) if starting.is_overdue(seat, at))
    }

    /// The last line of a seat's bot that was rejected since its last request.
    pub fn refused(&self, seat: Seat) -> Option<RefusedLine> {
        self.common.players[seat.index()].refused
    }

    /// The record so far, without its seal.
    pub fn log(&self) -> &Log {
        &self.common.log
    }

    /// The events for the spectator, one JSON object per line. The reader drains it.
    pub fn news(&mut self) -> &mut Vec<u8> {
        &mut self.common.news
    }

    /// `info` of bots, in the order of their answers, if the events are kept for a spectator, too. The reader
    /// drains it, and decides when it is shown.
    pub fn infos(&mut self) -> &mut Vec<GivenInfo> {
        &mut self.common.infos
    }

    /// Clears the record so far.
    pub fn clear_log(&mut self) {
        self.common.log.clear();
    }

    /// Takes the record, without its seal.
    pub fn take_log(&mut self) -> Log {
        std::mem::take(&mut self.common.log)
    }

    pub fn ending(&self) -> Option<&Ending> {
        match &self.phase {
            Phase::Ended(ended) => Some(&ended.ending),
            Phase::Starting(_) | Phase::Playing(_) => None,
        }
    }

    /// Returns whether the bot of a seat has left the match.
    pub fn is_gone(&self, seat: Seat) -> bool {
        self.common.players[seat.index()].gone
    }

    /// The reason why the match was aborted; `None` while it runs, if it has a result, or if no bot was left.
    pub fn broken_off(&self) -> Option<&AbortReason> {
        match &self.phase {
            Phase::Ended(ended) => ended.abort.as_ref(),
            Phase::Starting(_) | Phase::Playing(_) => None,
        }
    }

    /// The faults of a seat so far.
    pub fn faults(&self, seat: Seat) -> Faults {
        self.common.players[seat.index()].faults
    }

    /// Totals of the `info` of a seat so far.
    pub fn totals(&self, seat: Seat) -> InfoTotals {
        self.common.players[seat.index()].totals
    }

    /// The number of moves so far, including the referee's moves for faulty seats.
    pub fn decisions(&self) -> u32 {
        self.common.decisions
    }

    /// A digest of the position after the opening, equal for different moves that lead to it; `None` before, and in games
    /// without openings.
    pub fn opened_at(&self) -> Option<[u8; 32]> {
        self.common.opened_at
    }

    /// By seat: its moves after the opening, each behind a line break.
    pub fn moves(&self) -> &[String] {
        &self.common.moves
    }

    /// The longest delay of an answer by the referee's own lag, in microseconds.
    pub fn worst_lag(&self) -> u64 {
        self.common.worst_lag
    }

    /// The time of the latest event.
    pub fn now(&self) -> Tick {
        self.common.now()
    }

    /// The time for which the referee was suspended during the match, in microseconds. The match clock stood
    /// still meanwhile.
    pub fn paused(&self) -> u64 {
        self.common.paused
    }

    /// The seed, salt, deal and nonces of the match, for verification.
    pub fn reveal(&self) -> message::Reveal {
        self.common.reveal()
    }
}
