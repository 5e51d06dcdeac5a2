//! Records: one JSON Lines file per match, which anyone can verify.
//!
//! A record is the log of its match. Verification replays the recorded events through the same state machine and
//! compares the output.

mod difference;
mod line;
mod luck;
mod playback;
mod public;
mod repeat;
mod replay;
mod resume;
mod seal;
mod sheet;
mod summary;
#[cfg(test)]
mod tests;
mod times;

pub use difference::Difference;
pub use line::{
    Accepted, BotLine, BotsLine, KeptData, Moved, RecordEntry, RecordLine, RecordedAnswer, RecordedEvent,
    RecordedFault, lines,
};
pub use luck::{MatchLuck, NoLuck, PairLuck, PositionValues, Valuation, luck};
pub use playback::{Note, Playback, Step};
pub use public::{PublicRecord, PublishedInfo, private_digests, private_seat, public};
pub use replay::{
    CUT_OFF, OtherRules, Replay, changed_files, check_program, check_rules, differing_files, trusts_tables,
    verify,
};
pub use resume::Resume;
pub use seal::{Seal, add_bots, digest, seal};
pub use sheet::sheet;
pub use summary::{RecordSummary, is_sealed, summarize};
pub use times::{AnswerTime, Times, times};
