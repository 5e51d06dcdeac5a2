//! Signals that interrupt the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::files::StorageWait;
use crate::runner::signalled;

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Returns whether the process was interrupted since [`interrupted`] was called.
pub(super) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// Resolves when the process is interrupted. Must be called before any bot is started: from then on a signal no
/// longer kills the process at once.
///
/// A thread of its own listens to the signals, so that they are handled even if other threads block. Polling one
/// channel per decision is also cheaper than polling three listeners.
pub(super) fn interrupted() -> impl Future<Output = ()> {
    interrupted_giving_up(StorageWait::default())
}

/// Resolves as [`interrupted`] does, and gives up waiting for storage then.
pub(super) fn interrupted_giving_up(wait: StorageWait) -> impl Future<Output = ()> {
    let (sender, receiver) = oneshot::channel();
    let mut sender = Some(sender);
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    on_each(kinds, move |_| {
        IS_INTERRUPTED.store(true, Ordering::Relaxed);
        wait.give_up();
        // The run may be over already.
        let _ = sender.take().map(|sender| sender.send(()));
    });
    async { signalled(&mut Some(receiver)).await }
}

/// Calls this on a thread of its own for each of these signals. Must be called before any bot is started.
pub(super) fn on_each<const KINDS: usize>(
    kinds: [SignalKind; KINDS],
    on_signal: impl FnMut(SignalKind) + Send + 'static,
) {
    let (ready, is_ready) = sync_channel(1);
    let listener =
        thread::Builder::new().name("signals".to_owned()).spawn(move || listen(&kinds, ready, on_signal));
    match listener {
        // The thread reports when it listens, or ends if it cannot.
        Ok(_) => drop(is_ready.recv()),
        Err(error) => tracing::warn!(%error, "cannot listen for signals"),
    }
}

/// The signals that this process ignores, as bits: `nohup` ignores SIGHUP, and a shell SIGINT for `sh -c 'command &'`. They
/// stay ignored. None where `/proc` does not exist.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn listen(kinds: &[SignalKind], ready: SyncSender<()>, mut on_signal: impl FnMut(SignalKind)) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::warn!(%error, "cannot listen for signals"),
    };
    runtime.block_on(async {
        let mut listeners = Vec::new();
        let ignored = ignored();
        for &kind in kinds.iter().filter(|kind| ignored >> (kind.as_raw_value() - 1) & 1 == 0) {
            match signal(kind) {
                Ok(listener) => listeners.push((kind, listener)),
                Err(error) => tracing::warn!(%error, ?kind, "cannot listen for a signal"),
            }
        }
        // The other thread waits for this.
        let _ = ready.send(());
        loop {
            let kind = std::future::poll_fn(|cx| {
                let mut received = listeners.iter_mut();
                let received =
                    received.find_map(|(kind, listener)| listener.poll_recv(cx).is_ready().then_some(*kind));
                received.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
            })
            .await;
            on_signal(kind);
        }
    });
}
