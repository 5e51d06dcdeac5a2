//! A stream and the protocol state of its peer.
//!
//! ```text
//!               hello                  its stream ends
//! Greeting ───────┬───────▶ Playing ────────────────────▶ Lost
//!     │           │          │   ▲                       │  │
//!     │           ▼          │   └───another connection──┘  │ timeout
//!     │          Held        │                              ▼
//!     └───────────┴──────────┴─────────────▶ Ending ─────▶ Ended
//! ```
//!
//! A session that is held or playing can be detached, and plays on another lane then.

use std::mem;
use std::time::Duration;

use referee_game::seat::Seat;
use referee_match::{Detail, Received, RefusedLine};
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};
use referee_transport::{ByteStream, ReadBuffers};

use crate::driver::bot_fault::BotFault;
use crate::driver::buffered_stream::{BufferedStream, Closed, Closing, Traffic};
use crate::driver::hello::BotHello;
use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::role::Role;

/// The wait for the exit of a process after its stream has ended, in microseconds: they are reported
/// independently, and a process of a busy machine takes its time to end.
const GRACE: u64 = limits::EXIT_MS * 1000;

/// The session of a peer. Thousands may be open: rarely used state is boxed.
#[derive(Debug)]
pub(super) struct Session<S> {
    pub(super) role: Role,
    pub(super) state: SessionState<S>,
    pub(super) seats: Vec<(MatchKey, Seat)>,
    pub(super) matches: u32,
    /// Whether a match has ended on the session.
    pub(super) has_played: bool,
    /// Whether nothing has arrived since a time limit expired.
    pub(super) is_silent: bool,
    /// Whether a message for a match has arrived.
    pub(super) has_taken_part: bool,
    /// The `end` messages since the last line of the peer. The next connection of the bot gets them again.
    pub(super) unacknowledged: Vec<u8>,
    /// The time of the session's timer.
    pub(super) alarm: Option<u64>,
}

#[derive(Debug)]
pub(super) enum SessionState<S> {
    /// The `hello` of the peer has not arrived.
    Greeting {
        stream: BufferedStream<S>,
        awaited: AwaitedHello,
    },
    /// The `hello` of a connection has arrived. It has to be released or ended next; nothing is read until then.
    Held {
        stream: BufferedStream<S>,
        hello: BotHello,
        token: Option<Box<str>>,
    },
    Playing {
        stream: BufferedStream<S>,
        hello: BotHello,
    },
    /// The stream has ended like this, and until this time another one may replace it.
    Lost {
        hello: BotHello,
        until: u64,
        detail: Detail,
    },
    /// The matches are notified, and the last output is written.
    Ending {
        stream: BufferedStream<S>,
        hello: Option<BotHello>,
    },
    Ended {
        hello: Option<BotHello>,
    },
}

/// A `hello` that has not arrived.
#[derive(Debug)]
pub(super) struct AwaitedHello {
    until: u64,
    limit_ms: u64,
    /// The last line that was rejected.
    pub(super) refused: Option<RefusedLine>,
    /// Whether the first line has been reported as long.
    pub(super) is_long: bool,
}

impl AwaitedHello {
    /// `now` in microseconds; the peer has `limit` to send `hello`.
    pub(super) fn new(now: u64, limit: Duration) -> AwaitedHello {
        let until = now + limit.as_micros() as u64;
        AwaitedHello { until, limit_ms: limit.as_millis() as u64, refused: None, is_long: false }
    }
}

impl<S> SessionState<S> {
    fn into_parts(self) -> (Option<BufferedStream<S>>, Option<BotHello>) {
        match self {
            SessionState::Greeting { stream, .. } => (Some(stream), None),
            SessionState::Held { stream, hello, .. } | SessionState::Playing { stream, hello } => {
                (Some(stream), Some(hello))
            }
            SessionState::Lost { hello, .. } => (None, Some(hello)),
            SessionState::Ending { stream, hello } => (Some(stream), hello),
            SessionState::Ended { hello } => (None, hello),
        }
    }
}

impl<S: ByteStream> Session<S> {
    pub(super) fn new(role: Role, state: SessionState<S>) -> Self {
        Session {
            role,
            state,
            seats: Vec::new(),
            matches: 0,
            has_played: false,
            is_silent: false,
            has_taken_part: false,
            unacknowledged: Vec::new(),
            alarm: None,
        }
    }

    /// The stream, while it is open.
    pub(super) fn stream(&self) -> Option<&BufferedStream<S>> {
        match &self.state {
            SessionState::Greeting { stream, .. }
            | SessionState::Held { stream, .. }
            | SessionState::Playing { stream, .. }
            | SessionState::Ending { stream, .. } => Some(stream),
            SessionState::Lost { .. } | SessionState::Ended { .. } => None,
        }
    }

    pub(super) fn stream_mut(&mut self) -> Option<&mut BufferedStream<S>> {
        match &mut self.state {
            SessionState::Greeting { stream, .. }
            | SessionState::Held { stream, .. }
            | SessionState::Playing { stream, .. }
            | SessionState::Ending { stream, .. } => Some(stream),
            SessionState::Lost { .. } | SessionState::Ended { .. } => None,
        }
    }

    /// The contents of its `hello`, once it has arrived.
    pub(super) fn hello(&self) -> Option<&BotHello> {
        match &self.state {
            SessionState::Held { hello, .. }
            | SessionState::Playing { hello, .. }
            | SessionState::Lost { hello, .. } => Some(hello),
            SessionState::Ending { hello, .. } | SessionState::Ended { hello } => hello.as_ref(),
            SessionState::Greeting { .. } => None,
        }
    }

    /// Returns whether its lines wait: until it is on another lane, or until the lane's owner has handled the
    /// previous one.
    pub(super) fn is_waiting(&self) -> bool {
        self.has_lines() || matches!(self.state, SessionState::Held { .. })
    }

    /// Returns whether lines wait until the lane's owner has handled the previous one.
    pub(super) fn has_lines(&self) -> bool {
        self.stream().is_some_and(|stream| stream.has_lines)
    }

    /// Takes the stream and the `hello`. The session has ended, unless another state follows.
    fn take_parts(&mut self) -> (Option<BufferedStream<S>>, Option<BotHello>) {
        mem::replace(&mut self.state, SessionState::Ended { hello: None }).into_parts()
    }

    /// Takes the `hello` that has arrived; `token` is that of a connection.
    pub(super) fn greet(&mut self, mut hello: BotHello, token: Option<String>) {
        if !self.role.reconnects() {
            (hello.reconnect, hello.wants.repeat) = (None, false);
        }
        let (Some(mut stream), _) = self.take_parts() else { return };
        stream.since_request = Traffic::default();
        self.state = if self.role.is_connection() {
            SessionState::Held { stream, hello, token: token.map(String::into_boxed_str) }
        } else {
            SessionState::Playing { stream, hello }
        };
    }

    /// Closes the stream; until this time another one may replace it.
    pub(super) fn lose(&mut self, now: u64, until: u64, detail: Detail) {
        if let (Some(stream), Some(hello)) = self.take_parts() {
            stream.end(now);
            self.state = SessionState::Lost { hello, until, detail };
        }
    }

    /// Begins to end the session. Returns false if that has begun before.
    pub(super) fn begin_end(&mut self) -> bool {
        if matches!(self.state, SessionState::Ending { .. } | SessionState::Ended { .. }) {
            return false;
        }
        self.state = match self.take_parts() {
            (Some(stream), hello) => SessionState::Ending { stream, hello },
            (None, hello) => SessionState::Ended { hello },
        };
        true
    }

    /// Ends the session: closes its stream.
    pub(super) fn end(&mut self, now: u64) {
        let (stream, hello) = self.take_parts();
        self.state = SessionState::Ended { hello };
        if let Some(stream) = stream {
            stream.end(now);
        }
    }

    pub(super) fn say(&mut self, message: &message::FromReferee<'_, ()>) {
        if let Some(stream) = self.stream_mut() {
            stream.say(message);
        }
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

    /// Returns whether it is a connection whose valid `hello` has not arrived.
    pub(super) fn is_pending(&self) -> bool {
        self.role.is_connection() && matches!(self.state, SessionState::Greeting { .. })
    }

    /// Reads available input, without blocking. The lane's owner has handled all notices.
    pub(super) fn read(&mut self, key: SessionKey, buffers: &mut ReadBuffers) {
        let is_pending = self.is_pending();
        let is_held = matches!(self.state, SessionState::Held { .. });
        let Some(stream) = self.stream_mut() else { return };
        stream.take_signal();
        if !is_held {
            stream.lines.take_buffer(buffers);
            stream.read(is_pending);
            stream.watch(key);
            stream.has_lines = false;
        }
    }

    /// Reads all available input, whether or not the reactor has reported it. Returns false if the stream has ended.
    pub(super) fn drain(&mut self) -> bool {
        let is_process = self.role == Role::Process;
        let Some(stream) = self.stream_mut() else { return false };
        let is_open = stream.drain();
        if !is_open && is_process {
            stream.close(Closed::Output);
        }
        is_open
    }

    pub(super) fn exit(&mut self, how: Detail) {
        self.drain();
        if let Some(stream) = self.stream_mut() {
            stream.closing = Some(Box::new(Closing::Process(how)));
        }
    }

    /// Counts a line. Returns false if there were too many since the last request.
    pub(super) fn count_line(&mut self, bytes: usize) -> bool {
        // A host may open and abort as many matches as it has slots before it receives a request.
        let open = match (self.role, self.hello()) {
            (Role::Host { .. }, Some(hello)) => hello.slots as u32,
            _ => self.matches.max(1),
        };
        let Some(stream) = self.stream_mut() else { return true };
        let Traffic { lines, bytes: sum } = &mut stream.since_request;
        *lines += 1;
        *sum = sum.saturating_add(bytes as u32 + 1);
        *lines <= limits::LINES_BETWEEN_REQUESTS.saturating_mul(open)
            && *sum <= limits::BYTES_BETWEEN_REQUESTS.saturating_mul(open)
    }

    /// Returns the time at which the session has to be checked.
    pub(super) fn deadline(&self) -> Option<u64> {
        let (stream, hello) = match &self.state {
            SessionState::Lost { until, .. } => return Some(*until),
            SessionState::Greeting { stream, awaited } => (stream, Some(awaited.until)),
            SessionState::Playing { stream, .. } => (stream, None),
            SessionState::Held { .. } | SessionState::Ending { .. } | SessionState::Ended { .. } => {
                return None;
            }
        };
        let closed = match stream.closing.as_deref() {
            Some(Closing::Stream { since: Some(since), .. }) if self.role == Role::Process => {
                Some(since + GRACE)
            }
            Some(Closing::Stream { since, .. }) => Some(since.unwrap_or_default()),
            Some(Closing::Process(_)) | None => None,
        };
        let stalled = stream.blocked.map(|since| since + limits::STALLED_MS * 1000);
        [closed, stalled, hello].into_iter().flatten().min()
    }

    /// The input in place of the expected message, given the line that was rejected last.
    pub(super) fn received(&self, refused: Option<RefusedLine>) -> Option<Received> {
        let stream = self.stream()?;
        let held = stream.lines.held() as u64;
        // With several matches, the lines may be for others.
        let nothing = (stream.since_request.lines == 0 && self.matches <= 1).then_some(Received::Nothing);
        let unfinished = (held > 0).then_some(Received::Unfinished { bytes: held });
        unfinished.or(refused.map(Received::Refused)).or(nothing)
    }

    /// Returns whether the stream of a process has ended: how the process exits decides what happens next.
    pub(super) fn is_exiting(&self) -> bool {
        let is_ending = matches!(self.state, SessionState::Ending { .. });
        let closing = self.stream().filter(|_| !is_ending).and_then(|stream| stream.closing.as_ref());
        self.role == Role::Process && closing.is_some()
    }

    /// The reason why the session has ended, if it has. `asked` states whether it has an open request.
    pub(super) fn over(&self, now: u64, asked: impl FnOnce() -> bool) -> Option<BotFault> {
        let (stream, awaited) = match &self.state {
            SessionState::Lost { until, detail, .. } => {
                return (now >= *until).then(|| BotFault::disconnected(detail.clone()));
            }
            SessionState::Greeting { stream, awaited } => (stream, Some(awaited)),
            SessionState::Playing { stream, .. } => (stream, None),
            SessionState::Held { .. } | SessionState::Ending { .. } | SessionState::Ended { .. } => {
                return None;
            }
        };
        match stream.closing.as_deref() {
            Some(Closing::Process(status)) => {
                return Some(BotFault { code: FaultCode::Exited, detail: status.clone() });
            }
            Some(Closing::Stream { since: Some(since), how })
                if self.role != Role::Process || now >= since + GRACE =>
            {
                return Some(how.fault());
            }
            Some(Closing::Stream { .. }) | None => {}
        }
        let waits = limits::PENDING_OUTPUT + limits::PENDING_OUTPUT_PER_MATCH * self.matches as usize;
        let (code, detail) = if let Some(awaited) = awaited
            && now >= awaited.until
            && !self.is_exiting()
        {
            let (limit_ms, received) = (awaited.limit_ms, self.received(awaited.refused));
            (FaultCode::NoStart, Detail::NoHello { limit_ms, received })
        } else if stream.blocked.is_some_and(|since| now >= since + limits::STALLED_MS * 1000) && !asked() {
            (FaultCode::Stalled, Detail::TookNothing { limit_ms: limits::STALLED_MS })
        } else if stream.lines.skipped() > limits::SKIPPED {
            (FaultCode::Protocol, Detail::EndlessLine { most_bytes: limits::SKIPPED as u64 })
        } else if stream.out.len() > waits {
            (FaultCode::Stalled, Detail::OutputWaits { most_bytes: waits as u64 })
        } else {
            return None;
        };
        Some(BotFault { code, detail })
    }
}
