//! The defaults of settings.

use referee_protocol::limits;

use crate::config::{Milliseconds, ReadyLimits, Setting};

/// The default maximum number of concurrent matches per process or connection.
pub const SLOTS: u32 = 64;

/// The default of settings that count from one.
pub fn one() -> u32 {
    1
}

pub fn margin() -> Setting<Milliseconds> {
    Milliseconds(limits::MARGIN_MS).into()
}

pub fn hello_limit() -> Setting<Milliseconds> {
    Milliseconds(limits::HELLO_MS).into()
}

pub fn ready_limit() -> Setting<ReadyLimits> {
    ReadyLimits { first_ms: limits::FIRST_READY_MS, later_ms: limits::READY_MS }.into()
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
