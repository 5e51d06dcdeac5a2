//! The state machine of a match.

use referee_protocol::referee as message;
use referee_protocol::words::ErrorCode;

use crate::core::chance::Stream;
use crate::core::clock::{Bank, Tick};
use crate::core::erased::Table;
use crate::core::hex;
use crate::core::json::{self, Object, key, opening};
use crate::core::seat::{MAX_SEATS, Seat, SeatSet};
use crate::referee::ending::Ending;
use crate::referee::event::{Event, Stamp};
use crate::referee::log::Log;
use crate::referee::player::{Exit, Faults, Player, Sealed};
use crate::referee::setup::{Leg, Setup};

/// How the detail of a `no_start` begins when `ready` did not come; otherwise the bot did not come so far.
pub const NOT_READY: &str = "no `ready`";

/// A match: set up, played and ended by [`Match::handle`].
pub struct Match {
    pub(super) setup: Setup,
    pub(super) table: Box<dyn Table>,
    pub(super) players: Vec<Player>,
    pub(super) phase: Phase,
    /// The seats of the decision that is open. Before the first one: all, until they are ready.
    pub(super) deciding: SeatSet,
    /// What the game draws, and what the referee draws for faulty seats; from when the nonces are known.
    pub(super) chance: Option<(Stream, Stream)>,
    pub(super) drawn: Vec<u16>,
    /// The seat whose draw offer stands.
    pub(super) offer: Option<Seat>,
    /// When a side went out: in a decision, at twice its number, counted from 1 by the moves before it; between two, at
    /// the odd number between theirs; 0: it did not start.
    pub(super) out: [Option<u32>; MAX_SEATS],
    pub(super) decisions: u32,
    /// The longest that the referee kept one answer waiting, in microseconds.
    pub(super) worst_lag: u64,
    /// When there are moves left to make for faulty seats.
    pub(super) resume: Option<Tick>,
    /// The latest that anything happened.
    pub(super) now: Tick,
    pub(super) log: Log,
    /// What somebody who looks on has seen.
    pub(super) news: Vec<u8>,
    pub(super) ending: Option<Ending>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Ready,
    Play,
    Ended,
}

/// What a record grows from, in bytes: hardly one is shorter.
const FIRST_OF_LOG: usize = 4096;

impl Match {
    /// A match at its beginning: `start` lies in every outbox.
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
            resume: None,
            now: Tick::default(),
            log: Log(Vec::with_capacity(FIRST_OF_LOG)),
            news: Vec::new(),
            ending: None,
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

    /// What the match was set up with.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The game as it stands.
    pub fn table(&self) -> &dyn Table {
        &*self.table
    }

    /// The bytes to send to a seat. The shell empties it, and tells [`Event::Sent`] right before it writes.
    pub fn outbox(&mut self, seat: Seat) -> &mut Vec<u8> {
        &mut self.players[seat.index()].outbox
    }

    /// Whether a seat's outbox holds a request that has not been offered yet.
    pub fn is_asking(&self, seat: Seat) -> bool {
        self.players[seat.index()].request.is_some_and(|request| !request.is_sent)
    }

    /// The request that a seat has yet to answer.
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

    /// The record so far, without its seal.
    pub fn log(&self) -> &[u8] {
        &self.log.0
    }

    /// The events that somebody who looks on has seen, a JSON object a line. The reader empties it.
    pub fn news(&mut self) -> &mut Vec<u8> {
        &mut self.news
    }

    /// Takes the record, without its seal.
    pub fn take_log(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.log.0)
    }

    /// How it ended; none while it runs.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The faults of a seat so far.
    pub fn faults(&self, seat: Seat) -> Faults {
        self.players[seat.index()].faults
    }

    /// Moves so far, the referee's for faulty seats included.
    pub fn decisions(&self) -> u32 {
        self.decisions
    }

    /// The longest that the referee kept one answer waiting, in microseconds.
    pub fn worst_lag(&self) -> u64 {
        self.worst_lag
    }

    /// What the match's chance came from.
    pub fn reveal(&self) -> message::Reveal {
        message::Reveal {
            seed: self.setup.seed.to_hex(),
            salt: hex::encode(&self.setup.salt),
            deal: self.setup.header.deal.clone(),
            nonces: self.players.iter().map(|player| player.nonce.clone()).collect(),
        }
    }

    /// When [`Event::Tick`] is due, unless something else happens before.
    pub fn deadline(&self) -> Option<Tick> {
        let of_seat = |player: &Player| match self.phase {
            Phase::Ended => None,
            _ if player.sealed.is_some() => None,
            Phase::Ready => player.started.map(|at| at + player.ready_limit),
            Phase::Play => player.request?.since?.deadline,
        };
        // An answer at the deadline is still in time.
        let passed = self.players.iter().filter_map(of_seat).map(|at| at + 1);
        passed.chain(self.resume).min()
    }

    pub(super) fn margin(&self) -> u64 {
        self.setup.header.margin_ms * 1000
    }

    /// Takes in what happened. Events after the end change nothing.
    pub fn handle(&mut self, stamp: Stamp, event: Event<'_>) {
        if self.phase == Phase::Ended {
            return;
        }
        // What the shell noticed while it was writing may bear an earlier stamp; in a record time does not go back.
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
            Event::Abort(reason) => self.break_off(stamp, reason),
        }
        self.run(stamp);
    }

    pub(super) fn player(&mut self, seat: Seat) -> &mut Player {
        &mut self.players[seat.index()]
    }
}
