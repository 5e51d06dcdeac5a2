//! Admits bots by name, and limits their frequency.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use referee_protocol::referee::Auth;
use referee_protocol::words::ErrorCode;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::Notify;

use crate::driver::{BotHello, BotInstance, Role};
use crate::sources::{BotTokens, Listen, TokenHash};

/// The bots that may connect, and their numbers of connections. The acceptor increments them, the lobby decrements
/// them.
pub(in crate::sources) struct Admissions {
    names: RwLock<HashMap<String, AllowedBot>>,
    needs_token: bool,
    most: usize,
    /// The time for which the matches of a lost connection wait; zero without tokens.
    reconnect: Duration,
    /// The bots whose next connection replaces another one.
    known: Mutex<HashSet<BotInstance>>,
    /// Connections of all names.
    all: AtomicUsize,
    /// Notified when a connection closes.
    freed: Notify,
    refusals: Arc<AtomicU64>,
}

/// The reason why a connection is rejected.
pub(super) type AdmissionError = (ErrorCode, String);

#[derive(Default)]
struct AllowedBot {
    tokens: Vec<TokenHash>,
    connections: AtomicUsize,
}

impl Admissions {
    pub(in crate::sources) fn new(names: impl Iterator<Item = String>, listen: &Listen) -> Admissions {
        let guests = Admissions {
            names: RwLock::default(),
            needs_token: listen.tokens.is_some(),
            most: listen.connections,
            reconnect: listen.tokens.as_ref().map_or(Duration::ZERO, |_| listen.reconnect),
            known: Mutex::default(),
            all: AtomicUsize::new(0),
            freed: Notify::new(),
            refusals: listen.refusals.clone(),
        };
        guests.update(names, listen);
        guests
    }

    /// Adds bots and replaces tokens. The counts are kept.
    pub(in crate::sources) fn update(&self, names: impl Iterator<Item = String>, listen: &Listen) {
        let mut guests = self.names.write().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            let tokens = listen.tokens.as_ref().and_then(|tokens| tokens.get(&name).cloned());
            guests.entry(name).or_default().tokens = tokens.unwrap_or_default();
        }
    }

    /// Replaces all tokens. Names without one are not admitted any more. The counts are kept.
    pub(in crate::sources) fn set_tokens(&self, tokens: BotTokens) {
        let mut guests = self.names.write().unwrap_or_else(PoisonError::into_inner);
        guests.values_mut().for_each(|bot| bot.tokens.clear());
        for (name, tokens) in tokens {
            guests.entry(name).or_default().tokens = tokens;
        }
    }

    /// Returns whether bots of this name may be connected.
    pub(in crate::sources) fn allows(&self, name: &str) -> bool {
        self.names().get(name).is_some_and(|bot| !bot.tokens.is_empty() || !self.needs_token)
    }

    fn names(&self) -> RwLockReadGuard<'_, HashMap<String, AllowedBot>> {
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The role that connections are offered.
    pub(super) fn role(&self) -> Role {
        let auth = if self.needs_token { Auth::Token } else { Auth::None };
        Role::Connection { auth, reconnects: !self.reconnect.is_zero() }
    }

    /// The time for which the matches of a lost connection wait.
    pub(in crate::sources) fn reconnect(&self) -> Duration {
        self.reconnect
    }

    fn known(&self) -> MutexGuard<'_, HashSet<BotInstance>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether the next connection of a bot replaces another one.
    pub(in crate::sources) fn note(&self, bot: &BotInstance, is_known: bool) {
        if is_known {
            self.known().insert(bot.clone());
        } else {
            self.known().remove(bot);
        }
    }

    /// Returns whether every bot needs a token.
    pub(in crate::sources) fn asks_for_tokens(&self) -> bool {
        self.needs_token
    }

    /// Returns whether a bot of this name takes part.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names().contains_key(name)
    }

    /// Counts a new connection, or returns why it is rejected. If tokens are required, the message for a wrong one
    /// does not reveal whether the name exists.
    pub(super) fn admit(&self, hello: &BotHello, token: Option<&str>) -> Result<(), AdmissionError> {
        self.count_in(hello, token).inspect_err(|_| _ = self.refusals.fetch_add(1, Ordering::Relaxed))
    }

    fn count_in(&self, hello: &BotHello, token: Option<&str>) -> Result<(), AdmissionError> {
        let name = &*hello.name;
        let names = self.names();
        let bot = names.get(name);
        if self.needs_token {
            let Some(token) = token else {
                let what = "`hello` has no `token`, which this server requires".to_owned();
                return Err((ErrorCode::WrongToken, what));
            };
            let said: [u8; 32] = Sha256::digest(token).into();
            let expected = bot.map(|bot| &*bot.tokens).filter(|tokens| !tokens.is_empty());
            // The comparison takes as long for a name that does not exist.
            let compared = expected.unwrap_or(&[[0; 32]]).iter().map(|token| bool::from(token.ct_eq(&said)));
            let is_right = compared.fold(false, |is_right, is_equal| is_right | is_equal);
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
        let replaces = || hello.instance().is_some_and(|bot| self.known().contains(&bot));
        if bot.connections.load(Ordering::Acquire) >= self.most && !replaces() {
            let what = format!("`{name}` has {} connections already, and no more are allowed", self.most);
            return Err((ErrorCode::TooManyConnections, what));
        }
        bot.connections.fetch_add(1, Ordering::AcqRel);
        self.all.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Counts a closed connection of this name.
    pub(in crate::sources) fn left(&self, name: &str) {
        if let Some(bot) = self.names().get(name) {
            bot.connections.fetch_sub(1, Ordering::AcqRel);
            self.all.fetch_sub(1, Ordering::AcqRel);
            self.freed.notify_one();
        }
    }

    /// The number of open connections of all names.
    pub(super) fn all(&self) -> usize {
        self.all.load(Ordering::Acquire)
    }

    /// Completes when a connection has closed.
    pub(super) async fn freed(&self) {
        self.freed.notified().await;
    }
}
