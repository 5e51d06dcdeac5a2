//! The time of day.

use std::time::SystemTime;

/// The time of day.
#[expect(clippy::disallowed_methods, reason = "results are dated, but do not depend on it")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}
