//! Handles answers from bots: `ready`, moves, draw acceptance, invalid lines; measures and bills their time.

use std::borrow::Cow;

use referee_protocol::words::{EndedBy, ErrorCode, FaultCode};

use crate::core::erased::MoveError;
use crate::core::excerpt::excerpt;
use crate::core::hex;
use crate::core::json::{self, key, opening};
use crate::core::outcome::Outcome;
use crate::core::seat::Seat;
use crate::referee::detail::Detail;
use crate::referee::event::Stamp;
use crate::referee::faults::Refusal;
use crate::referee::match_::{Match, Phase};
use crate::referee::player::{Player, Sealed, Sent};
use crate::referee::received::{Field, RefusedLine};

impl Match {
    pub(super) fn sent(&mut self, stamp: Stamp, seat: Seat) {
        let margin = self.margin();
        let player = &mut self.players[seat.index()];
        if self.phase == Phase::Ready {
            if player.started.is_none() {
                player.started = Some(stamp.at);
                self.log.line(opening!("start"), stamp.at).number(key!("seat"), seat.0).end_line();
            }
            return;
        }
        let Some(request) = player.request.as_mut().filter(|request| !request.is_sent) else { return };
        request.is_sent = true;
        request.since.get_or_insert_with(|| Sent {
            at: stamp.at,
            lag: stamp.lag,
            deadline: player.bank.map(|bank| stamp.at + bank.limit() + margin),
        });
        let turn = request.turn;
        self.log
            .line(opening!("request"), stamp.at)
            .number(key!("seat"), seat.0)
            .number(key!("turn"), turn)
            .end_line();
    }

    pub(super) fn ready(&mut self, stamp: Stamp, seat: Seat, nonce: Option<&str>) {
        if self.awaits_ready(seat) {
            self.expire(stamp, seat);
            if !self.awaits_ready(seat) {
                return; // Too late; `expire` has reported the fault.
            }
        } else {
            return self.stray(stamp, seat, None, ErrorCode::OutOfState, "`ready` answers `start`, once");
        }
        // Ignore the nonce if the match does not use nonces.
        let nonce = nonce.filter(|_| self.setup.header.nonce).unwrap_or("");
        if hex::decode(nonce).is_none_or(|bytes| bytes.len() as u64 > self.limits.nonce_bytes) {
            let message = "`nonce` is lower-case hex of at most 64 bytes; send `ready` again";
            let refused = RefusedLine { code: ErrorCode::Malformed, field: Some(Field::Nonce) };
            self.note_refused(seat, refused);
            return self.tell_error(seat, None, ErrorCode::Malformed, message.to_owned(), None);
        }
        self.log
            .line(opening!("ready"), stamp.at)
            .number(key!("seat"), seat.0)
            .word(key!("nonce"), nonce)
            .end_line();
        let player = self.player(seat);
        nonce.clone_into(&mut player.nonce);
        player.sealed = Some(Sealed::Ready);
    }

    /// Returns the open request of a seat if `named` is its id; otherwise reports an error to the bot.
    pub(super) fn current(&mut self, stamp: Stamp, seat: Seat, named: u64) -> Option<u32> {
        let open = self.open_request(seat);
        if open.map(u64::from) == Some(named) {
            return open;
        }
        let player = self.player(seat);
        let asked =
            player.request.map_or(player.next_turn, |request| request.turn + u32::from(request.is_sent));
        if named < u64::from(asked) {
            let message = match open {
                Some(open) => format!("request {named} is closed; request {open} waits for an answer"),
                None => format!("request {named} is closed"),
            };
            self.note_refused(seat, ErrorCode::Stale.into());
            self.tell_error(seat, Some(named), ErrorCode::Stale, message, None);
        } else {
            self.stray(stamp, seat, Some(named), ErrorCode::OutOfState, "there is no such request yet");
        }
        None
    }

    /// Returns the time a seat has taken for its open request, the referee's lag in it, and whether it is in time.
    pub(super) fn timing(&self, stamp: Stamp, seat: Seat) -> (u64, u64, bool) {
        let player = &self.players[seat.index()];
        let Some(since) = player.request.and_then(|request| request.since) else { return (0, 0, true) };
        let (took, lag) = (stamp.at - since.at, stamp.lag - since.lag);
        let in_time =
            player.bank.is_none_or(|bank| took <= bank.limit() + self.margin() + self.allowance(player, lag));
        (took, lag, in_time)
    }

    /// By how much the referee's own lag extends a deadline.
    pub(super) fn allowance(&self, player: &Player, lag: u64) -> u64 {
        if lag > self.margin() {
            lag.min((self.limits.lag_ms * 1000).saturating_sub(player.lag_used))
        } else {
            0
        }
    }

    /// Deducts the time for the open request.
    pub(super) fn bill(&mut self, seat: Seat, took: u64, lag: u64) {
        let margin = self.margin();
        self.worst_lag = self.worst_lag.max(lag);
        let player = self.player(seat);
        if let Some(bank) = &mut player.bank {
            player.lag_used += took.saturating_sub(bank.limit() + margin);
            bank.bill(took);
        }
    }

    pub(super) fn answer(
        &mut self,
        stamp: Stamp,
        seat: Seat,
        named: u64,
        text: &str,
        offer_draw: bool,
        info: Option<&str>,
    ) {
        let Some(turn) = self.current(stamp, seat, named) else { return };
        // Size limits apply to the recorded form; format 1 records `info` unescaped.
        let info = info.map(|info| match self.setup.header.format {
            1 => Cow::Borrowed(info),
            _ => json::escaped(info),
        });
        let info = info.filter(|info| {
            let limits = self.limits;
            let player = self.player(seat);
            player.info_bytes += info.len();
            let fits = info.starts_with('{')
                && info.len() as u64 <= limits.info_bytes
                && player.info_bytes as u64 <= limits.info_per_match_bytes;
            if !fits {
                player.info_bytes -= info.len();
                let message =
                    "`info` is an object of at most 4 KiB, and 1 MiB in a match; it is not kept, the move stands";
                self.tell_error(seat, Some(named), ErrorCode::InfoDropped, message.to_owned(), None);
            }
            fits
        });
        // Truncation is safe: every legal move is shorter. A replay, which gets the recorded text, truncates it to
        // the // same text.
        let text = &*excerpt(text, self.limits.move_chars as usize);
        let (took, lag, in_time) = self.timing(stamp, seat);
        let mut line = self.log.line(opening!("answer"), stamp.at);
        line.number(key!("seat"), seat.0).number(key!("turn"), turn).text(key!("move"), text);
        line.number(key!("took_us"), took).number(key!("lag_us"), lag);
        if offer_draw {
            line.raw(key!("offer_draw"), b"true");
        }
        if let Some(info) = info {
            line.raw(key!("info"), info.as_bytes());
        }
        line.end_line();
        if !in_time {
            return self.time_out(stamp, seat, None);
        }
        match self.table.find(seat, text) {
            Ok(index) => {
                self.bill(seat, took, lag);
                let player = self.player(seat);
                if let Some(bank) = &mut player.bank {
                    bank.credit();
                }
                player.sealed = Some(Sealed::Move { index, offer_draw });
            }
            Err(refused) => {
                let shown = excerpt(text, 80);
                let (message, legal_forms) = match refused {
                    MoveError::Illegal => {
                        (format!("`{shown}` is not legal: send one of the strings in `legal`"), None)
                    }
                    MoveError::Ambiguous(forms) => {
                        (format!("`{shown}` is ambiguous: it could be {}", forms.join(" or ")), Some(forms))
                    }
                };
                let refusal = Refusal { code: FaultCode::IllegalMove, message, legal_forms, detail: None };
                self.refuse(stamp, seat, turn, refusal);
            }
        }
    }

    pub(super) fn accept_draw(&mut self, stamp: Stamp, seat: Seat, named: u64) {
        let Some(turn) = self.current(stamp, seat, named) else { return };
        if !self.player(seat).request.is_some_and(|request| request.draw_offered) {
            let message = "no draw is offered: `accept_draw` answers a request with `draw_offered`";
            return self.stray(stamp, seat, Some(named), ErrorCode::NoOffer, message);
        }
        let (took, lag, in_time) = self.timing(stamp, seat);
        self.log
            .line(opening!("accept_draw"), stamp.at)
            .number(key!("seat"), seat.0)
            .number(key!("turn"), turn)
            .number(key!("took_us"), took)
            .number(key!("lag_us"), lag)
            .end_line();
        if !in_time {
            return self.time_out(stamp, seat, None);
        }
        self.bill(seat, took, lag);
        let word = EndedBy::Agreement.as_str();
        self.end(stamp, EndedBy::Agreement, word, Outcome::draw(word), None);
    }

    pub(super) fn broken(
        &mut self,
        stamp: Stamp,
        seat: Seat,
        named: Option<u64>,
        code: FaultCode,
        detail: &Detail,
    ) {
        let error =
            if code == FaultCode::LineTooLong { ErrorCode::LineTooLong } else { ErrorCode::Malformed };
        let message = detail.to_string();
        match named.or(self.open_request(seat).map(u64::from)) {
            None => self.stray(stamp, seat, None, error, &message),
            Some(_) if self.phase == Phase::Ready => self.stray(stamp, seat, None, error, &message),
            Some(named) => {
                if let Some(turn) = self.current(stamp, seat, named) {
                    let refusal = Refusal { code, message, legal_forms: None, detail: Some(detail) };
                    self.refuse(stamp, seat, turn, refusal);
                }
            }
        }
    }
}
