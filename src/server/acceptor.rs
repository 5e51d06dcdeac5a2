//! Accepts connections on a thread of its own, so that a connection flood takes no more than its share of the
//! processors.
//!
//! A connection is pending until its `hello` is accepted; then it moves to the lobby. The number of pending
//! connections is bounded. At the limit, one of them is closed for each new connection, after its input has been
//! read; or new connections stay in the kernel's backlog until one may be closed: see [`PendingConnections`].

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use referee_protocol::limits;
use referee_protocol::words::{ErrorCode, FaultCode};
use rustix::net::sockopt;
use rustix::process::{Resource, getrlimit};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use crate::referee::Detail;
use crate::server::lane::{Lane, Notice};
use crate::server::lobby::Listen;
use crate::server::pending_connections::{PendingConnections, Vacancy};
use crate::server::rejection_log::{RejectionLog, RejectionReason};
use crate::server::session::{DetachedSession, Role, SessionKey};
use crate::transport::{Bound, Certificate, Listener, Stream, Wire, is_shortage};

/// Connections accepted in a row before the input of others is handled.
const BATCH: usize = 64;
/// After this number of full batches in a row, connections arrive faster than they can be greeted.
const BEHIND: u32 = 16;
/// The maximum number of pending connections that are examined to make room for a new one.
const LOOKS: usize = 8;
/// How long to wait for a descriptor if none can be freed.
const REST: Duration = Duration::from_millis(50);
/// The minimum time between two log lines about the same event.
pub(super) const LOG_APART: Duration = Duration::from_secs(10);
/// The maximum number of connections that wait for another one of their name to close.
const MOST_CROWDED: usize = 64;
const RECONNECT: Duration = Duration::from_millis(limits::RECONNECT_MS);
const WRONG_TOKEN_APART: Duration = Duration::from_millis(limits::WRONG_TOKEN_MS);
const WRONG_TOKEN_MOST: Duration = Duration::from_millis(limits::WRONG_TOKEN_MOST_MS);

/// The bots that may connect, and their numbers of connections. The acceptor increments them, the lobby decrements
/// them.
pub(super) struct Admissions {
    names: RwLock<HashMap<String, AllowedBot>>,
    needs_token: bool,
    most: usize,
    /// Connections of all names.
    all: AtomicUsize,
    /// Notified when a connection closes.
    freed: Notify,
}

/// Why a connection is rejected.
type Rejection = (ErrorCode, String);

#[derive(Default)]
struct AllowedBot {
    /// SHA-256 of the token.
    token: Option<[u8; 32]>,
    connections: AtomicUsize,
}

impl Admissions {
    pub(super) fn new(names: impl Iterator<Item = String>, listen: &Listen) -> Admissions {
        let guests = Admissions {
            names: RwLock::default(),
            needs_token: !listen.tokens.is_empty(),
            most: listen.connections,
            all: AtomicUsize::new(0),
            freed: Notify::new(),
        };
        guests.update(names, listen);
        guests
    }

    /// Adds bots and replaces tokens. The counts are kept.
    pub(super) fn update(&self, names: impl Iterator<Item = String>, listen: &Listen) {
        let mut guests = self.names.write().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            let token = listen.tokens.get(&name).map(|token| Sha256::digest(token).into());
            guests.entry(name).or_default().token = token;
        }
    }

    fn names(&self) -> RwLockReadGuard<'_, HashMap<String, AllowedBot>> {
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether every bot needs a token.
    pub(super) fn asks_for_tokens(&self) -> bool {
        self.needs_token
    }

    /// Whether a bot of this name takes part.
    fn has(&self, name: &str) -> bool {
        self.names().contains_key(name)
    }

    /// Counts a new connection, or returns why it is rejected. If tokens are required, the message for a wrong one
    /// does not reveal whether the name exists.
    fn admit(&self, name: &str, token: Option<&str>) -> Result<(), Rejection> {
        let names = self.names();
        let bot = names.get(name);
        if self.needs_token {
            let Some(token) = token else {
                let what = "`hello` has no `token`, which this server requires".to_owned();
                return Err((ErrorCode::WrongToken, what));
            };
            let said: [u8; 32] = Sha256::digest(token).into();
            let expected = bot.and_then(|bot| bot.token);
            // The comparison takes as long for a name that does not exist.
            let is_right: bool = expected.unwrap_or_default().ct_eq(&said).into();
            if expected.is_none() || !is_right {
                let what = format!(
                    "no bot called `{name}` with this token takes part here: are the `name` and the `token` of your \
                     `hello` right?"
                );
                return Err((ErrorCode::WrongToken, what));
            }
        }
        let Some(bot) = bot else {
            let what =
                format!("no bot called `{name}` takes part here: is the `name` of your `hello` right?");
            return Err((ErrorCode::UnknownName, what));
        };
        // Only the acceptor increments, so that the check cannot race.
        if bot.connections.load(Ordering::Acquire) >= self.most {
            let what = format!("`{name}` has {} connections already, and no more are allowed", self.most);
            return Err((ErrorCode::TooManyConnections, what));
        }
        bot.connections.fetch_add(1, Ordering::AcqRel);
        self.all.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Counts a closed connection of this name.
    pub(super) fn left(&self, name: &str) {
        if let Some(bot) = self.names().get(name) {
            bot.connections.fetch_sub(1, Ordering::AcqRel);
            self.all.fetch_sub(1, Ordering::AcqRel);
            self.freed.notify_one();
        }
    }

    /// The number of open connections of a name.
    pub(super) fn connections(&self, name: &str) -> usize {
        self.names().get(name).map_or(0, |bot| bot.connections.load(Ordering::Acquire))
    }
}

/// A handle to the acceptor's thread.
pub(super) struct Acceptor {
    address: SocketAddr,
    close: oneshot::Sender<String>,
    thread: JoinHandle<()>,
}

impl Acceptor {
    /// Starts listening. Admitted connections are sent to `arrivals`. Must be called on a runtime.
    pub(super) fn open(
        listen: &Listen,
        guests: Arc<Admissions>,
        hello_limit: Duration,
        arrivals: mpsc::UnboundedSender<DetachedSession>,
    ) -> io::Result<Acceptor> {
        let bound = Bound::listen(listen.address)?;
        let address = bound.address()?;
        let (close, closing) = oneshot::channel();
        let certificate = listen.certificate.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let work = move || {
            runtime.block_on(async {
                match Listener::watch(bound) {
                    Ok(listener) => {
                        let porter = AcceptLoop::new(listener, certificate, guests, hello_limit, arrivals);
                        porter.work(closing).await;
                    }
                    Err(error) => tracing::error!(%error, "no bot can connect"),
                }
            });
        };
        let thread = thread::Builder::new().name("door".to_owned()).spawn(work)?;
        Ok(Acceptor { address, close, thread })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes all pending connections and stops the thread. Nothing arrives after it returns.
    pub(super) fn close(self, reason: &str) {
        // The thread may have panicked.
        let _ = self.close.send(reason.to_owned());
        let _ = self.thread.join();
    }
}

/// The state of the acceptor's thread.
struct AcceptLoop {
    listener: Listener,
    certificate: Option<Certificate>,
    guests: Arc<Admissions>,
    hello_limit: Duration,
    arrivals: mpsc::UnboundedSender<DetachedSession>,
    lane: Lane,
    pending: PendingConnections,
    /// The maximum number of pending connections.
    places: usize,
    /// The maximum number of connections.
    most: usize,
    /// Pending connections with a long first line, the oldest first; some have closed since.
    long: VecDeque<SessionKey>,
    /// Until when each `hello` waits for its turn, at most; some do not wait any more.
    overdue: VecDeque<(Instant, SessionKey)>,
    /// Until when a `hello` waits for another connection of its name to close; some do not wait any more.
    crowded: VecDeque<(Instant, SessionKey)>,
    /// Connections whose waiting time is over.
    up: VecDeque<SessionKey>,
    /// Batches in a row that have not emptied the backlog.
    full_batches: u32,
    /// Until when nothing is accepted.
    paused: Option<Instant>,
    evictions: EvictionLog,
    refusals: RejectionLog,
    /// Rejected connections that are in the log already.
    rejected: HashSet<SessionKey>,
    shortage_logged: Option<Instant>,
}

impl AcceptLoop {
    fn new(
        listener: Listener,
        certificate: Option<Certificate>,
        guests: Arc<Admissions>,
        hello_limit: Duration,
        arrivals: mpsc::UnboundedSender<DetachedSession>,
    ) -> AcceptLoop {
        AcceptLoop {
            listener,
            lane: Lane::for_guests(guests.needs_token),
            pending: PendingConnections::new(),
            places: if certificate.is_some() {
                limits::PENDING_CONNECTIONS_TLS
            } else {
                limits::PENDING_CONNECTIONS
            },
            most: most_connections(getrlimit(Resource::Nofile).current),
            certificate,
            guests,
            hello_limit,
            arrivals,
            long: VecDeque::new(),
            overdue: VecDeque::new(),
            crowded: VecDeque::new(),
            up: VecDeque::new(),
            full_batches: 0,
            paused: None,
            evictions: EvictionLog::default(),
            refusals: RejectionLog::default(),
            rejected: HashSet::new(),
            shortage_logged: None,
        }
    }

    async fn work(mut self, mut closing: oneshot::Receiver<String>) {
        loop {
            let (paused, due) = (self.paused, self.next_due());
            let until = |at: Option<Instant>| tokio::time::sleep_until(at.unwrap_or_else(Instant::now));
            tokio::select! {
                biased;
                // An error means that the owner of the acceptor has been dropped.
                reason = &mut closing => return self.close(&reason.unwrap_or_default()),
                notice = self.lane.next() => {
                    self.handle_notice(notice);
                    while let Some(notice) = self.lane.noticed() {
                        self.handle_notice(notice);
                    }
                    // A pending connection may have closed.
                    self.paused = None;
                }
                () = until(due), if due.is_some() => self.answer(),
                () = self.guests.freed.notified() => self.admit_crowded(),
                () = until(paused), if paused.is_some() => self.paused = None,
                ready = self.listener.ready(), if paused.is_none() => if let Err(error) = ready {
                    return tracing::error!(%error, "no more bots can connect");
                },
            }
            if self.paused.is_none() {
                self.accept();
            }
            self.evictions.log(Instant::now());
            self.refusals.log(Instant::now());
            // Without this, the runtime would not poll the streams while there is always something to do.
            tokio::task::yield_now().await;
        }
    }

    /// Accepts connections from the backlog while there is room.
    fn accept(&mut self) {
        for _ in 0..BATCH {
            if let Some(until) = self.room() {
                self.paused = Some(until);
                return;
            }
            let error = match self.listener.accept() {
                Ok(None) => {
                    self.full_batches = 0;
                    return;
                }
                Ok(Some((_, peer)))
                    if self.full_batches >= BEHIND && self.pending.sheds(peer.ip(), Instant::now()) =>
                {
                    self.evictions.note(peer.ip());
                    continue;
                }
                Ok(Some((socket, peer))) => {
                    self.vacancy();
                    match self.greet(socket, peer.ip()) {
                        Ok(()) => continue,
                        Err(error) => error,
                    }
                }
                Err(error) => error,
            };
            if !is_shortage(&error) {
                tracing::info!(%error, "a connection failed while it was accepted");
                continue;
            }
            let now = Instant::now();
            if self.shortage_logged.is_none_or(|logged| logged + LOG_APART <= now) {
                self.shortage_logged = Some(now);
                tracing::warn!(%error, "new connections wait until others have closed");
            }
            self.paused = match self.pending.vacancy(now) {
                Some(Vacancy::InPlaceOf(session)) => {
                    self.read_or_close(session);
                    continue;
                }
                Some(Vacancy::From(from)) => Some(from.min(now + REST)),
                None => Some(now + REST),
            };
            return;
        }
        self.full_batches = self.full_batches.saturating_add(1);
    }

    fn is_full(&self) -> bool {
        let pending = self.pending.len();
        pending >= self.places || pending + self.guests.all.load(Ordering::Acquire) >= self.most
    }

    /// Returns until when no connection can be accepted; `None` if one can.
    fn room(&self) -> Option<Instant> {
        if !self.is_full() {
            return None;
        }
        let now = Instant::now();
        match self.pending.vacancy(now) {
            Some(Vacancy::InPlaceOf(_)) => None,
            Some(Vacancy::From(from)) => Some(from),
            None => Some(now + REST),
        }
    }

    /// Closes pending connections if there is no room for another one.
    fn vacancy(&mut self) {
        for _ in 0..LOOKS {
            if !self.is_full() {
                return;
            }
            let Some(Vacancy::InPlaceOf(session)) = self.pending.vacancy(Instant::now()) else { return };
            self.read_or_close(session);
        }
    }

    /// Closes a pending connection, unless its `hello` has arrived.
    fn read_or_close(&mut self, session: SessionKey) {
        if self.lane.reads_hello(session) {
            // Its notice follows. If it cannot be admitted at once, it is closed the next time.
            return;
        }
        self.lane.dismiss(session, "too many pending connections");
        self.lane.forget(session);
        if let Some(peer) = self.pending.remove(session, false, Instant::now()) {
            self.evictions.note(peer);
        }
    }

    fn greet(&mut self, socket: OwnedFd, peer: IpAddr) -> io::Result<()> {
        settle(&socket)?;
        let tls = self.certificate.as_ref().map(Certificate::accept).transpose()?;
        let stream = Stream::watch(Wire::socket(socket, tls))?;
        let session = self.lane.add(Role::Connection, stream, self.hello_limit);
        self.pending.add(session, peer, Instant::now());
        Ok(())
    }

    fn handle_notice(&mut self, notice: Notice) {
        match notice {
            Notice::HelloReceived(session) => self.decide(session),
            Notice::LongLine(session) => {
                self.long.push_back(session);
                while self.long.len() > limits::LONG_HELLOS
                    && let Some(longest) = self.long.pop_front()
                {
                    if self.pending.contains(longest) {
                        self.read_or_close(longest);
                    }
                }
            }
            Notice::Gone { session, code, detail, .. } => {
                let (address, now) = (self.pending.address(session), Instant::now());
                self.pending.remove(session, false, now);
                self.lane.forget(session);
                tracing::info!(%detail, "a connection has ended before it was accepted");
                let is_refused = [FaultCode::NoStart, FaultCode::Protocol].contains(&code);
                if !self.rejected.remove(&session)
                    && is_refused
                    && let Some(address) = address
                {
                    self.refusals.tell(address, RejectionReason::of_line(&detail), now);
                }
            }
            Notice::Greeted(_) | Notice::OpenAsked(..) | Notice::Moved(_) | Notice::Ended(_) => {}
        }
    }

    /// Decides on the `hello` of a pending connection: admits or rejects it, or lets it wait for a turn of its
    /// address.
    fn decide(&mut self, session: SessionKey) {
        let now = Instant::now();
        if self.lane.pending_hello(session).is_none() {
            return;
        }
        if self.guests.needs_token && !self.pending.asks(session, now) {
            return self.overdue.push_back((now + WRONG_TOKEN_MOST, session));
        }
        match self.admit(session) {
            Ok(()) => {}
            Err((ErrorCode::WrongToken, _)) => self.pending.was_wrong(session, WRONG_TOKEN_APART, now),
            Err(why) => self.hold_or_reject(session, why),
        }
    }

    /// Admits a pending connection.
    fn admit(&mut self, session: SessionKey) -> Result<(), Rejection> {
        let Some(pending_hello) = self.lane.pending_hello(session) else { return Ok(()) };
        let name = pending_hello.hello.name.clone();
        self.guests.admit(&name, pending_hello.token.as_deref())?;
        self.pending.remove(session, true, Instant::now());
        self.lane.admit(session);
        match self.lane.release(session) {
            // The receiver is gone at the end of the run; then the connection is closed.
            Some(moving) => drop(self.arrivals.send(moving)),
            None => self.guests.left(&name),
        }
        Ok(())
    }

    fn reject(&mut self, session: SessionKey, (code, what): Rejection) {
        if let Some((pending_hello, address)) =
            self.lane.pending_hello(session).zip(self.pending.address(session))
        {
            let name = &pending_hello.hello.name;
            let refusal = RejectionReason::of_login(code, name, self.guests.has(name));
            self.refusals.tell(address, refusal, Instant::now());
            self.rejected.insert(session);
        }
        let now = self.lane.now();
        self.lane.reject(session, code, Detail::other(what), now);
    }

    /// Rejects a pending connection. If its name has too many connections, it waits for a while: a bot that
    /// reconnects may be faster than the detection that its old connection has ended.
    fn hold_or_reject(&mut self, session: SessionKey, why: Rejection) {
        if why.0 == ErrorCode::TooManyConnections && self.crowded.len() < MOST_CROWDED {
            self.crowded.push_back((Instant::now() + RECONNECT, session));
        } else {
            self.reject(session, why);
        }
    }

    /// A connection has closed: admits the ones that waited for that.
    fn admit_crowded(&mut self) {
        for (until, session) in std::mem::take(&mut self.crowded) {
            if self.admit(session).is_err() {
                self.crowded.push_back((until, session));
            }
        }
    }

    /// When the next waiting connection is due.
    fn next_due(&self) -> Option<Instant> {
        let waiting = [&self.overdue, &self.crowded].into_iter().filter_map(VecDeque::front);
        waiting.map(|&(until, _)| until).chain(self.pending.next_turn()).min()
    }

    /// Decides on connections whose turn has come or whose waiting time is over.
    fn answer(&mut self) {
        let now = Instant::now();
        while let Some(peer) = self.pending.due(now) {
            while let Some(session) = self.pending.next_asking(peer) {
                match self.admit(session) {
                    Ok(()) => {}
                    Err(why) if why.0 == ErrorCode::WrongToken => {
                        self.reject(session, why);
                        self.pending.turn_over(peer, WRONG_TOKEN_APART, now);
                        break;
                    }
                    Err(why) => self.hold_or_reject(session, why),
                }
            }
        }
        for waiting in [&mut self.overdue, &mut self.crowded] {
            let up = waiting.iter().take_while(|&&(until, _)| until <= now).count();
            self.up.extend(waiting.drain(..up).map(|(_, session)| session));
        }
        while let Some(session) = self.up.pop_front() {
            if let Err(why) = self.admit(session) {
                self.reject(session, why);
            }
        }
    }

    /// Closes all pending connections.
    fn close(mut self, reason: &str) {
        for session in self.pending.sessions() {
            self.lane.dismiss(session, reason);
            self.lane.forget(session);
        }
        self.evictions.flush();
        self.refusals.flush();
    }
}

/// The maximum number of connections with this limit of open files. The remainder is reserved for processes, records
/// and the run itself: a run without a descriptor for a lane could not continue.
fn most_connections(files: Option<u64>) -> usize {
    let files = files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
    files.saturating_sub((files / 4).clamp(32, 256)).max(2)
}

/// Pending connections that were closed to make room, since the last log line.
#[derive(Default)]
struct EvictionLog {
    by_address: HashMap<IpAddr, u64>,
    all: u64,
    logged: Option<Instant>,
}

/// The maximum number of addresses that are counted individually.
const MOST_COUNTED: usize = 1024;

impl EvictionLog {
    fn note(&mut self, peer: IpAddr) {
        self.all += 1;
        if self.by_address.len() < MOST_COUNTED || self.by_address.contains_key(&peer) {
            *self.by_address.entry(peer).or_default() += 1;
        }
    }

    /// Logs the first eviction at once, and later ones as a sum at intervals.
    fn log(&mut self, now: Instant) {
        if self.all > 0 && self.logged.is_none_or(|logged| logged + LOG_APART <= now) {
            self.logged = Some(now);
            self.flush();
        }
    }

    fn flush(&mut self) {
        let most = self.by_address.drain().max_by_key(|&(_, count)| count);
        if let Some((address, count)) = most {
            let all = std::mem::take(&mut self.all);
            tracing::warn!(
                "{all} connections without `hello` were closed to make room for others, {count} of them from {address}"
            );
        }
    }
}

/// Sends writes without delay, and detects a peer that has vanished.
fn settle(socket: &OwnedFd) -> rustix::io::Result<()> {
    sockopt::set_tcp_nodelay(socket, true)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, Duration::from_secs(15))?;
    sockopt::set_tcp_keepintvl(socket, Duration::from_secs(5))?;
    sockopt::set_tcp_keepcnt(socket, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_sockets_have_no_delay_and_detect_vanished_peers_in_30_seconds() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let _guest = std::net::TcpStream::connect(address).expect("it listens");
        let socket = OwnedFd::from(listener.accept().expect("a connection").0);
        settle(&socket).expect("a socket");
        assert!(sockopt::tcp_nodelay(&socket).expect("a socket"));
        assert!(sockopt::socket_keepalive(&socket).expect("a socket"));
        let probes = sockopt::tcp_keepcnt(&socket).expect("a socket");
        let after = sockopt::tcp_keepidle(&socket).expect("a socket")
            + sockopt::tcp_keepintvl(&socket).expect("a socket") * probes;
        assert_eq!(after, Duration::from_secs(30));
    }
}
