//! Limits how often the same event is logged.

use std::time::Duration;

use tokio::time::Instant;

/// The minimum time between two log lines about the same event.
const APART: Duration = Duration::from_secs(10);

/// The time at which an event was last logged.
#[derive(Debug, Default)]
pub(super) struct LogInterval(Option<Instant>);

impl LogInterval {
    /// Returns whether the event may be logged now; if so, not again for a while.
    pub(super) fn begin(&mut self, now: Instant) -> bool {
        let is_due = self.0.is_none_or(|logged| logged + APART <= now);
        if is_due {
            self.0 = Some(now);
        }
        is_due
    }
}
