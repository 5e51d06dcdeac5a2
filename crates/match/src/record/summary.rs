//! The summary of a record.

use referee_game::Catalog;

use crate::record::line::read_seal;
use crate::record::replay::verify_each;
use crate::record::{BotsLine, Difference, RecordEntry, Seal};
use crate::{Ending, Match};

/// The summary of a verified record.
#[derive(Debug)]
pub struct RecordSummary {
    /// The match, replayed to its end.
    pub play: Match,
    pub ending: Ending,
    /// From opening to end, in microseconds.
    pub duration_us: u64,
    /// By seat: processor time in milliseconds.
    pub cpu_ms: Vec<Option<u64>>,
    /// By seat: the end of its bot's standard error.
    pub stderr: Vec<String>,
    /// The number of times that the rules had to be asked again.
    pub rules_restarts: u32,
    pub seal: Seal,
}

/// Returns whether a record ends with a seal: without one it is incomplete.
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
    let (mut duration_us, mut bots) = (0, BotsLine::default());
    let (replayed, seal, differences) = verify_each(record, catalog, |line| match line.entry {
        RecordEntry::Result => duration_us = line.at_us.0,
        RecordEntry::Bots(of_seats) => bots = of_seats,
        _ => {}
    });
    let Some((play, seal)) = replayed.zip(seal).filter(|_| differences.is_empty()) else {
        return Err(differences);
    };
    let Some(ending) = play.ending().cloned() else { return Err(differences) };
    let seats = play.setup().seating.seats();
    let mut cpu_ms = vec![None; seats];
    let mut stderr = vec![String::new(); seats];
    let BotsLine { bots, rules_restarts, .. } = bots;
    for (seat, bot) in bots.into_iter().enumerate() {
        (cpu_ms[seat], stderr[seat]) = (bot.cpu_ms, bot.stderr);
    }
    Ok(RecordSummary { play, ending, duration_us, cpu_ms, stderr, rules_restarts, seal })
}
