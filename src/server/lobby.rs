//! Where bots that connect by themselves wait.

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
    /// Where to listen; port 0: any that is free.
    pub address: SocketAddr,
    /// Keeps connections secret.
    pub certificate: Option<Certificate>,
    /// The tokens of names. Where there is one for any name, every name needs one.
    pub tokens: HashMap<String, String>,
    /// Most connections of one name.
    pub connections: usize,
    /// How long a match waits for a bot of which there is no connection.
    pub wait: Duration,
}

/// The connections that play nothing now, and the door through which they came.
pub(super) struct Lobby {
    acceptor: Acceptor,
    guests: Arc<Admissions>,
    arrivals: mpsc::UnboundedReceiver<DetachedSession>,
    lane: Lane,
    /// Those that wait for a match, by name, each name's longest first.
    waiting: HashMap<String, VecDeque<SessionKey>>,
}

/// A lobby that nobody serves: its bots stay connected until another run goes on with it.
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
    /// Whether it asks for tokens as a run does that listens like this: that cannot change.
    pub(super) fn fits(&self, listen: &Listen) -> bool {
        self.guests.asks_for_tokens() != listen.tokens.is_empty()
    }
}

impl Lobby {
    /// Leaves it to another run.
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

    /// Goes on with one of an earlier run, for these bots. To be called on a runtime.
    pub(super) fn unpark(parked: ParkedLobby, listen: &Listen, names: impl Iterator<Item = String>) -> Lobby {
        let ParkedLobby { acceptor, guests, arrivals, waiting } = parked;
        guests.update(names, listen);
        let mut lobby = Lobby { acceptor, guests, arrivals, lane: Lane::new(), waiting: HashMap::new() };
        waiting.into_iter().for_each(|moving| lobby.put_back(moving));
        lobby
    }

    /// To be called on a runtime.
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

    /// Serves until bots have come that may play, or one has left.
    pub(super) async fn next(&mut self) {
        loop {
            tokio::select! {
                notice = self.lane.next() => {
                    if self.take_in(notice) {
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

    /// True when a bot has left.
    fn take_in(&mut self, notice: Notice) -> bool {
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

    /// How many connections of a name wait.
    pub(super) fn waiting(&self, name: &str) -> usize {
        self.waiting.get(name).map_or(0, VecDeque::len)
    }

    /// How many connections a name has, wherever they are.
    pub(super) fn connections(&self, name: &str) -> usize {
        self.guests.connections(name)
    }

    /// Gives a connection away that waits: the one that has waited longest.
    pub(super) fn take(&mut self, name: &str) -> Option<DetachedSession> {
        while let Some(session) = self.waiting.get_mut(name)?.pop_front() {
            match self.lane.release(session) {
                Some(moving) => return Some(moving),
                None => self.left(name),
            }
        }
        None
    }

    /// Takes a connection in that plays nothing now.
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

    /// A connection of this name is over.
    pub(super) fn left(&mut self, name: &str) {
        self.guests.left(name);
    }

    /// Sends everybody away.
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
