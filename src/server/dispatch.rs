//! From a line to the match that it is for.

use std::iter;

use referee_protocol::bot;
use referee_protocol::limits;
use referee_protocol::words::{ErrorCode, FaultCode};
use serde_json::value::RawValue;

use crate::core::seat::Seat;
use crate::referee::{Event, Wants};
use crate::server::entrant::check_name;
use crate::server::incoming::{self, Address, Incoming, Unreadable};
use crate::server::lane::{Lane, MatchKey, Notice};
use crate::server::leaving::SAID_BYE;
use crate::server::session::{BotHello, Role, SessionKey};
use crate::transport::{Line, Lines};

impl Lane {
    /// Handles the complete lines of a session.
    pub(super) fn handle_lines(&mut self, key: SessionKey, now: u64) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        // The lines are lent out: handling them changes the session.
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
        self.sessions[key].lines = lines;
    }

    fn handle_line(&mut self, key: SessionKey, line: Line<'_>, now: u64) {
        let session = &mut self.sessions[key];
        let bytes = match line {
            Line::Text(text) => text.len(),
            Line::TooLong => limits::LINE_FROM_BOT,
        };
        if !session.count_line(bytes) {
            let message = "more than 64 lines or 128 KiB for each open match since the last request";
            return self.throw_out(key, now, message);
        }
        match line {
            Line::Text([]) => {}
            Line::Text(text) => match incoming::read(text, session.role == Role::Host { may_open: true }) {
                (_, Ok(message)) => self.handle_message(key, message, now),
                (address, Err(Unreadable::Malformed(what))) => {
                    self.handle_broken(key, &address, FaultCode::Malformed, &what, now);
                }
                (address, Err(Unreadable::MalformedAside(what))) => {
                    self.handle_stray(key, &address, ErrorCode::Malformed, &what, now);
                }
                (address, Err(Unreadable::NotAllowed)) => {
                    let message = "only a host that was told `may_open` opens and aborts matches";
                    self.handle_stray(key, &address, ErrorCode::NotAllowed, message, now);
                }
                (address, Err(Unreadable::UnknownType(kind))) => {
                    let message = format!("there is no message `{kind}`");
                    self.handle_stray(key, &address, ErrorCode::UnknownType, &message, now);
                }
            },
            Line::TooLong => {
                let what = "a line has at most 65536 bytes; the rest of this one is passed over";
                self.handle_broken(key, &Address::default(), FaultCode::LineTooLong, what, now);
            }
        }
    }

    fn handle_message(&mut self, key: SessionKey, message: Incoming<'_>, now: u64) {
        let session = &mut self.sessions[key];
        if session.hello.is_none()
            && !matches!(message, Incoming::Hello(_) | Incoming::Bye(_) | Incoming::Pong(_))
        {
            let message = "the first message is `hello`".to_owned();
            return session.refuse(ErrorCode::OutOfState, message, None, None);
        }
        match message {
            Incoming::Hello(hello) => self.greet(key, hello, now),
            Incoming::Bye(_) => self.lose(key, now, (FaultCode::Disconnected, SAID_BYE), None),
            Incoming::Pong(_) => {}
            Incoming::Ready(ready) => {
                if let Some((game, seat)) = self.place(key, &ready.r#match, ready.seat) {
                    self.tell(game, now, Event::Ready { seat, nonce: ready.nonce.as_deref() });
                }
            }
            Incoming::Move(answer) => {
                let Some((game, seat)) = self.place(key, &answer.r#match, answer.seat) else { return };
                let (turn, text, offer_draw) = (answer.turn, &*answer.r#move, answer.offer_draw);
                let info = answer.info.map(RawValue::get);
                self.tell(game, now, Event::Answer { seat, turn, text, offer_draw, info });
            }
            Incoming::AcceptDraw(answer) => {
                if let Some((game, seat)) = self.place(key, &answer.r#match, answer.seat) {
                    self.tell(game, now, Event::AcceptDraw { seat, turn: answer.turn });
                }
            }
            Incoming::Resign(resign) => {
                if let Some((game, seat)) = self.place(key, &resign.r#match, resign.seat) {
                    self.tell(game, now, Event::Resign(seat));
                }
            }
            Incoming::Open(open) => self.handle_open(key, open, now),
            Incoming::Abort(abort) => match self.by_id.get(&*abort.r#match) {
                Some(&game) => self.tell(game, now, Event::Abort("the host broke it off")),
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
            let message = "`hello` comes once".to_owned();
            return session.refuse(ErrorCode::OutOfState, message, None, None);
        }
        if hello.protocol != referee_protocol::PROTOCOL {
            let message = format!(
                "protocol {} is not spoken here, only {}",
                hello.protocol,
                referee_protocol::PROTOCOL
            );
            return self.turn_away(key, ErrorCode::UnsupportedProtocol, message, now);
        }
        if let Err(what) = check_name(&hello.name) {
            let message = format!("{what}; say `hello` again");
            return session.refuse(ErrorCode::Malformed, message, None, None);
        }
        if [&hello.version, &hello.author]
            .into_iter()
            .flatten()
            .any(|text| text.chars().count() > limits::ABOUT)
        {
            let message = "`version` and `author` have at most 256 characters each; say `hello` again";
            return session.refuse(ErrorCode::Malformed, message.to_owned(), None, None);
        }
        if session.role == Role::Guest
            && let Some(guests) = &mut self.guests
            && let Err((code, message)) = guests.admit(&hello.name, hello.token.as_deref())
        {
            return self.turn_away(key, code, message, now);
        }
        let session = &mut self.sessions[key];
        session.hello_until = None;
        session.chatter = (0, 0);
        session.hello = Some(BotHello {
            wants: Wants::from(&hello),
            slots: hello.slots.unwrap_or(1).clamp(1, limits::SLOTS) as usize,
            name: hello.name,
            version: hello.version,
            author: hello.author,
            games: hello.games,
        });
        self.notices.push_back(Notice::Greeted(key));
    }

    /// Tells somebody who is not let in why, and closes the connection.
    pub(super) fn turn_away(&mut self, key: SessionKey, code: ErrorCode, message: String, now: u64) {
        self.sessions[key].refuse(code, message.clone(), None, None);
        self.lose(key, now, (FaultCode::NoStart, &message), Some(&message));
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
        // The next lines may be for the match that is not there yet.
        session.has_lines = true;
        // A match that an earlier line has ended takes no slot any more.
        self.flush(now);
        self.notices.push_back(Notice::OpenAsked(key, Box::new(open)));
    }

    /// The match and seat that a message is for. If there is none, the sender is told.
    fn place(&mut self, key: SessionKey, match_id: &str, seat: Option<u8>) -> Option<(MatchKey, Seat)> {
        let found = self.find(key, match_id, seat);
        found.map_err(|(code, message)| self.refuse_match(key, match_id, code, message)).ok()
    }

    /// The seat of a match that somebody names, where it is the sender's.
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
        self.sessions[key].refuse(code, message, None, Some(shown(match_id)));
    }

    /// The seat that an address names, where it is the sender's.
    fn addressed(&self, key: SessionKey, address: &Address<'_>) -> Option<(MatchKey, Seat)> {
        self.find(key, address.match_id.as_ref()?, address.seat).ok()
    }

    /// A line that is no message: the fault of a request, if it is clear of which.
    fn handle_broken(
        &mut self,
        key: SessionKey,
        address: &Address<'_>,
        code: FaultCode,
        what: &str,
        now: u64,
    ) {
        let error =
            if code == FaultCode::LineTooLong { ErrorCode::LineTooLong } else { ErrorCode::Malformed };
        if self.sessions[key].hello.is_none() {
            return match self.sessions[key].role {
                // Whoever that is, it is no bot: a browser, a scanner.
                Role::Guest => self.turn_away(key, error, what.to_owned(), now),
                _ => self.sessions[key].refuse(error, what.to_owned(), None, None),
            };
        }
        if let Some(turn) = address.turn
            && let Some((game, seat)) = self.addressed(key, address)
        {
            return self.tell(game, now, broken(seat, Some(turn), code, what));
        }
        let mut open = self.open_requests(key);
        let only = open.next().filter(|_| open.next().is_none());
        drop(open);
        // A line that names another match or seat is not in place of this answer.
        let only = only.filter(|&(game, seat)| {
            let id = &self.matches[game].play.setup().header.r#match;
            address.match_id.as_ref().is_none_or(|named| **named == **id)
                && address.seat.is_none_or(|named| named == seat.0)
        });
        match only {
            Some((game, seat)) => self.tell(game, now, broken(seat, None, code, what)),
            None => self.handle_stray(key, address, error, what, now),
        }
    }

    /// A message out of its state. It counts against a match if it is clear against which.
    fn handle_stray(
        &mut self,
        key: SessionKey,
        address: &Address<'_>,
        code: ErrorCode,
        message: &str,
        now: u64,
    ) {
        let session = &self.sessions[key];
        let only = session.seats.first().copied().filter(|_| session.seats.len() == 1);
        match self.addressed(key, address).or(only) {
            Some((game, seat)) => self.tell(game, now, Event::Stray { seat, code, message }),
            None => {
                let id = address.id.as_ref().map(ToString::to_string);
                let match_id = address.match_id.as_ref().map(|id| shown(id));
                self.sessions[key].refuse(code, message.to_owned(), id, match_id);
            }
        }
    }
}

/// As much of a match id as is repeated to who made it up.
fn shown(match_id: &str) -> String {
    match_id.chars().take(40).collect()
}

fn unknown_match(match_id: &str) -> String {
    format!("there is no match `{}` on this connection, or it has ended", shown(match_id))
}

fn broken(seat: Seat, turn: Option<u64>, code: FaultCode, detail: &str) -> Event<'_> {
    Event::Broken { seat, turn, code, detail }
}
