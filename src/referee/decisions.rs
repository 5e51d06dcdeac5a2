//! Drives the match after decisions: plays moves, sends requests, ends the match.

use std::cmp::Reverse;

use referee_protocol::referee as message;
use referee_protocol::words::{EndedBy, FaultCode, OnFault};

use crate::core::chance::Uniform;
use crate::core::game::Turn;
use crate::core::json::{self, Object, key, opening};
use crate::core::outcome::Outcome;
use crate::core::seat::{Seat, Viewer};
use crate::referee::detail::{Abort, Fault};
use crate::referee::ending::{Ending, Standing, ranks_and_scores};
use crate::referee::event::Stamp;
use crate::referee::match_::{Match, Phase};
use crate::referee::player::{Exit, Faults, Request, Sealed};
use crate::referee::setup::Leg;
use crate::referee::telling::Happened;

impl Match {
    /// Advances the match until it waits for an event.
    pub(super) fn run(&mut self, stamp: Stamp) {
        let mut fallback_moves = 0;
        while self.phase != Phase::Ended && self.resume.is_none() {
            if self.deciding.is_empty() {
                self.ask_next(stamp);
            } else if self.deciding.iter().all(|seat| self.players[seat.index()].sealed.is_some()) {
                if u64::from(fallback_moves) + self.deciding.len() as u64 > self.limits.fallback_moves {
                    self.resume = Some(stamp.at);
                    return;
                }
                fallback_moves += self.conclude(stamp);
            } else {
                return;
            }
        }
    }

    /// Acts on what has to happen next: ends the game, draws random numbers or sends requests.
    pub(super) fn ask_next(&mut self, stamp: Stamp) {
        match self.table.turn() {
            Turn::Over(outcome) => {
                let ended_by = if outcome.turn_limit { EndedBy::TurnLimit } else { EndedBy::Rules };
                self.end(stamp, ended_by, outcome.reason, outcome, None);
            }
            Turn::Draw(draw) => {
                let Some((chance, _)) = &mut self.chance else { unreachable!("keyed when play began") };
                chance.draw(draw, &mut self.drawn);
                self.log.line(opening!("draw"), stamp.at).value(key!("drawn"), &self.drawn).end_line();
                self.table.settle(&self.drawn);
                self.tell_facts(stamp);
            }
            Turn::Decide(seats) => {
                self.deciding = seats;
                for seat in seats.iter() {
                    self.table.prepare(seat);
                    if self.player(seat).is_played_by_referee() {
                        self.player(seat).sealed = Some(Sealed::Referee);
                    } else {
                        self.ask(stamp, seat, None);
                    }
                }
            }
        }
    }

    /// Writes a request, or repeats one after a rejected answer.
    pub(super) fn ask(&mut self, stamp: Stamp, seat: Seat, retry: Option<message::Retry>) {
        let Match { setup, players, table, offer, .. } = self;
        let player = &mut players[seat.index()];
        let wants = setup.wants[seat.index()];
        let draw_offered = offer.is_some_and(|by| setup.seating.side(by) != setup.seating.side(seat));
        let since = player.request.take().filter(|_| retry.is_some()).and_then(|request| request.since);
        let turn = player.next_turn;
        player.next_turn += 1;
        player.request = Some(Request { turn, since, is_sent: false, draw_offered });
        (player.refused, player.received) = (None, None);

        let out = &mut player.outbox;
        out.append(&mut player.held);
        out.extend_from_slice(&player.turn_head);
        json::decimal(out, turn.into());
        let mut line = Object::resume(out);
        if wants.view {
            line.with(key!("view"), |out| table.write_view(Viewer::Seat(seat), out));
        }
        if wants.legal {
            line.with(key!("legal"), |out| table.write_legal(seat, out));
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
        if let Some(left) = table.turns_left() {
            line.number(key!("turns_left"), left);
        }
        if draw_offered {
            line.raw(key!("draw_offered"), b"true");
        }
        if let Some(retry) = &retry {
            line.value(key!("retry"), retry);
        }
        line.end_line();
    }

    /// Concludes a decision when every seat has answered or failed: applies resignations and faults, then plays the
    /// moves. Returns how many moves the referee made for faulty seats.
    pub(super) fn conclude(&mut self, stamp: Stamp) -> u32 {
        let exits = self.players.iter().filter_map(|player| match &player.sealed {
            Some(Sealed::Exit(exit)) => Some((player.seat, exit.clone())),
            _ => None,
        });
        let exits = exits.collect();
        self.judge(stamp, exits, false);
        let by_referee = match self.phase {
            Phase::Ended => return 0,
            Phase::Ready => {
                self.begin(stamp);
                0
            }
            Phase::Play => self.make_moves(stamp),
        };
        let later =
            self.players.iter_mut().filter_map(|player| Some((player.seat, player.exit_later.take()?)));
        let later: Vec<_> = later.collect();
        // If the moves have ended the match, later resignations and faults came after the end.
        if !later.is_empty() && self.phase != Phase::Ended && !matches!(self.table.turn(), Turn::Over(_)) {
            self.judge(stamp, later, true);
        }
        by_referee
    }

    /// Begins play once all nonces are known.
    pub(super) fn begin(&mut self, stamp: Stamp) {
        let nonces: Vec<&str> = self.players.iter().map(|player| player.nonce.as_str()).collect();
        let header = &self.setup.header;
        let key = self.setup.seed.match_key(&header.game, &header.deal, &nonces);
        self.chance = Some((key.stream(), key.fallback()));
        self.phase = Phase::Play;
        self.close_decision();
        self.play_opening(stamp, key.opening());
    }

    pub(super) fn close_decision(&mut self) {
        for seat in std::mem::take(&mut self.deciding).iter() {
            let player = self.player(seat);
            player.sealed = None;
            player.request = None;
        }
    }

    /// Plays the decided moves in seat order. Returns how many of them the referee made for faulty seats.
    pub(super) fn make_moves(&mut self, stamp: Stamp) -> u32 {
        let mut by_referee = 0;
        let mut offer = None;
        for seat in self.deciding.iter() {
            let index = match self.players[seat.index()].sealed {
                Some(Sealed::Move { index, offer_draw }) => {
                    offer = offer.or(offer_draw.then_some(seat));
                    index
                }
                _ => {
                    let Some((_, fallback)) = &mut self.chance else { unreachable!("keyed when play began") };
                    let index = fallback.uniform(self.table.count(seat) as u64) as usize;
                    let mv = self.table.text(seat, index);
                    self.log
                        .line(opening!("fallback"), stamp.at)
                        .number(key!("seat"), seat.0)
                        .text(key!("move"), mv)
                        .end_line();
                    by_referee += 1;
                    index
                }
            };
            self.table.play(seat, index);
            self.decisions += 1;
            // A draw offer lapses with the opponent's move (C2).
            self.offer =
                self.offer.filter(|&by| self.setup.seating.side(by) == self.setup.seating.side(seat));
        }
        self.close_decision();
        self.tell_facts(stamp);
        if let Some(seat) = offer.filter(|_| self.table.meta().draws_by_agreement)
            && !matches!(self.table.turn(), Turn::Over(_))
        {
            self.offer = Some(seat);
            let event = Happened { kind: "draw_offered", seat, reason: None };
            self.tell_event(stamp, |_, out| json::write_value(out, &event));
        }
        by_referee
    }

    /// Eliminates sides after resignations and faults, and ends the match if at most one side is left. `is_late`
    /// marks exits that came after the answers to a decision: they apply after that decision and before the next one.
    pub(super) fn judge(&mut self, stamp: Stamp, exits: Vec<(Seat, Exit)>, is_late: bool) {
        if exits.is_empty() {
            return;
        }
        let is_random = self.setup.header.on_fault == OnFault::Random;
        let decision = self.decisions + u32::from(self.phase == Phase::Play);
        let moment = 2 * decision - u32::from(is_late);
        let mut newly_out = Vec::new();
        for (seat, exit) in &exits {
            let side = self.setup.seating.side(*seat);
            if let Exit::Fault(fault) = exit
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
            // Seats come in ascending order, so this is the fault of the lowest seat. Its side may already be out //
            // because its partner resigned.
            let fault = exits.iter().find_map(|(seat, exit)| match exit {
                Exit::Fault(fault) if !is_random && went_out(*seat) => Some(fault.clone()),
                _ => None,
            });
            let (ended_by, reason) = match &fault {
                Some(fault) => (EndedBy::Fault, fault.code.as_str()),
                None => (EndedBy::Resignation, EndedBy::Resignation.as_str()),
            };
            return self.end(stamp, ended_by, reason, Outcome::draw(reason), fault);
        }
        for (side, exit) in newly_out {
            for seat in self.setup.seating.members(side).iter() {
                let deciding = self.phase == Phase::Play && self.deciding.contains(seat);
                let player = self.player(seat);
                player.out = true;
                if deciding {
                    player.sealed = Some(Sealed::Referee);
                }
                let event = Happened { kind: "out", seat, reason: Some(exit.reason()) };
                self.tell_event(stamp, |_, out| json::write_value(out, &event));
            }
        }
        if is_random && self.players.iter().all(|player| player.gone || player.absent) {
            self.abort(stamp);
        }
    }

    /// Ends the match without a result, for a recorded reason.
    pub(super) fn break_off(&mut self, stamp: Stamp, reason: &Abort) {
        self.log.line(opening!("abort"), stamp.at).value(key!("reason"), reason).end_line();
        self.broken_off = Some(reason.clone());
        self.abort(stamp);
    }

    pub(super) fn abort(&mut self, stamp: Stamp) {
        let word = EndedBy::Aborted.as_str();
        self.end(stamp, EndedBy::Aborted, word, Outcome::draw(word), None);
    }

    pub(super) fn end(
        &mut self,
        stamp: Stamp,
        ended_by: EndedBy,
        reason: &str,
        outcome: Outcome,
        fault: Option<Fault>,
    ) {
        let seating = self.setup.seating;
        let standing = std::array::from_fn(|side| match self.out[side] {
            Some(moment) => Standing::Out(Reverse(moment)),
            None => Standing::In(outcome.standing(side)),
        });
        let (ranks, scores) =
            Some(ranks_and_scores(seating, standing)).filter(|_| ended_by != EndedBy::Aborted).unzip();
        let ending = Ending { ended_by, reason: reason.to_owned(), ranks, scores, fault };
        self.phase = Phase::Ended;
        let faults: Vec<Faults> = self.players.iter().map(|player| player.faults).collect();
        let mut line = self.log.line(opening!("result"), stamp.at);
        line.fields(&ending).value(key!("faults"), &faults);
        line.number(key!("decisions"), self.decisions).number(key!("lag_ms"), self.worst_lag / 1000);
        if self.paused > 0 {
            line.number(key!("paused_ms"), self.paused / 1000);
        }
        line.end_line();
        // An aborted match of a mirrored set may be replayed with the same deal, so its seed stays secret.
        let is_told = match self.setup.leg {
            Leg::Only => true,
            Leg::Last => ended_by != EndedBy::Aborted,
            Leg::Earlier => false,
        };
        let reveal = is_told.then(|| self.reveal());
        for player in &mut self.players {
            player.request = None;
            if player.gone {
                continue;
            }
            player.outbox.append(&mut player.held);
            let end = message::FromReferee::<()>::End(message::End {
                r#match: self.setup.header.r#match.clone(),
                seat: player.seat.0,
                ranks: ending.ranks.clone(),
                scores: ending.scores.clone(),
                ended_by,
                reason: ending.reason.clone(),
                fault: ending.fault.as_ref().map(Into::into),
                reveal: reveal.clone(),
            });
            json::write_line(&mut player.outbox, &end);
        }
        self.ending = Some(ending);
    }
}
