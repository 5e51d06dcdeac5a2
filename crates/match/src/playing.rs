//! The second phase of a match: seats are asked for decisions, and their moves are played.

use referee_game::Turn;
use referee_game::chance::{RandomStream, Uniform};
use referee_game::clock::Tick;
use referee_game::erased::OpenDecision;
use referee_game::json::{self, Object, key, opening};
use referee_game::seat::{MAX_SEATS, Seat, SeatSet};
use referee_protocol::referee as message;
use referee_protocol::words::EndedBy;

use crate::adjudication::ScoreTally;
use crate::broadcast::RefereeEvent;
use crate::common::Common;
use crate::event::{Event, Stamp};
use crate::match_::PhaseFlow;
use crate::player::{SeatExit, message_head};
use crate::scene::scene;

/// The state of a match in play. Between events, seats have open requests, or `resume` is set.
#[derive(Debug)]
pub(super) struct Playing {
    pub(super) deciders: Vec<Decider>,
    decision: Option<OpenDecision>,
    /// The random stream of the game.
    chance: RandomStream,
    /// The random stream of the referee's moves for faulty seats.
    fallback: RandomStream,
    drawn: Vec<u32>,
    /// The seat with a standing draw offer.
    offer: Option<Seat>,
    tally: ScoreTally,
    /// The time to continue with moves for faulty seats, after yielding to the shell.
    resume: Option<Tick>,
}

#[derive(Debug)]
pub(super) struct Decider {
    /// Serialized prefix of its `turn` messages.
    turn_head: Vec<u8>,
    pub(super) next_turn: u32,
    /// The request for the current decision.
    pub(super) request: Option<OpenRequest>,
    /// The part of the current decision.
    pub(super) sealed: Option<Sealed>,
    /// A deferred exit: it came after the seat had decided, while others still decide.
    exit_later: Option<Box<SeatExit>>,
    pub(super) retries: u32,
    /// The number of requests that it has answered with a legal move.
    pub(super) answered: u32,
    /// The reason of the repetition, if the request repeats a rejected one.
    retry: Option<message::Retry>,
    pub(super) info_bytes: usize,
    /// The bank when the decision began, in milliseconds: until that ends, nothing tells who has answered.
    bank: Option<u64>,
}

/// A request for the current decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRequest {
    pub(super) turn: u32,
    /// The time at which the request, or the one that it repeats, was first sent.
    pub(super) since: Option<Sent>,
    /// Whether this request was sent; a repeated request inherits `since`.
    pub(super) is_sent: bool,
    /// Whether the request shows a draw offer.
    pub(super) draw_offered: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) at: Tick,
    /// The referee's lag at that time.
    pub(super) lag: u64,
    /// The deadline as known so far; lag can extend it. `None` without a clock.
    pub(super) deadline: Option<Tick>,
}

/// The decision of a seat, sealed until all seats have decided.
#[derive(Clone, Debug)]
pub(super) enum Sealed {
    /// The index of a legal move. `score`: what its bot stated, for its side, if that matters.
    Move { index: usize, offer_draw: bool, score: Option<f64> },
    /// The seat resigned or failed to decide.
    Exit(SeatExit),
    /// The referee decides for the seat.
    Referee,
}

impl Decider {
    fn new(seat: Seat, match_id: &str) -> Decider {
        Decider {
            turn_head: message_head("turn", match_id, seat, "turn"),
            next_turn: 0,
            request: None,
            sealed: None,
            exit_later: None,
            retries: 0,
            answered: 0,
            retry: None,
            info_bytes: 0,
            bank: None,
        }
    }
}

impl Playing {
    /// Draws the random streams, now that all nonces are known, and plays the opening.
    pub(super) fn open(common: &mut Common, stamp: Stamp) -> PhaseFlow<Playing> {
        let nonces: Vec<&str> = common.players.iter().map(|player| player.nonce.as_str()).collect();
        let header = &common.setup.header;
        let key = common.setup.seed.match_key(&header.game, &header.deal, &nonces);
        let seating = common.setup.seating;
        // Collected, they would have room for four.
        let mut deciders = Vec::with_capacity(seating.seats());
        deciders.extend(seating.all().iter().map(|seat| Decider::new(seat, &header.r#match)));
        let playing = Playing {
            deciders,
            decision: None,
            chance: key.stream(),
            fallback: key.fallback(),
            drawn: Vec::new(),
            offer: None,
            tally: ScoreTally::default(),
            resume: None,
        };
        common.play_opening(stamp, key.opening())?;
        PhaseFlow::Continue(playing)
    }

    fn deciding(&self) -> SeatSet {
        self.decision.as_ref().map_or(SeatSet::EMPTY, OpenDecision::seats)
    }

    pub(super) fn decision(&self) -> Option<&OpenDecision> {
        self.decision.as_ref()
    }

    pub(super) fn decider(&mut self, seat: Seat) -> &mut Decider {
        &mut self.deciders[seat.index()]
    }

    /// Returns whether the outbox of a seat contains a request.
    pub(super) fn is_asking(&self, seat: Seat) -> bool {
        self.deciders[seat.index()].request.is_some_and(|request| !request.is_sent)
    }

    /// The number of requests that a seat has answered.
    pub(super) fn answered(&self, seat: Seat) -> u32 {
        self.deciders[seat.index()].answered
    }

    /// The request in flight of a seat.
    pub(super) fn open_request(&self, seat: Seat) -> Option<u32> {
        let Decider { request, sealed, .. } = &self.deciders[seat.index()];
        request.filter(|request| request.is_sent && sealed.is_none()).map(|request| request.turn)
    }

    pub(super) fn next_deadline(&self) -> Option<Tick> {
        let of_seat = |decider: &Decider| match decider.sealed {
            Some(_) => None,
            None => decider.request?.since?.deadline,
        };
        // An answer exactly at the deadline is in time.
        let passed = self.deciders.iter().filter_map(of_seat).map(|at| at + 1);
        passed.chain(self.resume).min()
    }

    /// Prepares for the writing of a seat's outbox. Returns whether it contains a request, whose clock starts.
    pub(super) fn sent(&mut self, common: &mut Common, stamp: Stamp, seat: Seat) -> bool {
        let request = self.decider(seat).request.as_mut();
        let Some(request) = request.filter(|request| !request.is_sent) else { return false };
        request.is_sent = true;
        request.since.get_or_insert_with(|| Sent {
            at: stamp.at,
            lag: stamp.lag,
            deadline: common.players[seat.index()].bank.map(|bank| stamp.at + bank.limit() + common.margin()),
        });
        common.log.request(stamp.at, seat, request.turn);
        true
    }

    pub(super) fn handle(&mut self, common: &mut Common, stamp: Stamp, event: Event<'_>) -> PhaseFlow {
        let exit = match event {
            Event::Vacated(_) | Event::Restart { .. } => None,
            Event::Resumed { seat, wants } => {
                common.resume(seat, wants, true);
                let decider = &self.deciders[seat.index()];
                if decider.request.is_some() && decider.sealed.is_none() && !common.player(seat).gone {
                    self.write_request(common, stamp, seat);
                }
                None
            }
            Event::Ready { seat, .. } => common.repeated_ready(stamp, seat),
            Event::Answer { seat, turn, text, offer_draw, info } => {
                match self.current(common, stamp, seat, turn) {
                    Ok(turn) => {
                        self.answer(common, stamp, (seat, turn), text, offer_draw, info)?;
                        None
                    }
                    Err(exit) => exit,
                }
            }
            Event::AcceptDraw { seat, turn } => match self.current(common, stamp, seat, turn) {
                Ok(turn) => self.accept_draw(common, stamp, seat, turn)?,
                Err(exit) => exit,
            },
            Event::Unable { seat, turn, because, info } => match self.current(common, stamp, seat, turn) {
                Ok(turn) => {
                    self.unable(common, stamp, (seat, turn), because, info)?;
                    None
                }
                Err(exit) => exit,
            },
            Event::Broken { seat, turn, code, detail } => {
                self.broken(common, stamp, seat, turn, code, detail)
            }
            Event::Tick => {
                self.resume = None;
                for seat in self.deciding().iter() {
                    self.expire(common, stamp, seat);
                }
                None
            }
            Event::Expire(seat) => {
                self.expire(common, stamp, seat);
                None
            }
            event => common.handle(stamp, event)?,
        };
        if let Some((seat, exit)) = exit {
            self.exit(common, stamp, seat, exit)?;
        }
        self.run(common, stamp)
    }

    /// Handles a resignation, or a fault outside an answer. During a simultaneous decision it is deferred until all
    /// seats have decided.
    fn exit(&mut self, common: &mut Common, stamp: Stamp, seat: Seat, exit: SeatExit) -> PhaseFlow {
        let is_simultaneous = self.deciding().len() > 1;
        let is_deciding = self.deciding().contains(seat);
        let decider = self.decider(seat);
        if common.players[seat.index()].out {
            // The side of the decider is already out.
        } else if is_deciding && decider.sealed.is_none() {
            decider.sealed = Some(Sealed::Exit(exit));
        } else if common.plays_on_after(seat, &exit) {
            // The fault is counted; the seat has no decision that the referee could make for it.
        } else if is_simultaneous {
            decider.exit_later.get_or_insert_with(|| Box::new(exit));
        } else {
            let out = common.judge(stamp, &[(seat, exit)], 2 * (common.decisions + 1))?;
            self.seal_for_referee(out);
        }
        PhaseFlow::Continue(())
    }

    /// Lets the referee decide for these seats.
    fn seal_for_referee(&mut self, seats: SeatSet) {
        for seat in self.deciding().iter().filter(|&seat| seats.contains(seat)) {
            self.decider(seat).sealed = Some(Sealed::Referee);
        }
    }

    /// Applies exits that came after the answers to the last decision and before the next one.
    pub(super) fn judge_late(
        &mut self,
        common: &mut Common,
        stamp: Stamp,
        exits: &[(Seat, SeatExit)],
    ) -> PhaseFlow {
        // If the moves have ended the match, these exits came after the end.
        if !exits.is_empty() && !matches!(common.table.turn(), Turn::Over(_)) {
            common.judge(stamp, exits, 2 * (common.decisions + 1) - 1)?;
        }
        PhaseFlow::Continue(())
    }

    /// Advances the match until it waits for an event.
    pub(super) fn run(&mut self, common: &mut Common, stamp: Stamp) -> PhaseFlow {
        let mut fallback_moves = 0;
        while self.resume.is_none() {
            let deciding = self.deciding();
            if deciding.is_empty() {
                self.ask_next(common, stamp)?;
            } else if deciding.iter().all(|seat| self.deciders[seat.index()].sealed.is_some()) {
                if u64::from(fallback_moves) + deciding.len() as u64 > common.limits.fallback_moves {
                    self.resume = Some(stamp.at);
                    break;
                }
                fallback_moves += self.conclude(common, stamp)?;
            } else {
                break;
            }
        }
        PhaseFlow::Continue(())
    }

    /// Acts on the next thing that has to happen: ends the game, draws random numbers or sends requests.
    fn ask_next(&mut self, common: &mut Common, stamp: Stamp) -> PhaseFlow {
        match common.table.ask() {
            Turn::Over(outcome) => {
                let ended_by = if outcome.turn_limit { EndedBy::TurnLimit } else { EndedBy::Rules };
                return PhaseFlow::Break(common.end(stamp, ended_by, outcome, None, None));
            }
            Turn::Draw(draw) => {
                self.chance.draw(draw, &mut self.drawn);
                common.log.line(opening!("draw"), stamp.at).value(key!("drawn"), &self.drawn).end_line();
                common.call_rules(stamp, |common| common.table.settle(&self.drawn))?;
                common.broadcast_facts(stamp);
            }
            Turn::Decide(decision) => {
                let seats = decision.seats();
                self.decision = Some(decision);
                for (decider, player) in self.deciders.iter_mut().zip(&common.players) {
                    decider.bank = player.bank.map(|bank| bank.shown(0).bank_ms);
                }
                for seat in seats.iter() {
                    if common.player(seat).is_played_by_referee() {
                        self.decider(seat).sealed = Some(Sealed::Referee);
                    } else {
                        self.ask(common, stamp, seat, None);
                    }
                }
            }
        }
        PhaseFlow::Continue(())
    }

    /// Writes a request, or repeats one after a rejected answer.
    pub(super) fn ask(
        &mut self,
        common: &mut Common,
        stamp: Stamp,
        seat: Seat,
        retry: Option<message::Retry>,
    ) {
        let Common { setup, players, .. } = common;
        let (player, decider) = (&mut players[seat.index()], &mut self.deciders[seat.index()]);
        let draw_offered = self.offer.is_some_and(|by| setup.seating.side(by) != setup.seating.side(seat));
        let since = decider.request.take().filter(|_| retry.is_some()).and_then(|request| request.since);
        let turn = decider.next_turn;
        decider.next_turn += 1;
        decider.request = Some(OpenRequest { turn, since, is_sent: false, draw_offered });
        decider.retry = retry;
        (player.refused, player.received) = (None, None);
        player.release_events(setup.wants[seat.index()].repeat);
        player.asked = player.repeat.len();
        self.write_request(common, stamp, seat);
    }

    /// Writes the request of a seat to its outbox.
    fn write_request(&self, common: &mut Common, stamp: Stamp, seat: Seat) {
        let Common { setup, players, table, .. } = common;
        let (player, decider) = (&mut players[seat.index()], &self.deciders[seat.index()]);
        let wants = setup.wants[seat.index()];
        let Some(OpenRequest { turn, since, draw_offered, .. }) = decider.request else { return };
        let out = &mut player.outbox;
        out.extend_from_slice(&decider.turn_head);
        json::decimal(out, turn.into());
        let mut line = Object::resume(out);
        if let Some(decision) = &self.decision {
            if wants.view {
                line.with(key!("view"), |out| table.write_view(decision, seat, out));
            }
            if wants.legal && !setup.header.hides_legal(seat) && table.lists(decision, seat) {
                line.with(key!("legal"), |out| table.write_legal(decision, seat, out));
            }
        }
        match player.bank {
            None => line.raw(key!("clock"), b"null"),
            Some(bank) => {
                let shown = bank.shown(since.map_or(0, |since| stamp.at - since.at));
                line.with(key!("clock"), |out| {
                    out.extend_from_slice(b"{\"bank_ms\":");
                    json::decimal(out, shown.bank_ms);
                    out.extend_from_slice(b",\"limit_ms\":");
                    json::decimal(out, shown.limit_ms);
                    out.push(b'}');
                })
            }
        };
        if self.deciders.iter().any(|decider| decider.bank.is_some()) {
            line.with(key!("banks_ms"), |out| {
                for (seat, decider) in self.deciders.iter().enumerate() {
                    out.push(if seat == 0 { b'[' } else { b',' });
                    match decider.bank {
                        None => out.extend_from_slice(b"null"),
                        Some(bank) => json::decimal(out, bank),
                    }
                }
                out.push(b']');
            });
        }
        if let Some(left) = table.turns_left() {
            line.number(key!("turns_left"), left);
        }
        if draw_offered {
            line.raw(key!("draw_offered"), b"true");
        }
        if let Some(retry) = &decider.retry {
            line.value(key!("retry"), retry);
        }
        if wants.scenes {
            line.value(key!("scene"), &scene(&**table, seat));
        }
        line.end_line();
    }

    /// Concludes a decision when every seat has answered or failed: applies resignations and faults, then plays the
    /// moves. Returns how many moves the referee made for faulty seats.
    fn conclude(&mut self, common: &mut Common, stamp: Stamp) -> PhaseFlow<u32> {
        let by_seat = || (0..).map(Seat);
        let exits = by_seat().zip(&self.deciders).filter_map(|(seat, decider)| match &decider.sealed {
            Some(Sealed::Exit(exit)) => Some((seat, exit.clone())),
            _ => None,
        });
        let exits: Vec<_> = exits.collect();
        let out = common.judge(stamp, &exits, 2 * (common.decisions + 1))?;
        self.seal_for_referee(out);
        let by_referee = self.make_moves(common, stamp)?;
        let later = by_seat().zip(&mut self.deciders);
        let later: Vec<_> =
            later.filter_map(|(seat, decider)| Some((seat, *decider.exit_later.take()?))).collect();
        self.judge_late(common, stamp, &later)?;
        let by_scores = || self.tally.outcome(&common.setup.header.adjudication);
        if let Some(outcome) = common.outcome_by_tables().or_else(by_scores)
            && !matches!(common.table.turn(), Turn::Over(_))
        {
            return PhaseFlow::Break(common.end(stamp, EndedBy::Adjudication, outcome, None, None));
        }
        PhaseFlow::Continue(by_referee)
    }

    /// Plays the decided moves in seat order. Returns how many of them the referee made for faulty seats.
    fn make_moves(&mut self, common: &mut Common, stamp: Stamp) -> PhaseFlow<u32> {
        let Some(decision) = self.decision.take() else { return PhaseFlow::Continue(0) };
        let mut by_referee = 0;
        let mut offer = None;
        let mut indices = [0; MAX_SEATS];
        for (seat, chosen) in decision.seats().iter().zip(&mut indices) {
            let decider = &mut self.deciders[seat.index()];
            decider.request = None;
            let mut stated = None;
            *chosen = match decider.sealed.take() {
                Some(Sealed::Move { index, offer_draw, score }) => {
                    offer = offer.or(offer_draw.then_some(seat));
                    stated = score;
                    index
                }
                _ => {
                    let count = common.table.count(&decision, seat);
                    let index = self.fallback.uniform(count as u64) as usize;
                    let mv = common.table.text(&decision, seat, index);
                    common
                        .log
                        .line(opening!("fallback"), stamp.at)
                        .number(key!("seat"), seat.0)
                        .text(key!("move"), mv)
                        .end_line();
                    by_referee += 1;
                    index
                }
            };
            common.decisions += 1;
            // A draw offer lapses with the opponent's move (C2).
            let seating = common.setup.seating;
            self.tally.add(&common.setup.header.adjudication, seating.side(seat), stated);
            self.offer = self.offer.filter(|&by| seating.side(by) == seating.side(seat));
        }
        let count = decision.seats().len();
        common.call_rules(stamp, |common| common.table.play(decision, &indices[..count]))?;
        common.broadcast_facts(stamp);
        if let Some(seat) = offer.filter(|_| common.table.meta().draws_by_agreement)
            && !matches!(common.table.turn(), Turn::Over(_))
        {
            self.offer = Some(seat);
            let event = RefereeEvent { kind: "draw_offered", seat, reason: None };
            common.broadcast_event(stamp, |_, out| json::write_value(out, &event));
        }
        PhaseFlow::Continue(by_referee)
    }
}
