//! Messages received instead of the awaited one, for timeouts.

use std::fmt;

use referee_game::counted;
use referee_protocol::limits;
use referee_protocol::words::{ErrorCode, FaultCode};
use serde::{Deserialize, Serialize};

/// A hint for a program that answers but seems to be silent.
pub const BUFFERS: &str =
    "; is stdout flushed? Some programs buffer their input too, such as mawk without `-W interactive`";

/// The message received instead of the awaited one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Received {
    Nothing,
    /// An incomplete line.
    Unfinished {
        /// The length so far, in bytes.
        bytes: u64,
    },
    /// A rejected line; the last one if there were several.
    Refused(RefusedLine),
    /// No answer, from a bot that had answered requests of this match before.
    Silence {
        answered: u32,
    },
    /// No answer, from a bot whose connection was lost.
    ConnectionLost(Lost),
    /// An answer that was too late.
    LateAnswer {
        /// The time that it took, without the referee's lag, in milliseconds.
        took_ms: u64,
    },
}

/// The loss of a connection that no other one replaced in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The time of the loss, on the clock of the match, in milliseconds.
    pub lost_ms: u64,
    /// The time for which the match waited for another one, in milliseconds.
    pub waited_ms: u64,
}

impl Lost {
    /// Describes a connection that was lost at one time of the match and not replaced until another one, in microseconds.
    pub fn between(lost_us: u64, now_us: u64) -> Lost {
        Lost { lost_ms: lost_us / 1000, waited_ms: now_us.saturating_sub(lost_us) / 1000 }
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lost, waited] = [self.lost_ms, self.waited_ms].map(|ms| ms as f64 / 1000.0);
        write!(
            f,
            "the connection was lost {lost:.1} s after the start of the match, and no other one replaced it within \
             {waited:.1} s"
        )
    }
}

/// The reason why a line was rejected. Contains no text from the bot, because others can read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedLine {
    pub code: ErrorCode,
    /// The invalid field, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Field>,
}

impl From<ErrorCode> for RefusedLine {
    fn from(code: ErrorCode) -> RefusedLine {
        RefusedLine { code, field: None }
    }
}

/// A field of `hello` or `ready`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Field {
    Protocol,
    Name,
    Version,
    Author,
    Details,
    Token,
    Games,
    Slots,
    Wants,
    Push,
    Nonce,
}

impl fmt::Display for Field {
    /// Describes the required form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Protocol => write!(f, "`protocol` is the integer {}", referee_protocol::PROTOCOL),
            Field::Name => {
                let most = limits::NAME;
                write!(f, "`name` has 1 to {most} characters: ASCII letters, digits, `.`, `_`, `-` and space")
            }
            Field::Version => write!(f, "`version` is a string of at most {} characters", limits::ABOUT),
            Field::Author => write!(f, "`author` is a string of at most {} characters", limits::ABOUT),
            Field::Details => write!(
                f,
                "`details` are at most {} strings of at most {} characters, with names of 1 to {}",
                limits::DETAILS,
                limits::ABOUT,
                limits::NAME
            ),
            Field::Token => f.write_str("`token` is a string"),
            Field::Games => f.write_str("`games` is a list of strings"),
            Field::Slots => f.write_str("`slots` is an integer"),
            Field::Wants => f.write_str("`wants` is a list of `view`, `legal` and `event`"),
            Field::Push => f.write_str("`push` is true or false"),
            Field::Nonce => write!(f, "`nonce` is lower-case hex of at most {} bytes", limits::NONCE),
        }
    }
}

/// The code of the fault of a seat whose time is up, given what was received.
pub(super) fn overdue(code: FaultCode, received: Option<Received>) -> FaultCode {
    match received {
        Some(Received::ConnectionLost(_)) => FaultCode::Disconnected,
        _ => code,
    }
}

/// The message that the referee awaits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    Hello,
    Ready,
    Answer,
}

impl Awaited {
    const fn name(self) -> &'static str {
        match self {
            Awaited::Hello => "`hello`",
            Awaited::Ready => "`ready`",
            Awaited::Answer => "answer",
        }
    }

    /// The required form of an awaited line that was rejected with this code.
    const fn right(self, code: ErrorCode) -> &'static str {
        match (self, code) {
            (_, ErrorCode::LineTooLong) => "a line has at most 65536 bytes",
            (Awaited::Hello, _) => "the first line is `hello`, a JSON object with `protocol` and `name`",
            (Awaited::Ready, ErrorCode::UnknownMatch) => "its `match` is that of `start`",
            (Awaited::Ready, ErrorCode::UnknownSeat) => "its `seat` is that of `start`",
            (Awaited::Ready, _) => "`start` is answered with `ready`, a JSON object with its `match`",
            (Awaited::Answer, ErrorCode::UnknownMatch) => "the `match` of an answer is that of the request",
            (Awaited::Answer, ErrorCode::UnknownSeat) => "the `seat` of an answer is that of the request",
            (Awaited::Answer, ErrorCode::Stale) => "the `turn` of an answer is that of the last request",
            (Awaited::Answer, ErrorCode::UnknownType) => {
                "the `type` of an answer is `move`, `accept_draw`, `unable` or `resign`"
            }
            (Awaited::Answer, ErrorCode::NoOffer) => {
                "`accept_draw` answers a request with `draw_offered`, any other gets a `move`"
            }
            (Awaited::Answer, _) => {
                "an answer is a `move` with the `match` and the `turn` of the last request"
            }
        }
    }
}

/// The sentence about a message that did not come in time.
pub(super) struct MissingMessage {
    pub(super) awaited: Awaited,
    pub(super) limit_ms: u64,
    pub(super) received: Option<Received>,
}

impl fmt::Display for MissingMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingMessage { awaited, limit_ms, received } = self;
        if let Some(Received::LateAnswer { took_ms }) = received {
            return write!(f, "answered after {took_ms} ms, limit {limit_ms} ms");
        }
        write!(f, "no {} within {limit_ms} ms", awaited.name())?;
        match received {
            None | Some(Received::LateAnswer { .. }) => Ok(()),
            Some(Received::Nothing) => f.write_str(BUFFERS),
            Some(Received::Silence { answered }) => {
                write!(f, " (it had answered {})", counted(*answered, "request", "requests"))
            }
            Some(Received::ConnectionLost(lost)) => write!(f, ": {lost}"),
            Some(Received::Unfinished { bytes }) => {
                let bytes = counted(*bytes, "byte", "bytes");
                write!(f, ", only an unfinished line of {bytes}; a line ends with a line break")
            }
            Some(Received::Refused(RefusedLine { code, field })) => {
                write!(f, ": the last line was refused ({}): ", code.as_str())?;
                match field {
                    Some(field) => write!(f, "{field}"),
                    None => f.write_str(awaited.right(*code)),
                }
            }
        }
    }
}
