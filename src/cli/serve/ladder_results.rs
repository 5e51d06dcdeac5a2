//! Stores the results of a ladder, and prints them.

use std::io::Write;

use crate::cli::json::LeagueMatchLine;
use crate::cli::screen;
use crate::cli::today::now;
use crate::files::{RunningMatches, StorageWait, written_at};
use crate::game::json;
use crate::record::times;
use crate::runner::{EndedMatch, Halt, RunEvent, RunFailure};
use crate::runs::league::{SharedLadder, row_of};
use crate::store::{League, LeagueMatch};

/// Stores the results of a ladder, and prints them.
pub(super) struct LadderResults<'a> {
    name: &'a str,
    ladder: SharedLadder,
    league: League,
    running: RunningMatches,
    wait: StorageWait,
    is_json: bool,
    /// Matches whose records are not on the disk yet.
    unstored: Vec<LeagueMatch>,
}

impl<'a> LadderResults<'a> {
    pub(super) fn new(
        name: &'a str,
        ladder: SharedLadder,
        league: League,
        running: RunningMatches,
        wait: StorageWait,
        is_json: bool,
    ) -> LadderResults<'a> {
        LadderResults { name, ladder, league, running, wait, is_json, unstored: Vec::new() }
    }

    /// Notes what happens on the ladder.
    pub(super) fn note(&mut self, event: RunEvent<'_>) -> Result<(), Halt> {
        match event {
            RunEvent::Ended(ended @ EndedMatch { finished, record, no_show, .. }) => {
                if let Some(no_show) = no_show {
                    tracing::warn!("{} {}: {}", self.name, finished.id, no_show.why);
                }
                // What it contains is valid: the match has written it.
                if let Ok(times) = times(record) {
                    self.ladder.lock().timed(&finished.seats, &times);
                }
                // As from the records alone. A record that is sealed with a later match is not there yet.
                let written = finished.record.as_deref().and_then(|path| written_at(path).ok());
                self.unstored.extend(row_of(ended, written.unwrap_or_else(now)));
            }
            RunEvent::Settled => self.store()?,
            RunEvent::Listening(_) | RunEvent::Waiting(_) | RunEvent::Connected(_) | RunEvent::Moved(_) => {}
        }
        Ok(())
    }

    fn store(&mut self) -> Result<(), Halt> {
        let LadderResults { name: ladder, league, unstored, running, .. } = self;
        let stored = self.wait.retry("the database of the league", || league.add_matches(ladder, unstored));
        let season = stored.map_err(RunFailure::other)?;
        self.ladder.lock().stored(season, unstored).map_err(RunFailure::other)?;
        let mut out = screen::stdout();
        for row in unstored.drain(..) {
            if let Err(error) = running.remove(&row.id()) {
                tracing::warn!("{ladder} {}: its journal cannot be removed: {error}", row.id());
            }
            if self.is_json {
                let line = LeagueMatchLine { ladder, id: row.id(), row: &row };
                // A closed standard output does not stop the league.
                let _ = writeln!(out, "{}", json::text(&line));
            }
        }
        let _ = out.flush();
        Ok(())
    }
}
