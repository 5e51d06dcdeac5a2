//! The lobby: connected bots that wait for matches.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io, mem};

use referee_stats::ladder::Name;
use tokio::sync::mpsc;
use tokio::time::Instant;

use slotmap::KeyData;

use crate::driver::{BotHello, BotInstance, DetachedSession, Lane, Notice, SessionKey};
use crate::sources::acceptor::{Acceptor, Admissions, ByeContents};
use crate::sources::{BotTokens, Listen};

/// The connections without a match, and the acceptor.
pub(crate) struct Lobby {
    acceptor: Acceptor,
    pub(super) guests: Arc<Admissions>,
    arrivals: mpsc::UnboundedReceiver<DetachedSession>,
    pub(super) lane: Lane,
    /// Waiting connections by name; the longest waiting first.
    pub(super) waiting: HashMap<String, VecDeque<SessionKey>>,
    /// The numbers of open connections by name.
    open: HashMap<String, usize>,
    /// The bots that may connect again.
    pub(super) places: HashMap<BotInstance, BotPlace>,
    /// Connections for the lanes that hold the ones that they replace.
    pub(super) returning: Vec<(Holder, DetachedSession)>,
    /// Whether names that are not in the run join it, each version as a name of its own.
    is_open: bool,
    /// The names whose number of connections has changed.
    changed: BTreeSet<String>,
}

/// The lane and the connection of a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) lane: usize,
    pub(crate) bot: KeyData,
}

/// The place of a bot that may connect again.
pub(super) enum BotPlace {
    /// The connection waits for a match.
    Waiting(SessionKey),
    /// A lane has its connection, or waits for the next one.
    Held(Holder),
    /// The bot is not connected, and gets these messages when it connects.
    Away(Instant, Vec<u8>),
}

/// A lobby between two runs: its bots stay connected.
pub struct ParkedLobby {
    acceptor: Acceptor,
    guests: Arc<Admissions>,
    arrivals: mpsc::UnboundedReceiver<DetachedSession>,
    waiting: Vec<DetachedSession>,
    is_open: bool,
}

impl fmt::Debug for ParkedLobby {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parked").field("address", &self.acceptor.address()).finish_non_exhaustive()
    }
}

impl ParkedLobby {
    /// Returns whether its use of tokens matches this configuration, which cannot change.
    pub(crate) fn fits(&self, listen: &Listen) -> bool {
        self.guests.asks_for_tokens() == listen.tokens.is_some()
    }
}

/// The reason in `bye` for a bot whose token was revoked.
const REVOKED: &str = "its token does not admit it any more";

impl ParkedLobby {
    /// Serves its connections again. Must be called on a runtime.
    fn revived(self) -> Lobby {
        let ParkedLobby { acceptor, guests, arrivals, waiting, is_open } = self;
        let mut lobby = Lobby::new(acceptor, guests, arrivals, is_open);
        for moving in waiting {
            lobby.count(&moving);
            lobby.put_back(moving);
        }
        lobby
    }

    /// Closes all connections.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn close(self, reason: &str) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async { self.revived().close(reason) });
        Ok(())
    }
}

impl Lobby {
    /// Detaches the lobby from this run.
    pub(crate) fn park(mut self) -> ParkedLobby {
        let mut waiting = Vec::new();
        let mut names: Vec<String> = self.waiting.keys().cloned().collect();
        names.sort_unstable();
        for name in names {
            waiting.extend(std::iter::from_fn(|| self.take(&name, None)));
        }
        let Lobby { acceptor, guests, arrivals, is_open, .. } = self;
        ParkedLobby { acceptor, guests, arrivals, waiting, is_open }
    }

    /// Resumes the lobby of an earlier run with these bots. Must be called on a runtime.
    pub(crate) fn unpark(parked: ParkedLobby, listen: &Listen, names: impl Iterator<Item = String>) -> Lobby {
        parked.guests.update(names, listen);
        parked.revived()
    }

    /// Starts listening. Must be called on a runtime.
    pub(crate) fn open(
        listen: &Listen,
        names: impl Iterator<Item = String>,
        hello_limit: Duration,
    ) -> io::Result<Lobby> {
        let of_tokens =
            listen.tokens.iter().flatten().filter(|_| listen.is_open).map(|(name, _)| name.clone());
        let guests = Arc::new(Admissions::new(names.chain(of_tokens), listen));
        let (arrive, arrivals) = mpsc::unbounded_channel();
        let acceptor = Acceptor::open(listen, guests.clone(), hello_limit, arrive)?;
        Ok(Lobby::new(acceptor, guests, arrivals, listen.is_open))
    }

    fn new(
        acceptor: Acceptor,
        guests: Arc<Admissions>,
        arrivals: mpsc::UnboundedReceiver<DetachedSession>,
        is_open: bool,
    ) -> Lobby {
        Lobby {
            acceptor,
            guests,
            arrivals,
            lane: Lane::new(),
            waiting: HashMap::new(),
            open: HashMap::new(),
            places: HashMap::new(),
            returning: Vec::new(),
            is_open,
            changed: BTreeSet::new(),
        }
    }

    /// The name under which a connection is kept.
    pub(super) fn name_of(&self, hello: &BotHello) -> String {
        if self.is_open {
            Name::of(&hello.name, hello.version.as_deref()).to_string()
        } else {
            hello.name.clone()
        }
    }

    /// Replaces the tokens, and closes waiting connections of names that are not admitted any more.
    pub(crate) fn set_tokens(&mut self, tokens: BotTokens) {
        self.guests.set_tokens(tokens);
        let mut names: BTreeSet<String> = self.waiting.keys().cloned().collect();
        names.retain(|name| !self.guests.allows(&Name::parse(name).bot));
        names.iter().for_each(|name| self.dismiss(name, REVOKED));
    }

    /// Closes the waiting connections of a name.
    pub(crate) fn dismiss(&mut self, name: &str, reason: &str) {
        for session in self.waiting.remove(name).unwrap_or_default() {
            if let Some(bot) = self.lane.hello(session).and_then(BotHello::instance) {
                self.clear_place(&bot);
            }
            self.lane.dismiss(session, reason);
            self.lane.forget(session);
            self.left(name);
        }
    }

    /// The names whose number of connections has changed since the last call, if names join the run by connecting.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<String> {
        let changed = mem::take(&mut self.changed);
        if self.is_open { changed } else { BTreeSet::new() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.acceptor.address()
    }

    /// Serves the connections until a bot has connected or left.
    pub(crate) async fn next(&mut self) {
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
        self.count(&moving);
        match moving.hello.instance().and_then(|bot| self.places.get(&bot)) {
            Some(&BotPlace::Held(holder)) => self.returning.push((holder, moving)),
            _ => self.put_back(moving),
        }
    }

    /// Returns whether a bot has left.
    fn handle_notice(&mut self, notice: Notice) -> bool {
        let Notice::Gone { session, detail, .. } = notice else { return false };
        let name = self.lane.hello(session).map(|hello| self.name_of(hello));
        let unacknowledged = self.lane.forget(session);
        let Some(name) = name else { return false };
        if let Some(unacknowledged) = unacknowledged
            && matches!(self.places.get(&unacknowledged.bot), Some(BotPlace::Waiting(waiting)) if *waiting == session)
        {
            self.keep_unacknowledged(unacknowledged);
        }
        if let Some(waiting) = self.waiting.get_mut(&name) {
            waiting.retain(|waiting| *waiting != session);
        }
        tracing::info!(name, %detail, "left");
        self.left(&name);
        true
    }

    /// The number of waiting connections of a name.
    pub(crate) fn waiting(&self, name: &str) -> usize {
        self.waiting.get(name).map_or(0, VecDeque::len)
    }

    /// The number of open connections of a name.
    pub(crate) fn connections(&self, name: &str) -> usize {
        self.open.get(name).copied().unwrap_or(0)
    }

    /// Takes the connection of a name that has waited longest.
    pub(crate) fn take(&mut self, name: &str, holder: Option<Holder>) -> Option<DetachedSession> {
        while let Some(session) = self.waiting.get_mut(name)?.pop_front() {
            let bot = self.lane.hello(session).and_then(BotHello::instance);
            let moving = self.lane.release(session);
            if let Some(bot) = bot {
                match holder.filter(|_| moving.is_some()) {
                    Some(holder) => self.place(bot, BotPlace::Held(holder)),
                    None => self.clear_place(&bot),
                }
            }
            match moving {
                Some(moving) => return Some(moving),
                None => self.left(name),
            }
        }
        None
    }

    /// Adds a connection that plays no match.
    pub(crate) fn put_back(&mut self, mut moving: DetachedSession) {
        let name = self.name_of(&moving.hello);
        let bot = moving.hello.instance();
        if let Some(bot) = &bot {
            moving.resend(&self.replace(bot, &name));
        }
        let is_allowed = self.guests.allows(&moving.hello.name);
        let unacknowledged = moving.unacknowledged();
        match self.lane.adopt(moving) {
            Ok(session) if !is_allowed => {
                self.lane.dismiss(session, REVOKED);
                self.lane.forget(session);
                self.left(&name);
            }
            Ok(session) => {
                if let Some(bot) = bot {
                    self.place(bot, BotPlace::Waiting(session));
                }
                self.waiting.entry(name).or_default().push_back(session);
            }
            Err(error) => {
                tracing::info!(%error, name, "left");
                if let Some(unacknowledged) = unacknowledged {
                    self.keep_unacknowledged(unacknowledged);
                }
                self.left(&name);
            }
        }
    }

    /// Counts a closed connection of this name.
    pub(crate) fn left(&mut self, name: &str) {
        if let Some(open) = self.open.get_mut(name) {
            *open = open.saturating_sub(1);
        }
        self.changed.insert(name.to_owned());
        self.guests.left(if self.is_open { name.split('@').next().unwrap_or(name) } else { name });
    }

    /// Counts an open connection.
    fn count(&mut self, moving: &DetachedSession) {
        let name = self.name_of(&moving.hello);
        *self.open.entry(name.clone()).or_default() += 1;
        self.changed.insert(name);
    }

    /// Closes all connections. Bots that join the run by connecting may connect to the next one.
    pub(crate) fn close(mut self, reason: &str) {
        self.acceptor.close(ByeContents { reason: reason.to_owned(), reconnect: self.is_open });
        let mut open: Vec<SessionKey> = self.waiting.into_values().flatten().collect();
        while let Ok(moving) = self.arrivals.try_recv() {
            open.extend(self.lane.adopt(moving));
        }
        for session in open {
            if self.is_open {
                self.lane.dismiss_for_now(session, reason);
            } else {
                self.lane.dismiss(session, reason);
            }
            self.lane.forget(session);
        }
    }
}
