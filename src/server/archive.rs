//! The records of a run, and when they are sealed.

use std::io;

use referee_protocol::referee::Reveal;

use crate::record;
use crate::referee::Leg;
use crate::server::results::MatchReport;
use crate::server::scheduler::Fixture;
use crate::store::Records;

/// The record of a match, without its seal: a match on the same deal is still to be played.
pub struct Unsealed {
    /// The deal.
    pub deal: String,
    /// The match.
    pub match_id: String,
    /// Its lines.
    pub record: Vec<u8>,
    /// For the seal.
    pub reveal: Reveal,
}

/// The records of a run.
pub(super) struct Archive {
    records: Option<Records>,
    /// Whether what the run leaves of a set may be played later.
    is_resumable: bool,
    /// What waits for its seal, because a match on the same deal is still to be played.
    unsealed: Vec<Unsealed>,
}

impl Archive {
    /// With what waits since before the run was interrupted; none where a run is not gone on with.
    pub(super) fn new(records: Option<Records>, unsealed: Option<Vec<Unsealed>>) -> Archive {
        Archive { records, is_resumable: unsealed.is_some(), unsealed: unsealed.unwrap_or_default() }
    }

    /// Keeps the record of a match and adds its seal, unless its deal is still to be played. Says what the seal is or
    /// will be.
    pub(super) fn keep(
        &mut self,
        fixture: &Fixture,
        report: &MatchReport,
        record: &mut Vec<u8>,
        reveal: Reveal,
    ) -> Result<Option<String>, String> {
        let Some(records) = &self.records else { return Ok(None) };
        let digest = Some(record::digest(record));
        let Some(deal) = &fixture.deal else {
            seal(records, &fixture.id, record, reveal)?;
            return Ok(digest);
        };
        if fixture.leg == Leg::Earlier || report.is_to_come() {
            if self.is_resumable {
                records.set_aside(&fixture.id, record).map_err(|error| not_kept(&fixture.id, &error))?;
            }
            let (deal, match_id) = (deal.clone(), fixture.id.clone());
            self.unsealed.push(Unsealed { deal, match_id, record: record.clone(), reveal });
            return Ok(digest);
        }
        for mut earlier in self.unsealed.extract_if(.., |other| other.deal == *deal) {
            seal_late(records, &earlier.match_id, &mut earlier.record, earlier.reveal)?;
        }
        seal_late(records, &fixture.id, record, reveal)?;
        Ok(digest)
    }

    /// Waits until all that was kept is on the disk.
    pub(super) fn sync(&self) -> Result<(), String> {
        let Some(records) = &self.records else { return Ok(()) };
        records.sync().map_err(|error| format!("the records cannot be kept: {error}"))
    }

    /// Seals what is left, unless it may be played later.
    pub(super) fn close(&mut self, is_complete: bool) -> Result<(), String> {
        let Some(records) = self.records.as_ref().filter(|_| is_complete || !self.is_resumable) else {
            return Ok(());
        };
        for mut left in self.unsealed.drain(..) {
            seal_late(records, &left.match_id, &mut left.record, left.reveal)?;
        }
        records.sync().map_err(|error| format!("the records cannot be kept: {error}"))
    }
}

/// Adds the seal to the record of a match and keeps it.
pub(super) fn seal(
    records: &Records,
    match_id: &str,
    record: &mut Vec<u8>,
    reveal: Reveal,
) -> Result<(), String> {
    record::seal(record, reveal);
    records.keep(match_id, record).map_err(|error| not_kept(match_id, &error))
}

/// Seals what may have been set aside.
fn seal_late(records: &Records, match_id: &str, record: &mut Vec<u8>, reveal: Reveal) -> Result<(), String> {
    seal(records, match_id, record, reveal)?;
    records.put_away(match_id);
    Ok(())
}

fn not_kept(match_id: &str, error: &io::Error) -> String {
    format!("the record of {match_id} cannot be kept: {error}")
}
