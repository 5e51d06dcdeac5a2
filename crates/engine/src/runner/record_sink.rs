//! Stores the records of matches that have ended, and reports the matches once their records are on the disk.

use referee_files::Records;
use referee_stats::Cause;

use crate::runner::archive::{Archive, Unsealed};
use crate::runner::live::LiveFeed;
use crate::runner::run_event::{EndedMatch, Halt, RunEvent};
use crate::runner::run_failure::RunFailure;

/// The number of failures of the rules in consecutive matches that ends a run, or pauses a ladder: of matches that they
/// ended, or of times that they had to be asked again.
pub const MOST_RULES_FAILED: u32 = 10;

/// The number of consecutive matches without a result because of an outage that ends a run.
pub(super) const MOST_UNAVAILABLE: u32 = 10;

/// Failures of the rules, and outages of what chooses moves, in consecutive matches.
#[derive(Clone, Copy, Debug, Default)]
struct Failures {
    /// The number of matches that an outage ended.
    unavailable: u32,
    /// The number of matches that the rules ended.
    matches: u32,
    /// The number of times that they had to be asked again.
    restarts: u32,
}

impl Failures {
    /// Counts those of a match. Returns why the run ends, if they are too many.
    fn count(&mut self, ended: &EndedMatch) -> Option<RunFailure> {
        let is_outage = ended.finished.cause == Some(Cause::Unavailable);
        self.unavailable = if is_outage { self.unavailable + 1 } else { 0 };
        if self.unavailable == MOST_UNAVAILABLE {
            return Some(format!(
                "what chooses the moves of a bot could not be reached in {MOST_UNAVAILABLE} matches in a row"
            )
            .into());
        }
        let has_failed = ended.finished.cause == Some(Cause::RulesFailed);
        let restarts = ended.finished.rules_restarts;
        self.matches = if has_failed { self.matches + 1 } else { 0 };
        self.restarts = if has_failed || restarts > 0 { self.restarts + restarts } else { 0 };
        if self.matches == MOST_RULES_FAILED {
            return Some(format!("the rules failed in {MOST_RULES_FAILED} matches in a row").into());
        }
        let is_new = self.restarts - restarts < MOST_RULES_FAILED && self.restarts >= MOST_RULES_FAILED;
        is_new.then(|| {
            format!(
                "the rules had to be asked again {MOST_RULES_FAILED} times in a row: processes failed, and others answered \
                 (see the log)"
            )
            .into()
        })
    }
}

/// Stores records, then reports their matches.
pub struct RecordSink<F> {
    archive: Archive,
    live: Option<LiveFeed>,
    /// Matches whose records are written but not synchronized.
    kept: Vec<EndedMatch>,
    /// The failures in the latest matches; `None` if they do not matter.
    failures: Option<Failures>,
    on_event: F,
}

impl<F> std::fmt::Debug for RecordSink<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordSink").field("kept", &self.kept.len()).finish_non_exhaustive()
    }
}

impl<F: FnMut(RunEvent<'_>) -> Result<(), Halt>> RecordSink<F> {
    /// Creates a sink. `unsealed` holds the unsealed records of an earlier part of the run; `None` if the run cannot be
    /// resumed.
    pub fn new(
        records: Option<Records>,
        unsealed: Option<Vec<Unsealed>>,
        live: Option<LiveFeed>,
        on_event: F,
    ) -> RecordSink<F> {
        RecordSink {
            archive: Archive::new(records, unsealed),
            live,
            kept: Vec::new(),
            failures: Some(Failures::default()),
            on_event,
        }
    }

    /// Lets the run go on however often the rules fail.
    #[must_use]
    pub fn tolerating_rules(self) -> RecordSink<F> {
        RecordSink { failures: None, ..self }
    }

    /// The number of matches that are not reported yet.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Returns whether all matches are reported.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns whether records are synchronized.
    pub(super) fn is_durable(&self) -> bool {
        self.archive.is_durable()
    }

    /// Reports an event.
    ///
    /// # Errors
    /// Errors of the receiver.
    pub fn emit(&mut self, event: RunEvent<'_>) -> Result<(), Halt> {
        (self.on_event)(event)
    }

    /// Writes the record of a match that has ended.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn keep(&mut self, mut ended: EndedMatch) -> Result<(), Halt> {
        let unsealed = ended.record.len();
        ended.seal = self.archive.keep(&mut ended)?;
        ended.record.truncate(unsealed);
        self.kept.push(ended);
        Ok(())
    }

    /// Synchronizes the records, then reports their matches.
    ///
    /// # Errors
    /// Errors of the disk and of the receiver.
    pub fn settle(&mut self) -> Result<(), Halt> {
        if self.kept.is_empty() {
            return Ok(());
        }
        let synced = self.archive.sync();
        let mut result = Ok(());
        for ended in std::mem::take(&mut self.kept) {
            if synced.is_ok() {
                let reported = (self.on_event)(RunEvent::Ended(&ended));
                result = result.and(reported);
                if let Some(failures) = &mut self.failures
                    && let Some(failure) = failures.count(&ended)
                {
                    result = result.and(Err(failure.into()));
                }
            }
            if let Some(feed) = &self.live {
                feed.end(ended);
            }
        }
        synced?;
        result.and((self.on_event)(RunEvent::Settled))
    }

    /// Seals the remaining records, unless the run is incomplete and can be resumed.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn close(&mut self, is_complete: bool) -> Result<(), Halt> {
        self.archive.close(is_complete).map_err(Halt::from)
    }
}
