//! The results of a ladder, as they are counted and rated.

use std::collections::BTreeMap;
use std::sync::Arc;

use referee_game::Wrong;
use referee_league::{LadderRow, LadderRulings, LadderSeason, LadderSeats, LadderTally, LeagueMatch};
use referee_stats::rating::bradley_terry::Anchored;
use referee_store::RulingRow;

use super::Ladder;

#[derive(Debug)]
pub(super) struct CountedResults {
    pub(super) tally: LadderTally,
    pub(super) fit: Arc<Anchored>,
    /// Whether results have come since the players were rated.
    pub(super) is_unrated: bool,
    pub(super) rulings: LadderRulings,
    pub(super) shown_rulings: Arc<Vec<RulingRow>>,
    pub(super) season: LadderSeason,
    /// The results that were stored since a count of all results began, as they were played, with the numbers of their seasons.
    pub(super) stored_since: Option<Vec<(u32, LeagueMatch)>>,
    /// The end of the last match, in UTC.
    pub(super) last_result: Option<String>,
    /// The id of the last match that is stored.
    pub(super) last_match: Option<String>,
    /// The id of the last stored match when the players were last rated.
    pub(super) rated_to: Option<String>,
    /// The last match that was rated when it was noted who leads.
    pub(super) led_to: Option<String>,
}

impl CountedResults {
    pub(super) fn new(seats: LadderSeats) -> CountedResults {
        CountedResults {
            tally: LadderTally::new(seats, BTreeMap::new()),
            fit: Arc::default(),
            is_unrated: true,
            rulings: LadderRulings::default(),
            shown_rulings: Arc::default(),
            season: LadderSeason::default(),
            stored_since: None,
            last_result: None,
            last_match: None,
            rated_to: None,
            led_to: None,
        }
    }
}

impl Ladder {
    /// Begins the season in progress, with the rulings in force, before its results of earlier runs are added.
    ///
    /// # Errors
    /// If there are too many players.
    pub(crate) fn begin_season(&mut self, season: LadderSeason, rulings: LadderRulings) -> Result<(), Wrong> {
        season.players().try_for_each(|player| self.player(player).map(drop))?;
        season.begin(&mut self.results.tally)?;
        (self.results.season, self.results.rulings) = (season, rulings);
        Ok(())
    }

    /// Shows those of these rulings that concern the ladder.
    pub(crate) fn show_rulings(&mut self, rulings: &[RulingRow]) {
        let is_own = |row: &&RulingRow| row.ladder.as_ref().is_none_or(|ladder| *ladder == self.name);
        let own: Vec<RulingRow> = rulings.iter().filter(is_own).cloned().collect();
        if own != *self.results.shown_rulings {
            self.results.shown_rulings = Arc::new(own);
        }
    }

    /// The number of the season that is counted.
    pub(crate) fn season(&self) -> u32 {
        self.results.season.number
    }

    /// Adds the result of an earlier run.
    ///
    /// # Errors
    /// If it does not fit the seats.
    pub(crate) fn add_earlier(&mut self, row: &LeagueMatch) -> Result<(), Wrong> {
        for name in &row.players {
            self.player(name)?;
        }
        if let Some(lineup) = self.results.tally.add(&self.results.rulings.apply(row, self.seats.seating))? {
            self.matches.matchmaker.note(&lineup);
        }
        self.note_last(row);
        Ok(())
    }

    /// Notes the last match that is stored.
    fn note_last(&mut self, row: &LeagueMatch) {
        self.results.last_result = Some(row.ended_at.clone());
        self.results.last_match = Some(row.id());
    }

    /// The standings, with the ratings of the last time that the players were rated.
    pub(super) fn standings(&self) -> Vec<LadderRow> {
        self.results.tally.standings(&self.results.fit, &self.results.rulings, &self.roster.names)
    }

    /// Adds results that were stored in the season with this number.
    ///
    /// # Errors
    /// If one does not fit the seats.
    pub(crate) fn stored(&mut self, season: u32, rows: &[LeagueMatch]) -> Result<(), Wrong> {
        for row in rows {
            let challenge = self.matches.running.remove(&row.number).and_then(|running| running.challenge);
            self.challenges.ended.extend(challenge.map(|challenge| challenge.id));
            // The first results of a season come before it is known here: it is counted when it begins.
            if season == self.results.season.number {
                self.results.tally.add(&self.results.rulings.apply(row, self.seats.seating))?;
            }
            if let Some(stored) = &mut self.results.stored_since {
                stored.push((season, row.clone()));
            }
            self.note_last(row);
            self.results.is_unrated = true;
        }
        Ok(())
    }
}
