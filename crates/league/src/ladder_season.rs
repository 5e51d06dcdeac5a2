//! The seasons of a ladder: final standings, and the ratings from which the next one starts.

use std::collections::BTreeMap;

use referee_game::{Wrong, json};

use serde::{Deserialize, Serialize};

use crate::bots::BotDisplayNames;
use crate::ladder_rulings::LadderRulings;
use crate::tally::{LadderRow, LadderSeats, LadderTally, ranking};
use crate::{League, Season};

/// The standings of a ladder at the end of a season.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalStandings {
    pub matches: u32,
    /// The players with a match, the best first; earlier versions of bots come last, without a place.
    pub standings: Vec<LadderRow>,
}

#[derive(Clone, Debug)]
pub struct LadderSeason {
    /// From 1.
    pub number: u32,
    /// The final standings of the one before, if players start from their ratings.
    kept: Vec<LadderRow>,
}

impl Default for LadderSeason {
    fn default() -> LadderSeason {
        LadderSeason { number: 1, kept: Vec::new() }
    }
}

impl LadderSeason {
    /// The season in progress of a ladder with these seats, which is played in mirrored sets or not.
    ///
    /// # Errors
    /// Errors of the database, or if a match does not fit the seats.
    pub fn current(league: &mut League, ladder: &str, seats: LadderSeats) -> Result<LadderSeason, Wrong> {
        let ended = league.seasons()?;
        LadderSeason::after(league, ladder, &ended, seats)
    }

    fn after(
        league: &mut League,
        ladder: &str,
        ended: &[Season],
        seats: LadderSeats,
    ) -> Result<LadderSeason, Wrong> {
        let Some(last) = ended.last() else { return Ok(LadderSeason::default()) };
        let all = FinalStandings::of_last(league, ladder, ended, seats)?.standings;
        let kept = if last.keeps_ratings { all } else { Vec::new() };
        Ok(LadderSeason { number: last.number + 1, kept })
    }

    /// A book for the results of this season.
    ///
    /// # Errors
    /// If there are too many players.
    pub fn book(&self, seats: LadderSeats, anchors: BTreeMap<String, f64>) -> Result<LadderTally, Wrong> {
        let mut book = LadderTally::new(seats, anchors);
        self.begin(&mut book)?;
        Ok(book)
    }

    /// The players that start from their ratings.
    pub fn players(&self) -> impl Iterator<Item = &str> {
        // The newest versions come last, as they have come.
        self.kept.iter().rev().map(|row| &*row.player)
    }

    /// Adds the ratings from which players start to a book without results.
    pub fn begin(&self, book: &mut LadderTally) -> Result<(), Wrong> {
        self.kept.iter().rev().try_for_each(|row| book.keep(row))
    }
}

impl FinalStandings {
    /// The row in the first place, if a rated match was played.
    pub fn winner(&self) -> Option<&LadderRow> {
        self.standings.iter().find(|row| row.standing.place == Some(1) && row.standing.counts.matches > 0)
    }

    /// The standings of a season that has ended: the stored ones. If the process that ended it did not store any, they are
    /// computed.
    ///
    /// # Errors
    /// Errors of the database, or if a match does not fit the seats.
    pub fn of(
        league: &mut League,
        ladder: &str,
        season: u32,
        seats: LadderSeats,
    ) -> Result<FinalStandings, Wrong> {
        let mut ended = league.seasons()?;
        ended.retain(|other| other.number <= season);
        FinalStandings::of_last(league, ladder, &ended, seats)
    }

    fn of_last(
        league: &mut League,
        ladder: &str,
        ended: &[Season],
        seats: LadderSeats,
    ) -> Result<FinalStandings, Wrong> {
        let Some((last, before)) = ended.split_last() else { return Ok(FinalStandings::default()) };
        if let Some(text) = league.final_standings(last.number, ladder)? {
            return serde_json::from_str(&text).map_err(Wrong::from);
        }
        let season = LadderSeason::after(league, ladder, before, seats)?;
        let found = FinalStandings::compute(league, ladder, &season, last, seats)?;
        league.add_final_standings(last.number, ladder, &json::text(&found))?;
        Ok(found)
    }

    fn compute(
        league: &League,
        ladder: &str,
        season: &LadderSeason,
        ended: &Season,
        seats: LadderSeats,
    ) -> Result<FinalStandings, Wrong> {
        let bots = league.bots()?;
        let anchors = bots.iter().filter_map(|bot| Some((bot.name.clone(), bot.anchor?))).collect();
        let rulings = LadderRulings::of(&ended.rulings(league.rulings()?), ladder);
        let mut book = season.book(seats, anchors)?;
        let mut matches = 0;
        league.for_each_match(ladder, Some(season.number), |row| {
            matches += 1;
            book.add(&rulings.apply(&row, seats.seating))?;
            Ok::<_, Wrong>(())
        })?;
        let fit = book.rating_inputs().fit();
        let rows = book.standings(&fit, &rulings, &BotDisplayNames::of(&bots));
        Ok(FinalStandings { matches, standings: ranking(rows, &fit, |row| row.last_seen.is_some()) })
    }
}

#[cfg(test)]
mod tests {
    use referee_stats::ladder::Strength;
    use referee_stats::rating::Estimate;
    use serde_json::json;

    use super::*;
    use referee_game::Seating;

    fn row(player: &str, value: f64, margin: f64, is_newest: bool) -> LadderRow {
        let row = json!({
            "place": null, "player": player, "rating": Estimate { value, low: value - margin, high: value + margin },
            "margin_in_field": margin, "stronger_than_next": null, "anchor": false, "provisional": false,
            "newest": is_newest, "matches": 100, "wins": 50, "draws": 0, "losses": 50, "faulted": 0,
        });
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn players_start_from_their_ratings_with_wider_intervals() {
        let kept = vec![
            row("alice@2", 1700.0, 70.0, true),
            row("bob", 1400.0, 20.0, true),
            row("alice@1", 1500.0, 20.0, false),
        ];
        let season = LadderSeason { number: 2, kept };
        let anchors: BTreeMap<String, f64> = [("random".to_owned(), 1000.0)].into();
        let mut book =
            season.book(LadderSeats { seating: Seating::new(2, 2), is_mirrored: true }, anchors).unwrap();
        // A later version starts from the newest one, and another bot like any new one.
        for name in ["random", "alice@3", "carol"] {
            book.player(name).unwrap();
        }
        let fit = book.rating_inputs().fit();
        let strengths = Strength::all(&fit);
        let found = |name: &str| {
            let strength = strengths[book.find(name).unwrap().index()];
            [strength.rating, strength.margin].map(f64::round)
        };
        assert_eq!(found("bob"), [1400.0, 100.0], "at least 100");
        assert_eq!(found("alice@2")[0], 1700.0);
        assert!((139.0..=140.0).contains(&found("alice@2")[1]), "twice as wide");
        assert_eq!(found("alice@3")[0], 1700.0);
        assert_eq!(found("carol")[0], 1533.0, "the mean of the ratings that are kept");
        let rows = book.standings(&fit, &LadderRulings::default(), &BotDisplayNames::default());
        let newest: Vec<&str> =
            rows.iter().filter(|row| row.standing.is_newest).map(|row| &*row.player).collect();
        assert_eq!(newest, ["alice@3", "carol", "bob", "random"]);
    }
}
