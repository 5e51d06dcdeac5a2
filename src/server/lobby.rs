//! The lobby: connected bots that wait for matches.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::server::acceptor::{Acceptor, Admissions};
use crate::server::lane::{Lane, Notice};
use crate::server::session::{DetachedSession, SessionKey};
use crate::transport::Certificate;

/// How bots connect.
#[derive(Clone, Debug)]
pub struct Listen {
    /// The address to listen on; port 0 picks a free port.
    pub address: SocketAddr,
    /// Enables TLS.
    pub certificate: Option<Certificate>,
    /// Tokens by name. If any name has a token, every name needs one.
    pub tokens: HashMap<String, String>,
    /// The maximum number of connections per name.
    pub connections: usize,
    /// How long a match waits for a bot that is not connected.
    pub wait: Duration,
}

/// The connections without a match, and the acceptor.
pub(super) struct Lobby {
    acceptor: Acceptor,
    guests: Arc<Admissions>,
    arrivals: mpsc::UnboundedReceiver<DetachedSession>,
    lane: Lane,
    /// Waiting connections by name; the longest waiting first.
    waiting: HashMap<String, VecDeque<SessionKey>>,
}

/// A lobby between two runs: its bots stay connected.
pub struct ParkedLobby {
    acceptor: Acceptor,
    guests: Arc<Admissions>,
    arrivals: mpsc::UnboundedReceiver<DetachedSession>,
    waiting: Vec<DetachedSession>,
}

impl fmt::Debug for ParkedLobby {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parked").field("address", &self.acceptor.address()).finish_non_exhaustive()
    }
}

impl ParkedLobby {
    /// Whether its use of tokens matches this configuration, which cannot change.
    pub(super) fn fits(&self, listen: &Listen) -> bool {
        self.guests.asks_for_tokens() != listen.tokens.is_empty()
    }
}

impl Lobby {
    /// Detaches the lobby from this run.
    pub(super) fn park(mut self) -> ParkedLobby {
        let mut waiting = Vec::new();
        let mut names: Vec<String> = self.waiting.keys().cloned().collect();
        names.sort_unstable();
        for name in names {
            waiting.extend(std::iter::from_fn(|| self.take(&name)));
        }
        let Lobby { acceptor, guests, arrivals, .. } = self;
        ParkedLobby { acceptor, guests, arrivals, waiting }
    }

    /// Resumes the lobby of an earlier run with these bots. Must be called on a runtime.
    pub(super) fn unpark(parked: ParkedLobby, listen: &Listen, names: impl Iterator<Item = String>) -> Lobby {
        let ParkedLobby { acceptor, guests, arrivals, waiting } = parked;
        guests.update(names, listen);
        let mut lobby = Lobby { acceptor, guests, arrivals, lane: Lane::new(), waiting: HashMap::new() };
        waiting.into_iter().for_each(|moving| lobby.put_back(moving));
        lobby
    }

    /// Starts listening. Must be called on a runtime.
    pub(super) fn open(
        listen: &Listen,
        names: impl Iterator<Item = String>,
        hello_limit: Duration,
    ) -> io::Result<Lobby> {
        let guests = Arc::new(Admissions::new(names, listen));
        let (arrive, arrivals) = mpsc::unbounded_channel();
        let acceptor = Acceptor::open(listen, guests.clone(), hello_limit, arrive)?;
        Ok(Lobby { acceptor, guests, arrivals, lane: Lane::new(), waiting: HashMap::new() })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.acceptor.address()
    }

    /// Serves the connections until a bot has connected or left.
    pub(super) async fn next(&mut self) {
        loop {
            tokio::select! {
                notice = self.lane.next() => {
                    if self.handle_notice(notice) {
                        return;
                    }
                }
                Some(moving) = self.arrivals.recv() => {
                    self.arrive(moving);
                    while let Ok(moving) = self.arrivals.try_recv() {
                        self.arrive(moving);
                    }
                    return;
                }
            }
        }
    }

    fn arrive(&mut self, moving: DetachedSession) {
        tracing::info!(name = moving.hello.name, "connected");
        self.put_back(moving);
    }

    /// Returns whether a bot has left.
    fn handle_notice(&mut self, notice: Notice) -> bool {
        let Notice::Gone { session, detail, .. } = notice else { return false };
        let name = self.lane.hello(session).map(|hello| hello.name.clone());
        self.lane.forget(session);
        let Some(name) = name else { return false };
        if let Some(waiting) = self.waiting.get_mut(&name) {
            waiting.retain(|waiting| *waiting != session);
        }
        tracing::info!(name, %detail, "left");
        self.left(&name);
        true
    }

    /// The number of waiting connections of a name.
    pub(super) fn waiting(&self, name: &str) -> usize {
        self.waiting.get(name).map_or(0, VecDeque::len)
    }

    /// The number of open connections of a name.
    pub(super) fn connections(&self, name: &str) -> usize {
        self.guests.connections(name)
    }

    /// Takes the connection of a name that has waited longest.
    pub(super) fn take(&mut self, name: &str) -> Option<DetachedSession> {
        while let Some(session) = self.waiting.get_mut(name)?.pop_front() {
            match self.lane.release(session) {
                Some(moving) => return Some(moving),
                None => self.left(name),
            }
        }
        None
    }

    /// Adds a connection that plays no match.
    pub(super) fn put_back(&mut self, moving: DetachedSession) {
        let name = moving.hello.name.clone();
        match self.lane.adopt(moving) {
            Ok(session) => self.waiting.entry(name).or_default().push_back(session),
            Err(error) => {
                tracing::info!(%error, name, "left");
                self.left(&name);
            }
        }
    }

    /// Counts a closed connection of this name.
    pub(super) fn left(&mut self, name: &str) {
        self.guests.left(name);
    }

    /// Closes all connections.
    pub(super) fn close(mut self, reason: &str) {
        self.acceptor.close(reason);
        while let Ok(moving) = self.arrivals.try_recv() {
            if let Ok(session) = self.lane.adopt(moving) {
                self.lane.dismiss(session, reason);
                self.lane.forget(session);
            }
        }
        for session in self.waiting.into_values().flatten() {
            self.lane.dismiss(session, reason);
            self.lane.forget(session);
        }
    }
}
