//! Being asked to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Resolves when somebody asks the process to stop.
pub(super) async fn interrupted() {
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
