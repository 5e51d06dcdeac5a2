//! A lane: the matches and streams that one thread serves.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::Duration;

use referee_match::Detail;
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::words::ErrorCode;
use referee_transport::{ByteStream, ReadBuffers, Stream};
use rustc_hash::FxHashMap;
use slotmap::SlotMap;
use tokio::task::coop::unconstrained;

use crate::driver::buffered_stream::BufferedStream;
use crate::driver::clock::LaneClock;
use crate::driver::flush::Unflushed;
use crate::driver::hello::BotHello;
use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::matches::Running;
use crate::driver::notice::Notice;
use crate::driver::ready_queue::ReadySet;
use crate::driver::role::Role;
use crate::driver::round_clock::RoundClock;
use crate::driver::session::{AwaitedHello, Session, SessionState};
use crate::driver::spin::Spin;
use crate::driver::timers::Timers;
use crate::driver::unacknowledged::Unacknowledged;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Session(SessionKey),
    Match(MatchKey),
}

/// The matches and streams that one thread serves.
#[derive(Debug)]
pub struct Lane<S = Stream> {
    pub(super) clock: RoundClock,
    pub(super) sessions: SlotMap<SessionKey, Session<S>>,
    pub(super) matches: SlotMap<MatchKey, Running>,
    /// Bots choose none of the ids.
    pub(super) by_id: FxHashMap<String, MatchKey>,
    pub(super) ready: ReadySet,
    pub(super) timers: Timers<Timer>,
    pub(super) unflushed: Unflushed,
    pub(super) spin: Spin,
    pub(super) read_buffers: ReadBuffers,
    pub(super) notices: VecDeque<Notice>,
    /// The time for which the matches of a lost connection wait for another one, in microseconds.
    pub(super) reconnect_timeout: u64,
}

impl<S: ByteStream> Default for Lane<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: ByteStream> Lane<S> {
    pub fn new() -> Self {
        Lane::with_clock(LaneClock::new())
    }

    /// A lane without matches, with this clock.
    pub fn with_clock(clock: LaneClock) -> Self {
        Lane {
            clock: RoundClock::new(clock),
            sessions: SlotMap::default(),
            matches: SlotMap::default(),
            by_id: FxHashMap::default(),
            ready: ReadySet::default(),
            timers: Timers::new(),
            unflushed: Unflushed::default(),
            spin: Spin::default(),
            read_buffers: ReadBuffers::default(),
            notices: VecDeque::new(),
            reconnect_timeout: limits::LOST_MS * 1000,
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Adds a stream and sends `hello`. The peer has `hello_limit` to answer.
    pub fn add(&mut self, role: Role, stream: S, hello_limit: Duration) -> SessionKey {
        let awaited = AwaitedHello::new(self.now(), hello_limit);
        let queue = self.ready.queue.clone();
        let key = self.sessions.insert_with_key(|key| {
            let mut stream = BufferedStream::new(key, stream, queue);
            stream.say(&message::FromReferee::Hello(message::Hello {
                protocol: referee_protocol::PROTOCOL,
                server: referee_match::SERVER.to_owned(),
                auth: role.auth(),
                may_open: role == Role::Host { may_open: true },
                reconnect: role.reconnects(),
            }));
            Session::new(role, SessionState::Greeting { stream, awaited })
        });
        self.unflushed.dirty.push(key);
        // The first poll registers the stream with the reactor.
        self.ready.keys.push(key);
        key
    }

    /// Handles the exit of a session's process.
    pub fn exited(&mut self, key: SessionKey, how: Detail) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.exit(how);
            self.ready.keys.push(key);
        }
    }

    /// The `hello` of a bot, once it has arrived.
    pub fn hello(&self, session: SessionKey) -> Option<&BotHello> {
        self.sessions.get(session)?.hello()
    }

    /// The token of the `hello` of a connection.
    pub(crate) fn token(&self, session: SessionKey) -> Option<&str> {
        match &self.sessions.get(session)?.state {
            SessionState::Held { token, .. } => token.as_deref(),
            _ => None,
        }
    }

    /// Returns whether a match has ended on a session.
    pub fn has_played(&self, session: SessionKey) -> bool {
        self.sessions.get(session).is_some_and(|session| session.has_played)
    }

    /// Returns whether the time for the first `ready` of a session has expired, and nothing has arrived since
    /// its `hello`.
    pub fn was_never_ready(&self, session: SessionKey) -> bool {
        let session = self.sessions.get(session);
        session.is_some_and(|session| session.is_silent && !session.has_taken_part)
    }

    /// Returns whether a time limit of a session expired, and nothing has arrived since.
    pub fn is_silent(&self, session: SessionKey) -> bool {
        self.sessions.get(session).is_some_and(|session| session.is_silent)
    }

    /// Ends a session: writes pending output as far as possible, then closes the stream. Returns the messages that
    /// the bot gets again if it connects again.
    pub fn forget(&mut self, session: SessionKey) -> Option<Unacknowledged> {
        let mut ended = self.sessions.remove(session)?;
        self.timers.cancel(ended.alarm, Timer::Session(session));
        ended.end(0);
        ended.unacknowledged()
    }

    /// Sends `bye`: the bot exits.
    pub fn dismiss(&mut self, session: SessionKey, reason: &str) {
        self.say_bye(session, reason, false);
    }

    /// Sends `bye`: if the bot can connect again, it does, instead of exiting. A connection whose `hello` has not arrived
    /// may be one of such a bot.
    pub fn dismiss_for_now(&mut self, session: SessionKey, reason: &str) {
        self.say_bye(session, reason, true);
    }

    fn say_bye(&mut self, session: SessionKey, reason: &str, returns: bool) {
        if let Some(open) = self.sessions.get_mut(session) {
            let may_reconnect = open.may_reconnect() || (open.is_pending() && open.role.reconnects());
            let reconnect = returns && may_reconnect;
            open.say(&message::FromReferee::Bye(message::Bye { reason: reason.to_owned(), reconnect }));
            if let Some(stream) = open.stream_mut() {
                stream.write(self.clock.now());
            }
        }
    }

    pub fn refuse(&mut self, session: SessionKey, code: ErrorCode, message: String, id: Option<String>) {
        if let Some(open) = self.sessions.get_mut(session) {
            open.refuse(code, message, id, None);
            self.unflushed.dirty.push(session);
        }
    }

    /// Returns whether the stream of a session is open.
    pub fn is_live(&self, session: SessionKey) -> bool {
        self.sessions.get(session).is_some_and(|session| session.stream().is_some())
    }

    /// Waits until the output of a session has been written, at most for `timeout`.
    pub async fn drained(&mut self, session: SessionKey, timeout: Duration) {
        let drained = poll_fn(|cx| {
            let Some(stream) = self.sessions.get_mut(session).and_then(Session::stream_mut) else {
                return Poll::Ready(());
            };
            if !stream.out.is_empty() {
                self.ready.queue.attach(cx.waker());
                stream.write(0);
            }
            if stream.out.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        });
        let _ = tokio::time::timeout(timeout, drained).await;
    }

    /// Serves the streams until there is a notice.
    pub async fn next(&mut self) -> Notice {
        // With a budget, tokio would put off all reads of a round beyond the 128th, and those behind newer ones.
        unconstrained(poll_fn(|cx| self.poll_next(cx))).await
    }

    /// Takes a notice that is already pending.
    pub(crate) fn noticed(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Notice> {
        self.ready.queue.attach(cx.waker());
        loop {
            if let Some(notice) = self.notices.pop_front() {
                return Poll::Ready(notice);
            }
            self.serve();
            if self.notices.is_empty() && self.ready.keys.is_empty() {
                self.clock.sleep();
                if !self.spin() && self.timers.poll(&self.clock.lane, cx).is_pending() {
                    return Poll::Pending;
                }
            }
        }
    }
}
