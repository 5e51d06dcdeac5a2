//! Handles the lines of sessions.

use referee_game::excerpt::excerpt;
use referee_game::seat::{Seat, SeatSet};
use referee_match::{Detail, Event, Match};
use referee_protocol::bot;
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::ErrorCode;
use referee_transport::{ByteStream, Line, Lines};
use rustc_hash::FxHashMap;
use serde_json::value::RawValue;
use slotmap::SlotMap;

use crate::driver::bot_fault::BotFault;
use crate::driver::hello::{BotHello, HelloError};
use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::lane::Lane;
use crate::driver::matches::Running;
use crate::driver::notice::Notice;
use crate::driver::role::Role;
use crate::driver::route::{Input, Matches, Rejection, Routed, Sender, route};
use crate::driver::session::SessionState;

/// Characters kept of a malformed line.
const QUOTED: usize = 200;

impl<S: ByteStream> Lane<S> {
    pub(super) fn handle_lines(&mut self, key: SessionKey, now: u64) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        if session.is_waiting() {
            return;
        }
        let is_pending = session.is_pending();
        let Some(stream) = session.stream_mut() else { return };
        if let Some(why) = stream.mismatch().filter(|_| is_pending) {
            return self.reject(key, ErrorCode::Malformed, Detail::other(why), now);
        }
        // Handling a line may change the session, so its lines are taken out.
        let mut lines = std::mem::replace(&mut stream.lines, Lines::new(limits::LINE_FROM_BOT));
        let arrived = std::mem::take(&mut stream.arrived);
        // The last line arrived with the last data, the one before with those before, at the latest.
        let mut left = if arrived.is_empty() { 0 } else { lines.complete() };
        while let Some(line) = lines.next_line() {
            match arrived.get(arrived.len().saturating_sub(left)) {
                None => self.handle_line(key, line, now),
                Some(&(at, waited)) => {
                    let lag = std::mem::replace(&mut self.clock.lag, waited);
                    self.handle_line(key, line, at.min(now));
                    self.clock.lag = lag;
                }
            }
            left = left.saturating_sub(1);
            let Some(session) = self.sessions.get(key).filter(|session| session.stream().is_some()) else {
                return;
            };
            if session.is_waiting() {
                self.ready.keys.push(key);
                break;
            }
        }
        let held = lines.held();
        let session = &mut self.sessions[key];
        if let Some(stream) = session.stream_mut() {
            stream.lines = lines;
        }
        if let SessionState::Greeting { awaited, .. } = &mut session.state
            && session.role.is_connection()
            && held > limits::LONG_HELLO
            && !std::mem::replace(&mut awaited.is_long, true)
        {
            self.notices.push_back(Notice::LongLine(key));
        }
    }

    fn handle_line(&mut self, key: SessionKey, line: Line<'_>, now: u64) {
        let session = &mut self.sessions[key];
        let bytes = match line {
            Line::Text(text) => text.len(),
            Line::TooLong => limits::LINE_FROM_BOT,
        };
        session.unacknowledged.clear();
        session.is_silent = false;
        if !session.count_line(bytes) {
            let (most_lines, most_bytes) = (limits::LINES_BETWEEN_REQUESTS, limits::BYTES_BETWEEN_REQUESTS);
            let detail = Detail::Flood { most_lines: most_lines.into(), most_bytes: most_bytes.into() };
            return self.reject(key, ErrorCode::Protocol, detail, now);
        }
        let sender = Sender {
            has_greeted: session.hello().is_some(),
            may_open: session.role == Role::Host { may_open: true },
        };
        let matches =
            SenderMatches { key, seats: &session.seats, by_id: &self.by_id, running: &self.matches };
        match route(line, sender, &matches) {
            Routed::Nothing => {}
            Routed::Hello(hello) => self.greet(key, hello, now),
            Routed::Bye => self.end_session(key, now, BotFault::disconnected(Detail::SaidBye), None),
            Routed::Open(open) => self.handle_open(key, open, now),
            Routed::Match(game, input) => {
                self.handle_input(game, &input, now);
                if let Some(session) = self.sessions.get_mut(key) {
                    session.has_taken_part = true;
                }
            }
            Routed::Rejected(rejection) => self.handle_rejection(key, rejection, now),
            // Not a bot: a browser or a port scanner.
            Routed::NoMessage(code, what) if self.sessions[key].role.is_connection() => {
                self.reject(key, code, what, now);
            }
            Routed::NoMessage(code, what) => {
                let rejection = Rejection::of_hello(code.into(), what.to_string());
                self.handle_rejection(key, rejection, now);
            }
        }
    }

    /// Passes a line to its match, and keeps its beginning if it is malformed and a fault.
    fn handle_input(&mut self, key: MatchKey, input: &Input<'_>, now: u64) {
        let at_fault = self.notify_match(key, now, input.event());
        if let Input::Broken { seat, line: Some(line), .. } = input
            && at_fault.contains(*seat)
        {
            self.matches[key].malformed.insert(*seat, beginning(line));
        }
    }

    /// Answers a line that reaches no match.
    fn handle_rejection(&mut self, key: SessionKey, rejection: Rejection<MatchKey>, now: u64) {
        let refused = rejection.refused;
        for index in 0..self.sessions[key].seats.len() {
            let (match_key, seat) = self.sessions[key].seats[index];
            if rejection.concerns(match_key) {
                self.notify_match(match_key, now, Event::Refused { seat, refused });
            }
        }
        let session = &mut self.sessions[key];
        if let SessionState::Greeting { awaited, .. } = &mut session.state {
            awaited.refused = Some(refused);
        }
        session.say(&message::FromReferee::Error(rejection.into_error()));
    }

    fn greet(&mut self, key: SessionKey, hello: bot::Hello, now: u64) {
        let token = hello.token.clone();
        let hello = match BotHello::check(hello) {
            Ok(hello) => hello,
            Err(HelloError::Protocol(detail)) => {
                return self.reject(key, ErrorCode::UnsupportedProtocol, detail, now);
            }
            Err(HelloError::Field { refused, message }) => {
                return self.handle_rejection(key, Rejection::of_hello(refused, message), now);
            }
        };
        self.sessions[key].greet(hello, token);
        self.notices.push_back(Notice::Greeted(key));
    }

    /// Reads pending input of a connection, whether or not the reactor has reported it. Returns whether its `hello`
    /// has arrived by that.
    pub(crate) fn reads_hello(&mut self, key: SessionKey) -> bool {
        let Some(session) = self.sessions.get_mut(key) else { return false };
        let SessionState::Greeting { stream, .. } = &session.state else { return false };
        if stream.stream.is_cheap_to_read() {
            session.drain();
            let now = self.now();
            self.handle_lines(key, now);
        }
        self.hello(key).is_some()
    }

    fn handle_open(&mut self, key: SessionKey, open: bot::Open<&RawValue>, now: u64) {
        let session = &mut self.sessions[key];
        let id = open.id.clone();
        if id.as_ref().is_some_and(|id| id.len() > limits::OPEN_ID) {
            let message = format!("`id` has at most {} bytes", limits::OPEN_ID);
            return session.refuse(ErrorCode::BadSetup, message, None, None);
        }
        let asked = open.options.map(ToOwned::to_owned);
        let bot::Open { game, seats, seed, deal, clock, on_fault, auto_ready, scenes, .. } = open;
        let open =
            bot::Open { id, game, seats, options: asked, seed, deal, clock, on_fault, auto_ready, scenes };
        // The next lines may be for the match that this line opens.
        if let Some(stream) = session.stream_mut() {
            stream.has_lines = true;
        }
        // A match that an earlier line ended must free its slot first.
        self.flush(now);
        self.notices.push_back(Notice::OpenAsked(key, Box::new(open)));
    }
}

/// The matches of a lane, as one of its sessions sees them.
struct SenderMatches<'l> {
    key: SessionKey,
    seats: &'l [(MatchKey, Seat)],
    by_id: &'l FxHashMap<String, MatchKey>,
    running: &'l SlotMap<MatchKey, Running>,
}

impl Matches for SenderMatches<'_> {
    type Key = MatchKey;

    fn find(&self, id: &str) -> Option<(MatchKey, SeatSet)> {
        let game = *self.by_id.get(id)?;
        let places = (0..).map(Seat).zip(&self.running[game].places);
        let own = places.filter(|&(_, place)| *place == Some(self.key)).map(|(seat, _)| seat);
        Some((game, own.collect()))
    }

    fn seats(&self) -> &[(MatchKey, Seat)] {
        self.seats
    }

    fn play(&self, key: MatchKey) -> &Match {
        &self.running[key].play
    }
}

/// The beginning of a line from a bot, as text.
fn beginning(line: &[u8]) -> String {
    // A character has at most 4 bytes, so that a longer line is still too long.
    let line = &line[..line.len().min(4 * (QUOTED + 1))];
    excerpt(&String::from_utf8_lossy(line), QUOTED).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_quoted_by_its_first_characters() {
        assert_eq!(beginning(b"thinking"), "thinking");
        assert_eq!(beginning(b"caf\xe9"), "caf\u{fffd}");
        assert_eq!(beginning("\u{1f600}".repeat(201).as_bytes()), "\u{1f600}".repeat(200) + "...");
        assert_eq!(beginning(&[b'x'; 65_536]), "x".repeat(200) + "...");
    }
}
