//! Accepts connections on a thread of its own, so that a connection flood takes no more than its share of the
//! processors.
//!
//! A connection is pending until its `hello` is accepted; then it moves to the lobby. The number of pending
//! connections is bounded. At the limit, one of them is closed for each new connection, after its input has been
//! read; or new connections stay in the kernel's backlog until one may be closed: see [`PendingConnections`].

mod accept;
mod admissions;
mod eviction_log;
mod log_interval;
mod logins;
mod pending_connections;
mod rejection_log;

use std::collections::{HashSet, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use referee_protocol::limits;
use referee_protocol::words::FaultCode;
use referee_transport::{Bound, Certificate, Listener};
use rustix::process::{Resource, getrlimit};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::driver::{DetachedSession, Lane, Notice, SessionKey};
use crate::sources::Listen;
use crate::sources::acceptor::eviction_log::EvictionLog;
use crate::sources::acceptor::log_interval::LogInterval;
use crate::sources::acceptor::rejection_log::{RejectionLog, RejectionReason};

pub(super) use admissions::Admissions;
pub use pending_connections::{PendingConnections, Vacancy};

/// The contents of `bye` for the pending connections at the end.
pub(super) struct ByeContents {
    pub(super) reason: String,
    /// Whether the bots should connect again.
    pub(super) reconnect: bool,
}

/// A handle to the acceptor's thread.
pub(super) struct Acceptor {
    address: SocketAddr,
    close: oneshot::Sender<ByeContents>,
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
                        let accept_loop =
                            AcceptLoop::new(listener, certificate, guests, hello_limit, arrivals);
                        accept_loop.work(closing).await;
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
    pub(super) fn close(self, bye: ByeContents) {
        // The thread may have panicked.
        let _ = self.close.send(bye);
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
    pending: PendingConnections<SessionKey>,
    /// The maximum number of pending connections.
    places: usize,
    /// The maximum number of connections.
    most: usize,
    /// Pending connections with a long first line, the oldest first; some have closed since.
    long: VecDeque<SessionKey>,
    /// The sessions whose `hello` waits for its turn, with the latest time; some do not wait any more.
    overdue: VecDeque<(Instant, SessionKey)>,
    /// The sessions whose `hello` waits for another connection of its name to close, with the latest time; some do not wait
    /// any more.
    crowded: VecDeque<(Instant, SessionKey)>,
    /// Connections whose waiting time is over.
    up: VecDeque<SessionKey>,
    /// Batches in a row that have not emptied the backlog.
    full_batches: u32,
    /// The time until which nothing is accepted.
    paused: Option<Instant>,
    evictions: EvictionLog,
    refusals: RejectionLog,
    /// Rejected connections that are in the log already.
    rejected: HashSet<SessionKey>,
    shortage_logged: LogInterval,
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
            lane: Lane::new(),
            pending: PendingConnections::default(),
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
            shortage_logged: LogInterval::default(),
        }
    }

    async fn work(mut self, mut closing: oneshot::Receiver<ByeContents>) {
        loop {
            let (paused, due) = (self.paused, self.next_due());
            let until = |at: Option<Instant>| tokio::time::sleep_until(at.unwrap_or_else(Instant::now));
            tokio::select! {
                biased;
                // An error means that the owner of the acceptor has been dropped.
                bye = &mut closing => return self.close(bye.ok()),
                notice = self.lane.next() => {
                    self.handle_notice(notice);
                    while let Some(notice) = self.lane.noticed() {
                        self.handle_notice(notice);
                    }
                    // A pending connection may have closed.
                    self.paused = None;
                }
                () = until(due), if due.is_some() => self.answer(),
                () = self.guests.freed() => self.admit_crowded(),
                () = until(paused), if paused.is_some() => self.paused = None,
                ready = self.listener.ready(), if paused.is_none() => if let Err(error) = ready {
                    return tracing::error!(%error, "no more bots can connect");
                },
            }
            if self.paused.is_none() {
                self.accept();
            }
            self.evictions.log(Instant::now());
            self.refusals.log_count(Instant::now());
            // Without this, the runtime would not poll the streams while there is always something to do.
            tokio::task::yield_now().await;
        }
    }

    fn handle_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Greeted(session) => self.decide(session),
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
                    self.refusals.log(address, RejectionReason::of_line(&detail), now);
                }
            }
            Notice::OpenAsked(..) | Notice::Lost { .. } | Notice::Moved(_) | Notice::Ended(_) => {}
        }
    }

    /// Closes all pending connections.
    fn close(mut self, bye: Option<ByeContents>) {
        for session in self.pending.sessions() {
            match &bye {
                Some(ByeContents { reason, reconnect: true }) => self.lane.dismiss_for_now(session, reason),
                Some(ByeContents { reason, reconnect: false }) => self.lane.dismiss(session, reason),
                None => self.lane.dismiss(session, ""),
            }
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
