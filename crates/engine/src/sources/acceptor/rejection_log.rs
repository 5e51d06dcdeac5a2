//! Logs rejected connections: each reason once per address.

use std::collections::HashSet;
use std::net::IpAddr;

use referee_match::Detail;
use referee_protocol::words::ErrorCode;
use tokio::time::Instant;

use crate::sources::acceptor::log_interval::LogInterval;

/// The maximum number of pairs of reason and address that are remembered. Later ones are only counted.
const MOST_LOGGED: usize = 1024;

/// The reason why a connection was rejected. Never contains the token.
pub(super) struct RejectionReason {
    /// A text that all rejections of a kind share, independent of text that the peer made up.
    kind: String,
    reason: String,
}

impl RejectionReason {
    /// The reason for a `hello` with this name. `takes_part`: whether a bot of this name takes part.
    pub(super) fn of_login(code: ErrorCode, name: &str, takes_part: bool) -> RejectionReason {
        let kind = format!("{code} {}", if takes_part { name } else { "" });
        let reason = match code {
            ErrorCode::WrongToken if takes_part => format!("the token of `{name}` is missing or wrong"),
            ErrorCode::WrongToken | ErrorCode::UnknownName => format!("no bot called `{name}` takes part"),
            ErrorCode::TooManyConnections => format!("`{name}` has too many connections"),
            _ => format!("{code}, as `{name}`"),
        };
        RejectionReason { kind, reason }
    }

    /// The reason for a connection without a valid `hello`.
    pub(super) fn of_line(detail: &Detail) -> RejectionReason {
        // The line itself may contain a token.
        let (kind, reason) = match detail {
            Detail::NotUtf8 | Detail::NotAnObject | Detail::NoType | Detail::Unreadable { .. } => {
                ("line", "its first line is not a message of the protocol".to_owned())
            }
            Detail::NoHello { limit_ms, .. } => {
                ("hello", format!("no valid `hello` arrived within {limit_ms} ms"))
            }
            Detail::OtherProtocol { .. } => ("protocol", detail.to_string()),
            Detail::Other { text } => (&**text, text.clone()),
            _ => ("other", detail.to_string()),
        };
        RejectionReason { kind: kind.to_owned(), reason }
    }
}

/// The rejections that have been logged.
#[derive(Default)]
pub(super) struct RejectionLog {
    known: HashSet<(IpAddr, String)>,
    /// Rejections that were only counted.
    more: u64,
    logged: LogInterval,
}

impl RejectionLog {
    /// Logs a rejection, unless the same reason was logged for its address before.
    pub(super) fn log(&mut self, address: IpAddr, refusal: RejectionReason, now: Instant) {
        let RejectionReason { kind, reason } = refusal;
        if self.known.contains(&(address, kind.clone())) {
            return;
        }
        if self.known.len() >= MOST_LOGGED {
            self.more += 1;
            return self.log_count(now);
        }
        self.known.insert((address, kind));
        tracing::warn!("rejected a connection from {address}: {reason}");
    }

    /// Logs the number of rejections that were only counted, at intervals.
    pub(super) fn log_count(&mut self, now: Instant) {
        if self.more > 0 && self.logged.begin(now) {
            self.flush();
        }
    }

    /// Logs the number of rejections that were only counted.
    pub(super) fn flush(&mut self) {
        let more = std::mem::take(&mut self.more);
        if more > 0 {
            tracing::warn!("rejected {more} more connections, from too many addresses to list them");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn each_reason_is_logged_once_per_address_with_bounded_memory() {
        let mut refusals = RejectionLog::default();
        let now = Instant::now();
        let mut refuse = |address: u32, name: &str, takes_part| {
            let refusal = RejectionReason::of_login(ErrorCode::WrongToken, name, takes_part);
            refusals.log(Ipv4Addr::from_bits(address).into(), refusal, now);
            refusals.known.len()
        };
        assert_eq!(refuse(1, "alice", true), 1);
        assert_eq!(refuse(1, "alice", true), 1);
        assert_eq!(refuse(1, "bob", true), 2, "another bot of the same machine");
        assert_eq!(refuse(1, "x1", false), 3);
        assert_eq!(refuse(1, "x2", false), 3, "names that are made up are not remembered");
        for address in 0..5000 {
            assert!(refuse(address, "alice", true) <= MOST_LOGGED);
        }
    }
}
