//! The schedule of a tournament: which matches are played, and which are due.
//!
//! A schedule is a pure function of its [`Plan`] and the results so far, in any order. So a run that was interrupted
//! at any moment resumes with exactly the same schedule: store the plan and the results, and call
//! [`Schedule::resume`]. Which matches are played depends neither on the order of results nor on concurrency: a match
//! becomes due only when no missing result can make it unnecessary.
//!
//! **Ids.** Sets are s1, s2, ... and their matches m1, m2, ...: with L matches per set, set n has the matches
//! L(n - 1) + 1 to Ln. With [`Deals::Single`] set n is match n. A match that was cut off is replayed as m17.2, m17.3, ...
//! ([`Schedule::cut_off`]). The deal of a mirrored set is the set's id in every attempt, so that missing matches are
//! played on the same deal; otherwise it is the match's id with its attempt, so a new deal.
//!
//! **Rounds.** Round robin, gauntlet, partners and duel are known in advance, and all their sets may be played
//! concurrently. A round of a Swiss or a knockout tournament is known when all sets of the previous round are closed.
//! Of the sets of a pair in a knockout, those may be played concurrently that are needed regardless of earlier ones:
//! of the best of 5 the first 3, then one more for every result that keeps the pair open. A race has rounds as well, each of
//! about a 64th of the sets so far, and so has a grade, each of a 16th.
//!
//! **Late entries and withdrawals.** A late entrant has [`Participation::joins`] set to [`Schedule::next_round`]: in a round
//! robin its matches are added at the end, in a Swiss tournament it is paired from that round on; a knockout accepts
//! no late entrants. A withdrawn entrant has [`Participation::leaves`] set likewise, and the schedule is resumed with the new
//! plan: its remaining matches are not played. In a Swiss tournament its results stand and its opponents win the
//! remaining matches ([`Schedule::awards`]); in a knockout the opponent advances unless it has already lost. In other
//! formats the FIDE Handbook's rule for round robins applies: if the entrant has played fewer than half of its
//! matches, all its results are annulled ([`Schedule::withdrawn`]); otherwise they stand, and with two sides of one
//! entrant each its opponents win the remaining matches.
//!
//! **Void** matches ([`Schedule::void`]) are not played again and count for no entrant: no points, no result, no
//! meeting. A set is complete without them. A pair of a knockout is decided by its other matches; if these leave it
//! tied, by the tie-breaks, and after them by the seeds.
//!
//! **Rulings** ([`Ruling`]) replace results: a match is void, awarded or replayed. They are part of the plan, with the round
//! that was paired next when they were made. Rounds that were paired before stay as they are; standings and later rounds follow
//! the rulings. A knockout has rulings on its current round only.
//!
//! **Byes** of a Swiss tournament are worth [`ByePoints`] for each match of the round, by default a win if the number
//! of entrants is odd, and a draw in a round of [`Participation::absent`]. An entrant that has withdrawn from a Swiss
//! tournament can return: the rounds between are [`Participation::missed`], without points. In formats that are known
//! in advance it returns by [`Participation::leaves`] being removed; its matches are due again.

mod balance;
mod grade;
mod id;
mod knockout;
mod missing;
mod plan;
mod race;
mod rounds;
mod ruling;
mod swiss;
mod withdrawal;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub use balance::{Balance, CountRange};
pub use id::MatchId;
pub use missing::MatchesLeft;
pub use plan::{ByePoints, Format, Participation, Plan, RankBy};
pub use rounds::RoundPair;
pub use ruling::{MatchRuling, Ruling};

use super::amounts::AmountSample;
use super::grade::{GradeTerms, Grading};
use super::pairing::{knockout::bracket, partners, swiss::Card, table};
use super::race::{Race, RaceTerms};
use super::standings::{Award, Entries, Ranking, Standings, Unplayed, Withdrawn};
use super::{Deals, Entrant, Lineup, MatchResult};
use referee_game::Wrong;

/// Matches of the same entrants on one deal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// From 1.
    pub round: u32,
    /// The lineup of its first match.
    pub first: Lineup,
    /// The index of the pair in its round, in a Swiss or a knockout tournament.
    pair: usize,
}

/// A match that can be played now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueMatch {
    pub id: MatchId,
    /// The number of its set, from 1.
    pub set: u32,
    /// The index of the match in its set, from 0.
    pub leg: usize,
    /// Whether the match plays the deal of its set.
    pub is_mirrored: bool,
    /// The entrants by seat.
    pub lineup: Lineup,
}

/// Reasons why the schedule rejects a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    #[error("there is no match m{0} in the schedule")]
    Unknown(u32),
    #[error("match m{0} has other seats in the schedule")]
    OtherSeats(u32),
    #[error("match m{0} has a result already")]
    Twice(u32),
    #[error(
        "match m{0} is not due: an entrant has withdrawn, or its pair is decided or may be decided without it"
    )]
    NotDue(u32),
}

impl ScheduleError {
    pub fn number(self) -> u32 {
        let (ScheduleError::Unknown(number)
        | ScheduleError::OtherSeats(number)
        | ScheduleError::Twice(number)
        | ScheduleError::NotDue(number)) = self;
        number
    }
}

/// Sets of a pair in a round of a Swiss or a knockout tournament.
#[derive(Clone, Debug)]
struct Pair {
    entrants: [Entrant; 2],
    sets: Vec<u32>,
}

/// The schedule of a tournament.
#[derive(Clone, Debug)]
pub struct Schedule {
    plan: Plan,
    legs: u32,
    sets: Vec<Set>,
    /// By match; the first is m1.
    results: Vec<Option<MatchResult>>,
    /// Results of matches that are not in the schedule yet, by number; only used while resuming.
    early: Vec<(u32, Option<MatchResult>)>,
    /// Void matches, with their lineups.
    voids: BTreeMap<u32, Lineup>,
    /// The matches on which there are rulings, except to replay them.
    ruled: BTreeMap<u32, MatchRuling>,
    /// The results that they replace.
    set_aside: BTreeMap<u32, MatchResult>,
    attempts: BTreeMap<u32, u32>,
    awards: Vec<Award>,
    /// The first match that may still have to be played.
    first_open: usize,
    round: u32,
    /// The pairs of the current round.
    pairs: Vec<Pair>,
    /// The entrant at each position in the current round of a knockout, if known.
    bracket: Vec<Option<Entrant>>,
    /// By entrant: the round of a knockout in which it was eliminated.
    out: Vec<Option<u32>>,
    /// The number of tie-breaks of the current round.
    extra: u32,
    swiss: Vec<Card>,
    race: Option<Race>,
    grading: Option<Grading>,
    is_over: bool,
}

impl Schedule {
    /// Creates a schedule without results.
    ///
    /// # Errors
    /// If the plan is inconsistent.
    pub fn new(plan: Plan) -> Result<Schedule, Wrong> {
        Ok(Schedule::resume(plan, [], [])?.0)
    }

    /// Creates a schedule with these results, by number of the match, in any order, and with these void matches.
    /// Returns rejected results as well.
    ///
    /// # Errors
    /// If the plan is inconsistent.
    pub fn resume(
        plan: Plan,
        results: impl IntoIterator<Item = (u32, MatchResult)>,
        voids: impl IntoIterator<Item = (u32, Lineup)>,
    ) -> Result<(Schedule, Vec<ScheduleError>), Wrong> {
        plan.check()?;
        let mut schedule = Schedule {
            legs: plan.deals.legs(plan.seating) as u32,
            sets: Vec::new(),
            results: Vec::new(),
            early: results.into_iter().map(|(number, result)| (number, Some(result))).collect(),
            voids: voids.into_iter().collect(),
            ruled: BTreeMap::new(),
            set_aside: BTreeMap::new(),
            attempts: BTreeMap::new(),
            awards: Vec::new(),
            first_open: 0,
            round: 0,
            pairs: Vec::new(),
            bracket: Vec::new(),
            out: vec![None; plan.entrants.len()],
            extra: 0,
            swiss: Vec::new(),
            race: None,
            grading: None,
            is_over: false,
            plan,
        };
        let mut refused = Vec::new();
        schedule.early.sort_by_key(|&(number, _)| number);
        schedule.early.dedup_by(|later, first| {
            let is_twice = later.0 == first.0;
            refused.extend(is_twice.then_some(ScheduleError::Twice(later.0)));
            is_twice
        });
        schedule.begin();
        schedule.advance();
        let left = std::mem::take(&mut schedule.early).into_iter();
        let misplaced = left.filter_map(|(number, result)| Some((number, result?)));
        refused.extend(misplaced.map(|(number, result)| match schedule.expected(number) {
            None => ScheduleError::Unknown(number),
            Some(expected) if expected == (result.set, result.lineup) => ScheduleError::NotDue(number),
            Some(_) => ScheduleError::OtherSeats(number),
        }));
        Ok((schedule, refused))
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns all known sets, s1 first.
    pub fn sets(&self) -> &[Set] {
        &self.sets
    }

    /// The number of matches per set.
    pub fn legs(&self) -> u32 {
        self.legs
    }

    /// Returns all results, m1 first.
    pub fn results(&self) -> impl Iterator<Item = &MatchResult> {
        self.results.iter().flatten()
    }

    /// Returns all results with the numbers of their matches.
    pub fn numbered_results(&self) -> impl Iterator<Item = (u32, &MatchResult)> {
        (1..).zip(&self.results).filter_map(|(number, result)| Some((number, result.as_ref()?)))
    }

    /// The number of matches that are void, or awarded by a ruling.
    pub fn voids(&self) -> usize {
        let voids = self.voids.keys().filter(|&number| !self.ruled.contains_key(number));
        self.ruled.len() + voids.filter(|&&number| self.is_void(number)).count()
    }

    /// The value of [`Participation::joins`] for an entrant that joins now, and of [`Participation::leaves`] for one that withdraws
    /// now: the number of the next round that is not paired yet. In formats that are known in advance it counts these
    /// changes, so that their order is known.
    pub fn next_round(&self) -> u32 {
        let changes = self.plan.entrants.iter().map(|entry| entry.joins.max(entry.leaves.unwrap_or(1)));
        let last = changes.filter(|_| self.plan.format.is_known()).max();
        1 + last.unwrap_or(self.round).max(self.round)
    }

    /// The total number of matches, if no entrant joins or withdraws; in a knockout the maximum.
    pub fn most_matches(&self) -> u64 {
        let (all, legs) = (self.plan.entrants.len() as u64, u64::from(self.legs));
        let sets = match self.plan.format {
            Format::Swiss { rounds, sets } => {
                let pairs = (1..=rounds).map(|round| self.plan.paired(round).count() as u64 / 2);
                pairs.sum::<u64>() * u64::from(sets)
            }
            Format::Knockout { best_of, tie_breaks } => {
                (all - 1) * (u64::from(best_of) + u64::from(tie_breaks) * u64::from(self.tie_break_sets()))
            }
            Format::Race(RaceTerms { max_sets, .. }) | Format::Grade(GradeTerms { max_sets, .. }) => {
                u64::from(max_sets)
            }
            _ => self.sets.len() as u64,
        };
        sets * legs
    }

    /// The entrants of a match by seat, once it is in the schedule.
    pub fn lineup(&self, number: u32) -> Option<Lineup> {
        self.expected(number).map(|(_, lineup)| lineup)
    }

    /// Returns whether there are no more matches, now or later.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The race, in this format.
    pub fn race(&self) -> Option<&Race> {
        self.race.as_ref()
    }

    /// The grading of the first entrant so far, in this format.
    pub fn grading(&self) -> Option<Grading> {
        self.grading
    }

    /// The winner of a knockout, or the pick of a race, once known.
    pub fn champion(&self) -> Option<Entrant> {
        if let Some(race) = &self.race {
            return race.pick();
        }
        let is_knockout = matches!(self.plan.format, Format::Knockout { .. });
        self.bracket.first().copied().flatten().filter(|_| is_knockout && self.is_over)
    }

    pub fn standings(&self) -> Standings {
        let (entrants, plan) = (self.plan.entrants.len(), &self.plan);
        let withdrawn = self.withdrawn();
        let awards = self.awards_after(&withdrawn);
        let amounts = self.amounts(&withdrawn);
        let entries = Entries { out: &self.out, withdrawn: &withdrawn, amounts: &amounts };
        let ranking = Ranking {
            by: plan.ranked_by(),
            outside: plan.format.hero(),
            tie_breaks: plan.format.tie_breaks(),
            race: self.race(),
        };
        Standings::with_entries(entrants, self.results(), &awards, entries, ranking)
    }

    /// The amounts of each entrant, by set: the mean over its matches. Without sets of which a match has no
    /// result, and those of entrants whose results are annulled.
    fn amounts(&self, withdrawn: &[Option<Withdrawn>]) -> Vec<AmountSample> {
        let mut samples = vec![AmountSample::default(); self.plan.entrants.len()];
        let is_annulled = |entrant: &Entrant| withdrawn[entrant.index()] == Some(Withdrawn::Annulled);
        for set in self.results.chunks_exact(self.legs as usize) {
            let Some(set) = set.iter().copied().collect::<Option<Vec<MatchResult>>>() else { continue };
            let Some(first) = set.first().filter(|first| !first.lineup.seats().iter().any(is_annulled))
            else {
                continue;
            };
            let distinct: BTreeSet<Entrant> = first.lineup.seats().iter().copied().collect();
            for entrant in distinct {
                let amounts = set.iter().map(|result| result.amount(entrant));
                let Some(sum) = amounts.sum::<Option<f64>>() else { continue };
                samples[entrant.index()].add(sum / set.len() as f64);
            }
        }
        samples
    }

    /// The matches that can be played now, in order.
    pub fn due(&self) -> impl Iterator<Item = DueMatch> {
        let open = (self.first_open..self.results.len()).filter(|&at| self.is_open(at));
        open.map(|at| at as u32 + 1).filter(|&number| self.is_due(self.set_of(number))).map(|number| {
            let set = self.set_of(number);
            let leg = ((number - 1) % self.legs) as usize;
            DueMatch {
                id: MatchId { number, attempt: 1 + self.attempts.get(&number).copied().unwrap_or(0) },
                set,
                leg,
                is_mirrored: self.plan.deals != Deals::Single,
                lineup: self.plan.deals.leg(self.sets[set as usize - 1].first, leg),
            }
        })
    }

    /// Records a result, which may complete a round.
    ///
    /// # Errors
    /// If the match is not open in the schedule, which is then unchanged.
    pub fn record(&mut self, number: u32, result: MatchResult) -> Result<(), ScheduleError> {
        let (set, lineup) = self.expected(number).ok_or(ScheduleError::Unknown(number))?;
        if result.lineup != lineup || result.set != set {
            return Err(ScheduleError::OtherSeats(number));
        }
        if self.results[number as usize - 1].is_some() {
            return Err(ScheduleError::Twice(number));
        }
        if !self.is_due(set) || self.is_void(number) {
            return Err(ScheduleError::NotDue(number));
        }
        self.results[number as usize - 1] = Some(result);
        self.advance();
        Ok(())
    }

    /// Records an attempt that was cut off: the match is due again, as its next attempt. A shell that resumes calls
    /// this for every stored attempt. Ignored if the match has a result.
    pub fn cut_off(&mut self, number: u32) {
        *self.attempts.entry(number).or_default() += 1;
    }

    /// Makes a match without a result void: it counts for no entrant. This may complete a round.
    ///
    /// # Errors
    /// If the match is not open in the schedule, which is then unchanged.
    pub fn void(&mut self, number: u32) -> Result<(), ScheduleError> {
        let (set, lineup) = self.expected(number).ok_or(ScheduleError::Unknown(number))?;
        if !self.is_open(number as usize - 1) {
            return Err(ScheduleError::Twice(number));
        }
        if !self.is_due(set) {
            return Err(ScheduleError::NotDue(number));
        }
        self.voids.insert(number, lineup);
        self.advance();
        Ok(())
    }

    /// Returns whether a match gets no result, because it is void or by a ruling.
    fn is_void(&self, number: u32) -> bool {
        let lineup = self.voids.get(&number);
        self.ruled.contains_key(&number)
            || lineup
                .is_some_and(|lineup| self.expected(number).is_some_and(|(_, expected)| expected == *lineup))
    }

    /// Returns whether the match at an index, from 0, may still get a result.
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

    /// Returns whether an entrant plays no more in a round, although it may have been paired in it.
    fn has_left(&self, entrant: Entrant, round: u32) -> bool {
        let is_known = self.plan.format.is_known();
        let entry = self.plan.entrants.get(entrant.index());
        entry.is_some_and(|entry| if is_known { entry.leaves.is_some() } else { entry.has_left(round) })
    }

    /// Returns whether the matches of a set without a result can be played now.
    fn is_due(&self, set: u32) -> bool {
        !self.is_closed(set) && self.is_needed(set)
    }

    /// Returns whether a set has no more matches to play.
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

    /// Uses the results of a set that arrived before it was known.
    fn take_early(&mut self, set: u32) {
        let first = self.sets[set as usize - 1].first;
        for (leg, at) in self.matches_of(set).enumerate() {
            let lineup = self.plan.deals.leg(first, leg);
            let early = self.early.binary_search_by_key(&(at as u32 + 1), |&(number, _)| number);
            let early = early.ok().map(|at| &mut self.early[at].1);
            let fits = |early: &mut MatchResult| early.lineup == lineup && early.set == set;
            self.results[at] = early.and_then(|early| early.take_if(fits));
            let next = if self.plan.format.is_known() { u32::MAX } else { self.round + 1 };
            if let Some(ruling) = self.ruling_at(at as u32 + 1, next) {
                self.apply_ruling(at as u32 + 1, Some(ruling));
            }
        }
    }

    /// Forms the first round, or the whole schedule if it is known in advance.
    fn begin(&mut self) {
        let (seating, field, all) = (self.plan.seating, self.plan.field(), self.plan.entrants.len());
        let by_sides = |sides: Vec<Entrant>| Lineup::of_sides(seating, &sides);
        let lineups: Vec<Option<Lineup>> = match self.plan.format {
            Format::RoundRobin { cycles } if seating.sides() > 2 => {
                table::groups(seating.sides(), field, all, cycles).into_iter().map(by_sides).collect()
            }
            Format::RoundRobin { cycles } => {
                table::round_robin(field, all, cycles).into_iter().map(by_sides).collect()
            }
            Format::Gauntlet { cycles } if seating.sides() > 2 => {
                let groups = table::gauntlet_of_groups(seating.sides(), field, all, cycles);
                groups.into_iter().map(by_sides).collect()
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
            Format::Swiss { .. } | Format::Grade(_) => Vec::new(),
            Format::Race(terms) => {
                self.race = Some(Race::new(terms, all));
                Vec::new()
            }
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

    /// Forms rounds while the previous one is closed.
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
                Format::Race(terms) => self.next_race(terms.max_sets),
                Format::Grade(terms) => self.next_grade(&terms),
                _ => self.is_over = true,
            }
        }
    }

    /// Adds a pair that plays `count` sets in this round.
    fn add_pair(&mut self, entrants: [Entrant; 2], count: u32) {
        self.pairs.push(Pair { entrants, sets: Vec::new() });
        self.add_sets(self.pairs.len() - 1, count);
    }

    /// Adds `count` sets for a pair, alternating the first seat if deals are not mirrored.
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
        // In order, because the first results decide whether later sets are needed.
        for at in before..self.pairs[pair].sets.len() {
            let set = self.pairs[pair].sets[at];
            if self.is_needed(set) {
                self.take_early(set);
            }
        }
    }

    fn award(&mut self, entrant: Entrant, reason: Unplayed, matches: u32, half_points: u32) {
        if matches > 0 {
            self.awards.push(Award { round: self.round, entrant, reason, matches, half_points });
        }
    }

    /// Awards the unplayed matches of a pair to the entrant that is still in the tournament.
    fn award_unplayed(&mut self, pair: &Pair) {
        let unplayed = self.open(&pair.sets) as u32;
        for (entrant, other) in [(0, 1), (1, 0)].map(|(a, b)| (pair.entrants[a], pair.entrants[b])) {
            if !self.has_left(entrant, self.round) && self.has_left(other, self.round) {
                self.award(entrant, Unplayed::Withdrawal, unplayed, 2 * unplayed);
            }
        }
    }

    /// Twice the points of both entrants of a pair in some sets.
    fn points(&self, entrants: [Entrant; 2], sets: &[u32]) -> [u64; 2] {
        let matches = || sets.iter().flat_map(|&set| self.matches_of(set));
        entrants.map(|entrant| {
            let points = |at: usize| match &self.results[at] {
                Some(result) => result.score(entrant).map_or(0, |score| (2.0 * score) as u64),
                None => self.awarded(at as u32 + 1, entrant),
            };
            matches().map(points).sum()
        })
    }

    /// The number of matches of these sets that may still get a result.
    fn open(&self, sets: &[u32]) -> u64 {
        let numbers = sets.iter().flat_map(|&set| self.matches_of(set));
        numbers.filter(|&at| self.is_open(at)).count() as u64
    }
}
