//! What bots say, and how long they took.

use referee_protocol::limits;
use referee_protocol::words::{EndedBy, ErrorCode, FaultCode};

use crate::core::erased::Refused;
use crate::core::excerpt::excerpt;
use crate::core::hex;
use crate::core::json::{key, opening};
use crate::core::outcome::Outcome;
use crate::core::seat::Seat;
use crate::referee::event::Stamp;
use crate::referee::faults::Refusal;
use crate::referee::match_::{Match, Phase};
use crate::referee::player::{Player, Sealed, Sent};

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
                return; // It comes too late, and the bot has been told so.
            }
        } else {
            return self.stray(stamp, seat, None, ErrorCode::OutOfState, "`ready` answers `start`, once");
        }
        // Where nonces are not mixed in, what a bot puts there is as good as absent.
        let nonce = nonce.filter(|_| self.setup.header.nonce).unwrap_or("");
        if hex::decode(nonce).is_none_or(|bytes| bytes.len() > limits::NONCE) {
            let message = "`nonce` is lower-case hex of at most 64 bytes; send `ready` again";
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

    /// The request that a seat has to answer now, if `named` is that. If not, the bot is told why.
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
            self.tell_error(seat, Some(named), ErrorCode::Stale, message, None);
        } else {
            self.stray(stamp, seat, Some(named), ErrorCode::OutOfState, "there is no such request yet");
        }
        None
    }

    /// How long a seat has taken for its open request, and whether that is in time.
    pub(super) fn timing(&self, stamp: Stamp, seat: Seat) -> (u64, u64, bool) {
        let player = &self.players[seat.index()];
        let Some(since) = player.request.and_then(|request| request.since) else { return (0, 0, true) };
        let (took, lag) = (stamp.at - since.at, stamp.lag - since.lag);
        let in_time =
            player.bank.is_none_or(|bank| took <= bank.limit() + self.margin() + self.allowance(player, lag));
        (took, lag, in_time)
    }

    /// By how much the referee's own lag moves a deadline.
    pub(super) fn allowance(&self, player: &Player, lag: u64) -> u64 {
        if lag > self.margin() { lag.min((limits::LAG_MS * 1000).saturating_sub(player.lag_used)) } else { 0 }
    }

    /// Bills the open request.
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
        let info = info.filter(|info| {
            let player = self.player(seat);
            player.info_bytes += info.len();
            let fits = info.starts_with('{')
                && info.len() <= limits::INFO
                && player.info_bytes <= limits::INFO_PER_MATCH;
            if !fits {
                player.info_bytes -= info.len();
                let message =
                    "`info` is an object of at most 4 KiB, and 1 MiB in a match; it is not kept, the move stands";
                self.tell_error(seat, Some(named), ErrorCode::InfoDropped, message.to_owned(), None);
            }
            fits
        });
        // What is cut off is no legal move any more, as it was none before; and a replay, which is told what was recorded,
        // keeps the same of it.
        let text = &*excerpt(text, limits::MOVE);
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
            return self.time_out(stamp, seat);
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
                    Refused::Illegal => {
                        (format!("`{shown}` is not legal: send one of the strings in `legal`"), None)
                    }
                    Refused::Ambiguous(forms) => {
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
            return self.time_out(stamp, seat);
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
        detail: &str,
    ) {
        let error =
            if code == FaultCode::LineTooLong { ErrorCode::LineTooLong } else { ErrorCode::Malformed };
        match named.or(self.open_request(seat).map(u64::from)) {
            None => self.stray(stamp, seat, None, error, detail),
            Some(_) if self.phase == Phase::Ready => self.stray(stamp, seat, None, error, detail),
            Some(named) => {
                if let Some(turn) = self.current(stamp, seat, named) {
                    let refusal =
                        Refusal { code, message: detail.to_owned(), legal_forms: None, detail: Some(detail) };
                    self.refuse(stamp, seat, turn, refusal);
                }
            }
        }
    }
}
