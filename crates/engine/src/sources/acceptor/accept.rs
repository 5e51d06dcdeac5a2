//! Accepts connections from the backlog of the kernel.

use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use referee_transport::{Certificate, Stream, Wire, is_shortage};
use rustix::net::sockopt;
use tokio::time::Instant;

use crate::driver::SessionKey;
use crate::sources::acceptor::AcceptLoop;
use crate::sources::acceptor::pending_connections::Vacancy;

/// Connections accepted in a row before the input of others is handled.
const BATCH: usize = 64;
/// The number of full batches in a row from which on connections arrive faster than they can be greeted.
const BEHIND: u32 = 16;
/// The maximum number of pending connections that are examined to make room for a new one.
const LOOKS: usize = 8;
/// The time to wait for a descriptor if none can be freed.
const REST: Duration = Duration::from_millis(50);

impl AcceptLoop {
    /// Accepts connections from the backlog while there is room.
    pub(super) fn accept(&mut self) {
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
            if self.shortage_logged.begin(now) {
                tracing::warn!(%error, "new connections wait until others have closed");
            }
            self.paused = match self.pending.vacancy(now) {
                Some(Vacancy::Eviction(session)) => {
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
        let pending = self.pending.count();
        pending >= self.places || pending + self.guests.all() >= self.most
    }

    /// Returns the time until which no connection can be accepted; `None` if one can.
    fn room(&self) -> Option<Instant> {
        if !self.is_full() {
            return None;
        }
        let now = Instant::now();
        match self.pending.vacancy(now) {
            Some(Vacancy::Eviction(_)) => None,
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
            let Some(Vacancy::Eviction(session)) = self.pending.vacancy(Instant::now()) else { return };
            self.read_or_close(session);
        }
    }

    /// Closes a pending connection, unless its `hello` has arrived.
    pub(super) fn read_or_close(&mut self, session: SessionKey) {
        if self.lane.reads_hello(session) {
            // The notice of the `hello` follows. If the bot cannot be admitted at once, it is closed the next time.
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
        let session = self.lane.add(self.guests.role(), stream, self.hello_limit);
        self.pending.add(session, peer, Instant::now());
        Ok(())
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
    fn accepted_sockets_have_no_delay_and_detect_vanished_peers() {
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
