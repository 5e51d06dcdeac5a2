//! The messages beside the units.

use serde::{Deserialize, Serialize};

use super::envelope::split;
use crate::carrier::{OutcomeVerdict, Returned};
use crate::machine::{Machine, MachineState};
use crate::trial::{BUILT_BYTES, TrialJob, TrialReply};
use crate::unit::{UNIT_BYTES, UnitId};
use referee_game::Wrong;

/// The maximum size of a report on a trial, in bytes.
pub(super) const REPORT_BYTES: usize = UNIT_BYTES + BUILT_BYTES;

/// A message of a worker, whose name is in the subject.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkerMessage {
    pub(super) version: u32,
    #[serde(flatten)]
    pub(super) content: ToCoordinator,
}

/// A message of a worker to the coordinator of a run, or `Hello` and `Leaving` to all coordinators; `Trying` and `Tried` to
/// the desk of the trial.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToCoordinator {
    /// The units of a worker. Sent repeatedly.
    Hello {
        machine: Machine,
        /// Differs each time that the worker starts.
        session: String,
        holding: Vec<UnitId>,
    },
    Leaving,
    Taken {
        session: String,
        unit: UnitId,
        delivery: Delivery,
    },
    Moved {
        unit: UnitId,
    },
    Returned {
        unit: UnitId,
        delivery: Delivery,
        reason: Returned,
    },
    /// An outcome follows on the next lines, or is an object in the store.
    Played {
        unit: UnitId,
        object: Option<String>,
    },
    /// The worker has begun with a trial.
    Trying {
        session: String,
        trial: u64,
    },
    /// A report on a trial follows on the next lines, or is an object in the store ([`report_object`]).
    Tried {
        session: String,
        trial: u64,
        is_stored: bool,
    },
}

/// A delivery of a message of the stream: two messages about one delivery are one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Delivery {
    /// The sequence number of the message in the stream.
    pub(super) message: u64,
    /// From 1.
    pub(super) number: i64,
}

impl Delivery {
    /// Returns whether it is later than the last known delivery of the same unit. Another message is always
    /// later, also with a lower sequence number: a stream that is created again counts from 1.
    pub(super) fn is_after(self, known: Delivery) -> bool {
        self.message != known.message || self.number > known.number
    }
}

/// A message of the coordinator of a run or of a desk of trials to workers: the body of a signed message, which names the run
/// or the desk.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToWorker {
    RequestHello,
    Verdict {
        unit: UnitId,
        verdict: OutcomeVerdict,
    },
    Withdrawn {
        unit: UnitId,
    },
    State {
        state: MachineState,
    },
    Over,
    /// Asks for a trial; repeated while it is wanted.
    Try {
        session: String,
        job: Box<TrialJob>,
    },
    /// A trial is not wanted any more, or was reported.
    TrialOver {
        session: String,
        trial: u64,
    },
}

/// The object with the archive of a program, among the archives.
pub(super) fn program_object(trial: u64) -> String {
    format!("trial.{trial:016x}")
}

/// The object with the report of a worker, among the outcomes.
pub(super) fn report_object(trial: u64, session: &str) -> String {
    format!("trial.{trial:016x}.{session}")
}

/// Encodes a report: a line of JSON, then the archive of the build.
pub(super) fn encode_report(reply: &TrialReply, built: &[u8]) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(reply)?;
    bytes.push(b'\n');
    bytes.extend_from_slice(built);
    Ok(bytes)
}

pub(super) fn decode_report(mut bytes: Vec<u8>) -> Result<(TrialReply, Vec<u8>), Wrong> {
    let (line, built) = split(&bytes);
    if built.len() > BUILT_BYTES {
        let bytes = built.len();
        return Err(
            format!("its report has an archive of {bytes} bytes; the maximum is {BUILT_BYTES}").into()
        );
    }
    let reply = serde_json::from_slice(line).map_err(|error| Wrong::at("its report is malformed", error))?;
    let begin = bytes.len() - built.len();
    bytes.drain(..begin);
    Ok((reply, bytes))
}

#[cfg(test)]
mod tests {
    use referee_game::Chain;

    use super::*;
    use crate::trial::TrialVerdict;

    #[test]
    fn a_report_survives_encoding() {
        let verdict = TrialVerdict::Failed("no".to_owned());
        let reply = TrialReply { log: "one\ntwo\n".to_owned(), verdict };
        for built in [&b""[..], b"\n{}\n"] {
            let bytes = encode_report(&reply, built).unwrap();
            assert_eq!(decode_report(bytes).unwrap(), (reply.clone(), built.to_vec()));
        }
        let refused = |bytes: Vec<u8>| Chain(&decode_report(bytes).unwrap_err()).to_string();
        assert!(refused(Vec::new()).starts_with("its report is malformed"));
        let large = encode_report(&reply, &vec![0; BUILT_BYTES + 1]).unwrap();
        assert!(refused(large).contains("67108865 bytes; the maximum is 67108864"));
    }

    #[test]
    fn delivery_is_later_by_its_number_or_of_another_message() {
        let delivery = |message, number| Delivery { message, number };
        assert!(delivery(7, 1).is_after(Delivery::default()) && delivery(7, 2).is_after(delivery(7, 1)));
        assert!(!delivery(7, 1).is_after(delivery(7, 1)) && !delivery(7, 1).is_after(delivery(7, 2)));
        assert!(delivery(2, 1).is_after(delivery(7, 3)), "the stream was created again");
    }
}
