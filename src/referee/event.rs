//! What can happen to a match.

use referee_protocol::words::{ErrorCode, FaultCode};

use crate::core::clock::Tick;
use crate::core::seat::Seat;
use crate::referee::Wants;

/// When something happened, as the shell stamped it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Since the match opened.
    pub at: Tick,
    /// The referee's own lag so far: all the microseconds in which it could not look at its streams.
    pub lag: u64,
}

/// Something that happened to a match.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// What lies in a seat's outbox is being offered to the kernel.
    Sent(Seat),
    /// The bot left before it was ready, and that is no fault: another process of it will take the seat, and is waited
    /// for.
    Vacated(Seat),
    /// Another process of the bot takes the seat, before it was ready.
    Restart {
        /// Whose bot.
        seat: Seat,
        /// How long it has for `ready`, in milliseconds.
        ready_ms: u64,
        /// What it wants to get.
        wants: Wants,
    },
    /// The bot is ready.
    Ready {
        /// Whose bot.
        seat: Seat,
        /// What it adds to the chance of the match.
        nonce: Option<&'a str>,
    },
    /// The bot answered a request with a move.
    Answer {
        /// Whose bot.
        seat: Seat,
        /// The request it names.
        turn: u64,
        /// The move as it wrote it.
        text: &'a str,
        /// Whether it offers a draw.
        offer_draw: bool,
        /// What it says of its search, a JSON object.
        info: Option<&'a str>,
    },
    /// The bot answered a request by accepting a draw.
    AcceptDraw {
        /// Whose bot.
        seat: Seat,
        /// The request it names.
        turn: u64,
    },
    /// The bot gave up.
    Resign(Seat),
    /// The bot sent a line that is no message, in place of an answer.
    Broken {
        /// Whose bot.
        seat: Seat,
        /// The request it names, as far as that could be read.
        turn: Option<u64>,
        /// [`FaultCode::Malformed`] or [`FaultCode::LineTooLong`].
        code: FaultCode,
        /// What was wrong with it.
        detail: &'a str,
    },
    /// The bot sent a message that it may not send now.
    Stray {
        /// Whose bot.
        seat: Seat,
        /// What it is told.
        code: ErrorCode,
        /// The same in words.
        message: &'a str,
    },
    /// The bot cannot be reached any more.
    Gone {
        /// Whose bot.
        seat: Seat,
        /// Why.
        code: FaultCode,
        /// The same in words.
        detail: &'a str,
    },
    /// A deadline may have passed, or there are moves left to make.
    Tick,
    /// A deadline of this seat may have passed.
    Expire(Seat),
    /// The match is broken off.
    Abort(&'a str),
}
