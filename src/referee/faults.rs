//! Faults: rejected answers, messages in the wrong state, disconnects, timeouts.

use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode, OnFault};

use crate::core::json::{key, opening};
use crate::core::seat::Seat;
use crate::referee::detail::{Detail, Fault};
use crate::referee::event::Stamp;
use crate::referee::match_::{Match, Phase};
use crate::referee::player::{Exit, Sealed};
use crate::referee::received::Received;

/// Why an answer was rejected.
#[derive(Debug)]
pub(super) struct Refusal<'a> {
    pub(super) code: FaultCode,
    pub(super) message: String,
    pub(super) legal_forms: Option<Vec<String>>,
    /// For the record.
    pub(super) detail: Option<&'a Detail>,
}

impl Match {
    /// Handles a faulty answer: repeats the request if the policy allows a retry; otherwise the seat fails to decide.
    pub(super) fn refuse(&mut self, stamp: Stamp, seat: Seat, turn: u32, refusal: Refusal<'_>) {
        let Refusal { code, message, legal_forms, detail } = refusal;
        let error = match code {
            FaultCode::IllegalMove => ErrorCode::IllegalMove,
            FaultCode::LineTooLong => ErrorCode::LineTooLong,
            _ => ErrorCode::Malformed,
        };
        let (took, lag, in_time) = self.timing(stamp, seat);
        if !in_time {
            return self.time_out(stamp, seat, None);
        }
        self.count_fault(stamp, seat, Some(turn), code, detail);
        self.tell_error(seat, Some(turn.into()), error, message.clone(), legal_forms);
        if let OnFault::Retry(times) = self.setup.header.on_fault
            && code.is_retried()
            && self.player(seat).retries < times
        {
            self.player(seat).retries += 1;
            return self.ask(stamp, seat, Some(message::Retry { of: turn, code, message }));
        }
        self.bill(seat, took, lag);
        let fault = Fault { seat, code, detail: detail.cloned() };
        self.player(seat).sealed = Some(Sealed::Exit(Exit::Fault(fault)));
    }

    pub(super) fn stray(
        &mut self,
        stamp: Stamp,
        seat: Seat,
        turn: Option<u64>,
        code: ErrorCode,
        message: &str,
    ) {
        if self.player(seat).gone {
            return;
        }
        self.tell_error(seat, turn, code, message.to_owned(), None);
        self.note_refused(seat, code.into());
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
        if u64::from(strays) == most + 1 {
            let detail = Detail::Strays { most };
            self.count_fault(stamp, seat, None, FaultCode::Protocol, Some(&detail));
            let fault = Fault { seat, code: FaultCode::Protocol, detail: Some(detail) };
            self.exit(stamp, seat, Exit::Fault(fault));
        }
    }

    pub(super) fn lost(&mut self, stamp: Stamp, seat: Seat, code: FaultCode, detail: &Detail) {
        let player = self.player(seat);
        if player.gone {
            return;
        }
        player.gone = true;
        player.outbox.clear();
        player.held.clear();
        self.count_fault(stamp, seat, None, code, Some(detail));
        let fault = Fault { seat, code, detail: Some(detail.clone()) };
        self.exit(stamp, seat, Exit::Fault(fault));
    }

    /// Closes the request of a seat if its deadline has passed.
    pub(super) fn expire(&mut self, stamp: Stamp, seat: Seat) {
        let margin = self.margin();
        let player = &self.players[seat.index()];
        if player.sealed.is_some() {
            return;
        }
        if self.phase == Phase::Ready {
            let limit = player.ready_limit;
            if player.started.is_some_and(|at| stamp.at > at + limit) {
                let received = self.player(seat).received.take();
                let detail = Detail::NotReady { limit_ms: limit / 1000, received };
                self.count_fault(stamp, seat, None, FaultCode::NoStart, Some(&detail));
                self.tell_error(seat, None, ErrorCode::NoStart, detail.to_string(), None);
                let fault = Fault { seat, code: FaultCode::NoStart, detail: Some(detail) };
                self.player(seat).sealed = Some(Sealed::Exit(Exit::Fault(fault)));
            }
            return;
        }
        let Some(since) = player.request.and_then(|request| request.since) else { return };
        let Some(bank) = player.bank else { return };
        let deadline = since.at + bank.limit() + margin + self.allowance(player, stamp.lag - since.lag);
        if stamp.at > deadline {
            let received = self.player(seat).received.take();
            self.time_out(stamp, seat, received);
        } else if let Some(since) =
            self.player(seat).request.as_mut().and_then(|request| request.since.as_mut())
        {
            since.deadline = Some(deadline);
        }
    }

    /// Closes the request of a seat whose time is up. `came` is what the shell or the record says of
    /// what was sent in place of an answer.
    pub(super) fn time_out(&mut self, stamp: Stamp, seat: Seat, received: Option<Received>) {
        let (took, lag, _) = self.timing(stamp, seat);
        let player = self.player(seat);
        let (turn, limit) =
            (player.request.map(|request| request.turn), player.bank.map_or(0, |bank| bank.limit()));
        let detail = Detail::NoAnswer { limit_ms: limit / 1000, received };
        let mut line = self.log.line(opening!("fault"), stamp.at);
        line.number(key!("seat"), seat.0);
        if let Some(turn) = turn {
            line.number(key!("turn"), turn);
        }
        line.word(key!("code"), FaultCode::Timeout.as_str()).value(key!("detail"), &detail);
        line.number(key!("took_us"), took).number(key!("lag_us"), lag).end_line();
        self.tell_error(seat, turn.map(u64::from), ErrorCode::Timeout, detail.to_string(), None);
        self.worst_lag = self.worst_lag.max(lag);
        let moved_by = self.allowance(&self.players[seat.index()], lag);
        let player = self.player(seat);
        player.lag_used += moved_by;
        player.faults.add(FaultCode::Timeout);
        // Bill at most the limit: the referee may have noticed the timeout late.
        if let Some(bank) = &mut player.bank {
            bank.bill(took.min(limit));
        }
        let fault = Fault { seat, code: FaultCode::Timeout, detail: Some(detail) };
        player.sealed = Some(Sealed::Exit(Exit::Fault(fault)));
    }

    pub(super) fn count_fault(
        &mut self,
        stamp: Stamp,
        seat: Seat,
        turn: Option<u32>,
        code: FaultCode,
        detail: Option<&Detail>,
    ) {
        let lag = turn.map(|_| self.timing(stamp, seat));
        let mut line = self.log.line(opening!("fault"), stamp.at);
        line.number(key!("seat"), seat.0);
        if let Some(turn) = turn {
            line.number(key!("turn"), turn);
        }
        line.word(key!("code"), code.as_str());
        if let Some(detail) = detail {
            line.value(key!("detail"), detail);
        }
        if let Some((took, lag, _)) = lag {
            line.number(key!("took_us"), took).number(key!("lag_us"), lag);
        }
        line.end_line();
        self.player(seat).faults.add(code);
    }

    /// Handles a resignation, or a fault outside an answer. During a simultaneous decision it is deferred until all
    /// seats have decided.
    pub(super) fn exit(&mut self, stamp: Stamp, seat: Seat, exit: Exit) {
        let waits = self.phase == Phase::Ready || self.deciding.len() > 1;
        let random_goes_on = self.setup.header.on_fault == OnFault::Random
            && matches!(&exit, Exit::Fault(_))
            && !self.players[seat.index()].gone;
        let is_deciding = self.deciding.contains(seat);
        let player = self.player(seat);
        if player.out {
            // Its side is already out.
        } else if is_deciding && player.sealed.is_none() {
            player.sealed = Some(Sealed::Exit(exit));
        } else if random_goes_on {
            // The fault is counted; the seat has no decision that the referee could make for it.
        } else if waits {
            player.exit_later.get_or_insert(exit);
        } else {
            self.judge(stamp, vec![(seat, exit)], false);
        }
    }
}
