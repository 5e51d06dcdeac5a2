//! Records: one JSON Lines file per match, which anyone can verify.
//!
//! A record is the log of its match. Verification replays the recorded events through the same state machine and
//! compares the output.

mod account;
mod difference;
mod film;
mod format1;
mod line;
mod repeat;
mod replay;
mod resume;
mod seal;
mod sheet;
#[cfg(test)]
mod tests;
mod times;

pub use account::{Account, account, is_sealed};
pub use difference::Difference;
pub use film::{Film, Note, Step};
pub use line::{
    Accepted, BotLine, Moved, RecordEntry, RecordLine, RecordedAnswer, RecordedEvent, RecordedFault, lines,
};
pub use replay::{CUT_OFF, Replay, verify};
pub use resume::Resume;
pub use seal::{Seal, add_bots, digest, seal};
pub use sheet::sheet;
pub use times::{AnswerTime, Times, times};
