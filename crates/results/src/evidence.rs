//! The output of bots that caused their faults, for the operator of the referee only: the detail of a fault, which other
//! bots receive, contains no quotations.

use std::collections::BTreeMap;

use referee_game::excerpt::excerpt;
use referee_game::seat::Seat;
use referee_match::record::{Difference, RecordEntry, RecordedAnswer, RecordedFault, lines};
use referee_protocol::words::FaultCode;
use serde::{Deserialize, Serialize};

use crate::FinishedMatch;

/// Characters shown of a move, and of each line of standard error.
const MOVE: usize = 80;
const LINE: usize = 200;
/// Lines shown of standard error, from the end.
const STDERR_LINES: usize = 20;

/// A fault in a match with its cause, as `--json` prints it: of each seat and code the last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub seat: Seat,
    pub code: FaultCode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// `illegal_move`: the move, at most 80 characters of it.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    pub refused_move: Option<String>,
    /// `malformed`: the line, at most 200 characters of it; bytes that are not UTF-8 are replaced by U+FFFD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// `exited`, `disconnected` and `no_start` of a started bot: the last 20 lines of its standard error, at most 200
    /// characters of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

impl Evidence {
    /// Returns whether it quotes the bot.
    pub fn is_quote(&self) -> bool {
        self.refused_move.is_some() || self.line.is_some() || self.stderr.is_some()
    }
}

/// The last lines of a bot's standard error; `None` if it wrote nothing.
pub fn last_lines(stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr.trim_end().lines().collect();
    let last = lines[lines.len().saturating_sub(STDERR_LINES)..].iter().map(|line| excerpt(line, LINE));
    Some(last.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}

/// Collects the evidence in the record of a match, in the malformed lines by seat and in the standard error
/// of its bots, by seat.
///
/// # Errors
/// The first invalid line of the record.
pub(super) fn collect(
    record: &[u8],
    malformed: &BTreeMap<Seat, String>,
    stderr: &[&str],
) -> Result<Vec<Evidence>, Difference> {
    let mut moves = BTreeMap::new();
    let mut faults = BTreeMap::new();
    for line in lines(record) {
        let RecordedFault { seat, code, detail, .. } = match line?.entry {
            RecordEntry::Answer(RecordedAnswer { seat, text, .. }) => {
                moves.insert(seat, text);
                continue;
            }
            RecordEntry::Fault(fault) => fault,
            _ => continue,
        };
        let refused_move = moves.get(&seat).filter(|_| code == FaultCode::IllegalMove);
        let is_lost = matches!(code, FaultCode::Exited | FaultCode::Disconnected | FaultCode::NoStart);
        let stderr = stderr.get(seat.index()).filter(|_| is_lost).and_then(|said| last_lines(said));
        let evidence = Evidence {
            seat,
            code,
            detail: detail.map(|detail| detail.to_string()),
            refused_move: refused_move.map(|text| excerpt(text, MOVE).into_owned()),
            line: malformed.get(&seat).filter(|_| code == FaultCode::Malformed).cloned(),
            stderr,
        };
        faults.insert((seat, code), evidence);
    }
    Ok(faults.into_values().collect())
}

/// The first fault of each bot and code in a run.
#[derive(Debug, Default)]
pub struct FirstFaults(BTreeMap<(String, FaultCode), (String, Evidence)>);

impl FirstFaults {
    /// Adds the faults of a match, except those of a seat that are shown elsewhere.
    pub fn add(&mut self, finished: &FinishedMatch, except: Option<Seat>) {
        for evidence in finished.evidence.iter().filter(|evidence| Some(evidence.seat) != except) {
            self.add_one(&finished.seats[evidence.seat.index()], &finished.id, evidence);
        }
    }

    /// Adds a fault of a bot in a match.
    pub fn add_one(&mut self, bot: &str, id: &str, evidence: &Evidence) {
        let key = (bot.to_owned(), evidence.code);
        self.0.entry(key).or_insert_with(|| (id.to_owned(), evidence.clone()));
    }

    /// Iterates over the faults with the name of the bot and the id of the match, ordered by bot and code.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &Evidence)> {
        self.0.iter().map(|((bot, _), (id, evidence))| (&**bot, &**id, evidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_error_is_quoted_by_its_last_lines() {
        let all: Vec<String> = (0..22).map(|line| line.to_string()).collect();
        assert_eq!(last_lines(&format!("{}\n\n", all.join("\n"))), Some(all[2..].join("\n")));
        assert_eq!(last_lines(" \n"), None);
        let long = last_lines(&"x".repeat(999)).expect("text");
        assert_eq!(long, "x".repeat(200) + "...");
    }
}
