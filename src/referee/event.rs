//! Input events of a match.

use referee_protocol::words::{ErrorCode, FaultCode};

use crate::core::clock::Tick;
use crate::core::seat::Seat;
use crate::referee::Wants;
use crate::referee::detail::{Abort, Detail};

/// The timestamp of an event, supplied by the shell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Time since the match opened. The clock stops while the referee is suspended.
    pub at: Tick,
    /// The referee's cumulative lag in microseconds: the time in which it could not poll its streams.
    pub lag: u64,
}

/// An input event of a match.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The shell is about to write a seat's outbox to its stream.
    Sent(Seat),
    /// The bot left before it was ready, without fault. Another process of the bot will take the seat; the ready
    /// timeout is suspended until then.
    Vacated(Seat),
    /// Another process of the bot takes a seat that is not ready yet.
    Restart {
        /// The seat of the bot.
        seat: Seat,
        /// Timeout for `ready`, in milliseconds.
        ready_ms: u64,
        /// The parts of messages that it wants.
        wants: Wants,
    },
    /// The bot is ready.
    Ready {
        /// The seat of the bot.
        seat: Seat,
        /// Its contribution to the random numbers of the match.
        nonce: Option<&'a str>,
    },
    /// The bot answered a request with a move.
    Answer {
        /// The seat of the bot.
        seat: Seat,
        /// The request that the answer names.
        turn: u64,
        /// The move text as received.
        text: &'a str,
        /// Whether it offers a draw.
        offer_draw: bool,
        /// Search info, a JSON object.
        info: Option<&'a str>,
    },
    /// The bot answered a request by accepting a draw.
    AcceptDraw {
        /// The seat of the bot.
        seat: Seat,
        /// The request that the answer names.
        turn: u64,
    },
    /// The bot resigned.
    Resign(Seat),
    /// The bot sent an invalid line instead of an answer.
    Broken {
        /// The seat of the bot.
        seat: Seat,
        /// The request that the line names, if readable.
        turn: Option<u64>,
        /// [`FaultCode::Malformed`] or [`FaultCode::LineTooLong`].
        code: FaultCode,
        /// What was wrong with the line.
        detail: &'a Detail,
    },
    /// The bot sent a message that is not allowed in the current state.
    Stray {
        /// The seat of the bot.
        seat: Seat,
        /// The error code to send.
        code: ErrorCode,
        /// The error message to send.
        message: &'a str,
    },
    /// The bot is no longer reachable.
    Gone {
        /// The seat of the bot.
        seat: Seat,
        /// Why.
        code: FaultCode,
        /// The detail.
        detail: &'a Detail,
    },
    /// A deadline may have passed, or the match has paused between moves for faulty seats.
    Tick,
    /// The deadline of this seat may have passed.
    Expire(Seat),
    /// The referee was suspended; its clock stood still.
    Paused {
        /// For how long, in microseconds.
        us: u64,
    },
    /// Abort the match.
    Abort(&'a Abort),
}
