//! Faults of bots in a lane.

use std::fmt;

use referee_match::Detail;
use referee_protocol::words::FaultCode;

/// A fault of a bot, or an obstacle to its playing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotFault {
    pub code: FaultCode,
    pub detail: Detail,
}

impl BotFault {
    pub fn no_start(detail: Detail) -> BotFault {
        BotFault { code: FaultCode::NoStart, detail }
    }

    /// Makes a fault of the end of the bot's connection.
    pub fn disconnected(detail: Detail) -> BotFault {
        BotFault { code: FaultCode::Disconnected, detail }
    }
}

impl fmt::Display for BotFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}
