//! The results of a ladder, counted again while it is played.

use std::collections::BTreeSet;

use super::{Ladder, Lead};
use referee_game::Seating;
use referee_league::{Book, LadderError, LadderRulings, LadderSeason, LeagueMatch};
use referee_stats::Entrant;

/// The results of a ladder while they are counted again.
#[derive(Debug)]
pub(crate) struct Recount {
    book: Book,
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
    pub(crate) fn add(&mut self, row: LeagueMatch) -> Result<(), LadderError> {
        self.counted.insert(row.number);
        self.book.add(&self.rulings.apply(&row, self.seating)).map(drop)
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
    ) -> Result<Option<Recount>, LadderError> {
        if begun.is_none() && self.rulings == rulings {
            return Ok(None);
        }
        let season = begun.unwrap_or_else(|| self.season.clone());
        self.stored_since = Some(Vec::new());
        season.players().try_for_each(|player| self.player(player).map(drop))?;
        let mut book = self.book.without_results()?;
        season.begin(&mut book)?;
        Ok(Some(Recount { book, season, rulings, seating: self.seating, counted: BTreeSet::new() }))
    }

    /// Replaces the results by those that were counted.
    ///
    /// # Errors
    /// If one does not fit the seats.
    pub(crate) fn end_recount(&mut self, recount: Recount) -> Result<(), LadderError> {
        let Recount { mut book, season, rulings, counted, .. } = recount;
        // Players that have come meanwhile keep their places.
        for at in 0..self.book.len() {
            book.player(self.book.name(Entrant(at as u16)))?;
        }
        for (of, row) in self.stored_since.take().unwrap_or_default() {
            if of == season.number && !counted.contains(&row.number) {
                book.add(&rulings.apply(&row, self.seating))?;
            }
        }
        if season.number != self.season.number {
            (self.lead, self.led_to) = (Lead::default(), self.last_match.clone());
        }
        (self.book, self.season, self.rulings, self.is_unrated) = (book, season, rulings, true);
        Ok(())
    }
}
