//! The time that answers took, from a record that is not replayed.

use referee_game::MAX_SEATS;
use referee_game::seat::Seat;
use referee_protocol::words::FaultCode;

use crate::record::line::lines_except;
use crate::record::{Accepted, Difference, RecordEntry, RecordedAnswer, RecordedFault};

/// The time that a seat took for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerTime {
    pub seat: Seat,
    /// From the request to the answer, or to the end of the time limit if no answer came, in microseconds.
    pub took_us: u64,
    /// The referee's lag during that time, in microseconds.
    pub lag_us: u64,
}

/// The timing data of a record.
#[derive(Debug, Default)]
pub struct Times {
    /// The time of each answer and of each request without an answer in time.
    pub answers: Vec<AnswerTime>,
    /// The time for which the referee was suspended, in microseconds.
    pub paused_us: u64,
    /// The number of times that the rules had to be asked again.
    pub rules_restarts: u32,
    /// Whether the record ends with a seal.
    pub is_sealed: bool,
}

/// Most lines of a record are of these types, which have no timing data.
const WITHOUT_TIMES: &[&str] = &["request", "event", "draw"];

/// Reads the timing data of a record, with or without its seal.
///
/// # Errors
/// The first invalid line among those that may have such data.
pub fn times(record: &[u8]) -> Result<Times, Difference> {
    let mut times = Times::default();
    // By seat: the last request that was counted. A late answer has a line of its own before that of its fault.
    let mut counted = [None; MAX_SEATS];
    for line in lines_except(record, WITHOUT_TIMES) {
        let entry = line?.entry;
        times.is_sealed = matches!(entry, RecordEntry::Seal(_));
        let (seat, turn, took_us, lag_us) = match entry {
            RecordEntry::Answer(RecordedAnswer { seat, turn, took_us, lag_us, .. })
            | RecordEntry::AcceptDraw(Accepted { seat, turn, took_us, lag_us }) => {
                (seat, turn, took_us, lag_us)
            }
            RecordEntry::Fault(RecordedFault {
                seat,
                turn: Some(turn),
                code: FaultCode::Timeout,
                took_us: Some(took_us),
                lag_us,
                ..
            }) if counted.get(seat.index()) != Some(&Some(turn)) => (seat, turn, took_us, lag_us),
            RecordEntry::Pause { paused_us } => {
                times.paused_us = times.paused_us.saturating_add(paused_us);
                continue;
            }
            RecordEntry::Bots(bots) => {
                times.rules_restarts = bots.rules_restarts;
                continue;
            }
            _ => continue,
        };
        if let Some(of_seat) = counted.get_mut(seat.index()) {
            *of_seat = Some(turn);
        }
        times.answers.push(AnswerTime { seat, took_us, lag_us });
    }
    Ok(times)
}
