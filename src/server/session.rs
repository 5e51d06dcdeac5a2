//! One stream and who is at its other end.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use referee_protocol::bot;
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};

use crate::core::json;
use crate::core::seat::Seat;
use crate::referee::{Detail, Field, Received, RefusedLine, Wants};
use crate::server::arena::{Arena, key};
use crate::server::bot_spec::check_name;
use crate::server::lane::MatchKey;
use crate::server::ready_queue::{ReadyQueue, StreamWaker};
use crate::transport::{Lines, ReadProgress, Stream, TLS_HANDSHAKE, Wire};

key! {
    /// A session of a lane.
    SessionKey
}

/// The sessions of a lane.
pub(super) type Sessions = Arena<SessionKey, Session>;

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A bot that the referee started: its process will be heard of.
    Process,
    /// A bot that has connected by itself.
    Connection,
    /// One that holds all seats; it opens its matches itself if it may.
    Host {
        /// Whether it may.
        may_open: bool,
    },
}

/// What a bot said of itself.
#[derive(Clone, Debug)]
pub struct BotHello {
    /// For display.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// The games it plays; none: any.
    pub games: Option<Vec<String>>,
    /// Matches that it plays at once.
    pub slots: usize,
    /// What it wants to get.
    pub wants: Wants,
}

/// Why a `hello` is rejected.
#[derive(Debug)]
pub(crate) enum HelloError {
    /// The bot speaks another version of the protocol: the connection ends.
    Protocol(Detail),
    /// A field is invalid: the bot may send `hello` again.
    Field {
        /// What is noted for a timeout.
        refused: RefusedLine,
        /// What the bot is told.
        message: String,
    },
}

impl BotHello {
    /// Checks the fields of a `hello`.
    pub(crate) fn check(hello: bot::Hello) -> Result<BotHello, HelloError> {
        if hello.protocol != referee_protocol::PROTOCOL {
            return Err(HelloError::Protocol(Detail::OtherProtocol { protocol: hello.protocol }));
        }
        let invalid = |field, what: String| {
            let refused = RefusedLine { code: ErrorCode::Malformed, field: Some(field) };
            Err(HelloError::Field { refused, message: format!("{what}; say `hello` again") })
        };
        if let Err(what) = check_name(&hello.name) {
            return invalid(Field::Name, what);
        }
        for (field, text) in [(Field::Version, &hello.version), (Field::Author, &hello.author)] {
            if text.as_ref().is_some_and(|text| text.chars().count() > limits::ABOUT) {
                return invalid(field, field.to_string());
            }
        }
        Ok(BotHello {
            wants: Wants::from(&hello),
            slots: hello.slots.unwrap_or(1).clamp(1, limits::SLOTS) as usize,
            name: hello.name,
            version: hello.version,
            author: hello.author,
            games: hello.games,
        })
    }

    /// Checks that the bot plays a game.
    ///
    /// # Errors
    /// The detail of the fault `no_start`.
    pub(crate) fn check_game(&self, id: &str) -> Result<(), Detail> {
        match &self.games {
            Some(games) if !games.iter().any(|game| game == id) => {
                Err(Detail::OtherGames { game: id.to_owned(), plays: games.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// A `hello` of which it is not decided yet whether it is let in.
pub(super) struct PendingHello {
    pub(super) hello: BotHello,
    pub(super) token: Option<String>,
}

/// A session on its way to another lane.
pub struct DetachedSession {
    role: Role,
    /// What its bot said of itself.
    pub hello: BotHello,
    has_played: bool,
    wire: Wire,
    lines: Lines,
    out: VecDeque<u8>,
}

/// How long a stream that has ended may belong to a process that has not: the news come on two ways. Microseconds.
const GRACE: u64 = 100_000;
/// Reads in a row from one stream, so that a busy one does not keep the others waiting.
const READS: usize = 2;
/// Reads in a row from a stream that is looked at for the last time: more than a pipe holds.
const DRAINS: usize = 16;
/// What a connection without TLS is told where TLS is expected.
const PLAIN_TEXT: &str = "this port speaks TLS, and plain text came: connect over TLS";

pub(super) struct Session {
    pub(super) role: Role,
    pub(super) hello: Option<BotHello>,
    /// A guest's `hello`, until it is decided whether the guest is let in. Nothing is read meanwhile.
    pub(super) pending_hello: Option<PendingHello>,
    /// The last line that was refused before its `hello`.
    pub(super) refused: Option<RefusedLine>,
    /// Whether its first line has been noted as a long one.
    pub(super) is_long: bool,
    /// The seats that it holds.
    pub(super) seats: Vec<(MatchKey, Seat)>,
    /// In how many matches.
    pub(super) matches: u32,
    /// Whether a match has ended on it.
    pub(super) has_played: bool,
    /// None once the session is over.
    pub(super) stream: Option<Stream>,
    pub(super) lines: Lines,
    /// Whether complete lines wait until the lane's owner has done what one of them asked for.
    pub(super) has_lines: bool,
    /// Since the last request: lines and bytes.
    pub(super) since_request: (u32, u32),
    /// When to look at it at the latest; what the alarm was set for.
    pub(super) alarm: Option<u64>,
    /// When the time for `hello` is up.
    pub(super) hello_until: Option<u64>,
    hello_limit: Duration,
    /// When the stream ended, and how.
    closed: Option<(Option<u64>, Closed)>,
    /// How its process ended.
    pub(super) exited: Option<Detail>,
    out: VecDeque<u8>,
    /// Since when the other end takes nothing.
    blocked: Option<u64>,
    signal: Arc<StreamWaker>,
    waker: Waker,
}

impl Session {
    /// `now` in microseconds; the other end has `hello_limit` to say `hello`.
    pub(super) fn new(
        key: SessionKey,
        role: Role,
        stream: Stream,
        (now, hello_limit): (u64, Duration),
        ready_queue: Arc<ReadyQueue>,
    ) -> Session {
        let signal = StreamWaker::new(key, ready_queue);
        Session {
            role,
            hello: None,
            pending_hello: None,
            refused: None,
            is_long: false,
            seats: Vec::new(),
            matches: 0,
            has_played: false,
            stream: Some(stream),
            lines: Lines::new(limits::LINE_FROM_BOT),
            has_lines: false,
            since_request: (0, 0),
            alarm: None,
            hello_until: Some(now + hello_limit.as_micros() as u64),
            hello_limit,
            closed: None,
            exited: None,
            out: VecDeque::new(),
            blocked: None,
            waker: signal.clone().into(),
            signal,
        }
    }

    /// A session that comes from another lane: it has introduced itself there.
    pub(super) fn arrive(
        key: SessionKey,
        moving: DetachedSession,
        ready_queue: Arc<ReadyQueue>,
    ) -> io::Result<Session> {
        let DetachedSession { role, hello, has_played, wire, lines, out } = moving;
        let stream = Stream::watch(wire)?;
        let mut session = Session::new(key, role, stream, (0, Duration::ZERO), ready_queue);
        session.hello = Some(hello);
        session.hello_until = None;
        session.has_played = has_played;
        session.lines = lines;
        session.out = out;
        if session.drain() { Ok(session) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Takes it from its lane. None when it is over or has not introduced itself.
    pub(super) fn depart(self) -> Option<DetachedSession> {
        let Session { role, hello, has_played, stream, lines, out, closed, .. } = self;
        let (hello, stream) = hello.zip(stream).filter(|_| closed.is_none())?;
        Some(DetachedSession { role, hello, has_played, wire: stream.unwatch(), lines, out })
    }

    /// Notes what its bot says of itself.
    pub(super) fn introduce(&mut self, hello: BotHello) {
        self.hello_until = None;
        self.since_request = (0, 0);
        self.hello = Some(hello);
    }

    pub(super) fn say(&mut self, message: &message::FromReferee<'_, ()>) {
        json::write_line(&mut self.out, message);
    }

    pub(super) fn refuse(
        &mut self,
        code: ErrorCode,
        message: String,
        id: Option<String>,
        match_id: Option<String>,
    ) {
        let error = message::Error {
            code,
            message,
            id,
            r#match: match_id,
            seat: None,
            turn: None,
            legal_forms: None,
        };
        self.say(&message::FromReferee::Error(error));
    }

    /// Takes what is to be written; what is left of `bytes` is of no use.
    pub(super) fn queue(&mut self, bytes: &mut Vec<u8>) {
        if self.out.is_empty() {
            // They change places, which is cheaper than a copy.
            *bytes = mem::replace(&mut self.out, mem::take(bytes).into()).into();
        } else {
            self.out.extend(&*bytes);
        }
    }

    /// Whether it is a guest that has not said a valid `hello` yet.
    pub(super) fn is_pending(&self) -> bool {
        self.role == Role::Connection && self.hello.is_none() && self.pending_hello.is_none()
    }

    /// Whether the other end begins a TLS handshake where plain text is expected.
    pub(super) fn speaks_tls(&self) -> bool {
        self.lines.pending().first() == Some(&TLS_HANDSHAKE)
            && self.stream.as_ref().is_some_and(|stream| !stream.has_tls())
    }

    /// Sees to it that the other end can read what it is told last, whether it speaks TLS or not.
    pub(super) fn fall_back_to_plain_text(&mut self) {
        if self.stream.as_mut().is_some_and(Stream::give_up_tls) {
            self.out.clear();
        }
    }

    /// Reads what is there, without waiting.
    pub(super) fn read(&mut self) {
        self.signal.taken();
        if self.pending_hello.is_some() {
            return;
        }
        let mut cx = Context::from_waker(&self.waker);
        for _ in 0..READS {
            let Some(stream) =
                self.stream.as_mut().filter(|_| self.closed.is_none_or(|(_, how)| how == Closed::Input))
            else {
                return;
            };
            match stream.poll_read(&mut cx, &mut self.lines) {
                Poll::Pending => return,
                Poll::Ready(Ok(ReadProgress::Read { .. })) => {}
                Poll::Ready(Err(_)) if stream.heard_plain_text() => return self.close(Closed::PlainText),
                Poll::Ready(Ok(ReadProgress::End) | Err(_)) => return self.close(Closed::Output),
            }
        }
        self.waker.wake_by_ref();
    }

    /// Reads what is there before it is reported. Whether something was.
    pub(super) fn spin(&mut self) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        // How a stream ends is told by the report.
        matches!(stream.try_read(&mut self.lines), Ok(ReadProgress::Read { .. }))
    }

    /// Reads what is there at the last moment, whether it was reported or not. False when the stream has ended.
    pub(super) fn drain(&mut self) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        for _ in 0..DRAINS {
            if !stream.may_read() {
                return true;
            }
            match stream.try_read(&mut self.lines) {
                Ok(ReadProgress::Read { .. }) => {}
                Ok(ReadProgress::End) => return false,
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
        true
    }

    /// Closes the stream. What waits for the other end is written as far as it is taken; what has come from there is
    /// read, since closing a socket with something unread would take away what was written last.
    pub(super) fn end(&mut self, now: u64) {
        self.write(now);
        self.drain();
        if let Some(stream) = self.stream.take() {
            stream.close();
        }
    }

    fn close(&mut self, how: Closed) {
        // The end of the input says more than a write that failed.
        if self.closed.is_none_or(|(_, how)| how == Closed::Input) {
            self.closed = Some((self.closed.and_then(|(since, _)| since), how));
        }
    }

    /// Dates the end of the stream when it is first looked at: who held the pipe may have kept the read waiting that
    /// met it.
    pub(super) fn date_end(&mut self, now: impl FnOnce() -> u64) {
        if let Some((since @ None, _)) = &mut self.closed {
            *since = Some(now());
        }
    }

    /// Writes as much as the other end takes.
    pub(super) fn write(&mut self, now: u64) {
        let mut cx = Context::from_waker(&self.waker);
        let Some(stream) = &mut self.stream else { return };
        while !self.out.is_empty() {
            match stream.poll_write(&mut cx, self.out.as_slices().0) {
                Poll::Ready(Ok(written)) => {
                    self.out.drain(..written);
                    self.blocked = None;
                }
                Poll::Ready(Err(_)) => {
                    self.out.clear();
                    return self.close(Closed::Input);
                }
                Poll::Pending => {
                    self.blocked.get_or_insert(now);
                    return;
                }
            }
        }
        if self.out.capacity() > 256 * 1024 {
            self.out = VecDeque::new();
        }
    }

    /// Whether something waits to be written.
    pub(super) fn has_output(&self) -> bool {
        !self.out.is_empty()
    }

    /// Counts a line. False when there were too many since the last request.
    pub(super) fn count_line(&mut self, bytes: usize) -> bool {
        // A host may open and abort as many matches as it has slots before anything is asked of it.
        let open = match (self.role, &self.hello) {
            (Role::Host { .. }, Some(hello)) => hello.slots as u32,
            _ => self.matches.max(1),
        };
        self.since_request.0 += 1;
        self.since_request.1 = self.since_request.1.saturating_add(bytes as u32 + 1);
        self.since_request.0 <= limits::LINES_BETWEEN_REQUESTS.saturating_mul(open)
            && self.since_request.1 <= limits::BYTES_BETWEEN_REQUESTS.saturating_mul(open)
    }

    /// When something is due.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.stream.as_ref()?;
        let closed = self.closed.map(|(since, _)| match since {
            Some(since) if self.awaits_exit() => since + GRACE,
            since => since.unwrap_or_default(),
        });
        let stalled = self.blocked.map(|since| since + limits::STALLED_MS * 1000);
        [closed, stalled, self.hello_until].into_iter().flatten().min()
    }

    /// What came in place of what is awaited, where this line was refused last.
    pub(super) fn received(&self, refused: Option<RefusedLine>) -> Option<Received> {
        let held = self.lines.held() as u64;
        // With several matches the lines may be for others.
        let nothing = (self.since_request.0 == 0 && self.matches <= 1).then_some(Received::Nothing);
        let unfinished = (held > 0).then_some(Received::Unfinished { bytes: held });
        unfinished.or(refused.map(Received::Refused)).or(nothing)
    }

    fn awaits_exit(&self) -> bool {
        self.role == Role::Process && self.exited.is_none()
    }

    /// Why the session is over, if it is. `asked` tells whether a request is open on it.
    pub(super) fn over(&self, now: u64, asked: impl FnOnce() -> bool) -> Option<(FaultCode, Detail)> {
        self.stream.as_ref()?;
        let waits = limits::PENDING_OUTPUT + limits::PENDING_OUTPUT_PER_MATCH * self.matches as usize;
        if let Some(status) = &self.exited {
            Some((FaultCode::Exited, status.clone()))
        } else if let Some((Some(since), how)) = self.closed
            && (!self.awaits_exit() || now >= since + GRACE)
        {
            Some(match how {
                Closed::Output => (FaultCode::Disconnected, Detail::OutputEnded),
                Closed::Input => (FaultCode::Disconnected, Detail::InputClosed),
                Closed::PlainText => (FaultCode::NoStart, Detail::other(PLAIN_TEXT)),
            })
        } else if self.hello_until.is_some_and(|until| now >= until) {
            let limit_ms = self.hello_limit.as_millis() as u64;
            Some((FaultCode::NoStart, Detail::NoHello { limit_ms, received: self.received(self.refused) }))
        } else if self.blocked.is_some_and(|since| now >= since + limits::STALLED_MS * 1000) && !asked() {
            Some((FaultCode::Stalled, Detail::TookNothing { limit_ms: limits::STALLED_MS }))
        } else if self.lines.skipped() > limits::SKIPPED {
            Some((FaultCode::Protocol, Detail::EndlessLine { most_bytes: limits::SKIPPED as u64 }))
        } else if self.out.len() > waits {
            Some((FaultCode::Stalled, Detail::OutputWaits { most_bytes: waits as u64 }))
        } else {
            None
        }
    }
}

/// Which end of a stream is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closed {
    /// That from the bot.
    Output,
    /// That to the bot.
    Input,
    /// None, but TLS was expected and something else came.
    PlainText,
}
