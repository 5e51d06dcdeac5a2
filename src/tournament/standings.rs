//! Standings.
//!
//! * **Points** of a match: the mean over the sides of other entrants of 1 (did better), 0.5 (equal), 0; with two sides
//!   1, 0.5 and 0 as usual.
//! * **Won** if ranked first alone, **drawn** if equal first, **lost** otherwise; **by fault** if the own side or all
//!   others lost by a fault, else **by play**.
//! * **In a knockout** entrants are ordered by the round of their elimination, later first, because byes yield fewer
//!   points. Points order those eliminated in the same round.
//! * **Annulled** results, those of an entrant that withdrew too early ([`Withdrawn::Annulled`]), give no points and
//!   break no ties. Its own row shows what it has played, and comes last.
//! * **Buchholz**: over all matches the mean of the opponents' points. **Sonneborn-Berger**: over all matches the mean
//!   over the opponents of their points times what was scored against them. Points without play count as against an
//!   opponent with the entrant's own points (as the FIDE Handbook, C.07, has it).

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{Entrant, MatchResult};

/// Points without play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Award {
    /// The round.
    pub round: u32,
    /// The entrant.
    pub entrant: Entrant,
    /// The number of matches that count as won.
    pub matches: u32,
}

/// The treatment of the results of a withdrawn entrant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawn {
    /// They count.
    Counted,
    /// They are annulled.
    Annulled,
}

/// Eliminated and withdrawn entrants.
#[derive(Clone, Copy, Default)]
pub(super) struct Inactive<'a> {
    /// By entrant: the round of a knockout in which it was eliminated.
    pub(super) out: &'a [Option<u32>],
    /// By entrant: the treatment of its results if it has withdrawn.
    pub(super) withdrawn: &'a [Option<Withdrawn>],
}

impl Inactive<'_> {
    fn is_annulled(&self, entrant: Entrant) -> bool {
        self.withdrawn.get(entrant.index()).copied().flatten() == Some(Withdrawn::Annulled)
    }
}

/// Wins, draws and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wdl {
    /// Ranked first alone.
    pub wins: u32,
    /// Equal first.
    pub draws: u32,
    /// Otherwise.
    pub losses: u32,
}

/// A tie-break. Higher is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TieBreak {
    /// The opponents' points.
    Buchholz,
    /// The points of beaten opponents.
    SonnebornBerger,
    /// Matches won by play.
    Wins,
}

/// The row of an entrant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TableRow {
    /// The entrant.
    pub entrant: Entrant,
    /// From 1; the same for entrants that are tied after all tie-breaks.
    pub place: u32,
    /// The sum of its scores, and its awards.
    pub points: f64,
    /// Matches it played.
    pub matches: u32,
    /// Decided by play.
    pub by_play: Wdl,
    /// Decided by a fault.
    pub by_fault: Wdl,
    /// Matches in which it made a fault, whether or not that decided them.
    pub faulted: u32,
    /// Matches that count as won without play.
    pub awarded: u32,
    /// The round of a knockout in which it was eliminated.
    pub out: Option<u32>,
    /// The treatment of its results if it has withdrawn.
    pub withdrawn: Option<Withdrawn>,
    /// See the module documentation.
    pub buchholz: f64,
    /// See the module documentation.
    pub sonneborn_berger: f64,
}

/// The results of two entrants against each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cross {
    /// Matches; with three sides, the share of them between these two.
    pub matches: f64,
    /// The score of the first one.
    pub score: f64,
}

/// The table and the cross table.
#[derive(Clone, Debug, PartialEq)]
pub struct Standings {
    /// The best first; ties in the order of entry.
    pub rows: Vec<TableRow>,
    entrants: usize,
    cross: Vec<Cross>,
}

impl Standings {
    /// The standings of entrants 0 to `entrants - 1`. Results of others are ignored.
    pub fn of<'a>(
        entrants: usize,
        results: impl IntoIterator<Item = &'a MatchResult>,
        awards: &[Award],
        tie_breaks: &[TieBreak],
    ) -> Standings {
        Standings::with_inactive(entrants, results, awards, Inactive::default(), tie_breaks)
    }

    /// The same, with eliminated and withdrawn entrants.
    pub(super) fn with_inactive<'a>(
        entrants: usize,
        results: impl IntoIterator<Item = &'a MatchResult>,
        awards: &[Award],
        inactive: Inactive<'_>,
        tie_breaks: &[TieBreak],
    ) -> Standings {
        let row = |index| TableRow {
            entrant: Entrant(index as u16),
            out: inactive.out.get(index).copied().flatten(),
            withdrawn: inactive.withdrawn.get(index).copied().flatten(),
            ..TableRow::default()
        };
        let mut rows: Vec<TableRow> = (0..entrants).map(row).collect();
        let mut cross = vec![Cross::default(); entrants * entrants];
        for (result, times) in counted(results) {
            if result.lineup.seats().iter().all(|entrant| entrant.index() < entrants) {
                add(&mut rows, &mut cross, &result, times, inactive);
            }
        }
        for award in awards {
            if let Some(row) = rows.get_mut(award.entrant.index()) {
                row.awarded += award.matches;
                row.points += f64::from(award.matches);
            }
        }
        for index in 0..entrants {
            let against = &cross[index * entrants..][..entrants];
            let own = f64::from(rows[index].awarded) * rows[index].points;
            let sum = |of: fn(&Cross) -> f64| -> f64 {
                own + against.iter().zip(&rows).map(|(cross, other)| of(cross) * other.points).sum::<f64>()
            };
            (rows[index].buchholz, rows[index].sonneborn_berger) =
                (sum(|cross| cross.matches), sum(|cross| cross.score));
        }
        rows.sort_by(|a, b| compare(a, b, tie_breaks).then(a.entrant.cmp(&b.entrant)));
        for at in 0..rows.len() {
            let is_equal = at > 0 && compare(&rows[at - 1], &rows[at], tie_breaks).is_eq();
            rows[at].place = if is_equal { rows[at - 1].place } else { at as u32 + 1 };
        }
        Standings { rows, entrants, cross }
    }

    /// The results of `one` against `other`.
    pub fn between(&self, one: Entrant, other: Entrant) -> Cross {
        let is_known = one.index() < self.entrants && other.index() < self.entrants;
        if is_known { self.cross[one.index() * self.entrants + other.index()] } else { Cross::default() }
    }
}

/// The order of two rows, the better first. Sums of thirds may differ in their last bits.
fn compare(a: &TableRow, b: &TableRow, tie_breaks: &[TieBreak]) -> Ordering {
    let more = |a: f64, b: f64| if (a - b).abs() < 1e-6 { Ordering::Equal } else { b.total_cmp(&a) };
    let stays = |row: &TableRow| row.out.unwrap_or(u32::MAX);
    let is_annulled = |row: &TableRow| row.withdrawn == Some(Withdrawn::Annulled);
    let order =
        is_annulled(a).cmp(&is_annulled(b)).then(stays(b).cmp(&stays(a))).then(more(a.points, b.points));
    tie_breaks.iter().fold(order, |order, tie_break| {
        order.then_with(|| match tie_break {
            TieBreak::Buchholz => more(a.buchholz, b.buchholz),
            TieBreak::SonnebornBerger => more(a.sonneborn_berger, b.sonneborn_berger),
            TieBreak::Wins => b.by_play.wins.cmp(&a.by_play.wins),
        })
    })
}

/// Distinct results except for their sets, in the order of their first occurrence, with their counts. Of a million
/// matches few are distinct.
fn counted<'a>(results: impl IntoIterator<Item = &'a MatchResult>) -> Vec<(MatchResult, u32)> {
    let mut counts: Vec<(MatchResult, u32)> = Vec::new();
    let mut places = FxHashMap::default();
    for result in results {
        let result = MatchResult { set: 0, ..*result };
        let at = *places.entry(result).or_insert(counts.len());
        if at == counts.len() {
            counts.push((result, 0));
        }
        counts[at].1 += 1;
    }
    counts
}

/// Adds a result that occurred `times` times.
fn add(rows: &mut [TableRow], cross: &mut [Cross], result: &MatchResult, times: u32, inactive: Inactive<'_>) {
    let sides = result.lineup.seating().sides();
    let entrants = rows.len();
    let forfeited: [bool; crate::core::MAX_SEATS] =
        std::array::from_fn(|side| side < sides && result.is_forfeited(side));
    let seats = result.lineup.seats();
    let is_annulled = seats.iter().any(|&entrant| inactive.is_annulled(entrant));
    for (seat, &entrant) in seats.iter().enumerate() {
        if seats[..seat].contains(&entrant) {
            continue; // once a match
        }
        if is_annulled && !inactive.is_annulled(entrant) {
            continue;
        }
        let row = &mut rows[entrant.index()];
        row.matches += times;
        row.faulted += if result.is_fault_of(entrant) { times } else { 0 };
        let is_own = |side: usize| result.lineup.side(side).any(|other| other == entrant);
        let best = (0..sides).filter(|&side| is_own(side)).map(|side| result.places[side]).min().unwrap_or(0);
        let mut others = (0..sides).filter(|&side| !is_own(side));
        let next = others.clone().map(|side| result.places[side]).min();
        let Some(next) = next else { continue };
        let is_by_fault =
            (0..sides).any(|side| is_own(side) && forfeited[side]) || others.all(|side| forfeited[side]);
        let wdl = if is_by_fault { &mut row.by_fault } else { &mut row.by_play };
        match best.cmp(&next) {
            Ordering::Less => wdl.wins += times,
            Ordering::Equal => wdl.draws += times,
            Ordering::Greater => wdl.losses += times,
        }
        if is_annulled {
            continue;
        }
        let mine = || result.comparisons().filter(|&(side, _)| is_own(side));
        let opponents = |side: usize| result.lineup.side(side);
        let count: usize = mine().map(|(_, other)| opponents(other).count()).sum();
        let part = f64::from(times) / count as f64;
        for (side, other) in mine() {
            let score = result.against(side, other);
            for opponent in opponents(other) {
                rows[entrant.index()].points += score * part;
                let cell = &mut cross[entrant.index() * entrants + opponent.index()];
                cell.matches += part;
                cell.score += score * part;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Seat, SeatSet, Seating};
    use crate::tournament::Lineup;

    fn two(one: u16, other: u16, ranks: [u8; 2]) -> MatchResult {
        let lineup = Lineup::of_sides(Seating::new(2, 2), &[Entrant(one), Entrant(other)]).unwrap();
        MatchResult::played(1, lineup, &ranks)
    }

    const WIN: [u8; 2] = [1, 2];
    const DRAW: [u8; 2] = [1, 1];

    #[test]
    fn ties_are_broken_by_the_strength_of_beaten_opponents() {
        // 0 and 1 both have 2 of 3; 1 beat the second-best, 0 lost to it.
        let results = [
            two(0, 1, WIN),
            two(0, 2, [2, 1]),
            two(0, 3, WIN),
            two(1, 2, WIN),
            two(1, 3, WIN),
            two(2, 3, DRAW),
        ];
        let standings = Standings::of(4, &results, &[], &[TieBreak::SonnebornBerger]);
        let order: Vec<(u16, u32, f64)> =
            standings.rows.iter().map(|row| (row.entrant.0, row.place, row.sonneborn_berger)).collect();
        assert_eq!(order, [(0, 1, 2.5), (1, 2, 2.0), (2, 3, 2.25), (3, 4, 0.75)]);
        assert_eq!(standings.rows[0].buchholz, 4.0);
        assert_eq!(standings.between(Entrant(2), Entrant(0)), Cross { matches: 1.0, score: 1.0 });
    }

    #[test]
    fn a_win_by_an_opponents_fault_is_listed_separately() {
        let fault = MatchResult {
            faulted: SeatSet::one(Seat(1)),
            forfeited: SeatSet::one(Seat(1)),
            ..two(0, 1, WIN)
        };
        // Under the policy `random` a fault need not lose.
        let random = MatchResult { faulted: SeatSet::one(Seat(0)), ..two(0, 1, WIN) };
        let standings = Standings::of(2, &[fault, random, two(0, 1, WIN)], &[], &[]);
        let [winner, loser] = standings.rows[..] else { panic!() };
        assert_eq!((winner.by_play.wins, winner.by_fault.wins, winner.faulted), (2, 1, 1));
        assert_eq!((loser.by_play.losses, loser.by_fault.losses, loser.faulted), (2, 1, 1));
    }

    #[test]
    fn a_bye_counts_as_a_win_against_an_equal() {
        let awards = [Award { round: 1, entrant: Entrant(2), matches: 1 }];
        let standings = Standings::of(3, &[two(0, 1, WIN), two(0, 2, DRAW)], &awards, &[TieBreak::Buchholz]);
        let row = standings.rows.iter().find(|row| row.entrant == Entrant(2)).unwrap();
        assert_eq!((row.points, row.matches, row.awarded, row.buchholz), (1.5, 1, 1, 3.0));
    }

    #[test]
    fn partners_share_the_points_and_both_opponents_count_half() {
        let lineup = Lineup::of_seats(Seating::new(4, 2), &[0, 1, 2, 3].map(Entrant)).unwrap();
        let standings = Standings::of(4, &[MatchResult::played(1, lineup, &[1, 2, 1, 2])], &[], &[]);
        let points: Vec<f64> = standings.rows.iter().map(|row| row.points).collect();
        assert_eq!(points, [1.0, 1.0, 0.0, 0.0]);
        assert_eq!(standings.between(Entrant(0), Entrant(1)), Cross { matches: 0.5, score: 0.5 });
        assert_eq!(standings.between(Entrant(0), Entrant(2)), Cross::default());
        assert!(standings.rows.iter().all(|row| row.place == 1 || row.place == 3));
    }
}
