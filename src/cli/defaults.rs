//! The defaults of keys that the files of tournaments and of leagues share.

use referee_protocol::limits;

pub(super) fn margin() -> String {
    format!("{}ms", limits::MARGIN_MS)
}

pub(super) fn hello_limit() -> String {
    format!("{}ms", limits::HELLO_MS)
}

pub(super) fn ready_limit() -> String {
    format!("{}ms", limits::FIRST_READY_MS)
}

pub(super) fn reconnect() -> String {
    format!("{}ms", limits::LOST_MS)
}

pub(super) fn connections() -> u32 {
    limits::CONNECTIONS as u32
}

pub(super) fn one() -> u32 {
    1
}
