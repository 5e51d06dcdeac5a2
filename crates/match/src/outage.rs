//! Lost connections.

use serde::{Deserialize, Serialize};

/// A time without a connection, in microseconds of the match.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// The time at which the connection was lost.
    pub lost_us: u64,
    /// The time at which another connection replaced it; `None` if none did.
    pub back_us: Option<u64>,
}
