//! What bots do wrong.

use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode, OnFault};

use crate::core::json::{key, opening};
use crate::core::seat::Seat;
use crate::referee::event::Stamp;
use crate::referee::match_::{Match, NOT_READY, Phase};
use crate::referee::player::{Exit, Sealed};

/// An answer that was not accepted.
pub(super) struct Refusal<'a> {
    pub(super) code: FaultCode,
    pub(super) message: String,
    pub(super) legal_forms: Option<Vec<String>>,
    /// For the record.
    pub(super) detail: Option<&'a str>,
}

impl Match {
    /// An answer that is a fault: it is asked for again, or the seat has not decided.
    pub(super) fn refuse(&mut self, stamp: Stamp, seat: Seat, turn: u32, refusal: Refusal<'_>) {
        let Refusal { code, message, legal_forms, detail } = refusal;
        let error = match code {
            FaultCode::IllegalMove => ErrorCode::IllegalMove,
            FaultCode::LineTooLong => ErrorCode::LineTooLong,
            _ => ErrorCode::Malformed,
        };
        let (took, lag, in_time) = self.timing(stamp, seat);
        if !in_time {
            return self.time_out(stamp, seat);
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
        let fault = message::Fault { seat: seat.0, code, detail: detail.map(str::to_owned) };
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
        let player = self.player(seat);
        player.strays = player.strays.saturating_add(1);
        let strays = player.strays;
        // One fault a match: beyond that, what a stream may send between two requests is the limit.
        if strays <= limits::STRAYS + 1 {
            self.log
                .line(opening!("stray"), stamp.at)
                .number(key!("seat"), seat.0)
                .word(key!("code"), code.as_str())
                .end_line();
        }
        if strays == limits::STRAYS + 1 {
            let detail = "more than 20 messages out of their state";
            self.count_fault(stamp, seat, None, FaultCode::Protocol, Some(detail));
            let fault =
                message::Fault { seat: seat.0, code: FaultCode::Protocol, detail: Some(detail.to_owned()) };
            self.exit(stamp, seat, Exit::Fault(fault));
        }
    }

    pub(super) fn lost(&mut self, stamp: Stamp, seat: Seat, code: FaultCode, detail: &str) {
        let player = self.player(seat);
        if player.gone {
            return;
        }
        player.gone = true;
        player.outbox.clear();
        player.held.clear();
        self.count_fault(stamp, seat, None, code, Some(detail));
        let fault = message::Fault { seat: seat.0, code, detail: Some(detail.to_owned()) };
        self.exit(stamp, seat, Exit::Fault(fault));
    }

    /// Closes the request of a seat whose time is up, if it is.
    pub(super) fn expire(&mut self, stamp: Stamp, seat: Seat) {
        let margin = self.margin();
        let player = &self.players[seat.index()];
        if player.sealed.is_some() {
            return;
        }
        if self.phase == Phase::Ready {
            let limit = player.ready_limit;
            if player.started.is_some_and(|at| stamp.at > at + limit) {
                let detail = format!("{NOT_READY} within {} ms", limit / 1000);
                self.count_fault(stamp, seat, None, FaultCode::NoStart, Some(&detail));
                self.tell_error(seat, None, ErrorCode::NoStart, detail.clone(), None);
                let fault = message::Fault { seat: seat.0, code: FaultCode::NoStart, detail: Some(detail) };
                self.player(seat).sealed = Some(Sealed::Exit(Exit::Fault(fault)));
            }
            return;
        }
        let Some(since) = player.request.and_then(|request| request.since) else { return };
        let Some(bank) = player.bank else { return };
        let deadline = since.at + bank.limit() + margin + self.allowance(player, stamp.lag - since.lag);
        if stamp.at > deadline {
            self.time_out(stamp, seat);
        } else if let Some(since) =
            self.player(seat).request.as_mut().and_then(|request| request.since.as_mut())
        {
            since.deadline = Some(deadline);
        }
    }

    pub(super) fn time_out(&mut self, stamp: Stamp, seat: Seat) {
        let (took, lag, _) = self.timing(stamp, seat);
        let player = self.player(seat);
        let (turn, limit) =
            (player.request.map(|request| request.turn), player.bank.map_or(0, |bank| bank.limit()));
        let detail = format!("no complete line arrived within {} ms; is stdout flushed?", limit / 1000);
        let mut line = self.log.line(opening!("fault"), stamp.at);
        line.number(key!("seat"), seat.0);
        if let Some(turn) = turn {
            line.number(key!("turn"), turn);
        }
        line.word(key!("code"), FaultCode::Timeout.as_str()).text(key!("detail"), &detail);
        line.number(key!("took_us"), took).number(key!("lag_us"), lag).end_line();
        self.tell_error(seat, turn.map(u64::from), ErrorCode::Timeout, detail.clone(), None);
        self.worst_lag = self.worst_lag.max(lag);
        let moved_by = self.allowance(&self.players[seat.index()], lag);
        let player = self.player(seat);
        player.lag_used += moved_by;
        player.faults.add(FaultCode::Timeout);
        // All the time that there was is gone, and no more: the referee may have noticed late.
        if let Some(bank) = &mut player.bank {
            bank.bill(took.min(limit));
        }
        let fault = message::Fault { seat: seat.0, code: FaultCode::Timeout, detail: Some(detail) };
        player.sealed = Some(Sealed::Exit(Exit::Fault(fault)));
    }

    pub(super) fn count_fault(
        &mut self,
        stamp: Stamp,
        seat: Seat,
        turn: Option<u32>,
        code: FaultCode,
        detail: Option<&str>,
    ) {
        let lag = turn.map(|_| self.timing(stamp, seat));
        let mut line = self.log.line(opening!("fault"), stamp.at);
        line.number(key!("seat"), seat.0);
        if let Some(turn) = turn {
            line.number(key!("turn"), turn);
        }
        line.word(key!("code"), code.as_str());
        if let Some(detail) = detail {
            line.text(key!("detail"), detail);
        }
        if let Some((took, lag, _)) = lag {
            line.number(key!("took_us"), took).number(key!("lag_us"), lag);
        }
        line.end_line();
        self.player(seat).faults.add(code);
    }

    /// A seat gives up or is at fault outside an answer. While several decide, that waits until all have.
    pub(super) fn exit(&mut self, stamp: Stamp, seat: Seat, exit: Exit) {
        let waits = self.phase == Phase::Ready || self.deciding.len() > 1;
        let random_goes_on = self.setup.header.on_fault == OnFault::Random
            && matches!(&exit, Exit::Fault(_))
            && !self.players[seat.index()].gone;
        let is_deciding = self.deciding.contains(seat);
        let player = self.player(seat);
        if player.out {
            // Its side has lost already.
        } else if is_deciding && player.sealed.is_none() {
            player.sealed = Some(Sealed::Exit(exit));
        } else if random_goes_on {
            // Counted; there is no decision that the referee could make for it.
        } else if waits {
            player.exit_later.get_or_insert(exit);
        } else {
            self.judge(stamp, vec![(seat, exit)], false);
        }
    }
}
