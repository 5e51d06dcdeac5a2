//! Enumerations shared by messages, records, reports and the command line.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Defines an enum whose variants have one textual form everywhere.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// All variants, in the order of the specification.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The one with this textual form.
            pub fn find(text: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|word| word.as_str() == text)
            }

            /// The textual form, as used in messages.
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
    /// The kind of fault that a bot made (specification, Faults).
    FaultCode {
        /// The move is illegal, or an ambiguous short form.
        IllegalMove = "illegal_move",
        /// The line is not a valid message of the protocol.
        Malformed = "malformed",
        /// A line exceeds the length limit.
        LineTooLong = "line_too_long",
        /// No complete answer within the limit.
        Timeout = "timeout",
        /// No `hello` or `ready` in time.
        NoStart = "no_start",
        /// The stream ended.
        Disconnected = "disconnected",
        /// The process ended.
        Exited = "exited",
        /// The stream accepts no more output.
        Stalled = "stalled",
        /// Flooding, or too many messages in the wrong state.
        Protocol = "protocol",
        /// The bot says that it has found no legal move.
        NoLegalMove = "no_legal_move",
        /// The bot says that the chooser of its moves cannot be reached.
        Unavailable = "unavailable",
    }
}

impl FaultCode {
    /// Whether the policy `retry` repeats the request.
    pub const fn is_retried(self) -> bool {
        matches!(self, FaultCode::IllegalMove | FaultCode::Malformed)
    }
}

words! {
    /// The way in which a match ended.
    EndedBy {
        /// The rules of the game.
        Rules = "rules",
        /// A draw by agreement.
        Agreement = "agreement",
        /// A resignation that left one side.
        Resignation = "resignation",
        /// A fault that left one side.
        Fault = "fault",
        /// The turn limit of the game.
        TurnLimit = "turn_limit",
        /// The referee, by the scores that bots stated or the number of moves, as the set-up asks.
        Adjudication = "adjudication",
        /// The match was aborted and has no result.
        Aborted = "aborted",
    }
}

words! {
    /// The reason why the referee rejected a message.
    ErrorCode {
        /// The move is illegal, or an ambiguous short form.
        IllegalMove = "illegal_move",
        /// The line is not a valid message of the protocol.
        Malformed = "malformed",
        /// A line exceeds the length limit.
        LineTooLong = "line_too_long",
        /// The answer came after the limit.
        Timeout = "timeout",
        /// Flooding; the connection is closed.
        Protocol = "protocol",
        /// The protocol version is not supported.
        UnsupportedProtocol = "unsupported_protocol",
        /// Unknown message type.
        UnknownType = "unknown_type",
        /// The match does not exist on this connection.
        UnknownMatch = "unknown_match",
        /// The seat is missing where it is required, or does not belong to this connection.
        UnknownSeat = "unknown_seat",
        /// The request was already answered or closed.
        Stale = "stale",
        /// Not allowed in this state.
        OutOfState = "out_of_state",
        /// `accept_draw` without a standing offer.
        NoOffer = "no_offer",
        /// `info` was too large and was discarded; the move stands.
        InfoDropped = "info_dropped",
        /// `open` or `abort` on a connection without permission.
        NotAllowed = "not_allowed",
        /// `open` while all slots are in use.
        NoSlot = "no_slot",
        /// An `open` names an unknown game or has invalid parameters.
        BadSetup = "bad_setup",
        /// The bot did not start in time.
        NoStart = "no_start",
        /// No participating bot has this name (where no token is required).
        UnknownName = "unknown_name",
        /// The token is missing, or does not belong to a participating bot of this name.
        WrongToken = "wrong_token",
        /// The name has reached its limit of connections.
        TooManyConnections = "too_many_connections",
    }
}

/// The consequence of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFault {
    /// The seat's side loses.
    #[default]
    Forfeit,
    /// An illegal or malformed answer is requested again, up to this many times per seat and match; then forfeit.
    Retry(u32),
    /// The referee plays a uniformly random legal move, and the match continues.
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

/// A text is no fault policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPolicy(pub String);

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownPolicy(text) = self;
        write!(
            f,
            "invalid fault policy `{text}`; expected `forfeit`, `random` or `retry=N` with N from 1 to 1000"
        )
    }
}

impl std::error::Error for UnknownPolicy {}

impl FromStr for OnFault {
    type Err = UnknownPolicy;
    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        match text {
            "forfeit" => Ok(OnFault::Forfeit),
            "random" => Ok(OnFault::Random),
            _ => text
                .strip_prefix("retry=")
                .filter(|times| !times.starts_with(['+', '0']))
                .and_then(|times| times.parse().ok())
                .filter(|times| (1..=1000).contains(times))
                .map(OnFault::Retry)
                .ok_or_else(|| UnknownPolicy(text.to_owned())),
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
            "description": "The consequence of a fault.",
            "type": "string",
            "pattern": "^(forfeit|random|retry=([1-9][0-9]{0,2}|1000))$"
        })
    }
}
