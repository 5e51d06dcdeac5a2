//! The defaults of settings.

use referee_protocol::limits;

use crate::config::{Milliseconds, ReadyLimits, Setting};

/// The default maximum number of concurrent matches per process or connection.
pub const SLOTS: u32 = 64;

/// The default of settings that count from one.
pub fn one() -> u32 {
    1
}

/// The default of `margin`.
pub fn margin() -> Setting<Milliseconds> {
    Milliseconds(limits::MARGIN_MS).into()
}

/// The default of `hello_limit`.
pub fn hello_limit() -> Setting<Milliseconds> {
    Milliseconds(limits::HELLO_MS).into()
}

/// The default of `ready_limit`.
pub fn ready_limit() -> Setting<ReadyLimits> {
    ReadyLimits { first_ms: limits::FIRST_READY_MS, later_ms: limits::READY_MS }.into()
}

/// The default of `reconnect`.
pub fn reconnect() -> Setting<Milliseconds> {
    Milliseconds(limits::LOST_MS).into()
}

/// The default of `wait`.
pub fn wait() -> Setting<Milliseconds> {
    Setting::written("5m", Milliseconds(300_000))
}

/// The default of `connections`.
pub fn connections() -> u32 {
    limits::CONNECTIONS as u32
}
