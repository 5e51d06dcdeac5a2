//! Keeps and seals the records of a run.

use std::io;

use referee_files::Records;
use referee_game::Wrong;
use referee_match::Leg;
use referee_match::record;
use referee_protocol::referee::Reveal;

use crate::runner::run_event::EndedMatch;

/// The record of a match that is not sealed yet, because another match of its deal is still to be played.
#[derive(Clone, Debug)]
pub struct Unsealed {
    pub deal: String,
    pub match_id: String,
    /// The record, without its seal.
    pub record: Vec<u8>,
    pub reveal: Reveal,
}

/// The records cannot be kept, for this reason.
fn records_not_kept(error: io::Error) -> Wrong {
    Wrong::at("the records cannot be kept", error)
}

pub(super) struct Archive {
    records: Option<Records>,
    /// Whether the run can be resumed, so that incomplete sets may be completed later.
    is_resumable: bool,
    /// Records that cannot be sealed until the last match of their deal has ended.
    unsealed: Vec<Unsealed>,
}

impl Archive {
    /// `unsealed` holds the unsealed records of an earlier part of the run; `None` if the run cannot be resumed.
    pub(super) fn new(records: Option<Records>, unsealed: Option<Vec<Unsealed>>) -> Archive {
        Archive { records, is_resumable: unsealed.is_some(), unsealed: unsealed.unwrap_or_default() }
    }

    /// Keeps the record of a match. Seals it unless another match of its deal is still to be played. Returns the
    /// SHA-256 of the unsealed record.
    pub(super) fn keep(&mut self, ended: &mut EndedMatch) -> Result<Option<String>, Wrong> {
        let EndedMatch { fixture, finished, record, reveal, .. } = ended;
        let Some(records) = &self.records else { return Ok(None) };
        let Some(deal) = fixture.deal.as_ref().filter(|_| fixture.leg != Leg::Open) else {
            return seal(records, &fixture.id, record, reveal.clone()).map(Some);
        };
        if fixture.leg == Leg::Earlier || finished.is_to_be_replayed() {
            if self.is_resumable {
                records.keep_unsealed(&fixture.id, record).map_err(not_kept(&fixture.id))?;
            }
            let (deal, match_id) = (deal.clone(), fixture.id.clone());
            self.unsealed.push(Unsealed { deal, match_id, record: record.clone(), reveal: reveal.clone() });
            return Ok(Some(record::digest(record)));
        }
        for mut earlier in self.unsealed.extract_if(.., |other| other.deal == *deal) {
            seal_late(records, &earlier.match_id, &mut earlier.record, earlier.reveal)?;
        }
        seal_late(records, &fixture.id, record, reveal.clone()).map(Some)
    }

    /// Returns whether [`Archive::sync`] waits for the disk.
    pub(super) fn is_durable(&self) -> bool {
        self.records.as_ref().is_some_and(Records::is_durable)
    }

    /// Waits until everything kept so far is on the disk.
    pub(super) fn sync(&self) -> Result<(), Wrong> {
        let Some(records) = &self.records else { return Ok(()) };
        records.sync().map_err(records_not_kept)
    }

    /// Seals the remaining records, unless the run is incomplete and can be resumed.
    pub(super) fn close(&mut self, is_complete: bool) -> Result<(), Wrong> {
        let Some(records) = self.records.as_ref().filter(|_| is_complete || !self.is_resumable) else {
            return Ok(());
        };
        for mut left in self.unsealed.drain(..) {
            seal_late(records, &left.match_id, &mut left.record, left.reveal)?;
        }
        records.sync().map_err(records_not_kept)
    }
}

/// Seals the record of a match and writes it. Returns the SHA-256 of the unsealed record.
pub(super) fn seal(
    records: &Records,
    match_id: &str,
    record: &mut Vec<u8>,
    reveal: Reveal,
) -> Result<String, Wrong> {
    let digest = record::seal(record, reveal);
    records.keep(match_id, record).map_err(not_kept(match_id))?;
    Ok(digest)
}

/// Seals a record and removes the unsealed copy, if there is one.
fn seal_late(
    records: &Records,
    match_id: &str,
    record: &mut Vec<u8>,
    reveal: Reveal,
) -> Result<String, Wrong> {
    let digest = seal(records, match_id, record, reveal)?;
    records.remove_unsealed(match_id);
    Ok(digest)
}

fn not_kept(match_id: &str) -> impl FnOnce(io::Error) -> Wrong {
    move |error| Wrong::at(format!("the record of {match_id} cannot be kept"), error)
}
