//! Where connections come in: a thread of its own, so that a flood of them costs the matches no more than its share of the
//! processors.
//!
//! A connection is a stranger until its `hello` is accepted; then it goes to the lobby. Strangers have a bounded number of
//! places. Where all are taken, one of the strangers is closed for the next connection, after what it has sent is read; or
//! the next ones stay in the kernel's backlog until one may be closed: see [`PendingConnections`].

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

/// Connections that are accepted before what others have sent is looked at.
const BATCH: usize = 64;
/// Full batches in a row with which the door is behind: connections come faster than it can greet them.
const BEHIND: u32 = 16;
/// Strangers that are looked at, at most, to make room for a connection.
const LOOKS: usize = 8;
/// How long to wait for a descriptor where none can be freed.
const REST: Duration = Duration::from_millis(50);
/// Between two lines in the log about the same.
pub(super) const LOG_APART: Duration = Duration::from_secs(10);
/// Connections that wait for another one of their name to end, at most.
const MOST_CROWDED: usize = 64;
const RECONNECT: Duration = Duration::from_millis(limits::RECONNECT_MS);
const WRONG_TOKEN_APART: Duration = Duration::from_millis(limits::WRONG_TOKEN_MS);
const WRONG_TOKEN_MOST: Duration = Duration::from_millis(limits::WRONG_TOKEN_MOST_MS);

/// The bots that may connect, and how many connections each has. The door counts them in, the lobby counts them out.
pub(super) struct Admissions {
    names: RwLock<HashMap<String, AllowedBot>>,
    needs_token: bool,
    most: usize,
    /// Connections of all names.
    all: AtomicUsize,
    /// Told when a connection is counted out.
    freed: Notify,
}

/// Why a connection is rejected.
type Rejection = (ErrorCode, String);

#[derive(Default)]
struct AllowedBot {
    /// The token's SHA-256.
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

    /// Takes in other bots, and other tokens. Connections are counted on.
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

    /// Counts a connection in, or says why not. Where tokens are needed, what is said of a wrong one does not tell whether
    /// there is such a name.
    fn admit(&self, name: &str, token: Option<&str>) -> Result<(), Rejection> {
        let names = self.names();
        let bot = names.get(name);
        if self.needs_token {
            let Some(token) = token else {
                let what = "`hello` has no `token`, and every bot needs one here".to_owned();
                return Err((ErrorCode::WrongToken, what));
            };
            let said: [u8; 32] = Sha256::digest(token).into();
            let expected = bot.and_then(|bot| bot.token);
            // A name that does not exist takes as long.
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
        // Only the door counts in.
        if bot.connections.load(Ordering::Acquire) >= self.most {
            let what = format!("`{name}` has {} connections already, and no more are allowed", self.most);
            return Err((ErrorCode::TooManyConnections, what));
        }
        bot.connections.fetch_add(1, Ordering::AcqRel);
        self.all.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Counts a connection of this name out.
    pub(super) fn left(&self, name: &str) {
        if let Some(bot) = self.names().get(name) {
            bot.connections.fetch_sub(1, Ordering::AcqRel);
            self.all.fetch_sub(1, Ordering::AcqRel);
            self.freed.notify_one();
        }
    }

    /// How many connections a name has, wherever they are.
    pub(super) fn connections(&self, name: &str) -> usize {
        self.names().get(name).map_or(0, |bot| bot.connections.load(Ordering::Acquire))
    }
}

/// The door's thread.
pub(super) struct Acceptor {
    address: SocketAddr,
    close: oneshot::Sender<String>,
    thread: JoinHandle<()>,
}

impl Acceptor {
    /// Listens. Connections whose `hello` is accepted come over `arrivals`. To be called on a runtime.
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

    /// Closes it: all strangers are sent away. Nothing arrives any more when it returns.
    pub(super) fn close(self, reason: &str) {
        // It may have broken down.
        let _ = self.close.send(reason.to_owned());
        let _ = self.thread.join();
    }
}

/// What the door's thread does.
struct AcceptLoop {
    listener: Listener,
    certificate: Option<Certificate>,
    guests: Arc<Admissions>,
    hello_limit: Duration,
    arrivals: mpsc::UnboundedSender<DetachedSession>,
    lane: Lane,
    pending: PendingConnections,
    /// Most strangers.
    places: usize,
    /// Most connections, strangers or not.
    most: usize,
    /// Strangers with a long first line, the longest there first; some have left.
    long: VecDeque<SessionKey>,
    /// When a `hello` waits no longer for a turn; some do not wait any more.
    overdue: VecDeque<(Instant, SessionKey)>,
    /// Until when a `hello` waits for another connection of its name to end; some do not wait any more.
    crowded: VecDeque<(Instant, SessionKey)>,
    /// Those that are to be decided about now.
    up: VecDeque<SessionKey>,
    /// Batches in a row that have not emptied the backlog.
    full_batches: u32,
    /// Until when nothing is accepted.
    paused: Option<Instant>,
    evictions: EvictionLog,
    refusals: RejectionLog,
    /// Those whose rejection is in the log, until they are gone.
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
                // Whoever opened the door is gone if there is an error.
                reason = &mut closing => return self.close(&reason.unwrap_or_default()),
                notice = self.lane.next() => {
                    self.take_in(notice);
                    while let Some(notice) = self.lane.noticed() {
                        self.take_in(notice);
                    }
                    // There may be room now.
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
            // While there is always something to do the runtime would not look at the streams.
            tokio::task::yield_now().await;
        }
    }

    /// Accepts what is in the backlog, as far as there is room.
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
                tracing::info!(%error, "a connection was lost at once");
                continue;
            }
            let now = Instant::now();
            if self.shortage_logged.is_none_or(|logged| logged + LOG_APART <= now) {
                self.shortage_logged = Some(now);
                tracing::warn!(%error, "connections wait until others have ended");
            }
            self.paused = match self.pending.vacancy(now) {
                Some(Vacancy::InPlaceOf(session)) => {
                    self.look_at_or_close(session);
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

    /// Until when nothing can be accepted, if so.
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

    /// Closes a stranger if there is no room for another.
    fn vacancy(&mut self) {
        for _ in 0..LOOKS {
            if !self.is_full() {
                return;
            }
            let Some(Vacancy::InPlaceOf(session)) = self.pending.vacancy(Instant::now()) else { return };
            self.look_at_or_close(session);
        }
    }

    /// Closes a stranger, unless a `hello` of it has arrived.
    fn look_at_or_close(&mut self, session: SessionKey) {
        if self.lane.reads_hello(session) {
            // Its notice follows. If it cannot be let in at once it makes room the next time.
            return;
        }
        self.lane.dismiss(session, "others want to introduce themselves");
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

    fn take_in(&mut self, notice: Notice) {
        match notice {
            Notice::HelloReceived(session) => self.decide(session),
            Notice::LongLine(session) => {
                self.long.push_back(session);
                while self.long.len() > limits::LONG_HELLOS
                    && let Some(longest) = self.long.pop_front()
                {
                    if self.pending.contains(longest) {
                        self.look_at_or_close(longest);
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

    /// A stranger has said `hello`: it is let in or turned away, or waits for a turn of its address.
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

    /// Lets a stranger in, or tells why not.
    fn admit(&mut self, session: SessionKey) -> Result<(), Rejection> {
        let Some(pending_hello) = self.lane.pending_hello(session) else { return Ok(()) };
        let name = pending_hello.hello.name.clone();
        self.guests.admit(&name, pending_hello.token.as_deref())?;
        self.pending.remove(session, true, Instant::now());
        self.lane.admit(session);
        match self.lane.release(session) {
            // The lobby is gone at the end, and then the connection ends with it.
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

    /// Rejects a stranger. One whose name has too many connections may be back before it is known that an older connection
    /// has ended: it waits a while.
    fn hold_or_reject(&mut self, session: SessionKey, why: Rejection) {
        if why.0 == ErrorCode::TooManyConnections && self.crowded.len() < MOST_CROWDED {
            self.crowded.push_back((Instant::now() + RECONNECT, session));
        } else {
            self.reject(session, why);
        }
    }

    /// A connection has ended: one that waits for that may be let in.
    fn admit_crowded(&mut self) {
        for (until, session) in std::mem::take(&mut self.crowded) {
            if self.admit(session).is_err() {
                self.crowded.push_back((until, session));
            }
        }
    }

    /// When to look at those that wait.
    fn next_due(&self) -> Option<Instant> {
        let waiting = [&self.overdue, &self.crowded].into_iter().filter_map(VecDeque::front);
        waiting.map(|&(until, _)| until).chain(self.pending.next_turn()).min()
    }

    /// Decides about those whose turn has come, or whose time to wait is up.
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

    /// Sends all strangers away.
    fn close(mut self, reason: &str) {
        for session in self.pending.sessions() {
            self.lane.dismiss(session, reason);
            self.lane.forget(session);
        }
        self.evictions.flush();
        self.refusals.flush();
    }
}

/// The most connections if this many files may be open. The others are for the run itself, processes and records: a run
/// that finds no descriptor for a lane could not go on.
fn most_connections(files: Option<u64>) -> usize {
    let files = files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
    files.saturating_sub((files / 4).clamp(32, 256)).max(2)
}

/// Strangers that were closed for others, until the log tells of them.
#[derive(Default)]
struct EvictionLog {
    by_address: HashMap<IpAddr, u64>,
    all: u64,
    logged: Option<Instant>,
}

/// Addresses that are counted one by one, at most.
const MOST_COUNTED: usize = 1024;

impl EvictionLog {
    fn note(&mut self, peer: IpAddr) {
        self.all += 1;
        if self.by_address.len() < MOST_COUNTED || self.by_address.contains_key(&peer) {
            *self.by_address.entry(peer).or_default() += 1;
        }
    }

    /// Tells at once of the first, and then now and again how many there were.
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

/// What is written goes out at once, and a machine that is gone without a word is noticed.
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
    fn what_is_written_goes_out_at_once_and_a_machine_that_is_gone_is_noticed_in_half_a_minute() {
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
