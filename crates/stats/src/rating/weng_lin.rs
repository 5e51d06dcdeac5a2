//! Ratings for teams and several sides: the Bradley-Terry model with full pairs of R. C. Weng and C.-J. Lin, "A
//! Bayesian Approximation Method for Online Ranking", *Journal of Machine Learning Research* 12, 2011, 267-300,
//! algorithm 1, by the crate `skillratings`. OpenSkill calls it `BradleyTerryFull`.
//!
//! All ratings start at 25 with an uncertainty of 25/3; beta is 25/6. After every match the sides are updated by
//! their places. A side with one entrant in all its seats counts as a team of one. Matches with an entrant on two
//! sides are ignored.

use skillratings::MultiTeamOutcome;
use skillratings::weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team};

use super::{LIBRARY, Rating, Ratings};
use crate::{Entrant, MatchResult};

/// The ratings of entrants 0 to `entrants - 1`. Results of others are ignored.
pub fn rate(entrants: usize, results: &[MatchResult]) -> Ratings {
    let config = WengLinConfig::new();
    let mut players = vec![WengLinRating::new(); entrants];
    let mut members: Vec<Vec<Entrant>> = Vec::new();
    for result in results {
        let sides = result.lineup.seating().sides();
        let is_known = result.lineup.seats().iter().all(|entrant| entrant.index() < entrants);
        if !is_known || result.comparisons().count() < sides * (sides - 1) {
            continue;
        }
        members.clear();
        members.extend((0..sides).map(|side| {
            let mut team: Vec<Entrant> = result.lineup.side(side).collect();
            team.sort_unstable();
            team.dedup();
            team
        }));
        let teams: Vec<Vec<WengLinRating>> = members
            .iter()
            .map(|team| team.iter().map(|entrant| players[entrant.index()]).collect())
            .collect();
        let ranked: Vec<(&[WengLinRating], MultiTeamOutcome)> = teams
            .iter()
            .zip(result.places)
            .map(|(team, place)| (team.as_slice(), MultiTeamOutcome::new(place.into())))
            .collect();
        for (team, after) in members.iter().zip(weng_lin_multi_team(&ranked, &config)) {
            for (entrant, rating) in team.iter().zip(after) {
                players[entrant.index()] = rating;
            }
        }
    }
    let rows = players.iter().map(|player| Rating { rating: player.rating, deviation: player.uncertainty });
    Ratings { algorithm: "Weng-Lin (Bradley-Terry, full pairs)", version: LIBRARY, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lineup;
    use referee_game::Seating;

    fn after_one(seating: Seating, entrants: &[u16], ranks: &[u8]) -> Vec<Rating> {
        let entrants: Vec<Entrant> = entrants.iter().copied().map(Entrant).collect();
        let lineup = Lineup::of_seats(seating, &entrants).unwrap();
        rate(6, &[MatchResult::played(1, lineup, ranks)]).rows
    }

    /// openskill.py, tests of `BradleyTerryFull`: "2P FFA" and "3P FFA", all with default ratings.
    #[test]
    fn matches_of_two_and_three_change_ratings_as_in_openskill() {
        for (sides, expected, deviation) in [
            (2, vec![27.635_231_383, 22.364_768_617], 8.065_506_316),
            (3, vec![30.270_462_767, 25.0, 19.729_537_233], 7.788_474_808),
        ] {
            let rows = after_one(Seating::new(sides, sides), &[0, 1, 2][..sides as usize], &[1, 2, 3]);
            for (row, rating) in rows.iter().zip(expected) {
                assert!((row.rating - rating).abs() < 1e-8, "{rows:?}");
                assert!((row.deviation - deviation).abs() < 1e-8, "{rows:?}");
            }
        }
    }

    #[test]
    fn partners_move_together_and_places_order_three_teams() {
        let rows = after_one(Seating::new(6, 3), &[0, 1, 2, 3, 4, 5], &[1, 3, 2, 1, 3, 2]);
        assert_eq!(rows[0], rows[3]);
        assert!(rows[0].rating > rows[2].rating && rows[2].rating > rows[1].rating, "{rows:?}");
    }

    #[test]
    fn an_entrant_against_itself_is_ignored() {
        let rows = after_one(Seating::new(3, 3), &[0, 1, 1], &[1, 2, 3]);
        assert_eq!(rows[0].rating, 25.0);
    }
}
