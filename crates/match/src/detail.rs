//! Details of faults and reasons for aborts, as an identifier with parameters.
//!
//! Records contain these values; people and bots get the sentence from `Display`. Sentences can be reworded without
//! changing records.

use std::fmt;

use referee_game::Seat;
use referee_protocol::referee as message;
use referee_protocol::words::FaultCode;
use serde::{Deserialize, Serialize};

use crate::received::{Awaited, Lost, MissingMessage, Received};

fn is_false(flag: &bool) -> bool {
    !flag
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Detail {
    /// `malformed`: the line is not UTF-8.
    NotUtf8,
    /// `malformed`: the line is not a JSON object.
    NotAnObject,
    /// `malformed`: an object without a `type`.
    NoType,
    /// `malformed`: invalid JSON, or a field of the wrong type.
    Unreadable {
        error: String,
    },
    LineTooLong {
        most_bytes: u64,
    },
    /// `timeout`, or `disconnected` if the connection was lost then.
    NoAnswer {
        /// The limit of this request.
        limit_ms: u64,
        /// The message in its place, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        received: Option<Received>,
    },
    /// `no_start`: no `hello` in time.
    NoHello {
        limit_ms: u64,
        /// The message in its place, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        received: Option<Received>,
    },
    /// `no_start`, or `disconnected` if the connection was lost then: no `ready` in time.
    NotReady {
        limit_ms: u64,
        /// The message in its place, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        received: Option<Received>,
    },
    /// `no_start`: `hello` with an unsupported protocol version.
    OtherProtocol {
        /// The bot's protocol version.
        protocol: u64,
    },
    /// `no_start`: `hello` without the game of the match.
    OtherGames {
        game: String,
        /// The games that the bot plays.
        plays: Vec<String>,
    },
    /// `no_start`: no bot of this name is connected.
    NotConnected {
        name: String,
        waited_ms: u64,
        /// Number of connections of this name that are busy in other matches.
        elsewhere: u64,
    },
    /// `no_start`: the bot was not ready for its first match, and has sent nothing since.
    NeverReady {
        /// The limit of its first `ready`.
        limit_ms: u64,
    },
    /// `no_start`: the bot is not present.
    NotHere,
    /// `no_start`: the process cannot be started.
    NotStarted {
        error: String,
    },
    /// `no_start`: the operating system cannot poll its stream.
    NoStream {
        /// The operating system's error.
        error: String,
    },
    /// `disconnected`: the stream from the bot ended.
    OutputEnded,
    /// `disconnected`: the stream to the bot is closed.
    InputClosed,
    /// `disconnected`: the TLS connection failed.
    TlsFailed {
        error: String,
    },
    /// `disconnected`: it said `bye`.
    SaidBye,
    /// `disconnected`: no other connection replaced a lost one in time.
    ConnectionLost {
        detail: Box<Detail>,
        /// The time of the loss, on the clock of the match.
        lost_ms: u64,
        /// The time for which the match waited for another one.
        waited_ms: u64,
    },
    /// `exited`: the process ended by itself.
    Status {
        status: i32,
        /// Whether the referee killed the process because it blocked the referee on its pipe.
        #[serde(default, skip_serializing_if = "is_false")]
        held_pipe: bool,
    },
    /// `exited`: a signal ended the process.
    Signal {
        signal: i32,
        /// Whether the referee killed the process because it blocked the referee on its pipe.
        #[serde(default, skip_serializing_if = "is_false")]
        held_pipe: bool,
    },
    /// `exited`: the operating system killed it because it exceeded its memory limit.
    MemoryLimit {
        most_bytes: u64,
    },
    /// `exited`: the operating system killed it because it exceeded the limit of the size of a file.
    FileLimit {
        most_bytes: u64,
    },
    /// `stalled`: the bot reads no output.
    TookNothing {
        limit_ms: u64,
    },
    /// `stalled`: the output backlog exceeds its limit.
    OutputWaits {
        /// The limit of the backlog.
        most_bytes: u64,
    },
    /// `protocol`: flooding since the last request.
    Flood {
        /// Lines allowed per open match.
        most_lines: u64,
        /// Bytes allowed per open match.
        most_bytes: u64,
    },
    /// `protocol`: too many messages in the wrong state.
    Strays {
        most: u64,
    },
    /// `protocol`: an endless line.
    EndlessLine {
        /// Bytes of one line that are discarded before the fault.
        most_bytes: u64,
    },
    /// Any other detail, as text.
    Other {
        text: String,
    },
}

impl Detail {
    /// The detail of a normal exit: status 0.
    pub const LEFT: Detail = Detail::Status { status: 0, held_pipe: false };

    pub fn other(text: impl Into<String>) -> Detail {
        Detail::Other { text: text.into() }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = |held_pipe: bool| {
            if held_pipe { ": it held its pipe, and the referee had to wait" } else { "" }
        };
        match self {
            Detail::NotUtf8 => f.write_str("the line is not UTF-8"),
            Detail::NotAnObject => f.write_str("the line is not a JSON object"),
            Detail::NoType => f.write_str("the field `type` is missing or no string"),
            Detail::Unreadable { error } => write!(f, "the line cannot be read: {error}"),
            Detail::LineTooLong { most_bytes } => {
                write!(f, "a line has at most {most_bytes} bytes; the rest of this one is passed over")
            }
            &Detail::NoAnswer { limit_ms, received } => {
                write!(f, "{}", MissingMessage { awaited: Awaited::Answer, limit_ms, received })
            }
            &Detail::NoHello { limit_ms, received } => {
                write!(f, "{}", MissingMessage { awaited: Awaited::Hello, limit_ms, received })
            }
            &Detail::NotReady { limit_ms, received } => {
                write!(f, "{}", MissingMessage { awaited: Awaited::Ready, limit_ms, received })
            }
            Detail::OtherProtocol { protocol } => {
                write!(f, "protocol {protocol} is not spoken here, only {}", referee_protocol::PROTOCOL)
            }
            Detail::OtherGames { game, plays } => {
                let plays = if plays.is_empty() { "nothing".to_owned() } else { plays.join(", ") };
                write!(f, "it does not play {game}: it plays {plays}")
            }
            Detail::NotConnected { name, waited_ms, elsewhere } => {
                let none = if *elsewhere == 0 { "no bot" } else { "no other bot" };
                write!(f, "{none} connected as `{name}` within {} s", *waited_ms as f64 / 1000.0)
            }
            Detail::NeverReady { limit_ms } => write!(
                f,
                "it was not ready for its first match within {limit_ms} ms, and has sent nothing since"
            ),
            Detail::NotHere => f.write_str("it is not here"),
            Detail::NotStarted { error } => write!(f, "it cannot be started: {error}"),
            Detail::NoStream { error } => write!(f, "its stream cannot be watched: {error}"),
            Detail::OutputEnded => f.write_str("its output ended"),
            Detail::InputClosed => f.write_str("it closed its input"),
            Detail::TlsFailed { error } => write!(f, "its TLS connection failed: {error}"),
            &Detail::ConnectionLost { ref detail, lost_ms, waited_ms } => {
                write!(f, "{detail}: {}", Lost { lost_ms, waited_ms })
            }
            Detail::SaidBye => f.write_str("it said `bye`"),
            Detail::Status { status, held_pipe } => write!(f, "status {status}{}", held(*held_pipe)),
            Detail::Signal { signal, held_pipe } => write!(f, "signal {signal}{}", held(*held_pipe)),
            Detail::MemoryLimit { most_bytes } => {
                write!(f, "killed by its memory limit of {} MiB", most_bytes >> 20)
            }
            Detail::FileLimit { most_bytes } => {
                write!(f, "killed by its limit of {} KiB for a file", most_bytes >> 10)
            }
            Detail::TookNothing { limit_ms } => write!(f, "it took nothing for {limit_ms} ms"),
            Detail::OutputWaits { most_bytes } => write!(f, "more than {most_bytes} bytes wait for it"),
            Detail::Flood { most_lines, most_bytes } => {
                let kib = most_bytes / 1024;
                write!(
                    f,
                    "more than {most_lines} lines or {kib} KiB for each open match since the last request"
                )
            }
            Detail::Strays { most } => write!(f, "more than {most} messages out of their state"),
            Detail::EndlessLine { most_bytes } => write!(f, "a line of more than {most_bytes} bytes"),
            Detail::Other { text } => f.write_str(text),
        }
    }
}

/// A fault that eliminated its side or ended the match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub seat: Seat,
    pub code: FaultCode,
    /// The detail; `None` if the code is sufficient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
}

impl From<&Fault> for message::Fault {
    fn from(fault: &Fault) -> message::Fault {
        let detail = fault.detail.as_ref().map(ToString::to_string);
        message::Fault { seat: fault.seat.0, code: fault.code, detail }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AbortReason {
    /// The referee was interrupted.
    Interrupted,
    /// The host requested it.
    ByHost,
    HostLeft,
    /// The referee was paused for too long.
    Paused {
        /// The maximum total pause in one match.
        most_ms: u64,
    },
    /// Every random opening ended the match.
    NoOpening {
        plies: u32,
        /// The number of openings tried.
        tries: u64,
    },
    /// The rules failed, which only those of a program do.
    RulesFailed(RulesFailure),
    /// A trusted bot says that the chooser of its moves cannot be reached.
    Unavailable {
        seat: Seat,
    },
    /// The referee was interrupted while it waited for the rules.
    RulesInterrupted {
        /// The same as [`RulesFailure::after`].
        after: u64,
    },
    /// Any other detail, as text.
    Other {
        text: String,
    },
}

/// The failure of a match's rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesFailure {
    /// The number of calls of the rules before: the search of the opening, moves and draws. A replay fails at the same one.
    pub after: u64,
    pub why: String,
}

impl AbortReason {
    /// The number of calls of the rules that succeeded before the one that did not, if that is the reason.
    pub(super) fn rules_calls(&self) -> Option<u64> {
        match self {
            AbortReason::RulesFailed(RulesFailure { after, .. })
            | AbortReason::RulesInterrupted { after } => Some(*after),
            _ => None,
        }
    }
}

impl fmt::Display for AbortReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AbortReason::Interrupted | AbortReason::RulesInterrupted { .. } => f.write_str("interrupted"),
            AbortReason::ByHost => f.write_str("the host broke it off"),
            AbortReason::HostLeft => f.write_str("the other end left"),
            AbortReason::Paused { most_ms } => {
                write!(f, "the referee was paused for more than {} s", most_ms / 1000)
            }
            AbortReason::NoOpening { plies, tries } => write!(
                f,
                "no opening of length {plies} in {tries} tries, each ended the match; make it shorter"
            ),
            AbortReason::RulesFailed(RulesFailure { why, .. }) => write!(f, "the rules failed: {why}"),
            AbortReason::Unavailable { seat } => {
                write!(f, "seat {}: what chooses its moves cannot be reached", seat.0)
            }
            AbortReason::Other { text } => f.write_str(text),
        }
    }
}
