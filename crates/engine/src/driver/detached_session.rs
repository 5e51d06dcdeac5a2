//! Sessions on their way to another lane.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use referee_transport::{Lines, Stream, Wire};

use crate::driver::buffered_stream::BufferedStream;
use crate::driver::hello::BotHello;
use crate::driver::keys::SessionKey;
use crate::driver::lane::{Lane, Timer};
use crate::driver::ready_queue::ReadyQueue;
use crate::driver::role::Role;
use crate::driver::session::{Session, SessionState};
use crate::driver::unacknowledged::Unacknowledged;

/// A session on its way to another lane.
#[derive(Debug)]
pub struct DetachedSession {
    role: Role,
    /// The contents of its `hello`.
    pub hello: BotHello,
    has_played: bool,
    is_silent: bool,
    has_taken_part: bool,
    pub(super) stream: DetachedStream,
    unacknowledged: Vec<u8>,
}

/// A stream that belongs to no lane, with its unread input and its unwritten output.
#[derive(Debug)]
pub(super) struct DetachedStream {
    wire: Wire,
    lines: Lines,
    out: VecDeque<u8>,
}

impl DetachedStream {
    /// Makes it the stream of a session.
    pub(super) fn attach(
        self,
        key: SessionKey,
        ready_queue: Arc<ReadyQueue>,
    ) -> io::Result<BufferedStream<Stream>> {
        let mut stream = BufferedStream::new(key, Stream::watch(self.wire)?, ready_queue);
        (stream.lines, stream.out) = (self.lines, self.out);
        Ok(stream)
    }
}

impl Session<Stream> {
    /// A session from another lane, whose `hello` has arrived there.
    fn arrive(
        key: SessionKey,
        moving: DetachedSession,
        ready_queue: Arc<ReadyQueue>,
    ) -> io::Result<Session<Stream>> {
        let DetachedSession { role, hello, has_played, is_silent, has_taken_part, stream, unacknowledged } =
            moving;
        let state = SessionState::Playing { stream: stream.attach(key, ready_queue)?, hello };
        let mut session =
            Session { has_played, is_silent, has_taken_part, unacknowledged, ..Session::new(role, state) };
        if session.drain() { Ok(session) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Detaches the session from its lane. `None` if it has ended or its `hello` has not arrived.
    fn detach(self) -> Option<DetachedSession> {
        let Session { role, state, has_played, is_silent, has_taken_part, unacknowledged, .. } = self;
        let (SessionState::Held { stream, hello, .. } | SessionState::Playing { stream, hello }) = state
        else {
            return None;
        };
        let BufferedStream { stream, lines, out, closing: None, .. } = stream else { return None };
        let stream = DetachedStream { wire: stream.unwatch(), lines, out };
        Some(DetachedSession { role, hello, has_played, is_silent, has_taken_part, stream, unacknowledged })
    }
}

impl Lane<Stream> {
    /// Takes over a session from another lane.
    ///
    /// # Errors
    /// If the stream has ended or cannot be registered.
    pub fn adopt(&mut self, moving: DetachedSession) -> io::Result<SessionKey> {
        let ready_queue = self.ready.queue.clone();
        let key = self.sessions.try_insert_with_key(|key| Session::arrive(key, moving, ready_queue))?;
        self.unflushed.dirty.push(key);
        // Input may have arrived in between.
        self.ready.keys.push(key);
        Ok(key)
    }

    /// Detaches a session that plays no match. `None` if it has ended.
    pub fn release(&mut self, session: SessionKey) -> Option<DetachedSession> {
        self.sessions.get(session).filter(|session| session.seats.is_empty())?;
        let now = self.now();
        let mut leaving = self.sessions.remove(session)?;
        self.timers.cancel(leaving.alarm, Timer::Session(session));
        if let Some(stream) = leaving.stream_mut() {
            stream.write(now);
        }
        leaving.detach()
    }
}

impl DetachedSession {
    /// Messages that the bot gets if it connects again.
    pub(crate) fn unacknowledged(&self) -> Option<Unacknowledged> {
        let bot = self.hello.instance()?;
        Some(Unacknowledged { bot, messages: self.unacknowledged.clone() })
    }

    /// Sends messages that an earlier connection of the bot did not get.
    pub(crate) fn resend(&mut self, messages: &[u8]) {
        self.stream.out.extend(messages);
        self.unacknowledged.extend_from_slice(messages);
    }
}
