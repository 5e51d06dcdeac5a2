//! Answers to requests: their time, legality, faults and retries.

use std::borrow::Cow;

use referee_game::erased::MoveError;
use referee_game::excerpt::excerpt;
use referee_game::json::{self, key, opening};
use referee_game::outcome::Outcome;
use referee_game::seat::Seat;
use referee_protocol::bot::Inability;
use referee_protocol::referee as message;
use referee_protocol::words::{EndedBy, ErrorCode, FaultCode, OnFault};

use crate::adjudication::stated_score;
use crate::common::{Common, FaultyTurn};
use crate::detail::{AbortReason, Detail, Fault};
use crate::event::{GivenInfo, Stamp};
use crate::match_::PhaseFlow;
use crate::player::SeatExit;
use crate::playing::{Playing, Sealed};
use crate::received::{Received, overdue};

/// The reason why an answer was rejected.
#[derive(Debug)]
struct Refusal<'a> {
    code: FaultCode,
    /// The message for the bot; `None` if the bot itself reported the fault.
    message: Option<String>,
    legal_forms: Option<Vec<String>>,
    /// The detail for the record.
    detail: Option<&'a Detail>,
}

/// The time that a seat has taken for its open request.
#[derive(Clone, Copy, Debug, Default)]
struct TimeTaken {
    /// In microseconds.
    took: u64,
    /// The referee's lag in it, in microseconds.
    lag: u64,
    /// Time billed to the bank, in microseconds.
    billed: u64,
    is_late: bool,
}

impl TimeTaken {
    /// The message in place of an answer in time: this answer.
    fn received(&self) -> Received {
        Received::LateAnswer { took_ms: self.billed / 1000 }
    }
}

impl Common {
    /// Deducts the time for the open request of a seat.
    fn bill(&mut self, seat: Seat, TimeTaken { lag, billed, .. }: TimeTaken) {
        self.worst_lag = self.worst_lag.max(lag);
        if let Some(bank) = &mut self.player(seat).bank {
            bank.bill(billed);
        }
    }

    /// Adds up the `info` of an answer.
    fn count_info(&mut self, seat: Seat, info: Option<&str>) {
        if let Some(info) = info {
            self.player(seat).totals.add(info);
        }
    }

    /// Passes on the `info` of an answer, for spectators.
    fn show_info(&mut self, seat: Seat, info: Option<Cow<'_, str>>) {
        if let Some(info) = info.filter(|_| self.setup.watched.is_some()) {
            self.infos.push(GivenInfo { seat, info: info.into_owned() });
        }
    }
}

/// The open request that a message names. If it names another one, an `error` was sent; such messages can add up to a
/// fault.
pub(super) type NamedRequest = Result<u32, Option<(Seat, SeatExit)>>;

impl Playing {
    /// Returns the open request of a seat if `named` is its id; otherwise reports an error to the bot.
    pub(super) fn current(&self, common: &mut Common, stamp: Stamp, seat: Seat, named: u64) -> NamedRequest {
        let open = self.open_request(seat);
        if let Some(open) = open.filter(|&open| u64::from(open) == named) {
            common.player(seat).has_received();
            return Ok(open);
        }
        let decider = &self.deciders[seat.index()];
        let asked =
            decider.request.map_or(decider.next_turn, |request| request.turn + u32::from(request.is_sent));
        if named >= u64::from(asked) {
            return Err(common.early_answer(stamp, seat, named));
        }
        let message = match open {
            Some(open) => format!("request {named} is closed; request {open} waits for an answer"),
            None => format!("request {named} is closed"),
        };
        common.reject(seat, Some(named), ErrorCode::Stale, message);
        Err(None)
    }

    fn timing(&self, common: &Common, stamp: Stamp, seat: Seat) -> TimeTaken {
        let since = self.deciders[seat.index()].request.and_then(|request| request.since);
        let Some(since) = since else { return TimeTaken::default() };
        let took = stamp.at - since.at;
        let lag = (stamp.lag - since.lag).min(took);
        let is_late =
            common.players[seat.index()].bank.is_some_and(|bank| took > bank.limit() + common.margin() + lag);
        TimeTaken { took, lag, billed: took - lag, is_late }
    }

    /// Handles a move in answer to an open request.
    pub(super) fn answer(
        &mut self,
        common: &mut Common,
        stamp: Stamp,
        (seat, turn): (Seat, u32),
        text: &str,
        offer_draw: bool,
        info: Option<&str>,
    ) -> PhaseFlow {
        let info = self.keep_info(common, seat, turn, info);
        common.count_info(seat, info.as_deref());
        // Truncation is safe: every legal move is shorter. A replay, which gets the recorded text, truncates it to
        // the same text.
        let text = &*excerpt(text, common.limits.move_chars as usize);
        let timing = self.timing(common, stamp, seat);
        let mut line = common.log.answer(stamp.at, seat, turn, text, timing.took, timing.lag);
        if offer_draw {
            line.raw(key!("offer_draw"), b"true");
        }
        if let Some(info) = &info {
            line.raw(key!("info"), info.as_bytes());
        }
        line.end_line();
        let needs_score = common.setup.header.adjudication.needs_scores();
        let score = info.as_ref().filter(|_| needs_score);
        let score = score.and_then(|info| stated_score(common.setup.seating.side(seat), info));
        common.show_info(seat, info);
        if timing.is_late {
            self.time_out(common, stamp, seat, turn, Some(timing.received()));
            return PhaseFlow::Continue(());
        }
        match self.find(common, stamp, seat, text)? {
            Ok(index) => {
                common.bill(seat, timing);
                if let Some(bank) = &mut common.player(seat).bank {
                    bank.credit();
                }
                let decider = self.decider(seat);
                decider.answered += 1;
                decider.sealed = Some(Sealed::Move { index, offer_draw, score });
            }
            Err(refused) => {
                let shown = excerpt(text, 80);
                let is_hidden = common.setup.header.hides_legal(seat);
                let (message, legal_forms) = match refused {
                    MoveError::Illegal if is_hidden => (format!("`{shown}` is not legal"), None),
                    MoveError::Ambiguous(_) if is_hidden => (format!("`{shown}` is ambiguous"), None),
                    MoveError::Illegal => {
                        (format!("`{shown}` is not legal: send one of the strings in `legal`"), None)
                    }
                    MoveError::Refused(why) => (format!("`{shown}` is not legal: {why}"), None),
                    MoveError::Ambiguous(forms) => {
                        (format!("`{shown}` is ambiguous: it could be {}", forms.join(" or ")), Some(forms))
                    }
                    MoveError::RulesFailed(failed) => unreachable!("the match has been aborted: {failed}"),
                };
                let code = FaultCode::IllegalMove;
                let refusal = Refusal { code, message: Some(message), legal_forms, detail: None };
                self.refuse(common, stamp, seat, turn, refusal);
            }
        }
        PhaseFlow::Continue(())
    }

    /// The `info` of an answer in its recorded form, to which size limits apply.
    fn keep_info<'a>(
        &mut self,
        common: &mut Common,
        seat: Seat,
        turn: u32,
        info: Option<&'a str>,
    ) -> Option<Cow<'a, str>> {
        let info = json::escaped(info?);
        let limits = common.limits;
        let decider = self.decider(seat);
        decider.info_bytes += info.len();
        let fits = info.starts_with('{')
            && info.len() as u64 <= limits.info_bytes
            && decider.info_bytes as u64 <= limits.info_per_match_bytes;
        if !fits {
            decider.info_bytes -= info.len();
            let message =
                "`info` is an object of at most 4 KiB, and 1 MiB in a match; it is not kept, the move stands";
            common.send_error(seat, Some(turn.into()), ErrorCode::InfoDropped, message.to_owned(), None);
        }
        fits.then_some(info)
    }

    /// Handles an answer without a move. That is a fault, except that an outage aborts the match if bots are trusted to report
    /// outages.
    pub(super) fn unable(
        &mut self,
        common: &mut Common,
        stamp: Stamp,
        (seat, turn): (Seat, u32),
        because: Inability,
        info: Option<&str>,
    ) -> PhaseFlow {
        let info = self.keep_info(common, seat, turn, info);
        common.count_info(seat, info.as_deref());
        if because == Inability::Unavailable {
            common.player(seat).totals.add_outage();
        }
        let timing = self.timing(common, stamp, seat);
        let mut line = common.log.answer(stamp.at, seat, turn, "", timing.took, timing.lag);
        line.value(key!("unable"), &because);
        if let Some(info) = &info {
            line.raw(key!("info"), info.as_bytes());
        }
        line.end_line();
        common.show_info(seat, info);
        if because == Inability::Unavailable && common.setup.trust_outages {
            return PhaseFlow::Break(common.break_off(stamp, &AbortReason::Unavailable { seat }));
        }
        let refusal = Refusal { code: because.into(), message: None, legal_forms: None, detail: None };
        self.refuse(common, stamp, seat, turn, refusal);
        PhaseFlow::Continue(())
    }

    /// Finds the legal move of a seat that a text denotes. If its moves are not listed, the rules are asked, which may fail.
    fn find(
        &self,
        common: &mut Common,
        stamp: Stamp,
        seat: Seat,
        text: &str,
    ) -> PhaseFlow<Result<usize, MoveError>> {
        let Some(decision) = self.decision() else { return PhaseFlow::Continue(Err(MoveError::Illegal)) };
        if common.table.lists(decision, seat) {
            return PhaseFlow::Continue(common.table.find(decision, seat, text));
        }
        common.call_rules(stamp, |common| match common.table.find(decision, seat, text) {
            Err(MoveError::RulesFailed(failed)) => Err(failed),
            found => Ok(found),
        })
    }

    /// Handles `accept_draw` in answer to an open request.
    pub(super) fn accept_draw(
        &mut self,
        common: &mut Common,
        stamp: Stamp,
        seat: Seat,
        turn: u32,
    ) -> PhaseFlow<Option<(Seat, SeatExit)>> {
        if !self.decider(seat).request.is_some_and(|request| request.draw_offered) {
            let message = "no draw is offered: `accept_draw` answers a request with `draw_offered`";
            return PhaseFlow::Continue(common.stray(
                stamp,
                seat,
                Some(turn.into()),
                ErrorCode::NoOffer,
                message,
            ));
        }
        let timing = self.timing(common, stamp, seat);
        common
            .log
            .line(opening!("accept_draw"), stamp.at)
            .number(key!("seat"), seat.0)
            .number(key!("turn"), turn)
            .number(key!("took_us"), timing.took)
            .number(key!("lag_us"), timing.lag)
            .end_line();
        if timing.is_late {
            self.time_out(common, stamp, seat, turn, Some(timing.received()));
            return PhaseFlow::Continue(None);
        }
        common.bill(seat, timing);
        let outcome = Outcome::draw(EndedBy::Agreement.as_str());
        PhaseFlow::Break(common.end(stamp, EndedBy::Agreement, outcome, None, None))
    }

    /// Handles an invalid line in place of an answer.
    pub(super) fn broken(
        &mut self,
        common: &mut Common,
        stamp: Stamp,
        seat: Seat,
        named: Option<u64>,
        code: FaultCode,
        detail: &Detail,
    ) -> Option<(Seat, SeatExit)> {
        let message = detail.to_string();
        let Some(named) = named.or(self.open_request(seat).map(u64::from)) else {
            return common.stray(stamp, seat, None, error_code(code), &message);
        };
        self.current(common, stamp, seat, named)
            .map(|turn| {
                let refusal =
                    Refusal { code, message: Some(message), legal_forms: None, detail: Some(detail) };
                self.refuse(common, stamp, seat, turn, refusal);
            })
            .err()
            .flatten()
    }

    /// Handles a faulty answer: repeats the request if the policy allows a retry; otherwise the seat fails to decide.
    fn refuse(
        &mut self,
        common: &mut Common,
        stamp: Stamp,
        seat: Seat,
        turn: u32,
        Refusal { code, message, legal_forms, detail }: Refusal<'_>,
    ) {
        let timing = self.timing(common, stamp, seat);
        if timing.is_late {
            return self.time_out(common, stamp, seat, turn, Some(timing.received()));
        }
        let of = FaultyTurn { turn, took: timing.took, lag: timing.lag };
        common.count_fault(stamp, seat, code, detail, Some(of));
        if let Some(message) = message {
            common.send_error(seat, Some(turn.into()), error_code(code), message.clone(), legal_forms);
            if let OnFault::Retry(times) = common.setup.header.on_fault
                && code.is_retried()
                && self.decider(seat).retries < times
            {
                self.decider(seat).retries += 1;
                return self.ask(common, stamp, seat, Some(message::Retry { of: turn, code, message }));
            }
        }
        common.bill(seat, timing);
        let fault = Fault { seat, code, detail: detail.cloned() };
        self.decider(seat).sealed = Some(Sealed::Exit(SeatExit::Fault(fault)));
    }

    /// Closes the request of a seat if its deadline has passed.
    pub(super) fn expire(&mut self, common: &mut Common, stamp: Stamp, seat: Seat) {
        let Some(request) = self.decider(seat).request.filter(|_| self.decider(seat).sealed.is_none()) else {
            return;
        };
        let Some((since, bank)) = request.since.zip(common.player(seat).bank) else { return };
        let lag = stamp.lag - since.lag;
        let deadline = since.at + bank.limit() + common.margin() + lag;
        if stamp.at > deadline {
            let received = common.player(seat).received.take();
            self.time_out(common, stamp, seat, request.turn, received);
        } else if let Some(since) =
            self.decider(seat).request.as_mut().and_then(|request| request.since.as_mut())
        {
            since.deadline = Some(deadline);
        }
    }

    /// Closes a request whose time is up. `received` describes, by the shell or the record, what was sent in place of an
    /// answer.
    fn time_out(
        &mut self,
        common: &mut Common,
        stamp: Stamp,
        seat: Seat,
        turn: u32,
        received: Option<Received>,
    ) {
        let TimeTaken { took, lag, billed, .. } = self.timing(common, stamp, seat);
        let limit = common.player(seat).bank.map_or(0, |bank| bank.limit());
        let detail = Detail::NoAnswer { limit_ms: limit / 1000, received };
        let of = FaultyTurn { turn, took, lag };
        let code = overdue(FaultCode::Timeout, received);
        common.count_fault(stamp, seat, code, Some(&detail), Some(of));
        common.send_error(seat, Some(turn.into()), ErrorCode::Timeout, detail.to_string(), None);
        common.worst_lag = common.worst_lag.max(lag);
        // Bill at most the limit: the referee may have noticed the timeout late.
        if let Some(bank) = &mut common.player(seat).bank {
            bank.bill(billed.min(limit));
        }
        let fault = Fault { seat, code, detail: Some(detail) };
        self.decider(seat).sealed = Some(Sealed::Exit(SeatExit::Fault(fault)));
    }
}

/// The code of the `error` for a faulty answer.
pub(super) fn error_code(fault: FaultCode) -> ErrorCode {
    match fault {
        FaultCode::IllegalMove => ErrorCode::IllegalMove,
        FaultCode::LineTooLong => ErrorCode::LineTooLong,
        _ => ErrorCode::Malformed,
    }
}
