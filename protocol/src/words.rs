//! The words that messages, records, reports and the command line share.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Defines an enum whose variants have one spelling everywhere.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// All of them, in the order of the specification.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The word as it stands in messages.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// What a bot did wrong (specification, Faults).
    FaultCode {
        /// The move is not legal, or a short form names several.
        IllegalMove = "illegal_move",
        /// Not one JSON object of the protocol.
        Malformed = "malformed",
        /// More bytes in one line than are allowed.
        LineTooLong = "line_too_long",
        /// No complete answer within the limit.
        Timeout = "timeout",
        /// No `hello` or `ready` in time.
        NoStart = "no_start",
        /// The stream ended.
        Disconnected = "disconnected",
        /// The process ended.
        Exited = "exited",
        /// The stream takes nothing any more.
        Stalled = "stalled",
        /// Too much, or too often out of state.
        Protocol = "protocol",
    }
}

impl FaultCode {
    /// Whether the policy `retry` may ask again.
    pub const fn is_retried(self) -> bool {
        matches!(self, FaultCode::IllegalMove | FaultCode::Malformed)
    }
}

words! {
    /// What ended a match.
    EndedBy {
        /// The rules of the game.
        Rules = "rules",
        /// A draw that both sides agreed on.
        Agreement = "agreement",
        /// A resignation that left one side.
        Resignation = "resignation",
        /// A fault that left one side.
        Fault = "fault",
        /// The turn limit.
        TurnLimit = "turn_limit",
        /// The match was broken off: it has no result.
        Aborted = "aborted",
    }
}

words! {
    /// Why the referee refused a message.
    ErrorCode {
        /// The move is not legal, or a short form names several.
        IllegalMove = "illegal_move",
        /// Not one JSON object of the protocol.
        Malformed = "malformed",
        /// More bytes in one line than are allowed.
        LineTooLong = "line_too_long",
        /// The answer came after the limit.
        Timeout = "timeout",
        /// Too much since the last request; the connection is closed.
        Protocol = "protocol",
        /// Another protocol version.
        UnsupportedProtocol = "unsupported_protocol",
        /// No such message.
        UnknownType = "unknown_type",
        /// No such match on this connection.
        UnknownMatch = "unknown_match",
        /// The seat is missing where it is required, or not this connection's.
        UnknownSeat = "unknown_seat",
        /// The answer is to an earlier request, or a second one to the same.
        Stale = "stale",
        /// Not allowed in this state.
        OutOfState = "out_of_state",
        /// `accept_draw` without a standing offer.
        NoOffer = "no_offer",
        /// `info` was too large and is not kept; the move stands.
        InfoDropped = "info_dropped",
        /// `open` or `abort` where it is not allowed.
        NotAllowed = "not_allowed",
        /// `open` while all slots are in use.
        NoSlot = "no_slot",
        /// The game or a part of an `open` does not exist or does not fit.
        BadSetup = "bad_setup",
        /// The bot did not start in time.
        NoStart = "no_start",
        /// No bot of this name takes part.
        UnknownName = "unknown_name",
        /// The token is missing or not that of the name.
        WrongToken = "wrong_token",
        /// The name has as many connections as it may have.
        TooManyConnections = "too_many_connections",
    }
}

/// What a fault leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFault {
    /// The seat's side loses.
    #[default]
    Forfeit,
    /// An illegal or malformed answer is asked for again, so many times for each seat in a match; then forfeit.
    Retry(u32),
    /// The referee plays a uniform random legal move and goes on.
    Random,
}

impl fmt::Display for OnFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OnFault::Forfeit => f.write_str("forfeit"),
            OnFault::Retry(times) => write!(f, "retry={times}"),
            OnFault::Random => f.write_str("random"),
        }
    }
}

impl FromStr for OnFault {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "forfeit" => Ok(OnFault::Forfeit),
            "random" => Ok(OnFault::Random),
            _ => text
                .strip_prefix("retry=")
                .filter(|times| !times.starts_with(['+', '0'])) // one spelling for each policy
                .and_then(|times| times.parse().ok())
                .filter(|times| (1..=1000).contains(times))
                .map(OnFault::Retry)
                .ok_or_else(|| {
                    format!(
                        "`{text}` is no fault policy: `forfeit`, `random` or `retry=N` with N from 1 to 1000"
                    )
                }),
        }
    }
}

impl Serialize for OnFault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OnFault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::Text::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for OnFault {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OnFault".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What a fault leads to.",
            "type": "string",
            "pattern": "^(forfeit|random|retry=([1-9][0-9]{0,2}|1000))$"
        })
    }
}
