//! Standings.
//!
//! * **Points** of a match: the mean over the sides of other entrants of 1 (did better), 0.5 (equal), 0; with two sides
//!   1, 0.5 and 0 as usual.
//! * **Won** if ranked first alone, **drawn** if equal first, **lost** otherwise; **by fault** if the own side or all
//!   others lost by a fault, else **by play**.
//! * **In a knockout** entrants are ordered by the round of their elimination, later first, because byes yield fewer
//!   points. Points order those eliminated in the same round.
//! * **Annulled** results, those of an entrant that withdrew too early ([`Withdrawn::Annulled`]), give no points and
//!   break no ties. The row of the entrant shows its matches, and comes last.
//! * **By amounts** ([`RankBy::Amounts`]) entrants are ordered by what they get a match, and points order those that get the
//!   same.
//! * **By share** ([`RankBy::Share`]): where numbers of matches differ by design, entrants are ordered by their points in
//!   relation to those that they could have ([`TableRow::share`]), so that who plays more is not ahead for that.
//! * **A race** orders its versions by [`Race::compare`]: the one that would be picked comes first.
//! * The entrant that a gauntlet is about plays against each of the others, which only meet it: it stands outside the ranking
//!   and comes last.
//! * **Direct encounter**: over the tied entrants the sum of the mean scores against each other one, if all of them have
//!   met. If some have not, an entrant that comes first whatever these matches would bring is first, and likewise for
//!   those behind it; the others stay tied (as the FIDE Handbook, C.07, has it).
//! * **Buchholz**: over all matches the mean of the opponents' points. **Sonneborn-Berger**: over all matches the mean
//!   over the opponents of their points times what was scored against them. Points without play count as against an
//!   opponent with the entrant's own points (as the FIDE Handbook, C.07, has it).

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::amounts::{AmountSample, MeanAmount};
use super::race::Race;
use super::schedule::RankBy;
use super::{Entrant, MatchResult, Wdl};

/// Points without play, or a loss without play by a ruling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Award {
    pub round: u32,
    pub entrant: Entrant,
    pub reason: Unplayed,
    /// The number of matches that it did not play.
    pub matches: u32,
    /// Twice the points for all of them.
    pub half_points: u32,
}

/// Reasons why an entrant gets points without play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unplayed {
    /// The number of entrants of the round was odd.
    Bye,
    Requested,
    /// The opponent has withdrawn.
    Withdrawal,
    /// The organiser has awarded them.
    Ruling,
}

/// The treatment of the results of a withdrawn entrant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawn {
    Counted,
    Annulled,
}

/// Facts about entrants beside their results.
#[derive(Clone, Copy, Default)]
pub(super) struct Entries<'a> {
    /// By entrant: the round of a knockout in which it was eliminated.
    pub(super) out: &'a [Option<u32>],
    /// By entrant: the treatment of its results if it has withdrawn.
    pub(super) withdrawn: &'a [Option<Withdrawn>],
    /// By entrant: what it gets.
    pub(super) amounts: &'a [AmountSample],
}

impl Entries<'_> {
    fn is_annulled(&self, entrant: Entrant) -> bool {
        self.withdrawn.get(entrant.index()).copied().flatten() == Some(Withdrawn::Annulled)
    }
}

/// A tie-break. Higher is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TieBreak {
    /// The score against the other tied entrants.
    DirectEncounter,
    /// The opponents' points.
    Buchholz,
    /// The points of beaten opponents.
    SonnebornBerger,
    /// Matches won by play.
    Wins,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TableRow {
    #[serde(skip)]
    pub entrant: Entrant,
    /// From 1; the same for entrants that are tied after all tie-breaks. `None` outside the ranking.
    pub place: Option<u32>,
    /// The sum of its scores, and its awards.
    pub points: f64,
    pub matches: u32,
    /// Decided by play.
    pub by_play: Wdl,
    /// Decided by a fault.
    pub by_fault: Wdl,
    /// Matches in which it made a fault, whether or not that decided them.
    pub faulted: u32,
    /// Points without play, which [`TableRow::points`] include.
    pub awarded: f64,
    /// The most points that it could have by now: one for each match that it played, and for each one that it did not
    /// play and that was awarded.
    pub possible: u32,
    /// The round of a knockout in which it was eliminated.
    pub out: Option<u32>,
    /// The treatment of its results if it has withdrawn.
    pub withdrawn: Option<Withdrawn>,
    /// See the module documentation; `None` if it does not order the entrant.
    pub direct_encounter: Option<f64>,
    /// See the module documentation.
    pub buchholz: f64,
    /// See the module documentation.
    pub sonneborn_berger: f64,
    /// The mean amount per match; `None` in a game without amounts, and before its first complete set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<MeanAmount>,
}

impl TableRow {
    /// The points in relation to those that it could have by now, from 0 to 1; 0 before its first match.
    pub fn share(&self) -> f64 {
        self.points / f64::from(self.possible.max(1))
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct Ranking<'a> {
    pub(super) by: RankBy,
    /// The entrant that stands outside the ranking.
    pub(super) outside: Option<Entrant>,
    pub(super) tie_breaks: &'a [TieBreak],
    /// Orders the entrants of a race.
    pub(super) race: Option<&'a Race>,
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
        let ranking = Ranking { tie_breaks, ..Ranking::default() };
        Standings::with_entries(entrants, results, awards, Entries::default(), ranking)
    }

    /// The standings with eliminated and withdrawn entrants, in another order.
    pub(super) fn with_entries<'a>(
        entrants: usize,
        results: impl IntoIterator<Item = &'a MatchResult>,
        awards: &[Award],
        entries: Entries<'_>,
        ranking: Ranking<'_>,
    ) -> Standings {
        let row = |index| TableRow {
            entrant: Entrant(index as u16),
            out: entries.out.get(index).copied().flatten(),
            withdrawn: entries.withdrawn.get(index).copied().flatten(),
            amount: entries.amounts.get(index).and_then(AmountSample::mean),
            ..TableRow::default()
        };
        let mut rows: Vec<TableRow> = (0..entrants).map(row).collect();
        let mut cross = vec![Cross::default(); entrants * entrants];
        for (result, times) in counted(results) {
            if result.lineup.seats().iter().all(|entrant| entrant.index() < entrants) {
                add(&mut rows, &mut cross, &result, times, entries);
            }
        }
        let mut unplayed = vec![Cross::default(); entrants];
        for award in awards {
            if let Some(row) = rows.get_mut(award.entrant.index()) {
                let points = f64::from(award.half_points) / 2.0;
                row.awarded += points;
                row.points += points;
                row.possible += award.matches;
                // A loss without play is against no one.
                if award.reason != Unplayed::Ruling || points > 0.0 {
                    unplayed[award.entrant.index()].matches += f64::from(award.matches);
                    unplayed[award.entrant.index()].score += points;
                }
            }
        }
        for index in 0..entrants {
            let against = &cross[index * entrants..][..entrants];
            let sum = |of: fn(&Cross) -> f64| -> f64 {
                let own = of(&unplayed[index]) * rows[index].points;
                own + against.iter().zip(&rows).map(|(cross, other)| of(cross) * other.points).sum::<f64>()
            };
            (rows[index].buchholz, rows[index].sonneborn_berger) =
                (sum(|cross| cross.matches), sum(|cross| cross.score));
        }
        let mut standings = Standings { rows, entrants, cross };
        standings.rank(ranking);
        standings
    }

    /// Orders the rows, which are in the order of entry.
    fn rank(&mut self, Ranking { by, outside, tie_breaks, race }: Ranking<'_>) {
        let rows = &self.rows;
        let is_outside = |at: usize| outside.is_some_and(|outside| outside.index() == at);
        let ranked = (0..rows.len()).filter(|&at| !is_outside(at)).collect();
        let mut groups = split(ranked, |&a, &b| compare(&rows[a], &rows[b], by, race));
        let mut encounters = vec![None; rows.len()];
        for tie_break in tie_breaks {
            let ordered = |group: Vec<usize>| match tie_break {
                TieBreak::DirectEncounter => self.by_direct_encounter(group, &mut encounters),
                TieBreak::Buchholz => split(group, |&a, &b| more(rows[a].buchholz, rows[b].buchholz)),
                TieBreak::SonnebornBerger => {
                    split(group, |&a, &b| more(rows[a].sonneborn_berger, rows[b].sonneborn_berger))
                }
                TieBreak::Wins => split(group, |&a, &b| rows[b].by_play.wins.cmp(&rows[a].by_play.wins)),
            };
            groups = groups.into_iter().flat_map(ordered).collect();
        }
        let mut ranked = Vec::with_capacity(rows.len());
        for group in groups {
            let place = Some(ranked.len() as u32 + 1);
            let row = |index: usize| TableRow { place, direct_encounter: encounters[index], ..rows[index] };
            ranked.extend(group.into_iter().map(row));
        }
        ranked.extend(rows.iter().filter(|row| Some(row.entrant) == outside));
        self.rows = ranked;
    }

    /// Splits tied entrants by their matches against each other, and enters the scores that order them.
    fn by_direct_encounter(&self, tied: Vec<usize>, encounters: &mut [Option<f64>]) -> Vec<Vec<usize>> {
        // The score of one that loses all missing encounters, and of one that wins them.
        let scores = |&one: &usize| {
            let others = tied.iter().filter(|&&other| other != one);
            let cells = others.map(|other| self.cross[one * self.entrants + other]);
            cells.fold((0.0, 0.0), |(least, most), cell| match cell.matches > 0.0 {
                true => (least + cell.score / cell.matches, most + cell.score / cell.matches),
                false => (least, most + 1.0),
            })
        };
        let scores: Vec<(f64, f64)> = tied.iter().map(scores).collect();
        let mut left: Vec<usize> = (0..tied.len()).collect();
        if scores.iter().all(|(least, most)| least == most) {
            if tied.len() > 1 {
                tied.iter().zip(&scores).for_each(|(&one, score)| encounters[one] = Some(score.0));
            }
            let groups = split(left, |&a, &b| more(scores[a].0, scores[b].0));
            return groups.into_iter().map(|group| group.into_iter().map(|at| tied[at]).collect()).collect();
        }
        let mut groups = Vec::new();
        let is_first = |at: usize, left: &[usize]| {
            left.iter().all(|&other| other == at || more(scores[at].0, scores[other].1).is_lt())
        };
        while let Some(first) = left.iter().position(|&at| is_first(at, &left)) {
            let at = left.remove(first);
            encounters[tied[at]] = Some(scores[at].0);
            groups.push(vec![tied[at]]);
        }
        groups.push(left.into_iter().map(|at| tied[at]).collect());
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// The results of `one` against `other`.
    pub fn between(&self, one: Entrant, other: Entrant) -> Cross {
        let is_known = one.index() < self.entrants && other.index() < self.entrants;
        if is_known { self.cross[one.index() * self.entrants + other.index()] } else { Cross::default() }
    }
}

/// The order of two numbers, the greater first. Sums of thirds may differ in their last bits.
fn more(a: f64, b: f64) -> Ordering {
    if a == b || (a - b).abs() < 1e-6 { Ordering::Equal } else { b.total_cmp(&a) }
}

/// Splits rows into groups of equal ones, the first in order first; the order in a group stays.
fn split(mut group: Vec<usize>, order: impl Fn(&usize, &usize) -> Ordering) -> Vec<Vec<usize>> {
    group.sort_by(&order);
    group.chunk_by(|a, b| order(a, b).is_eq()).map(<[usize]>::to_vec).collect()
}

/// The order of two rows before tie-breaks, the better first.
fn compare(a: &TableRow, b: &TableRow, by: RankBy, race: Option<&Race>) -> Ordering {
    let stays = |row: &TableRow| row.out.unwrap_or(u32::MAX);
    let is_annulled = |row: &TableRow| row.withdrawn == Some(Withdrawn::Annulled);
    let by_points = || more(a.points, b.points);
    let mean = |row: &TableRow| row.amount.map_or(f64::NEG_INFINITY, |amount| amount.mean);
    let is_annulled = is_annulled(a).cmp(&is_annulled(b));
    if let Some(race) = race {
        return is_annulled.then_with(|| race.compare(a.entrant, b.entrant));
    }
    is_annulled.then(stays(b).cmp(&stays(a))).then_with(|| match by {
        RankBy::Points | RankBy::Race => by_points(),
        RankBy::Share => more(a.share(), b.share()),
        RankBy::Amounts => more(mean(a), mean(b)).then_with(by_points),
    })
}

/// Distinct results except for their sets, in the order of their first occurrence, with their counts. Of a million
/// matches few are distinct.
fn counted<'a>(results: impl IntoIterator<Item = &'a MatchResult>) -> Vec<(MatchResult, u32)> {
    let mut counts: Vec<(MatchResult, u32)> = Vec::new();
    let mut places = FxHashMap::default();
    for result in results {
        let result = MatchResult { set: 0, amounts: None, ..*result };
        let at = *places.entry(result).or_insert(counts.len());
        if at == counts.len() {
            counts.push((result, 0));
        }
        counts[at].1 += 1;
    }
    counts
}

/// Adds a result that occurred `times` times.
fn add(rows: &mut [TableRow], cross: &mut [Cross], result: &MatchResult, times: u32, entries: Entries<'_>) {
    let sides = result.lineup.seating().sides();
    let entrants = rows.len();
    let forfeited: [bool; referee_game::MAX_SEATS] =
        std::array::from_fn(|side| side < sides && result.is_forfeited(side));
    let seats = result.lineup.seats();
    let is_annulled = seats.iter().any(|&entrant| entries.is_annulled(entrant));
    for (seat, &entrant) in seats.iter().enumerate() {
        if seats[..seat].contains(&entrant) {
            continue; // count each entrant once a match
        }
        if is_annulled && !entries.is_annulled(entrant) {
            continue;
        }
        let row = &mut rows[entrant.index()];
        row.matches += times;
        row.possible += times;
        row.faulted += if result.is_fault_of(entrant) { times } else { 0 };
        let is_own = |side: usize| result.lineup.side(side).any(|other| other == entrant);
        let best = (0..sides).filter(|&side| is_own(side)).map(|side| result.places[side]).min().unwrap_or(0);
        let mut others = (0..sides).filter(|&side| !is_own(side));
        let next = others.clone().map(|side| result.places[side]).min();
        let Some(next) = next else { continue };
        let is_by_fault =
            (0..sides).any(|side| is_own(side) && forfeited[side]) || others.all(|side| forfeited[side]);
        let wdl = if is_by_fault { &mut row.by_fault } else { &mut row.by_play };
        wdl.count(best.cmp(&next).into(), times);
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
    use crate::Lineup;
    use referee_game::{Seat, SeatSet, Seating};

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
        let order: Vec<(u16, Option<u32>, f64)> =
            standings.rows.iter().map(|row| (row.entrant.0, row.place, row.sonneborn_berger)).collect();
        assert_eq!(order, [(0, Some(1), 2.5), (1, Some(2), 2.0), (2, Some(3), 2.25), (3, Some(4), 0.75)]);
        assert_eq!(standings.rows[0].buchholz, 4.0);
        assert_eq!(standings.between(Entrant(2), Entrant(0)), Cross { matches: 1.0, score: 1.0 });
    }

    /// The entrants from first to last, with their places and direct encounters.
    fn by_direct_encounter(entrants: usize, results: &[MatchResult]) -> Vec<(u16, u32, Option<f64>)> {
        let standings = Standings::of(entrants, results, &[], &[TieBreak::DirectEncounter]);
        standings.rows.iter().map(|row| (row.entrant.0, row.place.unwrap(), row.direct_encounter)).collect()
    }

    fn places(order: &[(u16, u32, Option<f64>)]) -> Vec<u32> {
        order.iter().map(|&(_, place, _)| place).collect()
    }

    #[test]
    fn the_match_between_two_tied_entrants_orders_them() {
        let results = [two(0, 1, [2, 1]), two(0, 2, WIN), two(1, 2, [2, 1])];
        // Each entrant has beaten one: all three stay tied.
        assert_eq!(places(&by_direct_encounter(3, &results)), [1, 1, 1]);
        let results = [two(0, 1, [2, 1]), two(0, 2, WIN), two(0, 3, WIN), two(1, 2, WIN), two(1, 3, [2, 1])];
        let order = by_direct_encounter(4, &results);
        assert_eq!(order[..2], [(1, 1, Some(1.0)), (0, 2, Some(0.0))]);
    }

    #[test]
    fn unplayed_direct_encounter_counts_only_if_it_changes_nothing() {
        // The entrants 0, 1 and 2 have two points. 0 has beaten both others, which have not met.
        let results = [
            two(0, 1, WIN),
            two(0, 2, WIN),
            two(0, 3, [2, 1]),
            two(1, 4, WIN),
            two(1, 5, WIN),
            two(2, 4, WIN),
            two(2, 5, WIN),
        ];
        let order = by_direct_encounter(6, &results);
        assert_eq!(order[..3], [(0, 1, Some(2.0)), (1, 2, None), (2, 2, None)]);
        // Without the match of 0 and 2, 0 is not certain to be first.
        let results =
            [two(0, 1, WIN), two(0, 4, WIN), two(1, 4, WIN), two(1, 5, WIN), two(2, 4, WIN), two(2, 5, WIN)];
        assert_eq!(places(&by_direct_encounter(6, &results)[..3]), [1, 1, 1]);
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
        let reason = Unplayed::Bye;
        let awards = [Award { round: 1, entrant: Entrant(2), reason, matches: 1, half_points: 2 }];
        let standings = Standings::of(3, &[two(0, 1, WIN), two(0, 2, DRAW)], &awards, &[TieBreak::Buchholz]);
        let row = standings.rows.iter().find(|row| row.entrant == Entrant(2)).unwrap();
        assert_eq!((row.points, row.matches, row.awarded, row.buchholz), (1.5, 1, 1.0, 3.0));
    }

    #[test]
    fn partners_share_the_points_and_both_opponents_count_half() {
        let lineup = Lineup::of_seats(Seating::new(4, 2), &[0, 1, 2, 3].map(Entrant)).unwrap();
        let standings = Standings::of(4, &[MatchResult::played(1, lineup, &[1, 2, 1, 2])], &[], &[]);
        let points: Vec<f64> = standings.rows.iter().map(|row| row.points).collect();
        assert_eq!(points, [1.0, 1.0, 0.0, 0.0]);
        assert_eq!(standings.between(Entrant(0), Entrant(1)), Cross { matches: 0.5, score: 0.5 });
        assert_eq!(standings.between(Entrant(0), Entrant(2)), Cross::default());
        assert!(standings.rows.iter().all(|row| row.place == Some(1) || row.place == Some(3)));
    }
}
