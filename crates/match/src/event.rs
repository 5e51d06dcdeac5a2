//! The events that the shell reports to a match, and those that a match reports to the shell.

use referee_game::clock::Tick;
use referee_game::seat::Seat;
use referee_protocol::bot::Inability;
use referee_protocol::referee as message;
use referee_protocol::words::{ErrorCode, FaultCode};

use crate::detail::{AbortReason, Detail};
use crate::ending::Ending;
use crate::received::{Received, RefusedLine};
use crate::setup::Wants;

/// The timestamp of an event, supplied by the shell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Time since the match opened. The clock stops while the referee is suspended.
    pub at: Tick,
    /// The referee's lag in microseconds: how long it took so far to write the requests of the match, and of an answer
    /// also how long it may have waited until it was read. For a request, that of the answer minus that of the request.
    pub lag: u64,
}

/// An input event of a match.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The bot left before it was ready, without fault. Another process of the bot will take the seat; the ready
    /// timeout is suspended until then.
    Vacated(Seat),
    /// A new process of the bot takes a seat that is not ready yet.
    Restart {
        seat: Seat,
        /// Timeout for `ready`, in milliseconds.
        ready_ms: u64,
        /// The parts of messages that it wants.
        wants: Wants,
    },
    /// A new connection of the bot continues the match. The bot gets `start` again, the events that it may not have received,
    /// and the open request.
    Resumed {
        seat: Seat,
        /// The parts of messages that it wants.
        wants: Wants,
    },
    Ready {
        seat: Seat,
        /// The contribution to the random numbers of the match.
        nonce: Option<&'a str>,
    },
    /// The bot answered a request with a move.
    Answer {
        seat: Seat,
        /// The request that the answer names.
        turn: u64,
        /// The move text as received.
        text: &'a str,
        offer_draw: bool,
        /// Search info, a JSON object.
        info: Option<&'a str>,
    },
    /// The bot answered a request by accepting a draw.
    AcceptDraw {
        seat: Seat,
        /// The request that the answer names.
        turn: u64,
    },
    /// The bot answered a request: it has no move.
    Unable {
        seat: Seat,
        /// The request that the answer names.
        turn: u64,
        because: Inability,
        /// Search info, a JSON object.
        info: Option<&'a str>,
    },
    Resign(Seat),
    /// The bot sent an invalid line instead of an answer.
    Broken {
        seat: Seat,
        /// The request that the line names, if readable.
        turn: Option<u64>,
        /// [`FaultCode::Malformed`] or [`FaultCode::LineTooLong`].
        code: FaultCode,
        detail: &'a Detail,
    },
    /// The bot sent a message that is not allowed in the current state.
    Stray {
        seat: Seat,
        code: ErrorCode,
        /// The error message to send.
        message: &'a str,
    },
    /// A line of the bot was rejected before it reached the match.
    Refused {
        seat: Seat,
        refused: RefusedLine,
    },
    /// The message in place of the awaited one. Comes just before the [`Event::Tick`] or [`Event::Expire`]
    /// that judges the deadline, for the detail of its fault.
    Received {
        seat: Seat,
        /// `None` if unknown.
        received: Option<Received>,
    },
    /// The bot is no longer reachable.
    Gone {
        seat: Seat,
        code: FaultCode,
        detail: &'a Detail,
    },
    /// A deadline may have passed, or the match has paused between moves for faulty seats.
    Tick,
    /// The deadline of this seat may have passed.
    Expire(Seat),
    /// The referee was suspended; its clock stood still.
    Paused {
        /// In microseconds.
        us: u64,
    },
    Abort(&'a AbortReason),
}

/// A bot's `info` on an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenInfo {
    pub seat: Seat,
    /// A JSON object.
    pub info: String,
}

/// An event that a match reports to the shell.
#[derive(Clone, Debug, PartialEq)]
pub enum MatchEvent {
    /// A fault of a seat was recorded and counted.
    Fault { seat: Seat, code: FaultCode },
    /// An `error` was written to the outbox of a seat.
    Error(Box<message::Error>),
    /// Events for the spectator are in [`Match::news`](crate::Match::news), which was empty before.
    News,
    /// The match has ended. This is the last event.
    Ended(Ending),
}
