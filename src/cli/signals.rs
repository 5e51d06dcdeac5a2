//! Being asked to stop.

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// Resolves when somebody asks the process to stop. To be called on the runtime.
///
/// The signals are watched by a task of their own: asking a channel costs a decision less than asking three listeners.
pub(super) async fn interrupted() {
    let (tell, told) = oneshot::channel();
    tokio::spawn(async {
        any_signal().await;
        // Nobody asks any more: it is over already.
        let _ = tell.send(());
    });
    if told.await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn any_signal() {
    let mut kinds = Vec::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        match signal(kind) {
            Ok(listener) => kinds.push(listener),
            Err(error) => tracing::warn!(%error, ?kind, "cannot be listened for"),
        }
    }
    std::future::poll_fn(|cx| {
        if kinds.iter_mut().any(|listener| listener.poll_recv(cx).is_ready()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}
