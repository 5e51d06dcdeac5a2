//! The state machine of a match.

use std::cmp::Reverse;

use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::{EndedBy, ErrorCode, FaultCode, OnFault};

use serde::Serialize;

use crate::core::chance::{Stream, Uniform};
use crate::core::clock::{Bank, Tick};
use crate::core::erased::{Refused, Table};
use crate::core::game::Turn;
use crate::core::hex;
use crate::core::json::{self, Object};
use crate::core::outcome::Outcome;
use crate::core::seat::{MAX_SEATS, Seat, SeatSet, Viewer};
use crate::referee::ending::{Ending, Standing, ranks_and_scores};
use crate::referee::event::{Event, Stamp};
use crate::referee::log::Log;
use crate::referee::player::{Exit, Faults, Player, Request, Sealed, Sent};
use crate::referee::setup::Setup;

/// How the detail of a `no_start` begins when `ready` did not come; otherwise the bot did not come so far.
pub const NOT_READY: &str = "no `ready`";

/// A match: set up, played and ended by [`Match::handle`].
pub struct Match {
    setup: Setup,
    table: Box<dyn Table>,
    players: Vec<Player>,
    phase: Phase,
    /// The seats of the decision that is open. Before the first one: all, until they are ready.
    deciding: SeatSet,
    /// What the game draws, and what the referee draws for faulty seats; from when the nonces are known.
    chance: Option<(Stream, Stream)>,
    drawn: Vec<u16>,
    /// The seat whose draw offer stands.
    offer: Option<Seat>,
    /// In which decision a side went out, counted from 1 by the moves before it; 0: it did not start.
    out: [Option<u32>; MAX_SEATS],
    decisions: u32,
    /// The longest that the referee kept one answer waiting, in microseconds.
    worst_lag: u64,
    /// When there are moves left to make for faulty seats.
    resume: Option<Tick>,
    /// The latest that anything happened.
    now: Tick,
    log: Log,
    /// What somebody who looks on has seen.
    news: Vec<u8>,
    ending: Option<Ending>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ready,
    Play,
    Ended,
}

/// An event that is the match's own.
#[derive(Serialize)]
struct Happened {
    kind: &'static str,
    seat: Seat,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// An answer that was not accepted.
struct Refusal<'a> {
    code: FaultCode,
    message: String,
    legal_forms: Option<Vec<String>>,
    /// For the record.
    detail: Option<&'a str>,
}

impl Match {
    /// A match at its beginning: `start` lies in every outbox.
    pub fn open(setup: Setup, table: Box<dyn Table>) -> Match {
        let clock = setup.header.clock.map(Into::into);
        let seats = setup.seating.all();
        let mut opened = Match {
            players: seats
                .iter()
                .map(|seat| {
                    let ready_ms = setup.header.seats[seat.index()].ready_ms;
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
            log: Log::default(),
            news: Vec::new(),
            ending: None,
            setup,
            table,
        };
        Object::open(&mut opened.log.0, "record").fields(&opened.setup.header).end_line();
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

    fn write_start(&mut self, seat: Seat) {
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
            clock: header.clock,
            deal: Some(header.deal.clone()),
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

    fn margin(&self) -> u64 {
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
            Event::Restart { seat, ready_ms, wants } => {
                if self.awaits_ready(seat) {
                    let mut line = self.log.line("restart", stamp.at);
                    line.number("seat", seat.0).number("ready_ms", ready_ms).end_line();
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
                    self.log.line("resign", stamp.at).number("seat", seat.0).end_line();
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
            Event::Abort(reason) => {
                self.log.line("abort", stamp.at).value("reason", &reason).end_line();
                self.abort(stamp);
            }
        }
        self.run(stamp);
    }

    fn player(&mut self, seat: Seat) -> &mut Player {
        &mut self.players[seat.index()]
    }

    // ---- what comes in ----

    fn sent(&mut self, stamp: Stamp, seat: Seat) {
        let margin = self.margin();
        let player = &mut self.players[seat.index()];
        if self.phase == Phase::Ready {
            if player.started.is_none() {
                player.started = Some(stamp.at);
                self.log.line("start", stamp.at).number("seat", seat.0).end_line();
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
        self.log.line("request", stamp.at).number("seat", seat.0).number("turn", turn).end_line();
    }

    fn ready(&mut self, stamp: Stamp, seat: Seat, nonce: Option<&str>) {
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
        self.log.line("ready", stamp.at).number("seat", seat.0).word("nonce", nonce).end_line();
        let player = self.player(seat);
        nonce.clone_into(&mut player.nonce);
        player.sealed = Some(Sealed::Ready);
    }

    /// Whether `turn` is the request that a seat has to answer now. If not, the bot is told why.
    fn is_current(&mut self, stamp: Stamp, seat: Seat, turn: u32) -> bool {
        let open = self.open_request(seat);
        if open == Some(turn) {
            return true;
        }
        let player = self.player(seat);
        let asked =
            player.request.map_or(player.next_turn, |request| request.turn + u32::from(request.is_sent));
        if turn < asked {
            let message = match open {
                Some(open) => format!("request {turn} is closed; request {open} waits for an answer"),
                None => format!("request {turn} is closed"),
            };
            self.tell_error(seat, Some(turn), ErrorCode::Stale, message, None);
        } else {
            self.stray(stamp, seat, Some(turn), ErrorCode::OutOfState, "there is no such request yet");
        }
        false
    }

    /// How long a seat has taken for its open request, and whether that is in time.
    fn timing(&self, stamp: Stamp, seat: Seat) -> (u64, u64, bool) {
        let player = &self.players[seat.index()];
        let Some(since) = player.request.and_then(|request| request.since) else { return (0, 0, true) };
        let (took, lag) = (stamp.at - since.at, stamp.lag - since.lag);
        let in_time =
            player.bank.is_none_or(|bank| took <= bank.limit() + self.margin() + self.allowance(player, lag));
        (took, lag, in_time)
    }

    /// By how much the referee's own lag moves a deadline.
    fn allowance(&self, player: &Player, lag: u64) -> u64 {
        if lag > self.margin() { lag.min((limits::LAG_MS * 1000).saturating_sub(player.lag_used)) } else { 0 }
    }

    /// Bills the open request.
    fn bill(&mut self, seat: Seat, took: u64, lag: u64) {
        let margin = self.margin();
        self.worst_lag = self.worst_lag.max(lag);
        let player = self.player(seat);
        if let Some(bank) = &mut player.bank {
            player.lag_used += took.saturating_sub(bank.limit() + margin);
            bank.bill(took);
        }
    }

    fn answer(
        &mut self,
        stamp: Stamp,
        seat: Seat,
        turn: u32,
        text: &str,
        offer_draw: bool,
        info: Option<&str>,
    ) {
        if !self.is_current(stamp, seat, turn) {
            return;
        }
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
                self.tell_error(seat, Some(turn), ErrorCode::InfoDropped, message.to_owned(), None);
            }
            fits
        });
        let (took, lag, in_time) = self.timing(stamp, seat);
        let mut line = self.log.line("answer", stamp.at);
        line.number("seat", seat.0).number("turn", turn).value("move", &text);
        line.number("took_us", took).number("lag_us", lag);
        if offer_draw {
            line.raw("offer_draw", b"true");
        }
        if let Some(info) = info {
            line.raw("info", info.as_bytes());
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
                let mut shown: String = text.chars().take(80).collect();
                if shown.len() < text.len() {
                    shown.push_str("...");
                }
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

    fn accept_draw(&mut self, stamp: Stamp, seat: Seat, turn: u32) {
        if !self.is_current(stamp, seat, turn) {
            return;
        }
        if !self.player(seat).request.is_some_and(|request| request.draw_offered) {
            let message = "no draw is offered: `accept_draw` answers a request with `draw_offered`";
            return self.stray(stamp, seat, Some(turn), ErrorCode::NoOffer, message);
        }
        let (took, lag, in_time) = self.timing(stamp, seat);
        self.log
            .line("accept_draw", stamp.at)
            .number("seat", seat.0)
            .number("turn", turn)
            .number("took_us", took)
            .number("lag_us", lag)
            .end_line();
        if !in_time {
            return self.time_out(stamp, seat);
        }
        self.bill(seat, took, lag);
        let word = EndedBy::Agreement.as_str();
        self.end(stamp, EndedBy::Agreement, word, Outcome::draw(word), None);
    }

    fn broken(&mut self, stamp: Stamp, seat: Seat, turn: Option<u32>, code: FaultCode, detail: &str) {
        let error =
            if code == FaultCode::LineTooLong { ErrorCode::LineTooLong } else { ErrorCode::Malformed };
        match turn.or(self.open_request(seat)) {
            None => self.stray(stamp, seat, None, error, detail),
            Some(_) if self.phase == Phase::Ready => self.stray(stamp, seat, None, error, detail),
            Some(turn) => {
                if self.is_current(stamp, seat, turn) {
                    let refusal =
                        Refusal { code, message: detail.to_owned(), legal_forms: None, detail: Some(detail) };
                    self.refuse(stamp, seat, turn, refusal);
                }
            }
        }
    }

    /// An answer that is a fault: it is asked for again, or the seat has not decided.
    fn refuse(&mut self, stamp: Stamp, seat: Seat, turn: u32, refusal: Refusal<'_>) {
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
        self.tell_error(seat, Some(turn), error, message.clone(), legal_forms);
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

    fn stray(&mut self, stamp: Stamp, seat: Seat, turn: Option<u32>, code: ErrorCode, message: &str) {
        if self.player(seat).gone {
            return;
        }
        self.tell_error(seat, turn, code, message.to_owned(), None);
        let player = self.player(seat);
        player.strays = player.strays.saturating_add(1);
        let strays = player.strays;
        // One fault a match: beyond that, what a stream may send between two requests is the limit.
        if strays <= limits::STRAYS + 1 {
            self.log.line("stray", stamp.at).number("seat", seat.0).word("code", code.as_str()).end_line();
        }
        if strays == limits::STRAYS + 1 {
            let detail = "more than 20 messages out of their state";
            self.count_fault(stamp, seat, None, FaultCode::Protocol, Some(detail));
            let fault =
                message::Fault { seat: seat.0, code: FaultCode::Protocol, detail: Some(detail.to_owned()) };
            self.exit(stamp, seat, Exit::Fault(fault));
        }
    }

    fn lost(&mut self, stamp: Stamp, seat: Seat, code: FaultCode, detail: &str) {
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
    fn expire(&mut self, stamp: Stamp, seat: Seat) {
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

    fn time_out(&mut self, stamp: Stamp, seat: Seat) {
        let (took, lag, _) = self.timing(stamp, seat);
        let player = self.player(seat);
        let (turn, limit) =
            (player.request.map(|request| request.turn), player.bank.map_or(0, |bank| bank.limit()));
        let detail = format!("no complete line arrived within {} ms; is stdout flushed?", limit / 1000);
        let mut line = self.log.line("fault", stamp.at);
        line.number("seat", seat.0);
        if let Some(turn) = turn {
            line.number("turn", turn);
        }
        line.word("code", FaultCode::Timeout.as_str()).value("detail", &detail);
        line.number("took_us", took).number("lag_us", lag).end_line();
        self.tell_error(seat, turn, ErrorCode::Timeout, detail.clone(), None);
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

    fn count_fault(
        &mut self,
        stamp: Stamp,
        seat: Seat,
        turn: Option<u32>,
        code: FaultCode,
        detail: Option<&str>,
    ) {
        let lag = turn.map(|_| self.timing(stamp, seat));
        let mut line = self.log.line("fault", stamp.at);
        line.number("seat", seat.0);
        if let Some(turn) = turn {
            line.number("turn", turn);
        }
        line.word("code", code.as_str());
        if let Some(detail) = detail {
            line.value("detail", &detail);
        }
        if let Some((took, lag, _)) = lag {
            line.number("took_us", took).number("lag_us", lag);
        }
        line.end_line();
        self.player(seat).faults.add(code);
    }

    /// A seat gives up or is at fault outside an answer. While several decide, that waits until all have.
    fn exit(&mut self, stamp: Stamp, seat: Seat, exit: Exit) {
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
            self.judge(stamp, vec![(seat, exit)]);
        }
    }

    // ---- what follows ----

    /// Goes on until the match waits for somebody.
    fn run(&mut self, stamp: Stamp) {
        let mut fallback_moves = 0;
        while self.phase != Phase::Ended && self.resume.is_none() {
            if self.deciding.is_empty() {
                self.ask_next(stamp);
            } else if self.deciding.iter().all(|seat| self.players[seat.index()].sealed.is_some()) {
                if fallback_moves + self.deciding.len() as u32 > limits::FALLBACK_MOVES {
                    self.resume = Some(stamp.at);
                    return;
                }
                fallback_moves += self.conclude(stamp);
            } else {
                return;
            }
        }
    }

    /// Finds out what the position waits for.
    fn ask_next(&mut self, stamp: Stamp) {
        match self.table.turn() {
            Turn::Over(outcome) => {
                let ended_by = if outcome.turn_limit { EndedBy::TurnLimit } else { EndedBy::Rules };
                self.end(stamp, ended_by, outcome.reason, outcome, None);
            }
            Turn::Draw(draw) => {
                let Some((chance, _)) = &mut self.chance else { unreachable!("keyed when play began") };
                chance.draw(draw, &mut self.drawn);
                self.log.line("draw", stamp.at).value("drawn", &self.drawn).end_line();
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

    /// Puts a request to a seat, or puts it again.
    fn ask(&mut self, stamp: Stamp, seat: Seat, retry: Option<message::Retry>) {
        let Match { setup, players, table, offer, .. } = self;
        let player = &mut players[seat.index()];
        let wants = setup.wants[seat.index()];
        let draw_offered = offer.is_some_and(|by| setup.seating.side(by) != setup.seating.side(seat));
        let since = player.request.take().filter(|_| retry.is_some()).and_then(|request| request.since);
        let turn = player.next_turn;
        player.next_turn += 1;
        player.request = Some(Request { turn, since, is_sent: false, draw_offered });

        let out = &mut player.outbox;
        out.append(&mut player.held);
        out.extend_from_slice(&player.turn_head);
        json::decimal(out, turn.into());
        let mut line = Object::go_on(out);
        if wants.view {
            line.with("view", |out| table.write_view(Viewer::Seat(seat), out));
        }
        if wants.legal {
            line.with("legal", |out| table.write_legal(seat, out));
        }
        match player.bank {
            None => line.raw("clock", b"null"),
            Some(bank) => {
                let shown = bank.shown(since.map_or(0, |since| stamp.at - since.at));
                line.with("clock", |out| {
                    out.extend_from_slice(b"{\"bank_ms\":");
                    json::decimal(out, shown.bank_ms);
                    out.extend_from_slice(b",\"limit_ms\":");
                    json::decimal(out, shown.limit_ms);
                    out.push(b'}');
                })
            }
        };
        if let Some(left) = table.turns_left() {
            line.number("turns_left", left);
        }
        if draw_offered {
            line.raw("draw_offered", b"true");
        }
        if let Some(retry) = &retry {
            line.value("retry", retry);
        }
        line.end_line();
    }

    /// All have decided: judges who has not, then makes the moves. Returns how many of them were the referee's.
    fn conclude(&mut self, stamp: Stamp) -> u32 {
        let exits = self.players.iter().filter_map(|player| match &player.sealed {
            Some(Sealed::Exit(exit)) => Some((player.seat, exit.clone())),
            _ => None,
        });
        let exits = exits.collect();
        self.judge(stamp, exits);
        let by_referee = match self.phase {
            Phase::Ended => return 0,
            Phase::Ready => {
                self.begin();
                0
            }
            Phase::Play => self.make_moves(stamp),
        };
        let later =
            self.players.iter_mut().filter_map(|player| Some((player.seat, player.exit_later.take()?)));
        let later: Vec<_> = later.collect();
        // Where the moves have ended the match, what came after the answers came after the end.
        if !later.is_empty() && !matches!(self.table.turn(), Turn::Over(_)) {
            self.judge(stamp, later);
        }
        by_referee
    }

    /// The nonces are known: play begins.
    fn begin(&mut self) {
        let nonces: Vec<&str> = self.players.iter().map(|player| player.nonce.as_str()).collect();
        let header = &self.setup.header;
        let key = self.setup.seed.match_key(&header.game, &header.deal, &nonces);
        self.chance = Some((key.stream(), key.fallback()));
        self.phase = Phase::Play;
        self.close_decision();
    }

    fn close_decision(&mut self) {
        for seat in std::mem::take(&mut self.deciding).iter() {
            let player = self.player(seat);
            player.sealed = None;
            player.request = None;
        }
    }

    /// Plays what was decided, in seat order.
    fn make_moves(&mut self, stamp: Stamp) -> u32 {
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
                    self.log.line("fallback", stamp.at).number("seat", seat.0).value("move", &mv).end_line();
                    by_referee += 1;
                    index
                }
            };
            self.table.play(seat, index);
            self.decisions += 1;
            // C2 of checkers, and of every game with draws by agreement: a move answers the offer.
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

    /// Takes sides out of the match, and ends it when that leaves one.
    fn judge(&mut self, stamp: Stamp, exits: Vec<(Seat, Exit)>) {
        if exits.is_empty() {
            return;
        }
        let is_random = self.setup.header.on_fault == OnFault::Random;
        let mut newly_out = Vec::new();
        for (seat, exit) in &exits {
            let side = self.setup.seating.side(*seat);
            if let Exit::Fault(fault) = exit
                && is_random
            {
                self.player(*seat).absent |= fault.code == FaultCode::NoStart;
            } else if self.out[side].is_none() {
                self.out[side] = Some(self.decisions + u32::from(self.phase == Phase::Play));
                newly_out.push((side, exit));
            }
        }
        let sides_left = self.out[..self.setup.seating.sides()].iter().filter(|out| out.is_none()).count();
        if sides_left <= 1 {
            // Seats come in ascending order, so this is the lowest one's.
            let fault = newly_out.iter().find_map(|(_, exit)| match exit {
                Exit::Fault(fault) => Some(fault.clone()),
                Exit::Resign => None,
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

    fn abort(&mut self, stamp: Stamp) {
        let word = EndedBy::Aborted.as_str();
        self.end(stamp, EndedBy::Aborted, word, Outcome::draw(word), None);
    }

    fn end(
        &mut self,
        stamp: Stamp,
        ended_by: EndedBy,
        reason: &str,
        outcome: Outcome,
        fault: Option<message::Fault>,
    ) {
        let seating = self.setup.seating;
        let standing = std::array::from_fn(|side| match self.out[side] {
            Some(decision) => Standing::Out(Reverse(decision)),
            None => Standing::In(outcome.standing(side)),
        });
        let (ranks, scores) =
            Some(ranks_and_scores(seating, standing)).filter(|_| ended_by != EndedBy::Aborted).unzip();
        let ending = Ending { ended_by, reason: reason.to_owned(), ranks, scores, fault };
        self.phase = Phase::Ended;
        let faults: Vec<Faults> = self.players.iter().map(|player| player.faults).collect();
        let mut line = self.log.line("result", stamp.at);
        line.fields(&ending).value("faults", &faults);
        line.number("decisions", self.decisions).number("lag_ms", self.worst_lag / 1000).end_line();
        let reveal = self.reveal();
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
                fault: ending.fault.clone(),
                reveal: Some(reveal.clone()),
            });
            json::write_line(&mut player.outbox, &end);
        }
        self.ending = Some(ending);
    }

    // ---- what goes out ----

    fn tell_facts(&mut self, stamp: Stamp) {
        for index in 0..self.table.told() {
            // The table is lent out while its events are written.
            let Match { setup, players, table, log, news, .. } = self;
            tell(setup, players, log, news, stamp, |viewer, out| table.write_event(index, viewer, out));
        }
        self.table.forget();
    }

    fn tell_event(&mut self, stamp: Stamp, write: impl Fn(Viewer, &mut Vec<u8>)) {
        tell(&self.setup, &mut self.players, &mut self.log, &mut self.news, stamp, write);
    }

    fn tell_error(
        &mut self,
        seat: Seat,
        turn: Option<u32>,
        code: ErrorCode,
        message: String,
        forms: Option<Vec<String>>,
    ) {
        let error = message::FromReferee::<()>::Error(message::Error {
            code,
            message,
            id: None,
            r#match: Some(self.setup.header.r#match.clone()),
            seat: Some(seat.0),
            turn,
            legal_forms: forms,
        });
        let player = self.player(seat);
        if !player.gone {
            json::write_line(&mut player.outbox, &error);
        }
    }
}

/// Tells all viewers of one event, each what it may see.
fn tell(
    setup: &Setup,
    players: &mut [Player],
    log: &mut Log,
    news: &mut Vec<u8>,
    stamp: Stamp,
    write: impl Fn(Viewer, &mut Vec<u8>),
) {
    log.line("event", stamp.at).with("event", |out| write(Viewer::Omniscient, out)).end_line();
    if let Some(viewer) = setup.watched {
        write(viewer, news);
        news.push(b'\n');
    }
    for player in players {
        let wants = setup.wants[player.seat.index()];
        if !wants.event || player.gone {
            continue;
        }
        let out = if wants.push { &mut player.outbox } else { &mut player.held };
        out.extend_from_slice(&player.event_head);
        json::decimal(out, player.next_event.into());
        out.extend_from_slice(b",\"event\":");
        write(Viewer::Seat(player.seat), out);
        out.extend_from_slice(b"}\n");
        player.next_event += 1;
    }
}
