//! Glicko-2 (M. E. Glickman, *Example of the Glicko-2 system*, 2022, glicko.net), by the crate `skillratings`.
//!
//! A rating period ends with the set that brings the mean to 12 games per entrant; Glickman advises 10 to 15. All
//! ratings start at 1500 with a deviation of 350 and a volatility of 0.06; the system constant is 0.5. The deviation
//! of an entrant that does not play does not grow, because a bot does not change over time.
//!
//! Glicko-2 is for two players. With teams or three sides each entrant has a game against each entrant on another
//! side; such games are not independent, so the deviations are too small. [`super::weng_lin`] is designed for teams.

use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2_rating_period};

use super::{LIBRARY, Rating, Ratings};
use crate::MatchResult;

/// The mean number of games per entrant in a period.
const GAMES: usize = 12;

/// The ratings of entrants 0 to `entrants - 1`. Results of others are ignored.
pub fn rate(entrants: usize, results: &[MatchResult]) -> Ratings {
    let mut players = vec![Glicko2Rating::new(); entrants];
    let mut period: Vec<Vec<(usize, Outcomes)>> = vec![Vec::new(); entrants];
    let mut games = 0;
    for set in results.chunk_by(|a, b| a.set == b.set) {
        for result in set.iter().filter(|result| result.lineup.seats().iter().all(|e| e.index() < entrants)) {
            for (side, other) in result.comparisons() {
                let outcome = match result.places[side].cmp(&result.places[other]) {
                    std::cmp::Ordering::Less => Outcomes::WIN,
                    std::cmp::Ordering::Equal => Outcomes::DRAW,
                    std::cmp::Ordering::Greater => Outcomes::LOSS,
                };
                for (entrant, opponent) in crate::opponents(&result.lineup, side, other) {
                    period[entrant.index()].push((opponent.index(), outcome));
                    games += 1;
                }
            }
        }
        if games >= GAMES * entrants {
            close(&mut players, &mut period);
            games = 0;
        }
    }
    close(&mut players, &mut period);
    let rows = players.iter().map(|player| Rating { rating: player.rating, deviation: player.deviation });
    Ratings { algorithm: "Glicko-2", version: LIBRARY, rows: rows.collect() }
}

fn close(players: &mut [Glicko2Rating], period: &mut [Vec<(usize, Outcomes)>]) {
    let before = players.to_vec();
    for (player, games) in players.iter_mut().zip(period) {
        if !games.is_empty() {
            let games: Vec<_> =
                games.drain(..).map(|(opponent, outcome)| (before[opponent], outcome)).collect();
            *player = glicko2_rating_period(player, &games, &Glicko2Config::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_reproduces_the_values_that_glickman_published() {
        let player = |rating, deviation| Glicko2Rating { rating, deviation, volatility: 0.06 };
        let games = [
            (player(1400.0, 30.0), Outcomes::WIN),
            (player(1550.0, 100.0), Outcomes::LOSS),
            (player(1700.0, 300.0), Outcomes::LOSS),
        ];
        let after = glicko2_rating_period(&player(1500.0, 200.0), &games, &Glicko2Config::new());
        assert!((after.rating - 1464.06).abs() < 0.02, "{after:?}");
        assert!((after.deviation - 151.52).abs() < 0.01, "{after:?}");
        assert!((after.volatility - 0.05999).abs() < 0.00001, "{after:?}");
    }
}
