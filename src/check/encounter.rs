//! A match between bots and random moves, driven by the referee's state machine.

use std::time::Duration;

use referee_protocol::limits;
use referee_protocol::words::{ErrorCode, FaultCode};
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::core::chance::{RandomStream, Uniform};
use crate::core::clock::Tick;
use crate::core::erased::Table;
use crate::core::excerpt::excerpt;
use crate::core::game::Misconfigured;
use crate::core::seat::{Seat, SeatSet};
use crate::referee::{Abort, Detail, Ending, Event, Match, Stamp};
use crate::server::incoming::{self, Incoming, Unreadable};
use crate::server::{MatchPlan, Run};

/// Why a message was rejected before it reached a match.
#[derive(Debug)]
pub struct RejectedMessage {
    /// The error code.
    pub code: ErrorCode,
    /// The error message.
    pub message: String,
}

/// A match with bots in some seats and random moves in the others.
#[derive(Debug)]
pub struct Encounter {
    play: Match,
    bots: SeatSet,
    opened: Instant,
    chooser: RandomStream,
    /// Whether the random players offer a draw with every move.
    pub(super) offers_draws: bool,
    /// When each bot was last sent a request or `start`.
    asked: [Option<Instant>; crate::core::MAX_SEATS],
}

impl Encounter {
    /// Opens a match. Seats other than `bots` play random moves, drawn from `chooser`.
    ///
    /// # Errors
    /// When the options or the seating are invalid.
    pub fn open(
        run: &Run,
        plan: MatchPlan<'_>,
        bots: SeatSet,
        chooser: RandomStream,
    ) -> Result<Encounter, Misconfigured> {
        let (setup, table) = run.set_up(&run.terms, plan)?;
        let play = Match::open(setup, table);
        let asked = Default::default();
        Ok(Encounter { play, bots, opened: Instant::now(), chooser, offers_draws: false, asked })
    }

    fn handle(&mut self, event: Event<'_>) {
        let at = Tick(self.opened.elapsed().as_micros() as u64);
        self.play.handle(Stamp { at, lag: 0 }, event);
    }

    /// The id of the match.
    pub fn id(&self) -> &str {
        &self.play.setup().header.r#match
    }

    /// The game in progress.
    pub fn table(&self) -> &dyn Table {
        self.play.table()
    }

    /// How the match ended; `None` while it runs.
    pub fn ending(&self) -> Option<&Ending> {
        self.play.ending()
    }

    /// How many faults a seat has.
    pub fn faults(&self, seat: Seat) -> u32 {
        self.play.faults(seat).total()
    }

    /// Takes the pending output for a bot. Call [`Encounter::sent`] after sending it.
    pub fn take_outbox(&mut self, seat: Seat) -> Vec<u8> {
        std::mem::take(self.play.outbox(seat))
    }

    /// Puts back output that was taken and not sent.
    pub(super) fn give_back(&mut self, seat: Seat, lines: Vec<u8>) {
        *self.play.outbox(seat) = lines;
    }

    /// Reports that the output for a bot was sent.
    pub fn sent(&mut self, seat: Seat) {
        if self.play.is_asking(seat) || self.asked[seat.index()].is_none() {
            self.asked[seat.index()] = Some(Instant::now());
        }
        self.handle(Event::Sent(seat));
    }

    /// Another process of the bot takes a seat that was not ready.
    pub(super) fn restart(&mut self, seat: Seat, ready: Duration) {
        let wants = self.play.setup().wants[seat.index()];
        self.handle(Event::Restart { seat, ready_ms: ready.as_millis() as u64, wants });
        self.asked[seat.index()] = None;
    }

    /// The next deadline of the match.
    pub fn deadline(&self) -> Option<Instant> {
        self.play.deadline().map(|at| self.opened + Duration::from_micros(at.0))
    }

    /// Handles deadlines that have passed.
    pub fn tick(&mut self) {
        self.handle(Event::Tick);
    }

    /// Reports that a bot is unreachable.
    pub fn lose(&mut self, seat: Seat, code: FaultCode, detail: &Detail) {
        self.handle(Event::Gone { seat, code, detail });
    }

    /// Aborts the match.
    pub fn abort(&mut self) {
        self.handle(Event::Abort(&Abort::Interrupted));
    }

    /// The open request of a bot.
    pub(super) fn open_request(&self, seat: Seat) -> Option<u32> {
        self.play.open_request(seat)
    }

    /// Whether the outbox of a bot contains a request.
    pub(super) fn is_asking(&self, seat: Seat) -> bool {
        self.play.is_asking(seat)
    }

    /// Whether the match waits for `ready` of a bot.
    pub(super) fn awaits_ready(&self, seat: Seat) -> bool {
        self.play.awaits_ready(seat)
    }

    /// The time since the bot was sent its last request or `start`.
    pub(super) fn asked_for(&self, seat: Seat) -> Duration {
        self.asked[seat.index()].map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// Simulates a malformed answer.
    pub(super) fn damage(&mut self, seat: Seat, turn: u32) {
        let (code, detail) = (FaultCode::Malformed, &Detail::NotAnObject);
        self.handle(Event::Broken { seat, turn: Some(turn.into()), code, detail });
    }

    /// Plays the random players until the match waits only for bots.
    pub fn others_act(&mut self) {
        let mut others = self.play.setup().seating.all();
        self.bots.iter().for_each(|bot| others.remove(bot));
        let mut has_acted = true;
        while std::mem::take(&mut has_acted) && self.play.ending().is_none() {
            for seat in others.iter() {
                self.play.outbox(seat).clear();
                self.handle(Event::Sent(seat));
                if self.play.awaits_ready(seat) {
                    self.handle(Event::Ready { seat, nonce: None });
                    has_acted = true;
                } else if let Some(turn) = self.play.open_request(seat) {
                    let count = self.play.table().count(seat) as u64;
                    let index = self.chooser.uniform(count) as usize;
                    let text = self.play.table().text(seat, index).to_owned();
                    let offer_draw = self.offers_draws;
                    self.handle(Event::Answer {
                        seat,
                        turn: turn.into(),
                        text: &text,
                        offer_draw,
                        info: None,
                    });
                    has_acted = true;
                }
            }
        }
    }

    /// Handles a line from a bot. Errors from the match are written to its outbox.
    ///
    /// # Errors
    /// When the line does not belong to this match.
    pub fn hear(&mut self, seat: Seat, line: &[u8]) -> Result<(), RejectedMessage> {
        let refuse = |code, message: &str| Err(RejectedMessage { code, message: message.to_owned() });
        let (address, message) = incoming::read(line, false);
        let elsewhere = address.match_id.as_ref().filter(|id| ***id != *self.id());
        let anothers = address.seat.filter(|&named| named != seat.0);
        let of_a_match = |message: &Incoming<'_>| {
            !matches!(message, Incoming::Hello(_) | Incoming::Pong(_) | Incoming::Bye(_))
        };
        if message.as_ref().is_ok_and(of_a_match) {
            if let Some(named) = elsewhere {
                let named = excerpt(named, 40);
                let what = format!("there is no match `{named}` on this connection, or it has ended");
                return refuse(ErrorCode::UnknownMatch, &format!("{what}; `{}` is played", self.id()));
            }
            if let Some(named) = anothers {
                let what = format!("seat {named} of match `{}` is not the bot's, seat {seat} is", self.id());
                return refuse(ErrorCode::UnknownSeat, &what);
            }
        }
        match message {
            Ok(Incoming::Ready(ready)) => self.handle(Event::Ready { seat, nonce: ready.nonce.as_deref() }),
            Ok(Incoming::Move(answer)) => self.handle(Event::Answer {
                seat,
                turn: answer.turn,
                text: &answer.r#move,
                offer_draw: answer.offer_draw,
                info: answer.info.map(RawValue::get),
            }),
            Ok(Incoming::AcceptDraw(answer)) => self.handle(Event::AcceptDraw { seat, turn: answer.turn }),
            Ok(Incoming::Resign(_)) => self.handle(Event::Resign(seat)),
            Ok(Incoming::Hello(_)) => return refuse(ErrorCode::OutOfState, "`hello` comes once"),
            Ok(Incoming::Bye(_)) => self.lose(seat, FaultCode::Disconnected, &Detail::SaidBye),
            Ok(Incoming::Pong(_) | Incoming::Open(_) | Incoming::Abort(_)) => {}
            Err(Unreadable::Malformed(detail)) => {
                let turn = address.turn.filter(|_| elsewhere.is_none() && anothers.is_none());
                let code = FaultCode::Malformed;
                self.handle(Event::Broken { seat, turn, code, detail: &detail });
            }
            Err(unreadable) => {
                let (refused, message) = unreadable.refusal();
                self.handle(Event::Stray { seat, code: refused.code, message: &message });
            }
        }
        Ok(())
    }

    /// Handles an overlong line from a bot.
    pub fn hear_too_long(&mut self, seat: Seat) {
        let detail = &Detail::LineTooLong { most_bytes: limits::LINE_FROM_BOT as u64 };
        self.handle(Event::Broken { seat, turn: None, code: FaultCode::LineTooLong, detail });
    }
}
