//! The defaults of settings.

use referee_protocol::limits;

use crate::config::{Milliseconds, Setting};

/// The default maximum number of concurrent matches per process or connection.
pub const SLOTS: u32 = 64;

/// The default of settings that count from one.
pub fn one() -> u32 {
    1
}

pub fn reconnect() -> Setting<Milliseconds> {
    Milliseconds(limits::LOST_MS).into()
}

pub fn wait() -> Setting<Milliseconds> {
    Setting::written("5m", Milliseconds(300_000))
}

pub fn connections() -> u32 {
    limits::CONNECTIONS as u32
}
