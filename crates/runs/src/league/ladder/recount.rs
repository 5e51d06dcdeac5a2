//! The results of a ladder, counted again while it is played.

use std::collections::BTreeSet;

use super::{Ladder, Leader};
use referee_game::{Seating, Wrong};
use referee_league::{LadderRulings, LadderSeason, LadderTally, LeagueMatch};
use referee_stats::Entrant;

/// The results of a ladder while they are counted again.
#[derive(Debug)]
pub(crate) struct Recount {
    tally: LadderTally,
    season: LadderSeason,
    rulings: LadderRulings,
    seating: Seating,
    /// The numbers of the matches so far.
    counted: BTreeSet<u32>,
}

impl Recount {
    /// The number of the season.
    pub(crate) fn season(&self) -> u32 {
        self.season.number
    }

    /// Adds a result of the season.
    ///
    /// # Errors
    /// If it does not fit the seats.
    pub(crate) fn add(&mut self, row: LeagueMatch) -> Result<(), Wrong> {
        self.counted.insert(row.number);
        self.tally.add(&self.rulings.apply(&row, self.seating)).map(drop)
    }
}

impl Ladder {
    /// Begins to count results again, if a season has begun or other rulings are in force. Add the results of the season in the
    /// database, and call [`Ladder::end_recount`]. The ladder is played meanwhile.
    ///
    /// # Errors
    /// If there are too many players.
    pub(crate) fn begin_recount(
        &mut self,
        begun: Option<LadderSeason>,
        rulings: LadderRulings,
    ) -> Result<Option<Recount>, Wrong> {
        if begun.is_none() && self.results.rulings == rulings {
            return Ok(None);
        }
        let season = begun.unwrap_or_else(|| self.results.season.clone());
        self.results.stored_since = Some(Vec::new());
        season.players().try_for_each(|player| self.player(player).map(drop))?;
        let mut tally = self.results.tally.without_results()?;
        season.begin(&mut tally)?;
        Ok(Some(Recount { tally, season, rulings, seating: self.seats.seating, counted: BTreeSet::new() }))
    }

    /// Replaces the results by those that were counted.
    ///
    /// # Errors
    /// If one does not fit the seats.
    pub(crate) fn end_recount(&mut self, recount: Recount) -> Result<(), Wrong> {
        let Recount { mut tally, season, rulings, counted, .. } = recount;
        // Players that have come meanwhile keep their places.
        for at in 0..self.results.tally.len() {
            tally.player(self.results.tally.name(Entrant(at as u16)))?;
        }
        for (of, row) in self.results.stored_since.take().unwrap_or_default() {
            if of == season.number && !counted.contains(&row.number) {
                tally.add(&rulings.apply(&row, self.seats.seating))?;
            }
        }
        if season.number != self.results.season.number {
            (self.leader, self.results.led_to) = (Leader::default(), self.results.last_match.clone());
        }
        (self.results.tally, self.results.season, self.results.rulings, self.results.is_unrated) =
            (tally, season, rulings, true);
        Ok(())
    }
}
