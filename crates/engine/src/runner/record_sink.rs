//! Stores the records of matches that have ended, and reports the matches once their records are on the disk.

use referee_files::Records;
use referee_protocol::referee::Reveal;
use referee_stats::Cause;

use crate::runner::archive::{Archive, Unsealed};
use crate::runner::fixture::Fixture;
use crate::runner::live::ResultFeed;
use crate::runner::results::MatchReport;
use crate::runner::run_event::{Halt, NoShow, RunEvent};
use crate::runner::run_failure::RunFailure;

/// The number of consecutive matches in which the rules fail that ends a run, or pauses a ladder.
pub const MOST_RULES_FAILED: u32 = 10;

/// A match that has ended.
#[derive(Debug)]
pub struct EndedRecord {
    /// The match.
    pub fixture: Fixture,
    /// The result.
    pub report: MatchReport,
    /// The record without the seal.
    pub record: Vec<u8>,
    /// The content of the seal.
    pub reveal: Reveal,
    /// One of its bots could not play at all.
    pub no_show: Option<NoShow>,
}

/// A match whose record is written but not synchronized.
struct Unsynced {
    ended: EndedRecord,
    seal: Option<String>,
}

/// Stores records, then reports their matches.
pub struct RecordSink<F> {
    archive: Archive,
    live: Option<ResultFeed>,
    kept: Vec<Unsynced>,
    /// The number of matches in a row that ended because the rules failed; `None` if it does not matter.
    rules_failed: Option<u32>,
    on_event: F,
}

impl<F> std::fmt::Debug for RecordSink<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordSink").field("kept", &self.kept.len()).finish_non_exhaustive()
    }
}

impl<F: FnMut(RunEvent<'_>) -> Result<(), Halt>> RecordSink<F> {
    /// `unsealed` holds the unsealed records of an earlier part of the run; `None` if the run cannot be resumed.
    pub fn new(
        records: Option<Records>,
        unsealed: Option<Vec<Unsealed>>,
        live: Option<ResultFeed>,
        on_event: F,
    ) -> RecordSink<F> {
        RecordSink {
            archive: Archive::new(records, unsealed),
            live,
            kept: Vec::new(),
            rules_failed: Some(0),
            on_event,
        }
    }

    /// The same, but it goes on however often the rules fail.
    #[must_use]
    pub fn tolerating_rules(self) -> RecordSink<F> {
        RecordSink { rules_failed: None, ..self }
    }

    /// The number of matches that are not reported yet.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether all matches are reported.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether records are synchronized.
    pub(super) fn is_durable(&self) -> bool {
        self.archive.is_durable()
    }

    /// Reports an event.
    ///
    /// # Errors
    /// Those of the receiver.
    pub fn emit(&mut self, event: RunEvent<'_>) -> Result<(), Halt> {
        (self.on_event)(event)
    }

    /// Writes the record of a match that has ended.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn keep(&mut self, mut ended: EndedRecord) -> Result<(), Halt> {
        let EndedRecord { fixture, report, record, reveal, .. } = &mut ended;
        let unsealed = record.len();
        let seal = self.archive.keep(fixture, report, record, reveal.clone())?;
        record.truncate(unsealed);
        self.kept.push(Unsynced { ended, seal });
        Ok(())
    }

    /// Synchronizes the records, then reports their matches.
    ///
    /// # Errors
    /// Those of the disk and of the receiver.
    pub fn settle(&mut self) -> Result<(), Halt> {
        if self.kept.is_empty() {
            return Ok(());
        }
        let synced = self.archive.sync();
        let mut result = Ok(());
        for Unsynced { ended, seal } in std::mem::take(&mut self.kept) {
            let EndedRecord { fixture, report, record, reveal, no_show } = ended;
            if synced.is_ok() {
                let (fixture, report, record, reveal) = (&fixture, &report, &record[..], &reveal);
                let reported =
                    (self.on_event)(RunEvent::Ended { fixture, report, record, seal, reveal, no_show });
                result = result.and(reported);
                if let Some(count) = &mut self.rules_failed {
                    *count = if report.cause == Some(Cause::RulesFailed) { *count + 1 } else { 0 };
                    if *count == MOST_RULES_FAILED {
                        result = result.and(Err(RunFailure::RulesFailed.into()));
                    }
                }
            }
            if let Some(feed) = &self.live {
                feed.end(fixture, report, record, reveal);
            }
        }
        synced?;
        result.and((self.on_event)(RunEvent::Settled))
    }

    /// Seals the remaining records, unless the run is incomplete and can be resumed.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn close(&mut self, is_complete: bool) -> Result<(), Halt> {
        self.archive.close(is_complete).map_err(Halt::from)
    }
}
