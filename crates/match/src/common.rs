//! State that all phases of a match share: the setup, the game, the seats and the log; events that mean the
//! same in every phase.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use referee_game::clock::{Bank, Tick};
use referee_game::erased::{RulesFailed, Table};
use referee_game::hex;
use referee_game::json::{self, key, opening};
use referee_game::outcome::Outcome;
use referee_game::outcome::ranks_and_scores;
use referee_game::seat::{MAX_SEATS, Seat, SeatSet};
use referee_protocol::referee as message;
use referee_protocol::words::{EndedBy, ErrorCode, FaultCode, OnFault};

use crate::adjudication::SyzygyRule;
use crate::broadcast::RefereeEvent;
use crate::detail::{AbortReason, Detail, Fault, RulesFailure};
use crate::ending::{Ended, Ending, SideStanding};
use crate::event::{Event, GivenInfo, MatchEvent, Stamp};
use crate::limits::Limits;
use crate::log::Log;
use crate::match_::{Phase, PhaseFlow};
use crate::player::{Faults, Player, SeatExit};
use crate::received::RefusedLine;
use crate::scene::scene;
use crate::setup::{Leg, Setup};

/// State that all phases of a match share.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) setup: Setup,
    pub(super) limits: Limits,
    pub(super) table: Box<dyn Table>,
    pub(super) players: Vec<Player>,
    pub(super) log: Log,
    /// Events for the spectator.
    pub(super) news: Vec<u8>,
    /// `info` of bots, for the spectator.
    pub(super) infos: Vec<GivenInfo>,
    pub(super) events: VecDeque<MatchEvent>,
    pub(super) decisions: u32,
    /// A digest of the position after the opening.
    pub(super) opened_at: Option<[u8; 32]>,
    /// By seat: its moves after the opening, each behind a line break.
    pub(super) moves: Vec<String>,
    /// The longest delay of an answer by the referee's own lag, in microseconds.
    pub(super) worst_lag: u64,
    /// The time for which the referee was suspended during the match, in microseconds.
    pub(super) paused: u64,
    /// Elimination time of a side in half-decisions: 2n during decision n, 2n-1 just before it, 0 before play.
    out: [Option<u32>; MAX_SEATS],
    /// The end by tables of endgames in a replay without them: the number of decisions, and the outcome.
    pub(super) tables_verdict: Option<(u32, Outcome)>,
    /// The latest timestamp so far.
    now: Tick,
    /// The number of calls of the rules that succeeded.
    rules_calls: u64,
}

/// The request to which a fault belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaultyTurn {
    pub(super) turn: u32,
    /// The time that the seat has taken for it, and the referee's lag in it, in microseconds.
    pub(super) took: u64,
    pub(super) lag: u64,
}

impl Common {
    pub(super) fn new(setup: Setup, table: Box<dyn Table>) -> Common {
        // Collected, they would have room for four.
        let mut players = Vec::with_capacity(setup.seating.seats());
        let limits = setup.header.limits;
        players.extend(setup.seating.all().iter().map(|seat| {
            let clock = setup.header.clock_of(seat).map(Into::into);
            Player::new(seat, clock.map(Bank::new), &setup.header.r#match)
        }));
        Common {
            players,
            log: Log::open(Arc::clone(&setup.header)),
            news: Vec::new(),
            infos: Vec::new(),
            events: VecDeque::new(),
            decisions: 0,
            opened_at: None,
            moves: vec![String::new(); setup.seating.seats()],
            worst_lag: 0,
            paused: 0,
            out: [None; MAX_SEATS],
            tables_verdict: None,
            now: Tick::default(),
            rules_calls: 0,
            limits,
            setup,
            table,
        }
    }

    pub(super) fn player(&mut self, seat: Seat) -> &mut Player {
        &mut self.players[seat.index()]
    }

    pub(super) fn margin(&self) -> u64 {
        self.setup.header.margin_ms * 1000
    }

    /// Raises a timestamp to the latest one: events noticed during a write can have earlier timestamps, and record
    /// timestamps must not decrease.
    pub(super) fn in_order(&mut self, stamp: Stamp) -> Stamp {
        self.now = self.now.max(stamp.at);
        Stamp { at: self.now, ..stamp }
    }

    /// The latest timestamp so far.
    pub(super) fn now(&self) -> Tick {
        self.now
    }

    /// Calls the rules. If they fail, the match is aborted. A replay fails where the match did.
    pub(super) fn call_rules<T>(
        &mut self,
        stamp: Stamp,
        call: impl FnOnce(&mut Common) -> Result<T, RulesFailed>,
    ) -> PhaseFlow<T> {
        let after = self.rules_calls;
        let recorded = self.setup.rules_failure.as_ref();
        let reason = match recorded.filter(|reason| reason.rules_calls() == Some(after)) {
            Some(reason) => reason.clone(),
            None => match call(self) {
                Ok(result) => {
                    self.rules_calls += 1;
                    return PhaseFlow::Continue(result);
                }
                Err(RulesFailed::Because(why)) => {
                    AbortReason::RulesFailed(RulesFailure { after, why: why.into() })
                }
                Err(RulesFailed::Interrupted) => AbortReason::RulesInterrupted { after },
            },
        };
        PhaseFlow::Break(self.break_off(stamp, &reason))
    }

    /// Handles an event that means the same in every phase. Returns the seat that stops deciding for itself, if any.
    pub(super) fn handle(&mut self, stamp: Stamp, event: Event<'_>) -> PhaseFlow<Option<(Seat, SeatExit)>> {
        let exit = match event {
            Event::Resign(seat) => self.resign(stamp, seat),
            Event::Stray { seat, code, message } => self.stray(stamp, seat, None, code, message),
            Event::Gone { seat, code, detail } => self.lost(stamp, seat, code, detail),
            Event::Paused { us } => {
                self.paused = self.paused.saturating_add(us);
                self.log.line(opening!("pause"), stamp.at).number(key!("paused_us"), us).end_line();
                None
            }
            Event::Refused { seat, refused } => {
                self.player(seat).refused = Some(refused);
                None
            }
            Event::Received { seat, received } => {
                self.player(seat).received = received;
                None
            }
            Event::Abort(reason) => return PhaseFlow::Break(self.break_off(stamp, reason)),
            // The phases handle these.
            Event::Vacated(_)
            | Event::Restart { .. }
            | Event::Resumed { .. }
            | Event::Ready { .. }
            | Event::Answer { .. }
            | Event::AcceptDraw { .. }
            | Event::Unable { .. }
            | Event::Broken { .. }
            | Event::Tick
            | Event::Expire(_) => None,
        };
        PhaseFlow::Continue(exit)
    }

    fn resign(&mut self, stamp: Stamp, seat: Seat) -> Option<(Seat, SeatExit)> {
        if self.player(seat).is_played_by_referee() {
            let message = "the referee plays this seat: there is nothing to resign";
            return self.stray(stamp, seat, None, ErrorCode::OutOfState, message);
        }
        self.log.line(opening!("resign"), stamp.at).number(key!("seat"), seat.0).end_line();
        Some((seat, SeatExit::Resign))
    }

    /// Answers a message with an error, and keeps the reason for the detail of a later timeout.
    pub(super) fn reject(
        &mut self,
        seat: Seat,
        turn: Option<u64>,
        refused: impl Into<RefusedLine>,
        message: String,
    ) {
        let refused = refused.into();
        self.player(seat).refused = Some(refused);
        self.send_error(seat, turn, refused.code, message, None);
    }

    /// Handles an out-of-state message. One more than allowed is a fault.
    pub(super) fn stray(
        &mut self,
        stamp: Stamp,
        seat: Seat,
        turn: Option<u64>,
        code: ErrorCode,
        message: &str,
    ) -> Option<(Seat, SeatExit)> {
        if self.player(seat).gone {
            return None;
        }
        self.reject(seat, turn, code, message.to_owned());
        let player = self.player(seat);
        player.strays = player.strays.saturating_add(1);
        let strays = player.strays;
        // At most one fault per match; after it, only the flood limit of the stream applies.
        let most = self.limits.strays;
        if u64::from(strays) <= most + 1 {
            self.log
                .line(opening!("stray"), stamp.at)
                .number(key!("seat"), seat.0)
                .word(key!("code"), code.as_str())
                .end_line();
        }
        (u64::from(strays) == most + 1).then(|| {
            let detail = Detail::Strays { most };
            self.count_fault(stamp, seat, FaultCode::Protocol, Some(&detail), None);
            (seat, SeatExit::Fault(Fault { seat, code: FaultCode::Protocol, detail: Some(detail) }))
        })
    }

    /// Handles an answer to a request that has not been sent.
    pub(super) fn early_answer(&mut self, stamp: Stamp, seat: Seat, turn: u64) -> Option<(Seat, SeatExit)> {
        self.stray(stamp, seat, Some(turn), ErrorCode::OutOfState, "there is no such request yet")
    }

    /// Handles `ready` of a seat that is ready or has failed to be. After `start` was repeated, it has no effect.
    pub(super) fn repeated_ready(&mut self, stamp: Stamp, seat: Seat) -> Option<(Seat, SeatExit)> {
        if mem::take(&mut self.player(seat).may_be_ready) {
            return None;
        }
        self.stray(stamp, seat, None, ErrorCode::OutOfState, "`ready` answers `start`, once")
    }

    fn lost(
        &mut self,
        stamp: Stamp,
        seat: Seat,
        code: FaultCode,
        detail: &Detail,
    ) -> Option<(Seat, SeatExit)> {
        let player = self.player(seat);
        if player.gone {
            return None;
        }
        player.gone = true;
        player.outbox.clear();
        player.held.clear();
        player.repeat.clear();
        self.count_fault(stamp, seat, code, Some(detail), None);
        Some((seat, SeatExit::Fault(Fault { seat, code, detail: Some(detail.clone()) })))
    }

    /// Records and counts a fault; `of` is the request to which it belongs.
    pub(super) fn count_fault(
        &mut self,
        stamp: Stamp,
        seat: Seat,
        code: FaultCode,
        detail: Option<&Detail>,
        of: Option<FaultyTurn>,
    ) {
        let mut line = self.log.line(opening!("fault"), stamp.at);
        line.number(key!("seat"), seat.0);
        if let Some(of) = of {
            line.number(key!("turn"), of.turn);
        }
        line.word(key!("code"), code.as_str());
        if let Some(detail) = detail {
            line.value(key!("detail"), detail);
        }
        if let Some(of) = of {
            line.number(key!("took_us"), of.took).number(key!("lag_us"), of.lag);
        }
        line.end_line();
        self.player(seat).faults.add(code);
        self.events.push_back(MatchEvent::Fault { seat, code });
    }

    /// Returns whether a fault leaves a seat in the match: with the policy `random`, unless its bot has
    /// exited or disconnected.
    pub(super) fn plays_on_after(&self, seat: Seat, exit: &SeatExit) -> bool {
        self.setup.header.on_fault == OnFault::Random
            && matches!(exit, SeatExit::Fault(_))
            && !self.players[seat.index()].gone
    }

    /// Eliminates sides after resignations and faults at this moment (see [`Common::out`]). Returns the seats that are
    /// newly out; the match ends if at most one side is left.
    pub(super) fn judge(
        &mut self,
        stamp: Stamp,
        exits: &[(Seat, SeatExit)],
        moment: u32,
    ) -> PhaseFlow<SeatSet> {
        if exits.is_empty() {
            return PhaseFlow::Continue(SeatSet::EMPTY);
        }
        let is_random = self.setup.header.on_fault == OnFault::Random;
        let mut newly_out = Vec::new();
        for (seat, exit) in exits {
            let side = self.setup.seating.side(*seat);
            if let SeatExit::Fault(fault) = exit
                && is_random
            {
                self.player(*seat).absent |= fault.code == FaultCode::NoStart;
            } else if self.out[side].is_none() {
                self.out[side] = Some(moment);
                newly_out.push((side, exit));
            }
        }
        let sides_left = self.out[..self.setup.seating.sides()].iter().filter(|out| out.is_none()).count();
        if sides_left <= 1 {
            let went_out = |seat| newly_out.iter().any(|&(side, _)| side == self.setup.seating.side(seat));
            // Seats come in ascending order, so this is the fault of the lowest seat. Its side may already be out
            // because its partner resigned.
            let fault = exits.iter().find_map(|(seat, exit)| match exit {
                SeatExit::Fault(fault) if !is_random && went_out(*seat) => Some(fault.clone()),
                _ => None,
            });
            let (ended_by, reason) = match &fault {
                Some(fault) => (EndedBy::Fault, fault.code.as_str()),
                None => (EndedBy::Resignation, EndedBy::Resignation.as_str()),
            };
            return PhaseFlow::Break(self.end(stamp, ended_by, Outcome::draw(reason), fault, None));
        }
        let mut seats = SeatSet::EMPTY;
        for (side, exit) in newly_out {
            for seat in self.setup.seating.members(side).iter() {
                self.player(seat).out = true;
                seats.insert(seat);
                let event = RefereeEvent { kind: "out", seat, reason: Some(exit.reason()) };
                self.broadcast_event(stamp, |_, out| json::write_value(out, &event));
            }
        }
        if is_random && self.players.iter().all(|player| player.gone || player.absent) {
            return PhaseFlow::Break(self.abort(stamp, None));
        }
        PhaseFlow::Continue(seats)
    }

    /// Ends the match without a result, for a recorded reason.
    pub(super) fn break_off(&mut self, stamp: Stamp, reason: &AbortReason) -> Phase {
        self.log.line(opening!("abort"), stamp.at).value(key!("reason"), reason).end_line();
        self.abort(stamp, Some(reason.clone()))
    }

    fn abort(&mut self, stamp: Stamp, why: Option<AbortReason>) -> Phase {
        self.end(stamp, EndedBy::Aborted, Outcome::draw(EndedBy::Aborted.as_str()), None, why)
    }

    /// The outcome that tables of endgames give the position, if the set-up asks for it.
    pub(super) fn outcome_by_tables(&self) -> Option<Outcome> {
        let SyzygyRule { pieces: most } = self.setup.header.adjudication.syzygy?;
        self.table.endgame_pieces().filter(|&pieces| pieces <= most)?;
        self.table.endgame().unwrap_or_else(|| {
            let (decisions, outcome) = self.tables_verdict?;
            (decisions == self.decisions).then_some(outcome)
        })
    }

    /// Ends the match. The reason is that of the outcome.
    pub(super) fn end(
        &mut self,
        stamp: Stamp,
        ended_by: EndedBy,
        outcome: Outcome,
        fault: Option<Fault>,
        abort: Option<AbortReason>,
    ) -> Phase {
        let seating = self.setup.seating;
        let standing = std::array::from_fn(|side| match self.out[side] {
            Some(moment) => SideStanding::Out(Reverse(moment)),
            None => SideStanding::In(outcome.standing(side)),
        });
        let (ranks, scores) =
            Some(ranks_and_scores(seating, &standing)).filter(|_| ended_by != EndedBy::Aborted).unzip();
        let amounts = self.table.amount_range().filter(|_| ended_by != EndedBy::Aborted).map(|range| {
            let of_side = |side: usize| match self.out[side] {
                Some(_) => range.least,
                None => outcome.amount(side).unwrap_or(range.most),
            };
            seating.all().iter().map(|seat| of_side(seating.side(seat))).collect()
        });
        let ending = Ending { ended_by, reason: outcome.reason.to_owned(), ranks, scores, amounts, fault };
        let faults: Vec<Faults> = self.players.iter().map(|player| player.faults).collect();
        let mut line = self.log.line(opening!("result"), stamp.at);
        line.fields(&ending).value(key!("faults"), &faults);
        line.number(key!("decisions"), self.decisions).number(key!("lag_ms"), self.worst_lag / 1000);
        if self.paused > 0 {
            line.number(key!("paused_ms"), self.paused / 1000);
        }
        line.end_line();
        // An aborted match of a mirrored set may be replayed with the same deal, so its seed stays secret.
        let is_revealed = match self.setup.leg {
            Leg::Only | Leg::Open => true,
            Leg::Last => ended_by != EndedBy::Aborted,
            Leg::Earlier => false,
        };
        let reveal = is_revealed.then(|| self.reveal());
        let Common { setup, players, table, .. } = self;
        for player in players.iter_mut().filter(|player| !player.gone) {
            player.release_events(false);
            let wants = setup.wants[player.seat.index()];
            let end = message::FromReferee::<()>::End(message::End {
                r#match: setup.header.r#match.clone(),
                seat: player.seat.0,
                ranks: ending.ranks.clone(),
                scores: ending.scores.clone(),
                amounts: ending.amounts.clone(),
                ended_by,
                reason: ending.reason.clone(),
                fault: ending.fault.as_ref().map(Into::into),
                reveal: reveal.clone(),
                scene: wants.scenes.then(|| scene(&**table, player.seat)),
            });
            json::write_line(&mut player.outbox, &end);
        }
        self.events.push_back(MatchEvent::Ended(ending.clone()));
        Phase::Ended(Ended { ending, abort })
    }

    pub(super) fn reveal(&self) -> message::Reveal {
        message::Reveal {
            seed: self.setup.seed.to_hex(),
            salt: hex::encode(&self.setup.salt),
            deal: self.setup.header.deal.clone(),
            nonces: self.players.iter().map(|player| player.nonce.clone()).collect(),
        }
    }
}
