//! The summary of a record.

use referee_game::Catalog;

use crate::record::line::read_seal;
use crate::record::replay::verify_each;
use crate::record::{Difference, RecordEntry, Seal};
use crate::{AbortReason, Ending, Faults, Header};

/// The summary of a verified record.
#[derive(Debug)]
pub struct RecordSummary {
    /// The set-up.
    pub header: Header,
    /// The result.
    pub ending: Ending,
    /// Why it was aborted, if recorded.
    pub abort: Option<AbortReason>,
    /// By seat.
    pub faults: Vec<Faults>,
    /// The number of moves.
    pub decisions: u32,
    /// The longest delay of an answer by the referee's own lag, in milliseconds.
    pub lag_ms: u64,
    /// How long the referee was suspended during the match, in milliseconds.
    pub paused_ms: u64,
    /// From opening to end, in microseconds.
    pub duration_us: u64,
    /// By seat: processor time in milliseconds.
    pub cpu_ms: Vec<Option<u64>>,
    /// By seat: the end of what its bot wrote to standard error.
    pub stderr: Vec<String>,
    /// The last line.
    pub seal: Seal,
}

/// Whether a record ends with a seal: without one it is incomplete.
pub fn is_sealed(record: &[u8]) -> bool {
    last_line(record).is_some_and(|line| read_seal(line).is_ok())
}

fn last_line(record: &[u8]) -> Option<&[u8]> {
    record.strip_suffix(b"\n")?.rsplit(|&byte| byte == b'\n').next()
}

/// Verifies a record and returns its summary.
///
/// # Errors
/// The differences found by [`crate::record::verify`].
pub fn summarize(record: &[u8], catalog: &Catalog) -> Result<RecordSummary, Vec<Difference>> {
    let (mut duration_us, mut bots) = (0, Vec::new());
    let (replayed, seal, differences) = verify_each(record, catalog, |line| match line.entry {
        RecordEntry::Result => duration_us = line.at_us.0,
        RecordEntry::Bots(of_seats) => bots = of_seats,
        _ => {}
    });
    let Some((play, seal)) = replayed.zip(seal).filter(|_| differences.is_empty()) else {
        return Err(differences);
    };
    let Some(ending) = play.ending().cloned() else { return Err(differences) };
    let header = Header::clone(&play.setup().header);
    let mut cpu_ms = vec![None; header.seats.len()];
    let mut stderr = vec![String::new(); header.seats.len()];
    for (seat, bot) in bots.into_iter().enumerate() {
        (cpu_ms[seat], stderr[seat]) = (bot.cpu_ms, bot.stderr);
    }
    Ok(RecordSummary {
        ending,
        faults: play.setup().seating.all().iter().map(|seat| play.faults(seat)).collect(),
        decisions: play.decisions(),
        lag_ms: play.worst_lag() / 1000,
        paused_ms: play.paused() / 1000,
        abort: play.broken_off().cloned(),
        duration_us,
        cpu_ms,
        stderr,
        seal,
        header,
    })
}
