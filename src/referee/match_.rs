//! The state machine of a match.

use referee_protocol::referee as message;
use referee_protocol::words::ErrorCode;

use crate::core::chance::RandomStream;
use crate::core::clock::{Bank, Tick};
use crate::core::erased::Table;
use crate::core::hex;
use crate::core::json::{self, Object, key, opening};
use crate::core::seat::{MAX_SEATS, Seat, SeatSet};
use crate::referee::detail::Abort;
use crate::referee::ending::Ending;
use crate::referee::event::{Event, Stamp};
use crate::referee::limits::Limits;
use crate::referee::log::Log;
use crate::referee::player::{Exit, Faults, Player, Sealed};
use crate::referee::received::{Received, RefusedLine};
use crate::referee::setup::{Leg, Setup};

/// A match. [`Match::handle`] advances it from `start` to its end.
#[derive(Debug)]
pub struct Match {
    pub(super) setup: Setup,
    pub(super) limits: Limits,
    pub(super) table: Box<dyn Table>,
    pub(super) players: Vec<Player>,
    pub(super) phase: Phase,
    /// The seats that have to decide. Before play: all seats, until they are ready.
    pub(super) deciding: SeatSet,
    /// The random streams of the game and of the referee's moves for faulty seats, once the nonces are known.
    pub(super) chance: Option<(RandomStream, RandomStream)>,
    pub(super) drawn: Vec<u16>,
    /// The seat with a standing draw offer.
    pub(super) offer: Option<Seat>,
    /// Elimination time of a side in half-decisions: 2n during decision n, 2n-1 just before it, 0 before play.
    pub(super) out: [Option<u32>; MAX_SEATS],
    pub(super) decisions: u32,
    /// The longest delay of an answer by the referee's own lag, in microseconds.
    pub(super) worst_lag: u64,
    /// How long the referee was suspended during the match, in microseconds.
    pub(super) paused: u64,
    /// When to continue with moves for faulty seats, after yielding to the shell.
    pub(super) resume: Option<Tick>,
    /// The latest timestamp so far.
    pub(super) now: Tick,
    pub(super) log: Log,
    /// Events for the spectator.
    pub(super) news: Vec<u8>,
    pub(super) ending: Option<Ending>,
    /// Why the match was aborted, unless because no bot was left.
    pub(super) broken_off: Option<Abort>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Ready,
    Play,
    Ended,
}

/// Initial capacity of the record, in bytes; few records are shorter.
const FIRST_OF_LOG: usize = 4096;

impl Match {
    /// Opens a match and writes `start` to every outbox.
    pub fn open(setup: Setup, table: Box<dyn Table>) -> Match {
        let seats = setup.seating.all();
        let mut opened = Match {
            players: seats
                .iter()
                .map(|seat| {
                    let ready_ms = setup.header.seats[seat.index()].ready_ms;
                    let clock = setup.header.clock_of(seat).map(Into::into);
                    Player::new(seat, clock.map(Bank::new), ready_ms * 1000, &setup.header.r#match)
                })
                .collect(),
            phase: Phase::Ready,
            deciding: seats,
            chance: None,
            drawn: Vec::new(),
            offer: None,
            out: [None; MAX_SEATS],
            decisions: 0,
            worst_lag: 0,
            paused: 0,
            resume: None,
            now: Tick::default(),
            log: Log(Vec::with_capacity(FIRST_OF_LOG)),
            news: Vec::new(),
            ending: None,
            broken_off: None,
            limits: setup.header.limits(),
            setup,
            table,
        };
        Object::open(&mut opened.log.0, opening!("record")).fields(&opened.setup.header).end_line();
        for seat in seats.iter() {
            opened.write_start(seat);
        }
        if opened.setup.header.auto_ready {
            for player in &mut opened.players {
                player.sealed = Some(Sealed::Ready);
            }
            opened.run(Stamp::default());
        }
        opened
    }

    pub(super) fn write_start(&mut self, seat: Seat) {
        let header = &self.setup.header;
        let start = message::FromReferee::Start(message::Start {
            r#match: header.r#match.clone(),
            id: self.setup.open_id.clone(),
            game: header.game.clone(),
            rules: header.rules,
            options: &header.options,
            seat: seat.0,
            seats: header
                .seats
                .iter()
                .map(|s| message::SeatInfo { name: s.name.clone(), team: s.team })
                .collect(),
            clock: header.clock_of(seat),
            deal: (self.setup.leg == Leg::Only).then(|| header.deal.clone()),
            commitment: header.commitment.clone(),
            nonce: header.nonce,
        });
        json::write_line(&mut self.players[seat.index()].outbox, &start);
    }

    /// The set-up of the match.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Whether any seat has a clock.
    pub fn has_clock(&self) -> bool {
        self.players.iter().any(|player| player.bank.is_some())
    }

    /// The time in the bank of a seat, in milliseconds; `None` without a clock.
    pub fn bank_ms(&self, seat: Seat) -> Option<u64> {
        self.players[seat.index()].bank.map(|bank| bank.shown(0).bank_ms)
    }

    /// The game in progress.
    pub fn table(&self) -> &dyn Table {
        &*self.table
    }

    /// The bytes to send to a seat. The shell drains it and reports [`Event::Sent`] just before it writes.
    pub fn outbox(&mut self, seat: Seat) -> &mut Vec<u8> {
        &mut self.players[seat.index()].outbox
    }

    /// Whether a seat's outbox contains a request that has not been sent yet.
    pub fn is_asking(&self, seat: Seat) -> bool {
        self.players[seat.index()].request.is_some_and(|request| !request.is_sent)
    }

    /// The request in flight of a seat.
    pub fn open_request(&self, seat: Seat) -> Option<u32> {
        let player = &self.players[seat.index()];
        player
            .request
            .filter(|request| request.is_sent && player.sealed.is_none())
            .map(|request| request.turn)
    }

    /// Whether the match waits for this seat to be ready.
    pub fn awaits_ready(&self, seat: Seat) -> bool {
        self.phase == Phase::Ready && self.players[seat.index()].sealed.is_none()
    }

    /// Notes that a line of a seat's bot was refused outside the match.
    pub fn note_refused(&mut self, seat: Seat, refused: RefusedLine) {
        self.player(seat).refused = Some(refused);
    }

    /// The last line of a seat's bot that was refused since its last request.
    pub fn refused(&self, seat: Seat) -> Option<RefusedLine> {
        self.players[seat.index()].refused
    }

    /// Notes what came from a seat's bot in place of what is awaited, before its deadline is judged. A replay takes this
    /// from the record, because refused lines are not in it.
    pub fn note_received(&mut self, seat: Seat, received: Option<Received>) {
        self.player(seat).received = received;
    }

    /// The record so far, without its seal.
    pub fn log(&self) -> &[u8] {
        &self.log.0
    }

    /// The events for the spectator, one JSON object per line. The reader drains it.
    pub fn news(&mut self) -> &mut Vec<u8> {
        &mut self.news
    }

    /// Clears the record so far.
    pub fn clear_log(&mut self) {
        self.log.0.clear();
    }

    /// Takes the record, without its seal.
    pub fn take_log(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.log.0)
    }

    /// How the match ended; `None` while it runs.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Why the match was aborted; `None` while it runs, if it has a result, or if no bot was left.
    pub fn broken_off(&self) -> Option<&Abort> {
        self.broken_off.as_ref()
    }

    /// The faults of a seat so far.
    pub fn faults(&self, seat: Seat) -> Faults {
        self.players[seat.index()].faults
    }

    /// The number of moves so far, including the referee's moves for faulty seats.
    pub fn decisions(&self) -> u32 {
        self.decisions
    }

    /// The longest delay of an answer by the referee's own lag, in microseconds.
    pub fn worst_lag(&self) -> u64 {
        self.worst_lag
    }

    /// How long the referee was suspended during the match, in microseconds. The match clock stood still meanwhile.
    pub fn paused(&self) -> u64 {
        self.paused
    }

    /// The seed, salt, deal and nonces of the match, for verification.
    pub fn reveal(&self) -> message::Reveal {
        message::Reveal {
            seed: self.setup.seed.to_hex(),
            salt: hex::encode(&self.setup.salt),
            deal: self.setup.header.deal.clone(),
            nonces: self.players.iter().map(|player| player.nonce.clone()).collect(),
        }
    }

    /// When the shell has to send [`Event::Tick`], unless another event comes first.
    pub fn deadline(&self) -> Option<Tick> {
        let of_seat = |player: &Player| match self.phase {
            Phase::Ended => None,
            _ if player.sealed.is_some() => None,
            Phase::Ready => player.started.map(|at| at + player.ready_limit),
            Phase::Play => player.request?.since?.deadline,
        };
        // An answer exactly at the deadline is in time.
        let passed = self.players.iter().filter_map(of_seat).map(|at| at + 1);
        passed.chain(self.resume).min()
    }

    pub(super) fn margin(&self) -> u64 {
        self.setup.header.margin_ms * 1000
    }

    /// Handles an event. Events after the end have no effect.
    pub fn handle(&mut self, stamp: Stamp, event: Event<'_>) {
        if self.phase == Phase::Ended {
            return;
        }
        // Events noticed during a write can have earlier timestamps; record timestamps must not decrease.
        self.now = self.now.max(stamp.at);
        let stamp = Stamp { at: self.now, ..stamp };
        match event {
            Event::Sent(seat) => self.sent(stamp, seat),
            Event::Vacated(seat) => {
                if self.awaits_ready(seat) {
                    self.player(seat).started = None;
                    self.player(seat).outbox.clear();
                }
            }
            Event::Restart { seat, ready_ms, wants } => {
                if self.awaits_ready(seat) {
                    let mut line = self.log.line(opening!("restart"), stamp.at);
                    line.number(key!("seat"), seat.0).number(key!("ready_ms"), ready_ms).end_line();
                    self.setup.wants[seat.index()] = wants;
                    let player = self.player(seat);
                    player.ready_limit = ready_ms.saturating_mul(1000);
                    player.started = None;
                    (player.refused, player.received) = (None, None);
                    player.outbox.clear();
                    self.write_start(seat);
                }
            }
            Event::Ready { seat, nonce } => self.ready(stamp, seat, nonce),
            Event::Answer { seat, turn, text, offer_draw, info } => {
                self.answer(stamp, seat, turn, text, offer_draw, info);
            }
            Event::AcceptDraw { seat, turn } => self.accept_draw(stamp, seat, turn),
            Event::Resign(seat) => {
                if self.players[seat.index()].is_played_by_referee() {
                    let message = "the referee plays this seat: there is nothing to resign";
                    self.stray(stamp, seat, None, ErrorCode::OutOfState, message);
                } else {
                    self.log.line(opening!("resign"), stamp.at).number(key!("seat"), seat.0).end_line();
                    self.exit(stamp, seat, Exit::Resign);
                }
            }
            Event::Broken { seat, turn, code, detail } => self.broken(stamp, seat, turn, code, detail),
            Event::Stray { seat, code, message } => self.stray(stamp, seat, None, code, message),
            Event::Gone { seat, code, detail } => self.lost(stamp, seat, code, detail),
            Event::Expire(seat) => self.expire(stamp, seat),
            Event::Tick => {
                self.resume = None;
                for seat in self.deciding.iter() {
                    self.expire(stamp, seat);
                }
            }
            Event::Paused { us } => {
                self.paused = self.paused.saturating_add(us);
                self.log.line(opening!("pause"), stamp.at).number(key!("paused_us"), us).end_line();
            }
            Event::Abort(reason) => self.break_off(stamp, reason),
        }
        self.run(stamp);
    }

    pub(super) fn player(&mut self, seat: Seat) -> &mut Player {
        &mut self.players[seat.index()]
    }
}
