//! Sessions on their way to another lane.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use referee_transport::{Lines, Stream, Wire};

use crate::driver::hello::BotHello;
use crate::driver::keys::SessionKey;
use crate::driver::lane::{Lane, Timer};
use crate::driver::ready_queue::ReadyQueue;
use crate::driver::role::Role;
use crate::driver::session::Session;
use crate::driver::unacknowledged::Unacknowledged;

/// A session on its way to another lane.
#[derive(Debug)]
pub struct DetachedSession {
    role: Role,
    /// The contents of its `hello`.
    pub hello: BotHello,
    has_played: bool,
    pub(super) wire: Wire,
    pub(super) lines: Lines,
    pub(super) out: VecDeque<u8>,
    pub(super) unacknowledged: Vec<u8>,
}

impl Session<Stream> {
    /// A session from another lane, whose `hello` has arrived there.
    fn arrive(
        key: SessionKey,
        moving: DetachedSession,
        ready_queue: Arc<ReadyQueue>,
    ) -> io::Result<Session<Stream>> {
        let DetachedSession { role, hello, has_played, wire, lines, out, unacknowledged } = moving;
        let stream = Stream::watch(wire)?;
        let mut session = Session::new(key, role, stream, (0, Duration::ZERO), ready_queue);
        session.hello = Some(hello);
        session.hello_until = None;
        session.has_played = has_played;
        session.lines = lines;
        session.out = out;
        session.unacknowledged = unacknowledged;
        if session.drain() { Ok(session) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Detaches the session from its lane. `None` if it has ended or its `hello` has not arrived.
    fn detach(self) -> Option<DetachedSession> {
        let Session { role, hello, has_played, stream, lines, out, unacknowledged, closed, .. } = self;
        let (hello, stream) = hello.zip(stream).filter(|_| closed.is_none())?;
        Some(DetachedSession { role, hello, has_played, wire: stream.unwatch(), lines, out, unacknowledged })
    }
}

impl Lane<Stream> {
    /// Takes over a session from another lane.
    ///
    /// # Errors
    /// If the stream has ended or cannot be registered.
    pub fn adopt(&mut self, moving: DetachedSession) -> io::Result<SessionKey> {
        let ready_queue = self.ready_queue.clone();
        let key = self.sessions.try_insert(|key| Session::arrive(key, moving, ready_queue))?;
        self.dirty.push(key);
        // Input may have arrived in between.
        self.ready.push(key);
        Ok(key)
    }

    /// Detaches a session that plays no match. `None` if it has ended.
    pub fn release(&mut self, session: SessionKey) -> Option<DetachedSession> {
        self.sessions.get(session).filter(|session| session.seats.is_empty())?;
        let now = self.now();
        let mut leaving = self.sessions.remove(session)?;
        self.timers.cancel(leaving.alarm, Timer::Session(session));
        leaving.write(now);
        leaving.detach()
    }
}

impl DetachedSession {
    /// What the bot gets if it connects again.
    pub(crate) fn unacknowledged(&self) -> Option<Unacknowledged> {
        let bot = self.hello.instance()?;
        Some(Unacknowledged { bot, messages: self.unacknowledged.clone() })
    }

    /// Sends messages that an earlier connection of the bot did not get.
    pub(crate) fn resend(&mut self, messages: &[u8]) {
        self.out.extend(messages);
        self.unacknowledged.extend_from_slice(messages);
    }
}
