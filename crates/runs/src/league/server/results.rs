//! Stores the results of a ladder.

use referee_engine::runner::{EndedMatch, RunEvent};
use referee_files::{RunningMatches, StorageWait, written_at};
use referee_league::{League, LeagueMatch};
use referee_match::record::times;
use referee_store::now;

use super::LeagueEvent;
use crate::RunError;
use crate::league::{SharedLadder, row_of};

/// Stores the results of a ladder.
pub(super) struct LadderResults<'a> {
    pub(super) name: &'a str,
    pub(super) ladder: SharedLadder,
    pub(super) league: League,
    pub(super) running: RunningMatches,
    pub(super) wait: StorageWait,
    pub(super) on_event: &'a (dyn Fn(LeagueEvent<'_>) + Sync),
    /// Whether matches can be copies of others.
    pub(super) can_repeat: bool,
    /// Matches whose records are not on the disk yet.
    pub(super) unstored: Vec<LeagueMatch>,
}

impl LadderResults<'_> {
    /// Notes what happens on the ladder.
    pub(super) fn note(&mut self, event: RunEvent<'_>) -> Result<(), RunError> {
        match event {
            RunEvent::Ended(ended @ EndedMatch { finished, record, no_show, .. }) => {
                if let Some(no_show) = no_show {
                    tracing::warn!("{} {}: {}", self.name, finished.id, no_show.why);
                }
                // The record is valid: the match has written it.
                if let Ok(times) = times(record) {
                    self.ladder.lock().timed(&finished.seats, &times);
                }
                // The time is that of the file, as for results that are read from records. A record that is sealed with a
                // later match has no file yet.
                let written = finished.record.as_deref().and_then(|path| written_at(path).ok());
                self.unstored.extend(row_of(ended, written.unwrap_or_else(now), self.can_repeat));
            }
            RunEvent::Settled => self.store()?,
            RunEvent::Listening(_) | RunEvent::Waiting(_) | RunEvent::Connected(_) | RunEvent::Moved(_) => {}
        }
        Ok(())
    }

    fn store(&mut self) -> Result<(), RunError> {
        let LadderResults { name: ladder, league, unstored, running, .. } = self;
        let season =
            self.wait.retry("the database of the league", || league.add_matches(ladder, unstored))?;
        self.ladder.lock().stored(season, unstored)?;
        for row in unstored.iter() {
            if let Err(error) = running.remove(&row.id()) {
                tracing::warn!("{ladder} {}: its journal cannot be removed: {error}", row.id());
            }
        }
        if !unstored.is_empty() {
            (self.on_event)(LeagueEvent::Ended { ladder, rows: unstored });
        }
        unstored.clear();
        Ok(())
    }
}
