//! Lost connections.

use serde::{Deserialize, Serialize};

/// A time without a connection, in microseconds of the match.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// When the connection was lost.
    pub lost_us: u64,
    /// When another one replaced it; `None` if none did.
    pub back_us: Option<u64>,
}
