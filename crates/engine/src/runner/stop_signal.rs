//! Signals that end a run.

use tokio::sync::oneshot;

/// Resolves once, when the signal is sent; never if the sender is dropped.
pub async fn signalled(signal: &mut Option<oneshot::Receiver<()>>) {
    if let Some(receiver) = signal {
        let is_sent = receiver.await.is_ok();
        *signal = None;
        if is_sent {
            return;
        }
    }
    std::future::pending::<()>().await;
}
