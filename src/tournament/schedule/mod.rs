//! What is played, and what of it now.
//!
//! A schedule is a pure function of its [`Plan`] and the results so far, in whatever order these came. So a run that
//! was interrupted at any moment goes on with exactly the schedule that it had: keep the plan and the results, and
//! [`Schedule::resume`]. Which matches are played does not depend on the order either, nor on how many are played at
//! once: a match becomes due only when no result that is still missing can make it needless.
//!
//! **Ids.** Sets are s1, s2, ... and their matches m1, m2, ...: with L matches a set, set n has the matches L(n - 1) +
//! 1 to Ln. With [`Deals::Single`] set n is match n. A match that was cut off is played again as m17.2, m17.3, ...
//! ([`Schedule::cut_off`]). The deal of a mirrored set is the set's id in every attempt, so that its missing matches
//! are played on the deal of those that stand; else it is the match's id with its attempt, so a new deal.
//!
//! **Rounds.** Round robin, gauntlet, partners and duel are known from the beginning, and all their sets may be played
//! at once. A round of a Swiss or a knockout tournament is known when all sets of the round before are closed. Of the
//! sets of a pair in a knockout those may be played at once that are needed however the ones before them end: of the
//! best of 5 the first 3, then one more for every result that keeps the pair open.
//!
//! **Coming and going.** An entrant that comes late has [`Entry::joins`] set to [`Schedule::next_round`]: in a round
//! robin its matches are added at the end, in a Swiss tournament it is paired from that round on; a knockout takes no
//! one in. One that goes has [`Entry::leaves`] set likewise, and the schedule is resumed with the new plan: its other
//! matches are not played. In a Swiss tournament what it has played stands and its opponent wins each of the others
//! ([`Schedule::awards`]), in a knockout the opponent goes on unless it has lost by then. Elsewhere it is as the FIDE
//! Handbook has it for a round robin: if it has played fewer than half of its matches all its results are annulled
//! ([`Schedule::withdrawn`]); otherwise they stand, and where there are two sides of one entrant each its opponents win
//! the matches that it has not played.
//!
//! **Void** matches ([`Schedule::void`]) are played no more and count for nobody: no points, no result, no meeting. A set is
//! complete without them. A pair of a knockout is decided by its other matches; if these leave it equal, by the
//! tie-breaks, and after them by the seeds.
//!
//! **Byes** of a Swiss tournament are worth as much as winning all matches of the round.

mod id;
mod knockout;
mod missing;
mod plan;
mod rounds;
mod swiss;
mod withdrawal;

use std::collections::BTreeMap;
use std::ops::Range;

pub use id::MatchId;
pub use missing::Missing;
pub use plan::{Entry, Format, Plan};
pub use rounds::RoundPair;

use super::pairing::{knockout::bracket, partners, swiss::Card, table};
use super::standings::{Award, Gone, Standings};
use super::{Deals, Entrant, Lineup, MatchResult};
use crate::core::Misconfigured;

/// Matches of the same entrants on one deal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// From 1.
    pub round: u32,
    /// The seats of its first match.
    pub first: Lineup,
    /// In a Swiss or a knockout tournament: which pair of its round.
    pair: usize,
}

/// A match that can be played now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its id.
    pub id: MatchId,
    /// The number of its set, from 1.
    pub set: u32,
    /// Which match of its set, from 0.
    pub leg: usize,
    /// Whether the deal is the set's.
    pub is_mirrored: bool,
    /// Who sits where.
    pub lineup: Lineup,
}

impl Due {
    /// The id of its deal.
    pub fn deal(&self) -> String {
        if self.is_mirrored { format!("s{}", self.set) } else { self.id.to_string() }
    }
}

/// A result that the schedule does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplanned {
    /// No such match, or not yet.
    #[error("there is no match m{0} in the schedule")]
    Unknown(u32),
    /// Other seats or another set than planned.
    #[error("match m{0} has other seats in the schedule")]
    OtherSeats(u32),
    /// It has a result already.
    #[error("match m{0} has a result already")]
    Twice(u32),
    /// It is not to be played, or not yet.
    #[error("match m{0} is not due: an entrant left, or its pair is decided or may yet be without it")]
    NotDue(u32),
}

impl Unplanned {
    /// The match whose result it is.
    pub fn number(self) -> u32 {
        let (Unplanned::Unknown(number)
        | Unplanned::OtherSeats(number)
        | Unplanned::Twice(number)
        | Unplanned::NotDue(number)) = self;
        number
    }
}

/// Sets of a pair in a round of a Swiss or a knockout tournament.
#[derive(Clone, Debug)]
struct Pair {
    entrants: [Entrant; 2],
    sets: Vec<u32>,
}

/// What is played, and what of it now.
#[derive(Clone, Debug)]
pub struct Schedule {
    plan: Plan,
    legs: u32,
    sets: Vec<Set>,
    /// By match; the first is m1.
    results: Vec<Option<MatchResult>>,
    /// Results of matches that are not known yet, in the order of their numbers, until they are taken; empty but for
    /// while resuming.
    early: Vec<(u32, Option<MatchResult>)>,
    /// Matches that have no result and get none, as long as these have the seats.
    voids: BTreeMap<u32, Lineup>,
    attempts: BTreeMap<u32, u32>,
    awards: Vec<Award>,
    /// The first match that may still have to be played.
    first_open: usize,
    round: u32,
    /// Of the round.
    pairs: Vec<Pair>,
    /// Of the round of a knockout: who stands at each place, when known.
    bracket: Vec<Option<Entrant>>,
    /// By entrant: the round of a knockout in which it went out.
    out: Vec<Option<u32>>,
    /// How many tie-breaks the round has had.
    extra: u32,
    swiss: Vec<Card>,
    is_over: bool,
}

impl Schedule {
    /// The schedule before anything is played.
    ///
    /// # Errors
    /// When the parts of the plan do not fit each other.
    pub fn new(plan: Plan) -> Result<Schedule, Misconfigured> {
        Ok(Schedule::resume(plan, [], [])?.0)
    }

    /// The schedule after these results, by number of the match, in any order, where these matches are void. The results
    /// that it does not take come back.
    ///
    /// # Errors
    /// When the parts of the plan do not fit each other.
    pub fn resume(
        plan: Plan,
        results: impl IntoIterator<Item = (u32, MatchResult)>,
        voids: impl IntoIterator<Item = (u32, Lineup)>,
    ) -> Result<(Schedule, Vec<Unplanned>), Misconfigured> {
        plan.check()?;
        let mut schedule = Schedule {
            legs: plan.deals.legs(plan.seating) as u32,
            sets: Vec::new(),
            results: Vec::new(),
            early: results.into_iter().map(|(number, result)| (number, Some(result))).collect(),
            voids: voids.into_iter().collect(),
            attempts: BTreeMap::new(),
            awards: Vec::new(),
            first_open: 0,
            round: 0,
            pairs: Vec::new(),
            bracket: Vec::new(),
            out: vec![None; plan.entrants.len()],
            extra: 0,
            swiss: Vec::new(),
            is_over: false,
            plan,
        };
        let mut refused = Vec::new();
        schedule.early.sort_by_key(|&(number, _)| number);
        schedule.early.dedup_by(|later, first| {
            let is_twice = later.0 == first.0;
            refused.extend(is_twice.then_some(Unplanned::Twice(later.0)));
            is_twice
        });
        schedule.begin();
        schedule.advance();
        let left = std::mem::take(&mut schedule.early).into_iter();
        let misplaced = left.filter_map(|(number, result)| Some((number, result?)));
        refused.extend(misplaced.map(|(number, result)| match schedule.expected(number) {
            None => Unplanned::Unknown(number),
            Some(expected) if expected == (result.set, result.lineup) => Unplanned::NotDue(number),
            Some(_) => Unplanned::OtherSeats(number),
        }));
        Ok((schedule, refused))
    }

    /// What it was made from.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// All sets that are known, s1 first.
    pub fn sets(&self) -> &[Set] {
        &self.sets
    }

    /// How many matches a set has.
    pub fn legs(&self) -> u32 {
        self.legs
    }

    /// All results, m1 first.
    pub fn results(&self) -> impl Iterator<Item = &MatchResult> {
        self.results.iter().flatten()
    }

    /// How many matches are void.
    pub fn voids(&self) -> usize {
        self.voids.keys().filter(|&&number| self.is_void(number)).count()
    }

    /// What [`Entry::joins`] of one that comes now is, and [`Entry::leaves`] of one that goes now: the number of the
    /// next round that is not paired yet. Where all matches are known from the beginning it counts who came and went
    /// before, so that it tells who was there when.
    pub fn next_round(&self) -> u32 {
        let changes = self.plan.entrants.iter().map(|entry| entry.joins.max(entry.leaves.unwrap_or(1)));
        let last = changes.filter(|_| self.plan.format.is_known()).max();
        1 + last.unwrap_or(self.round).max(self.round)
    }

    /// How many matches it has in all, if nobody comes or goes; in a knockout at most.
    pub fn most_matches(&self) -> u64 {
        let (all, legs) = (self.plan.entrants.len() as u64, u64::from(self.legs));
        let sets = match self.plan.format {
            Format::Swiss { rounds, sets } => u64::from(rounds) * (all / 2) * u64::from(sets),
            Format::Knockout { best_of, tie_breaks } => {
                (all - 1) * (u64::from(best_of) + u64::from(tie_breaks) * u64::from(self.tie_break_sets()))
            }
            _ => self.sets.len() as u64,
        };
        sets * legs
    }

    /// Whether nothing is left to play, now or later.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The winner of a knockout, when it is known.
    pub fn champion(&self) -> Option<Entrant> {
        let is_knockout = matches!(self.plan.format, Format::Knockout { .. });
        self.bracket.first().copied().flatten().filter(|_| is_knockout && self.is_over)
    }

    /// Who is where.
    pub fn standings(&self) -> Standings {
        let (entrants, tie_breaks) = (self.plan.entrants.len(), self.plan.format.tie_breaks());
        let withdrawn = self.withdrawn();
        let awards = self.awards_after(&withdrawn);
        let gone = Gone { out: &self.out, withdrawn: &withdrawn };
        Standings::with_gone(entrants, self.results(), &awards, gone, tie_breaks)
    }

    /// The matches that can be played now, in order.
    pub fn due(&self) -> impl Iterator<Item = Due> {
        let open = (self.first_open..self.results.len()).filter(|&at| self.is_open(at));
        open.map(|at| at as u32 + 1).filter(|&number| self.is_due(self.set_of(number))).map(|number| {
            let set = self.set_of(number);
            let leg = ((number - 1) % self.legs) as usize;
            Due {
                id: MatchId { number, attempt: 1 + self.attempts.get(&number).copied().unwrap_or(0) },
                set,
                leg,
                is_mirrored: self.plan.deals != Deals::Single,
                lineup: self.plan.deals.leg(self.sets[set as usize - 1].first, leg),
            }
        })
    }

    /// Takes in a result. The next round may be known then.
    ///
    /// # Errors
    /// When the schedule has no such match open. It has not changed then.
    pub fn record(&mut self, number: u32, result: MatchResult) -> Result<(), Unplanned> {
        let (set, lineup) = self.expected(number).ok_or(Unplanned::Unknown(number))?;
        if result.lineup != lineup || result.set != set {
            return Err(Unplanned::OtherSeats(number));
        }
        if self.results[number as usize - 1].is_some() {
            return Err(Unplanned::Twice(number));
        }
        if !self.is_due(set) || self.is_void(number) {
            return Err(Unplanned::NotDue(number));
        }
        self.results[number as usize - 1] = Some(result);
        self.advance();
        Ok(())
    }

    /// A match was cut off: it is due again, under its next attempt. A shell that resumes tells it of every attempt that
    /// it has stored. Of a match with a result this is ignored.
    pub fn cut_off(&mut self, number: u32) {
        *self.attempts.entry(number).or_default() += 1;
    }

    /// A match that has no result gets none either: it counts for nobody. The next round may be known then.
    ///
    /// # Errors
    /// When the schedule has no such match open. It has not changed then.
    pub fn void(&mut self, number: u32) -> Result<(), Unplanned> {
        let (set, lineup) = self.expected(number).ok_or(Unplanned::Unknown(number))?;
        if !self.is_open(number as usize - 1) {
            return Err(Unplanned::Twice(number));
        }
        if !self.is_due(set) {
            return Err(Unplanned::NotDue(number));
        }
        self.voids.insert(number, lineup);
        self.advance();
        Ok(())
    }

    /// Whether a match is void.
    fn is_void(&self, number: u32) -> bool {
        let lineup = self.voids.get(&number);
        lineup.is_some_and(|lineup| self.expected(number).is_some_and(|(_, expected)| expected == *lineup))
    }

    /// Whether the match at a place, from 0, may still get a result.
    fn is_open(&self, at: usize) -> bool {
        self.results[at].is_none() && !self.is_void(at as u32 + 1)
    }

    fn set_of(&self, number: u32) -> u32 {
        MatchId { number, attempt: 1 }.set(self.legs)
    }

    fn expected(&self, number: u32) -> Option<(u32, Lineup)> {
        let set = self.set_of(number.max(1));
        let first = self.sets.get(set as usize - 1).filter(|_| number > 0)?.first;
        Some((set, self.plan.deals.leg(first, ((number - 1) % self.legs) as usize)))
    }

    fn matches_of(&self, set: u32) -> Range<usize> {
        ((set - 1) * self.legs) as usize..(set * self.legs) as usize
    }

    /// Whether an entrant plays nothing more in a round, although it may have been paired in it.
    fn has_left(&self, entrant: Entrant, round: u32) -> bool {
        let leaves = self.plan.entrants.get(entrant.index()).and_then(|entry| entry.leaves);
        leaves.is_some_and(|leaves| self.plan.format.is_known() || leaves <= round + 1)
    }

    /// Whether the matches of a set that have no result can be played now.
    fn is_due(&self, set: u32) -> bool {
        !self.is_closed(set) && self.is_needed(set)
    }

    /// Whether nothing of a set is to be played any more.
    fn is_closed(&self, set: u32) -> bool {
        let Set { round, first, .. } = self.sets[set as usize - 1];
        let is_complete = || !self.matches_of(set).any(|at| self.is_open(at));
        let has_left = || first.seats().iter().any(|&entrant| self.has_left(entrant, round));
        self.is_over || round < self.round || has_left() || is_complete() || self.is_needless(set)
    }

    fn add_set(&mut self, first: Lineup, pair: usize) -> u32 {
        self.sets.push(Set { round: self.round, first, pair });
        self.results.resize(self.sets.len() * self.legs as usize, None);
        self.sets.len() as u32
    }

    /// Takes the results of a set that came before it was known.
    fn take_early(&mut self, set: u32) {
        let first = self.sets[set as usize - 1].first;
        for (leg, at) in self.matches_of(set).enumerate() {
            let lineup = self.plan.deals.leg(first, leg);
            let early = self.early.binary_search_by_key(&(at as u32 + 1), |&(number, _)| number);
            let early = early.ok().map(|at| &mut self.early[at].1);
            let fits = |early: &mut MatchResult| early.lineup == lineup && early.set == set;
            self.results[at] = early.and_then(|early| early.take_if(fits));
        }
    }

    /// The first round, or everything where it is known.
    fn begin(&mut self) {
        let (seating, field, all) = (self.plan.seating, self.plan.field(), self.plan.entrants.len());
        let by_sides = |sides: Vec<Entrant>| Lineup::of_sides(seating, &sides);
        let lineups: Vec<Option<Lineup>> = match self.plan.format {
            Format::RoundRobin { cycles } if seating.sides() == 3 => {
                table::threes(field, all, cycles).into_iter().map(by_sides).collect()
            }
            Format::RoundRobin { cycles } => {
                table::round_robin(field, all, cycles).into_iter().map(by_sides).collect()
            }
            Format::Gauntlet { cycles } => {
                table::gauntlet(field, all, cycles).into_iter().map(by_sides).collect()
            }
            Format::Partners { cycles } => {
                partners::rotations(seating, field, all, cycles).into_iter().map(Some).collect()
            }
            Format::Duel { sets } => (0..sets)
                .map(|set| {
                    let (one, other) = (Entrant((set % 2) as u16), Entrant(((set + 1) % 2) as u16));
                    by_sides(if seating.sides() == 2 { vec![one, other] } else { vec![one, other, other] })
                })
                .collect(),
            Format::Swiss { .. } => Vec::new(),
            Format::Knockout { .. } => {
                let seeds = bracket(all).into_iter();
                self.bracket = seeds.map(|seed| seed.map(|seed| Entrant(seed as u16))).collect();
                Vec::new()
            }
        };
        if self.plan.format.is_known() {
            self.round = 1;
        }
        for lineup in lineups.into_iter().flatten() {
            let set = self.add_set(lineup, 0);
            self.take_early(set);
        }
    }

    /// Forms rounds as long as the one before is closed.
    fn advance(&mut self) {
        loop {
            while self.first_open < self.results.len()
                && self.is_closed(self.set_of(self.first_open as u32 + 1))
            {
                self.first_open += 1;
            }
            if self.is_over || self.first_open < self.results.len() {
                return;
            }
            match self.plan.format {
                Format::Swiss { rounds, sets } => self.next_swiss(rounds, sets),
                Format::Knockout { best_of, tie_breaks } => self.next_knockout(best_of, tie_breaks),
                _ => self.is_over = true,
            }
        }
    }

    /// Adds a pair that plays `count` sets in this round.
    fn add_pair(&mut self, entrants: [Entrant; 2], count: u32) {
        self.pairs.push(Pair { entrants, sets: Vec::new() });
        self.add_sets(self.pairs.len() - 1, count);
    }

    /// Lets a pair play `count` sets more, by turns in the first seat where deals are not mirrored.
    fn add_sets(&mut self, pair: usize, count: u32) {
        let before = self.pairs[pair].sets.len();
        for _ in 0..count {
            let Pair { entrants: mut order, ref sets } = self.pairs[pair];
            if sets.len() % 2 == 1 {
                order.reverse();
            }
            if let Some(lineup) = Lineup::of_sides(self.plan.seating, &order) {
                let set = self.add_set(lineup, pair);
                self.pairs[pair].sets.push(set);
            }
        }
        // In order, because the first results say whether later sets are needed.
        for at in before..self.pairs[pair].sets.len() {
            let set = self.pairs[pair].sets[at];
            if self.is_needed(set) {
                self.take_early(set);
            }
        }
    }

    fn award(&mut self, entrant: Entrant, matches: u32) {
        if matches > 0 {
            self.awards.push(Award { round: self.round, entrant, matches });
        }
    }

    /// Awards what one of a pair did not play to the other if that one is still there.
    fn award_unplayed(&mut self, pair: &Pair) {
        let unplayed = self.open(&pair.sets) as u32;
        for (entrant, other) in [(0, 1), (1, 0)].map(|(a, b)| (pair.entrants[a], pair.entrants[b])) {
            if !self.has_left(entrant, self.round) && self.has_left(other, self.round) {
                self.award(entrant, unplayed);
            }
        }
    }

    /// Twice the points of both of a pair in some sets.
    fn points(&self, entrants: [Entrant; 2], sets: &[u32]) -> [u64; 2] {
        let results = || sets.iter().flat_map(|&set| &self.results[self.matches_of(set)]).flatten();
        entrants.map(|entrant| {
            results().filter_map(|result| result.score(entrant)).map(|score| (2.0 * score) as u64).sum()
        })
    }

    /// How many matches of these sets may still get a result.
    fn open(&self, sets: &[u32]) -> u64 {
        let numbers = sets.iter().flat_map(|&set| self.matches_of(set));
        numbers.filter(|&at| self.is_open(at)).count() as u64
    }
}
