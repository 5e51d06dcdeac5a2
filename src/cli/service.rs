//! Notifies the service manager that started the program, as systemd does with `Type=notify`: see sd_notify(3).

use std::collections::BTreeSet;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sd_notify::NotifyState::{self, Ready, Status, Stopping, Watchdog};

/// A service of several parts. Without a service manager it notifies nothing.
#[derive(Debug)]
pub(super) struct Service {
    parts: usize,
    has_watchdog: bool,
    state: Mutex<ServiceState>,
}

#[derive(Debug, Default)]
struct ServiceState {
    /// The parts that are ready.
    ready: BTreeSet<String>,
    /// The responsive parts since the last notification of the watchdog.
    alive: BTreeSet<String>,
}

impl Service {
    /// A service that is starting.
    pub(super) fn new(parts: usize) -> Service {
        Service { parts, has_watchdog: sd_notify::watchdog_enabled().is_some(), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, ServiceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a part is ready. Notifies once all are.
    pub(super) fn ready(&self, part: &str) {
        let is_ready = {
            let mut state = self.lock();
            state.ready.insert(part.to_owned()) && state.ready.len() == self.parts
        };
        if is_ready {
            notify(&[Ready, Status("playing")]);
        }
    }

    /// Notes that a part is responsive. Notifies the watchdog once all parts are.
    pub(super) fn alive(&self, part: &str) {
        if !self.has_watchdog {
            return;
        }
        let mut state = self.lock();
        state.alive.insert(part.to_owned());
        if state.alive.len() == self.parts {
            state.alive.clear();
            drop(state);
            notify(&[Watchdog]);
        }
    }

    pub(super) fn stopping(&self) {
        notify(&[Stopping, Status("the matches in progress end first")]);
    }
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = send(states) {
        tracing::warn!("the service manager cannot be notified: {error}");
    }
}

/// Sends the states without the library, which does not know the abstract sockets of systemd in containers.
fn send(states: &[NotifyState<'_>]) -> io::Result<()> {
    let Some(address) = std::env::var_os("NOTIFY_SOCKET") else { return Ok(()) };
    let socket = UnixDatagram::unbound()?;
    match address.as_encoded_bytes().strip_prefix(b"@") {
        #[cfg(target_os = "linux")]
        Some(name) => {
            use std::os::linux::net::SocketAddrExt;
            socket.connect_addr(&std::os::unix::net::SocketAddr::from_abstract_name(name)?)?;
        }
        _ => socket.connect(&address)?,
    }
    let lines: String = states.iter().map(|state| format!("{state}\n")).collect();
    socket.send(lines.as_bytes()).map(drop)
}
