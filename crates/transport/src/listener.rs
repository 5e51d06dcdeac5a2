//! The listening socket for bots.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::TcpSocket;

/// Length of the accept backlog. The kernel caps it at its own limit
/// (`net.core.somaxconn` on Linux).
const BACKLOG: u32 = 65_535;

/// A listening socket that is not registered with a runtime yet, so it can be sent to the accepting thread.
#[derive(Debug)]
pub struct Bound(TcpListener);

impl Bound {
    /// Binds and listens. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn listen(address: SocketAddr) -> io::Result<Bound> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)?.into_std().map(Bound)
    }

    /// The local address.
    ///
    /// # Errors
    /// Errors of `getsockname`.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// A listening socket, registered with the runtime of its thread.
#[derive(Debug)]
pub struct Listener(AsyncFd<TcpListener>);

impl Listener {
    /// Registers the socket with the current runtime.
    ///
    /// # Errors
    /// When the reactor cannot register it.
    pub fn watch(Bound(listener): Bound) -> io::Result<Listener> {
        #[expect(
            deprecated,
            reason = "sound with a TcpListener inside, whose descriptor never changes; the new name is `unsafe`"
        )]
        AsyncFd::with_interest(listener, Interest::READABLE).map(Listener)
    }

    /// Waits until a connection can be accepted.
    ///
    /// # Errors
    /// When the runtime shuts down.
    pub async fn ready(&self) -> io::Result<()> {
        self.0.readable().await.map(drop)
    }

    /// Accepts a connection; `None` when none is pending.
    ///
    /// # Errors
    /// Errors of `accept`; see [`is_shortage`].
    pub fn accept(&self) -> io::Result<Option<(OwnedFd, SocketAddr)>> {
        match self.0.try_io(Interest::READABLE, TcpListener::accept) {
            Ok((stream, peer)) => Ok(Some((stream.into(), peer))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether `accept` failed for lack of file descriptors or memory. The connection stays in the
/// backlog.
pub fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|errno| shortages.contains(&errno))
}
