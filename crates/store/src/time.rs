//! Times in databases.

use std::time::SystemTime;

#[expect(clippy::disallowed_methods, reason = "what happens is dated, but no result depends on it")]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// A time as text, in UTC and whole seconds.
pub fn utc(at: SystemTime) -> String {
    humantime::format_rfc3339_seconds(at.max(SystemTime::UNIX_EPOCH)).to_string()
}
