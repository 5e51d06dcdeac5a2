//! Where bots that connect by themselves come in and wait.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use referee_protocol::limits;
use referee_protocol::words::ErrorCode;
use rustix::net::sockopt;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::net::{TcpListener, TcpStream};

use crate::server::lane::{Lane, Notice};
use crate::server::session::{Moving, Role, SessionKey};
use crate::transport::{Certificate, Stream, Wire};

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

/// Who may connect.
pub(super) struct Guests {
    names: HashMap<String, Guest>,
    needs_token: bool,
    most: usize,
}

struct Guest {
    /// The token's SHA-256.
    token: Option<[u8; 32]>,
    connections: usize,
}

impl Guests {
    fn new(names: impl Iterator<Item = String>, listen: &Listen) -> Guests {
        let digest = |token: &String| Sha256::digest(token).into();
        let guest = |name: String| {
            let token = listen.tokens.get(&name).map(digest);
            (name, Guest { token, connections: 0 })
        };
        Guests {
            names: names.map(guest).collect(),
            needs_token: !listen.tokens.is_empty(),
            most: listen.connections,
        }
    }

    pub(super) fn need_tokens(&self) -> bool {
        self.needs_token
    }

    /// Lets a connection in, or says why not.
    pub(super) fn admit(&mut self, name: &str, token: Option<&str>) -> Result<(), (ErrorCode, String)> {
        let Some(guest) = self.names.get_mut(name) else {
            let what =
                format!("no bot called `{name}` takes part here: is the `name` of your `hello` right?");
            return Err((ErrorCode::UnknownName, what));
        };
        if self.needs_token {
            let said: [u8; 32] = Sha256::digest(token.unwrap_or_default()).into();
            let is_right = guest.token.is_some_and(|token| token.ct_eq(&said).into());
            if !is_right {
                let what = match token {
                    None => format!("`hello` has no `token`, and `{name}` needs one"),
                    Some(_) => format!("this is not the token of `{name}`"),
                };
                return Err((ErrorCode::WrongToken, what));
            }
        }
        if guest.connections >= self.most {
            let what = format!("`{name}` has {} connections already, and no more are allowed", self.most);
            return Err((ErrorCode::TooManyConnections, what));
        }
        guest.connections += 1;
        Ok(())
    }

    fn left(&mut self, name: &str) {
        if let Some(guest) = self.names.get_mut(name) {
            guest.connections -= 1;
        }
    }

    fn connections(&self, name: &str) -> usize {
        self.names.get(name).map_or(0, |guest| guest.connections)
    }
}

/// The listener, and the connections that play nothing now.
pub(super) struct Lobby {
    listener: TcpListener,
    certificate: Option<Certificate>,
    hello_limit: Duration,
    lane: Lane,
    /// Those that have not introduced themselves, the oldest first.
    strangers: VecDeque<SessionKey>,
    /// Those that wait for a match, by name, each name's longest first.
    waiting: HashMap<String, VecDeque<SessionKey>>,
}

impl Lobby {
    pub(super) async fn open(
        listen: &Listen,
        names: impl Iterator<Item = String>,
        hello_limit: Duration,
    ) -> io::Result<Lobby> {
        let mut lane = Lane::new();
        lane.guests = Some(Guests::new(names, listen));
        Ok(Lobby {
            listener: TcpListener::bind(listen.address).await?,
            certificate: listen.certificate.clone(),
            hello_limit,
            lane,
            strangers: VecDeque::new(),
            waiting: HashMap::new(),
        })
    }

    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until a bot has come that may play, or one has left.
    pub(super) async fn next(&mut self) {
        loop {
            tokio::select! {
                biased;
                notice = self.lane.next() => {
                    if self.take_in(notice) {
                        return;
                    }
                }
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        if let Err(error) = self.greet(stream) {
                            tracing::info!(%error, "a connection was lost at once");
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(error) => {
                        // No descriptors are left, most likely; without a rest this would go on without a pause.
                        tracing::warn!(%error, "no connection was taken");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
            }
        }
    }

    fn greet(&mut self, stream: TcpStream) -> io::Result<()> {
        let socket = OwnedFd::from(stream.into_std()?);
        settle(&socket)?;
        let tls = self.certificate.as_ref().map(Certificate::accept).transpose()?;
        if self.strangers.len() >= limits::STRANGERS
            && let Some(oldest) = self.strangers.pop_front()
        {
            self.lane.dismiss(oldest, "others want to introduce themselves");
            self.lane.forget(oldest);
        }
        let stream = Stream::watch(Wire::socket(socket, tls))?;
        self.strangers.push_back(self.lane.add(Role::Guest, stream, self.hello_limit));
        Ok(())
    }

    /// True when a bot has come or left.
    fn take_in(&mut self, notice: Notice) -> bool {
        match notice {
            Notice::Greeted(session) => {
                self.strangers.retain(|stranger| *stranger != session);
                let name = self.lane.hello(session).map(|hello| hello.name.clone()).unwrap_or_default();
                tracing::info!(name, "connected");
                self.waiting.entry(name).or_default().push_back(session);
                true
            }
            Notice::Gone { session, detail, .. } => {
                self.strangers.retain(|stranger| *stranger != session);
                let name = self.lane.hello(session).map(|hello| hello.name.clone());
                self.lane.forget(session);
                let Some(name) = name else {
                    tracing::info!(detail, "a connection was turned away");
                    return false;
                };
                if let Some(waiting) = self.waiting.get_mut(&name) {
                    waiting.retain(|waiting| *waiting != session);
                }
                tracing::info!(name, detail, "left");
                self.left(&name);
                true
            }
            Notice::OpenAsked(..) | Notice::Moved(_) | Notice::Ended(_) => false,
        }
    }

    /// How many connections of a name wait.
    pub(super) fn waiting(&self, name: &str) -> usize {
        self.waiting.get(name).map_or(0, VecDeque::len)
    }

    /// How many connections a name has, wherever they are.
    pub(super) fn connections(&self, name: &str) -> usize {
        self.lane.guests.as_ref().map_or(0, |guests| guests.connections(name))
    }

    /// Gives a connection away that waits: the one that has waited longest.
    pub(super) fn take(&mut self, name: &str) -> Option<Moving> {
        while let Some(session) = self.waiting.get_mut(name)?.pop_front() {
            match self.lane.release(session) {
                Some(moving) => return Some(moving),
                None => self.left(name),
            }
        }
        None
    }

    /// Takes a connection back that has played.
    pub(super) fn put_back(&mut self, moving: Moving) {
        let name = moving.hello.name.clone();
        match self.lane.adopt(moving) {
            Ok(session) => self.waiting.entry(name).or_default().push_back(session),
            Err(error) => {
                tracing::warn!(%error, name, "a connection is lost");
                self.left(&name);
            }
        }
    }

    /// A connection of this name is over.
    pub(super) fn left(&mut self, name: &str) {
        if let Some(guests) = &mut self.lane.guests {
            guests.left(name);
        }
    }

    /// Sends everybody away.
    pub(super) fn close(mut self, reason: &str) {
        for session in self.waiting.into_values().flatten().chain(self.strangers) {
            self.lane.dismiss(session, reason);
            self.lane.forget(session);
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
