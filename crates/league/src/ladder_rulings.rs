//! Rulings of the organiser on the matches of a league.

use std::borrow::Cow;
use std::collections::BTreeMap;

use referee_game::{Seat, Seating};
use referee_stats::ladder::Name;
use referee_store::{RulingAct, RulingRow};

use crate::matches::LeagueMatch;

/// The decision on a match.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RatedAs {
    /// The match is not rated.
    Void,
    /// The player that has won; `None` for a draw.
    Awarded(Option<String>),
}

/// The rulings in force on a ladder. A match that is awarded is rated as if it had been played so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LadderRulings {
    by_match: BTreeMap<u32, RatedAs>,
    /// The bots all of whose matches are void.
    annulled: Vec<String>,
}

impl LadderRulings {
    pub fn of(rulings: &[RulingRow], ladder: &str) -> LadderRulings {
        let mut found = LadderRulings::default();
        let in_force = rulings.iter().filter(|row| row.is_in_force());
        for row in in_force.filter(|row| row.ladder.as_deref().is_none_or(|of| of == ladder)) {
            for ruled in &row.matches {
                let rated_as = match (row.act, &ruled.winner) {
                    (RulingAct::Award, winner) | (RulingAct::Disqualify, winner @ Some(_)) => {
                        RatedAs::Awarded(winner.clone())
                    }
                    _ => RatedAs::Void,
                };
                found.by_match.insert(ruled.number, rated_as);
            }
            if row.act == RulingAct::Disqualify && row.is_from_start {
                found.annulled.extend(row.name.clone());
            }
        }
        found
    }

    /// Returns whether a player was disqualified from the start: none of its matches is rated, and it has no
    /// place.
    pub fn is_annulled(&self, player: &str) -> bool {
        !self.annulled.is_empty() && self.annulled.contains(&Name::parse(player).bot)
    }

    /// Returns the match as it is rated. It is copied only if a ruling changes it.
    pub fn apply<'a>(&self, row: &'a LeagueMatch, seating: Seating) -> Cow<'a, LeagueMatch> {
        let has_annulled = row.players.iter().any(|player| self.is_annulled(player));
        match self.by_match.get(&row.number) {
            _ if has_annulled => Cow::Owned(LeagueMatch { is_void: true, ..row.clone() }),
            Some(RatedAs::Void) => Cow::Owned(LeagueMatch { is_void: true, ..row.clone() }),
            Some(RatedAs::Awarded(winner)) => {
                let side_of = |seat: usize| seating.side(Seat(seat as u8));
                let won = |player: &String| {
                    winner
                        .as_ref()
                        .is_some_and(|winner| winner == player || *winner == Name::parse(player).bot)
                };
                let first = row.players.iter().position(won).map(side_of);
                let rank = |seat: usize| u8::from(first.is_some_and(|first| side_of(seat) != first)) + 1;
                let ranks = Some((0..row.players.len()).map(rank).collect());
                Cow::Owned(LeagueMatch { ranks, amounts: None, moves: None, ..row.clone() })
            }
            None => Cow::Borrowed(row),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use referee_match::Faults;
    use referee_protocol::words::EndedBy;
    use referee_store::{MatchKind, RuledMatch};

    use super::*;

    fn played(number: u32) -> LeagueMatch {
        LeagueMatch {
            number,
            players: vec!["alice@2".to_owned(), "bob".to_owned()],
            ranks: Some(vec![1, 2]),
            scores: None,
            amounts: None,
            moves: None,
            faults: vec![Faults::default(); 2],
            totals: Vec::new(),
            ended_by: EndedBy::Rules,
            reason: "no_moves".to_owned(),
            is_rated: true,
            kind: MatchKind::Pairing,
            deal: None,
            decisions: 9,
            duration_us: 1,
            record: None,
            seal: None,
            ended_at: "2026-11-27T00:00:00Z".to_owned(),
            worker: None,
            is_void: false,
        }
    }

    fn ruling(act: RulingAct, winner: Option<&str>) -> RulingRow {
        let winner = winner.map(str::to_owned);
        let ruled = RuledMatch { number: 7, attempt: 1, winner, kind: MatchKind::Pairing };
        RulingRow {
            matches: vec![ruled],
            ..RulingRow::made(SystemTime::UNIX_EPOCH, act, "jury", "because", true)
        }
    }

    #[test]
    fn a_ruling_replaces_the_ranks_of_its_match_alone() {
        let seating = Seating::new(2, 2);
        let ranks = |rulings: &[RulingRow], number: u32| {
            let (played, rulings) = (played(number), LadderRulings::of(rulings, "checkers"));
            let row = rulings.apply(&played, seating).into_owned();
            row.ranks.filter(|_| !row.is_void)
        };
        let award = |winner| vec![ruling(RulingAct::Award, winner)];
        assert_eq!(ranks(&award(Some("bob")), 7), Some(vec![2, 1]));
        assert_eq!(ranks(&award(Some("alice")), 7), Some(vec![1, 2]), "any version of the bot");
        assert_eq!(ranks(&award(None), 7), Some(vec![1, 1]));
        assert_eq!(ranks(&award(Some("bob")), 8), Some(vec![1, 2]));
        assert_eq!(ranks(&[ruling(RulingAct::Void, None)], 7), None);
        assert_eq!(ranks(&[ruling(RulingAct::Replay, None)], 7), None);
        let elsewhere = RulingRow { ladder: Some("saxum".to_owned()), ..ruling(RulingAct::Void, None) };
        assert_eq!(ranks(&[elsewhere], 7), Some(vec![1, 2]));
        let copied = RulingRow {
            matches: Vec::new(),
            name: Some("alice".to_owned()),
            is_from_start: true,
            ..ruling(RulingAct::Disqualify, None)
        };
        assert_eq!(ranks(&[copied], 8), None, "all matches of all versions");
    }
}
