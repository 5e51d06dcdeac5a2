//! Dispatches lines to matches.

use std::iter;

use referee_protocol::bot;
use referee_protocol::limits;
use referee_protocol::words::{ErrorCode, FaultCode};
use serde_json::value::RawValue;

use crate::core::seat::Seat;
use crate::referee::{Abort, Detail, Event, RefusedLine};
use crate::server::evidence::beginning;
use crate::server::incoming::{self, Address, Incoming, Unreadable};
use crate::server::lane::{Lane, MatchKey, Notice};
use crate::server::session::{BotHello, HelloError, PendingHello, Role, SessionKey};
use crate::transport::{Line, Lines, Stream};

/// The reason for rejecting a connection that uses TLS where plain text is expected.
const TLS: &str = "this port uses plain text, but a TLS handshake arrived: connect without TLS";

impl Lane {
    /// Handles the complete lines of a session.
    pub(super) fn handle_lines(&mut self, key: SessionKey, now: u64) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        if session.pending_hello.is_some() {
            return;
        }
        if session.is_pending() && session.speaks_tls() {
            return self.reject(key, ErrorCode::Malformed, Detail::other(TLS), now);
        }
        // Handling a line may change the session, so its lines are taken out.
        let mut lines = std::mem::replace(&mut session.lines, Lines::new(limits::LINE_FROM_BOT));
        session.has_lines = false;
        while let Some(line) = lines.next_line() {
            self.handle_line(key, line, now);
            let Some(session) = self.sessions.get(key).filter(|session| session.stream.is_some()) else {
                return;
            };
            if session.has_lines {
                self.ready.push(key);
                break;
            }
        }
        let session = &mut self.sessions[key];
        session.lines = lines;
        if session.is_pending() && session.lines.held() > limits::LONG_HELLO && !session.is_long {
            session.is_long = true;
            self.notices.push_back(Notice::LongLine(key));
        }
    }

    fn handle_line(&mut self, key: SessionKey, line: Line<'_>, now: u64) {
        let session = &mut self.sessions[key];
        let bytes = match line {
            Line::Text(text) => text.len(),
            Line::TooLong => limits::LINE_FROM_BOT,
        };
        if !session.count_line(bytes) {
            let (most_lines, most_bytes) = (limits::LINES_BETWEEN_REQUESTS, limits::BYTES_BETWEEN_REQUESTS);
            let detail = Detail::Flood { most_lines: most_lines.into(), most_bytes: most_bytes.into() };
            return self.end_for_violation(key, now, detail);
        }
        match line {
            Line::Text([]) => {}
            Line::Text(text) => match incoming::read(text, session.role == Role::Host { may_open: true }) {
                (_, Ok(message)) => self.handle_message(key, message, now),
                (address, Err(Unreadable::Malformed(what))) => {
                    self.handle_broken(key, &address, (FaultCode::Malformed, what), Some(text), now);
                }
                (address, Err(unreadable)) => {
                    let (refused, message) = unreadable.refusal();
                    self.handle_stray(key, &address, refused, &message, now);
                }
            },
            Line::TooLong => {
                let what = Detail::LineTooLong { most_bytes: limits::LINE_FROM_BOT as u64 };
                self.handle_broken(key, &Address::default(), (FaultCode::LineTooLong, what), None, now);
            }
        }
    }

    fn handle_message(&mut self, key: SessionKey, message: Incoming<'_>, now: u64) {
        let session = &mut self.sessions[key];
        if session.hello.is_none()
            && !matches!(message, Incoming::Hello(_) | Incoming::Bye(_) | Incoming::Pong(_))
        {
            return self.refuse_hello(
                key,
                ErrorCode::OutOfState.into(),
                "the first message is `hello`".to_owned(),
            );
        }
        match message {
            Incoming::Hello(hello) => self.greet(key, hello, now),
            Incoming::Bye(_) => self.end_session(key, now, (FaultCode::Disconnected, &Detail::SaidBye), None),
            Incoming::Pong(_) => {}
            Incoming::Ready(ready) => {
                if let Some((game, seat)) = self.place(key, &ready.r#match, ready.seat) {
                    self.notify_match(game, now, Event::Ready { seat, nonce: ready.nonce.as_deref() });
                }
            }
            Incoming::Move(answer) => {
                let Some((game, seat)) = self.place(key, &answer.r#match, answer.seat) else { return };
                let (turn, text, offer_draw) = (answer.turn, &*answer.r#move, answer.offer_draw);
                let info = answer.info.map(RawValue::get);
                self.notify_match(game, now, Event::Answer { seat, turn, text, offer_draw, info });
            }
            Incoming::AcceptDraw(answer) => {
                if let Some((game, seat)) = self.place(key, &answer.r#match, answer.seat) {
                    self.notify_match(game, now, Event::AcceptDraw { seat, turn: answer.turn });
                }
            }
            Incoming::Resign(resign) => {
                if let Some((game, seat)) = self.place(key, &resign.r#match, resign.seat) {
                    self.notify_match(game, now, Event::Resign(seat));
                }
            }
            Incoming::Open(open) => self.handle_open(key, open, now),
            Incoming::Abort(abort) => match self.by_id.get(&*abort.r#match) {
                Some(&game) => self.notify_match(game, now, Event::Abort(&Abort::ByHost)),
                None => {
                    let message = unknown_match(&abort.r#match);
                    self.refuse_match(key, &abort.r#match, ErrorCode::UnknownMatch, message);
                }
            },
        }
    }

    fn greet(&mut self, key: SessionKey, hello: bot::Hello, now: u64) {
        let session = &mut self.sessions[key];
        if session.hello.is_some() {
            return self.refuse_hello(key, ErrorCode::OutOfState.into(), "`hello` comes once".to_owned());
        }
        let token = hello.token.clone();
        let hello = match BotHello::check(hello) {
            Ok(hello) => hello,
            Err(HelloError::Protocol(detail)) => {
                return self.reject(key, ErrorCode::UnsupportedProtocol, detail, now);
            }
            Err(HelloError::Field { refused, message }) => return self.refuse_hello(key, refused, message),
        };
        if session.role == Role::Connection {
            session.pending_hello = Some(PendingHello { hello, token });
            // Lines after the `hello` wait for the decision.
            session.has_lines = true;
            self.notices.push_back(Notice::HelloReceived(key));
        } else {
            session.introduce(hello);
            self.notices.push_back(Notice::Greeted(key));
        }
    }

    /// The `hello` of a connection that has neither been admitted nor rejected.
    pub(super) fn pending_hello(&self, key: SessionKey) -> Option<&PendingHello> {
        self.sessions.get(key)?.pending_hello.as_ref()
    }

    /// Admits a connection whose `hello` has arrived.
    pub(super) fn admit(&mut self, key: SessionKey) {
        if let Some(session) = self.sessions.get_mut(key)
            && let Some(PendingHello { hello, .. }) = session.pending_hello.take()
        {
            session.has_lines = false;
            session.introduce(hello);
            self.ready.push(key);
        }
    }

    /// Reads pending input, whether or not the reactor has reported it. Returns whether a `hello` waits for a
    /// decision.
    pub(super) fn reads_hello(&mut self, key: SessionKey) -> bool {
        let Some(session) = self.sessions.get_mut(key).filter(|session| session.pending_hello.is_none())
        else {
            return false;
        };
        if session.stream.as_ref().is_some_and(Stream::is_cheap_to_read) {
            session.drain();
            let now = self.now();
            self.handle_lines(key, now);
        }
        self.pending_hello(key).is_some()
    }

    /// Rejects a connection, reporting the reason, and closes it.
    pub(super) fn reject(&mut self, key: SessionKey, code: ErrorCode, detail: Detail, now: u64) {
        let session = &mut self.sessions[key];
        session.fall_back_to_plain_text();
        session.refuse(code, detail.to_string(), None, None);
        self.end_session(key, now, (FaultCode::NoStart, &detail), Some(&detail));
    }

    fn handle_open(&mut self, key: SessionKey, open: bot::Open<&RawValue>, now: u64) {
        let session = &mut self.sessions[key];
        let id = open.id.clone();
        if id.as_ref().is_some_and(|id| id.len() > limits::OPEN_ID) {
            let message = format!("`id` has at most {} bytes", limits::OPEN_ID);
            return session.refuse(ErrorCode::BadSetup, message, None, None);
        }
        let asked = open.options.map(ToOwned::to_owned);
        let bot::Open { game, seats, seed, deal, clock, on_fault, auto_ready, .. } = open;
        let open = bot::Open { id, game, seats, options: asked, seed, deal, clock, on_fault, auto_ready };
        // The next lines may be for the match that this line opens.
        session.has_lines = true;
        // A match that an earlier line ended must free its slot first.
        self.flush(now);
        self.notices.push_back(Notice::OpenAsked(key, Box::new(open)));
    }

    /// Finds the match and seat that a message addresses, or sends an error.
    fn place(&mut self, key: SessionKey, match_id: &str, seat: Option<u8>) -> Option<(MatchKey, Seat)> {
        let found = self.find(key, match_id, seat);
        found.map_err(|(code, message)| self.refuse_match(key, match_id, code, message)).ok()
    }

    /// Finds a seat of the sender in the match that a message names.
    fn find(
        &self,
        key: SessionKey,
        match_id: &str,
        seat: Option<u8>,
    ) -> Result<(MatchKey, Seat), (ErrorCode, String)> {
        let unknown = || (ErrorCode::UnknownMatch, unknown_match(match_id));
        let game = *self.by_id.get(match_id).ok_or_else(unknown)?;
        let places = (0..).map(Seat).zip(&self.matches[game].places);
        let mut own = places.filter(|&(_, place)| *place == Some(key)).map(|(seat, _)| seat);
        let first = own.next().ok_or_else(unknown)?;
        let found = match seat {
            Some(seat) => iter::once(first).chain(own).find(|own| own.0 == seat),
            None => Some(first).filter(|_| own.next().is_none()),
        };
        found.map(|seat| (game, seat)).ok_or_else(|| {
            let message = match seat {
                Some(seat) => format!("seat {seat} of this match is not yours"),
                None => "`seat` is missing: several seats of this match are yours".to_owned(),
            };
            (ErrorCode::UnknownSeat, message)
        })
    }

    fn refuse_match(&mut self, key: SessionKey, match_id: &str, code: ErrorCode, message: String) {
        self.note_refused(key, Some(match_id), code.into());
        self.sessions[key].refuse(code, message, None, Some(shown(match_id)));
    }

    /// Rejects a message in place of `hello`, or a second `hello`.
    fn refuse_hello(&mut self, key: SessionKey, refused: RefusedLine, message: String) {
        self.note_refused(key, None, refused);
        self.sessions[key].refuse(refused.code, message, None, None);
    }

    /// Notes a rejected line for the match of the sender that it names, or for all matches of the sender.
    fn note_refused(&mut self, key: SessionKey, match_id: Option<&str>, refused: RefusedLine) {
        let session = &mut self.sessions[key];
        session.refused = Some(refused);
        let named = match_id.and_then(|id| self.by_id.get(id));
        let named = named.filter(|named| session.seats.iter().any(|(game, _)| game == *named));
        for &(game, seat) in &session.seats {
            if named.is_none_or(|named| *named == game)
                && let Some(running) = self.matches.get_mut(game)
            {
                running.play.note_refused(seat, refused);
            }
        }
    }

    /// The seat that an address names, if it belongs to the sender.
    fn addressed(&self, key: SessionKey, address: &Address<'_>) -> Option<(MatchKey, Seat)> {
        self.find(key, address.match_id.as_ref()?, address.seat).ok()
    }

    /// Handles a malformed line: a fault if it can be attributed to one request, otherwise an out-of-state message.
    /// `line` is `None` if it was discarded.
    fn handle_broken(
        &mut self,
        key: SessionKey,
        address: &Address<'_>,
        (code, what): (FaultCode, Detail),
        line: Option<&[u8]>,
        now: u64,
    ) {
        let error =
            if code == FaultCode::LineTooLong { ErrorCode::LineTooLong } else { ErrorCode::Malformed };
        if self.sessions[key].hello.is_none() {
            return match self.sessions[key].role {
                // Not a bot: a browser or a port scanner.
                Role::Connection => self.reject(key, error, what, now),
                _ => self.refuse_hello(key, error.into(), what.to_string()),
            };
        }
        if let Some(turn) = address.turn
            && let Some((game, seat)) = self.addressed(key, address)
        {
            let event = Event::Broken { seat, turn: Some(turn), code, detail: &what };
            return self.tell_broken((game, seat), event, line, now);
        }
        let mut open = self.open_requests(key);
        let only = open.next().filter(|_| open.next().is_none());
        drop(open);
        // A line that names another match or seat does not replace this answer.
        let only = only.filter(|&(game, seat)| {
            let id = &self.matches[game].play.setup().header.r#match;
            address.match_id.as_ref().is_none_or(|named| **named == **id)
                && address.seat.is_none_or(|named| named == seat.0)
        });
        match only {
            Some((game, seat)) => {
                let event = Event::Broken { seat, turn: None, code, detail: &what };
                self.tell_broken((game, seat), event, line, now);
            }
            None => self.handle_stray(key, address, error.into(), &what.to_string(), now),
        }
    }

    /// Passes a malformed line to a match, and keeps the beginning of the line if it is a fault.
    fn tell_broken(
        &mut self,
        (game, seat): (MatchKey, Seat),
        event: Event<'_>,
        line: Option<&[u8]>,
        now: u64,
    ) {
        let before = self.matches[game].play.faults(seat);
        self.notify_match(game, now, event);
        let running = &mut self.matches[game];
        if let Some(line) = line.filter(|_| running.play.faults(seat) != before) {
            running.malformed.insert(seat, beginning(line));
        }
    }

    /// Handles an out-of-state message. It counts against a match if it can be attributed to one.
    fn handle_stray(
        &mut self,
        key: SessionKey,
        address: &Address<'_>,
        refused: RefusedLine,
        message: &str,
        now: u64,
    ) {
        let code = refused.code;
        let session = &self.sessions[key];
        let only = session.seats.first().copied().filter(|_| session.seats.len() == 1);
        match self.addressed(key, address).or(only) {
            Some((game, seat)) => self.notify_match(game, now, Event::Stray { seat, code, message }),
            None => {
                let id = address.id.as_ref().map(ToString::to_string);
                self.note_refused(key, address.match_id.as_deref(), refused);
                let match_id = address.match_id.as_ref().map(|id| shown(id));
                self.sessions[key].refuse(code, message.to_owned(), id, match_id);
            }
        }
    }
}

/// Truncates a match id for an error message.
fn shown(match_id: &str) -> String {
    match_id.chars().take(40).collect()
}

fn unknown_match(match_id: &str) -> String {
    format!("there is no match `{}` on this connection, or it has ended", shown(match_id))
}
