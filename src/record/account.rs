//! The summary of a record.

use serde::Deserialize;

use crate::record::format::read_as;
use crate::record::replay::verify_each;
use crate::record::{Difference, Seal};
use crate::referee::{Abort, Ending, Faults, Header};

/// The summary of a verified record.
#[derive(Debug)]
pub struct Account {
    /// The set-up.
    pub header: Header,
    /// The result.
    pub ending: Ending,
    /// Why it was aborted, if recorded.
    pub abort: Option<Abort>,
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
    /// The last line.
    pub seal: Seal,
}

#[derive(Deserialize)]
struct Bots {
    bots: Vec<Bot>,
}

#[derive(Deserialize)]
struct Bot {
    seat: usize,
    cpu_ms: Option<u64>,
}

/// Whether a record ends with a seal: without one it is incomplete.
pub fn is_sealed(record: &[u8]) -> bool {
    last_line(record).is_some_and(|line| read_as::<Seal>("seal", line).is_ok())
}

fn last_line(record: &[u8]) -> Option<&[u8]> {
    record.strip_suffix(b"\n")?.rsplit(|&byte| byte == b'\n').next()
}

/// Verifies a record and returns its summary.
///
/// # Errors
/// The differences found by [`crate::record::verify`].
pub fn account(record: &[u8]) -> Result<Account, Vec<Difference>> {
    let mut duration_us = 0;
    let (replayed, differences) = verify_each(record, |line| {
        if line.kind == "result" {
            duration_us = line.at_us.0;
        }
    });
    let Some((play, ending)) = replayed.as_ref().and_then(|play| Some((play, play.ending()?.clone()))) else {
        return Err(differences);
    };
    if !differences.is_empty() {
        return Err(differences);
    }
    let header = play.setup().header.clone();
    let told = read_rest(record, header.seats.len());
    let (cpu_ms, seal) = told.map_err(|what| {
        let line = record.iter().filter(|&&byte| byte == b'\n').count();
        vec![Difference { match_id: None, turn: None, line, what }]
    })?;
    Ok(Account {
        ending,
        faults: play.setup().seating.all().iter().map(|seat| play.faults(seat)).collect(),
        decisions: play.decisions(),
        lag_ms: play.worst_lag() / 1000,
        paused_ms: play.paused() / 1000,
        abort: play.broken_off().cloned(),
        duration_us,
        cpu_ms,
        seal,
        header,
    })
}

/// Reads what cannot be replayed: the processor time by seat, and the seal.
fn read_rest(record: &[u8], seats: usize) -> Result<(Vec<Option<u64>>, Seal), String> {
    let mut cpu_ms = vec![None; seats];
    for text in record.split(|&byte| byte == b'\n') {
        // Most lines are moves; skip them without parsing.
        if text.starts_with(br#"{"type":"bots""#) {
            let bots: Bots = read_as("bots", text)?;
            for bot in bots.bots {
                *cpu_ms.get_mut(bot.seat).ok_or_else(|| format!("there is no seat {}", bot.seat))? =
                    bot.cpu_ms;
            }
        }
    }
    let seal = last_line(record).ok_or("there is no seal")?;
    Ok((cpu_ms, read_as("seal", seal)?))
}
