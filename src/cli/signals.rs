//! Being asked to stop.

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// Resolves when somebody asks the process to stop. To be called on the runtime, before any bot is started: from the
/// call on a signal no longer ends the process at once.
///
/// The signals are watched by a task of their own: asking a channel costs a decision less than asking three listeners.
pub(super) fn interrupted() -> impl Future<Output = ()> {
    let mut kinds = Vec::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        match signal(kind) {
            Ok(listener) => kinds.push(listener),
            Err(error) => tracing::warn!(%error, ?kind, "cannot be listened for"),
        }
    }
    let any_signal = std::future::poll_fn(move |cx| {
        if kinds.iter_mut().any(|listener| listener.poll_recv(cx).is_ready()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    });
    let (tell, told) = oneshot::channel();
    tokio::spawn(async {
        any_signal.await;
        // Nobody asks any more: it is over already.
        let _ = tell.send(());
    });
    async {
        if told.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
