//! What is played, and what of it now.
//!
//! A schedule is a pure function of its [`Plan`] and the results so far, in whatever order these came. So a run that
//! was interrupted at any moment goes on with exactly the schedule that it had: keep the plan and the results, and
//! [`Schedule::resume`].
//!
//! **Ids.** Sets are s1, s2, ... and their matches m1, m2, ...: with L matches a set, set n has the matches L(n - 1) +
//! 1 to Ln. With [`Deals::Single`] set n is match n. A match that was cut off is played again as m17.2, m17.3, ...
//! ([`Schedule::cut_off`]). The deal of a mirrored set is the set's id in every attempt, so that its missing matches
//! are played on the deal of those that stand; else it is the match's id with its attempt, so a new deal.
//!
//! **Rounds.** Round robin, gauntlet, partners and duel are known from the beginning, and all their sets may be played
//! at once. A round of a Swiss or a knockout tournament is known when all sets of the round before are closed.
//!
//! **Coming and going.** An entrant that comes late has [`Entry::joins`] set to [`Schedule::next_round`]: in a round
//! robin its matches are added at the end, in a Swiss tournament it is paired from that round on; a knockout takes no
//! one in. One that goes has [`Entry::leaves`] set likewise, and the schedule is resumed with the new plan: what it has
//! played stands, its other matches are not played. In a Swiss tournament its opponent wins each of them
//! ([`Schedule::awards`]), in a knockout it goes on unless it has lost by then, elsewhere they are void.
//!
//! **Byes** of a Swiss tournament are worth as much as winning all matches of the round.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::pairing::{knockout, partners, swiss, table};
use super::standings::{Award, TieBreak};
use super::{Deals, Entrant, Lineup, MatchResult};
use crate::core::{Misconfigured, Seating};

/// How a tournament is paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Everyone against everyone, `cycles` times. With three sides every three entrants.
    RoundRobin {
        /// From 1.
        cycles: u32,
    },
    /// The first entrant against each of the others, `cycles` times. Two sides.
    Gauntlet {
        /// From 1.
        cycles: u32,
    },
    /// By the points so far ([`swiss`]). Two sides.
    Swiss {
        /// From 1 to [`swiss::MAX_ROUNDS`].
        rounds: u32,
        /// How many sets a pair plays in a round, from 1.
        sets: u32,
    },
    /// Who loses is out ([`knockout`]); seeded in the order of the entrants. Two sides.
    Knockout {
        /// How many sets a pair plays at most before a tie-break; it ends early when the other can no longer draw
        /// level.
        best_of: u32,
        /// How many further sets at most break a tie, one after the other until one is not drawn. After them the higher
        /// seed goes on. With [`Deals::Single`] each is one match in both seats, so two.
        tie_breaks: u32,
    },
    /// Each with each as partner ([`partners`]). Sides of two seats.
    Partners {
        /// From 1.
        cycles: u32,
    },
    /// The first two entrants against each other. With three sides one of them has two sides, by turns.
    Duel {
        /// From 1.
        sets: u32,
    },
}

impl Format {
    /// What is customary among equal points.
    pub fn tie_breaks(self) -> &'static [TieBreak] {
        match self {
            Format::Swiss { .. } => &[TieBreak::Buchholz, TieBreak::SonnebornBerger, TieBreak::Wins],
            _ => &[TieBreak::SonnebornBerger, TieBreak::Wins],
        }
    }

    fn is_known(self) -> bool {
        !matches!(self, Format::Swiss { .. } | Format::Knockout { .. })
    }
}

/// When an entrant takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The first round in which it is paired; 1 from the beginning.
    pub joins: u32,
    /// The first round in which it is no longer paired.
    pub leaves: Option<u32>,
}

impl Default for Entry {
    fn default() -> Self {
        Entry { joins: 1, leaves: None }
    }
}

/// Everything that the schedule follows from, beside the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How it is paired.
    pub format: Format,
    /// How the seats play together.
    pub seating: Seating,
    /// How many matches on a deal.
    pub deals: Deals,
    /// The entrants, in the order of their seeds; late ones at the end.
    pub entrants: Vec<Entry>,
}

/// The most matches of a schedule.
const MAX_MATCHES: u64 = 100_000_000;

impl Plan {
    /// A tournament of `entrants` that are all there from the beginning.
    pub fn new(format: Format, seating: Seating, deals: Deals, entrants: usize) -> Plan {
        Plan { format, seating, deals, entrants: vec![Entry::default(); entrants] }
    }

    /// How many are there from the beginning.
    fn field(&self) -> usize {
        self.entrants.iter().take_while(|entry| entry.joins <= 1).count()
    }

    fn check(&self) -> Result<(), Misconfigured> {
        let fail = |why: String| Err(Misconfigured(why));
        let (count, sides) = (self.entrants.len() as u64, self.seating.sides());
        if self.entrants.iter().skip(self.field()).any(|entry| entry.joins <= 1) {
            return fail("entrants that are there from the beginning come before late ones".to_owned());
        }
        let (name, numbers, least, fits) = match self.format {
            Format::RoundRobin { cycles } => ("round robin", [cycles, 1], sides, sides == 2 || sides == 3),
            Format::Gauntlet { cycles } => ("a gauntlet", [cycles, 1], 2, sides == 2),
            Format::Swiss { rounds, sets } => ("a Swiss tournament", [rounds, sets], 2, sides == 2),
            Format::Knockout { best_of, .. } => ("a knockout", [best_of, 1], 2, sides == 2),
            Format::Partners { cycles } => ("a rotation of partners", [cycles, 1], 2 * sides, sides > 1),
            Format::Duel { sets } => ("a duel", [sets, 1], 2, sides == 2 || sides == 3),
        };
        if !fits {
            return fail(format!("{name} is not for {sides} sides"));
        }
        if matches!(self.format, Format::Partners { .. }) && self.seating.seats() != 2 * sides {
            return fail(format!("{}, not {} seats in {sides} sides", partners::NEEDS, self.seating.seats()));
        }
        if numbers.contains(&0) {
            return fail(format!("{name} needs at least one cycle, round or set"));
        }
        if self.field() < least || count > u64::from(u16::MAX) {
            return fail(format!("{name} needs from {least} to 65535 entrants, not {}", self.field()));
        }
        let longest = match self.format {
            Format::Swiss { rounds, .. } if rounds > swiss::MAX_ROUNDS => {
                return fail(format!("{name} has at most {} rounds, not {rounds}", swiss::MAX_ROUNDS));
            }
            Format::Swiss { .. } if count > swiss::MAX_ENTRANTS as u64 => {
                return fail(format!("{name} has at most {} entrants, not {count}", swiss::MAX_ENTRANTS));
            }
            Format::Knockout { .. } if self.field() as u64 != count => {
                return fail(format!("{name} takes in nobody late"));
            }
            Format::Duel { .. } if count != 2 => return fail(format!("{name} has 2 entrants, not {count}")),
            Format::RoundRobin { .. } if sides == 3 => count.pow(3) / 6,
            Format::Duel { .. } => 1,
            _ => count * count / 2,
        };
        let matches = longest
            .saturating_mul(u64::from(numbers[0]))
            .saturating_mul(u64::from(numbers[1]))
            .saturating_mul(self.deals.legs(self.seating) as u64);
        if matches > MAX_MATCHES {
            return fail(format!("{matches} matches are more than the {MAX_MATCHES} of a schedule"));
        }
        Ok(())
    }
}

/// The id of a match: m17, and m17.2 when it was cut off once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchId {
    /// From 1.
    pub number: u32,
    /// From 1.
    pub attempt: u32,
}

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.attempt {
            1 => write!(f, "m{}", self.number),
            attempt => write!(f, "m{}.{attempt}", self.number),
        }
    }
}

impl FromStr for MatchId {
    type Err = Misconfigured;
    fn from_str(text: &str) -> Result<MatchId, Misconfigured> {
        let parts = text.strip_prefix('m').map(|rest| rest.split_once('.').unwrap_or((rest, "1")));
        let positive = |text: &str| text.parse().ok().filter(|&number: &u32| number > 0);
        parts
            .and_then(|(number, attempt)| {
                Some(MatchId { number: positive(number)?, attempt: positive(attempt)? })
            })
            .ok_or_else(|| Misconfigured(format!("`{text}` is no id of a match such as m17 or m17.2")))
    }
}

/// Matches of the same entrants on one deal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// From 1.
    pub round: u32,
    /// The seats of its first match.
    pub first: Lineup,
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
    /// It is not to be played any more.
    #[error("match m{0} is not to be played any more: an entrant left, or its pair is decided")]
    Void(u32),
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
    /// Results of matches that are not known yet; empty but for while resuming.
    early: BTreeMap<u32, MatchResult>,
    attempts: BTreeMap<u32, u32>,
    awards: Vec<Award>,
    /// The first match that may still have to be played.
    first_open: usize,
    round: u32,
    /// Of the round.
    pairs: Vec<Pair>,
    /// Of the round of a knockout: who stands at each place, when known.
    bracket: Vec<Option<Entrant>>,
    /// How many tie-breaks the round has had.
    extra: u32,
    swiss: Vec<swiss::Card>,
    is_over: bool,
}

impl Schedule {
    /// The schedule before anything is played.
    ///
    /// # Errors
    /// When the parts of the plan do not fit each other.
    pub fn new(plan: Plan) -> Result<Schedule, Misconfigured> {
        Ok(Schedule::resume(plan, [])?.0)
    }

    /// The schedule after these results, by number of the match, in any order. Those that it does not take come back.
    ///
    /// # Errors
    /// When the parts of the plan do not fit each other.
    pub fn resume(
        plan: Plan,
        results: impl IntoIterator<Item = (u32, MatchResult)>,
    ) -> Result<(Schedule, Vec<Unplanned>), Misconfigured> {
        plan.check()?;
        let mut schedule = Schedule {
            legs: plan.deals.legs(plan.seating) as u32,
            sets: Vec::new(),
            results: Vec::new(),
            early: BTreeMap::new(),
            attempts: BTreeMap::new(),
            awards: Vec::new(),
            first_open: 0,
            round: 0,
            pairs: Vec::new(),
            bracket: Vec::new(),
            extra: 0,
            swiss: Vec::new(),
            is_over: false,
            plan,
        };
        let mut refused = Vec::new();
        for (number, result) in results {
            if schedule.early.insert(number, result).is_some() {
                refused.push(Unplanned::Twice(number));
            }
        }
        schedule.begin();
        schedule.advance();
        let misplaced = std::mem::take(&mut schedule.early);
        refused.extend(misplaced.keys().map(|&number| match schedule.expected(number) {
            None => Unplanned::Unknown(number),
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

    /// What entrants got without playing.
    pub fn awards(&self) -> &[Award] {
        &self.awards
    }

    /// The number of the next round that is not paired yet: what [`Entry::joins`] of one that comes now is, and
    /// [`Entry::leaves`] of one that goes now.
    pub fn next_round(&self) -> u32 {
        self.round + 1
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

    /// The matches that can be played now, in order.
    pub fn due(&self) -> impl Iterator<Item = Due> {
        let open =
            self.results.iter().enumerate().skip(self.first_open).filter(|(_, result)| result.is_none());
        open.map(|(at, _)| at as u32 + 1).filter(|&number| !self.is_closed(self.set_of(number))).map(
            |number| {
                let set = self.set_of(number);
                let leg = ((number - 1) % self.legs) as usize;
                Due {
                    id: MatchId { number, attempt: 1 + self.attempts.get(&number).copied().unwrap_or(0) },
                    set,
                    leg,
                    is_mirrored: self.plan.deals != Deals::Single,
                    lineup: self.plan.deals.leg(self.sets[set as usize - 1].first, leg),
                }
            },
        )
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
        if self.is_closed(set) {
            return Err(Unplanned::Void(number));
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

    fn set_of(&self, number: u32) -> u32 {
        (number - 1) / self.legs + 1
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

    /// Whether nothing of a set is to be played any more.
    fn is_closed(&self, set: u32) -> bool {
        let Set { round, first } = self.sets[set as usize - 1];
        let is_complete = || self.results[self.matches_of(set)].iter().all(Option::is_some);
        let has_left = || first.seats().iter().any(|&entrant| self.has_left(entrant, round));
        round < self.round || has_left() || is_complete() || self.is_needless(set)
    }

    fn add_set(&mut self, first: Lineup) -> u32 {
        self.sets.push(Set { round: self.round, first });
        let set = self.sets.len() as u32;
        for leg in 0..self.legs {
            let number = (set - 1) * self.legs + leg + 1;
            let lineup = self.plan.deals.leg(first, leg as usize);
            let fits =
                self.early.get(&number).is_some_and(|early| early.lineup == lineup && early.set == set);
            self.results.push(if fits { self.early.remove(&number) } else { None });
        }
        set
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
                let seeds = knockout::bracket(all).into_iter();
                self.bracket = seeds.map(|seed| seed.map(|seed| Entrant(seed as u16))).collect();
                Vec::new()
            }
        };
        if self.plan.format.is_known() {
            self.round = 1;
        }
        for lineup in lineups.into_iter().flatten() {
            self.add_set(lineup);
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

    /// Lets a pair play `count` sets more, by turns in the first seat where deals are not mirrored.
    fn add_sets(&mut self, entrants: [Entrant; 2], count: u32, sets: &mut Vec<u32>) {
        for _ in 0..count {
            let mut order = entrants;
            if sets.len() % 2 == 1 {
                order.reverse();
            }
            if let Some(lineup) = Lineup::of_sides(self.plan.seating, &order) {
                sets.push(self.add_set(lineup));
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
        let unplayed = self.open(pair) as u32;
        for (entrant, other) in [(0, 1), (1, 0)].map(|(a, b)| (pair.entrants[a], pair.entrants[b])) {
            if !self.has_left(entrant, self.round) && self.has_left(other, self.round) {
                self.award(entrant, unplayed);
            }
        }
    }

    /// Twice the points of both in their matches.
    fn points(&self, pair: &Pair) -> [u64; 2] {
        let results = || pair.sets.iter().flat_map(|&set| &self.results[self.matches_of(set)]).flatten();
        pair.entrants.map(|entrant| {
            results().filter_map(|result| result.score(entrant)).map(|score| (2.0 * score) as u64).sum()
        })
    }
}

/// Swiss.
impl Schedule {
    fn next_swiss(&mut self, rounds: u32, sets: u32) {
        for pair in std::mem::take(&mut self.pairs) {
            self.award_unplayed(&pair);
            self.write_down(&pair);
        }
        for award in &self.awards {
            if award.round == self.round {
                self.swiss[award.entrant.index()].points += 2 * u64::from(award.matches);
            }
        }
        if self.round == rounds {
            self.is_over = true;
            return;
        }
        let round = self.round + 1;
        let known = self.swiss.len()..self.plan.entrants.len();
        self.swiss.extend(known.map(|index| swiss::Card {
            entrant: Entrant(index as u16),
            points: 0,
            byes: 0,
            surplus: 0,
            met: Vec::new(),
            float: 0,
        }));
        let is_there =
            |entry: &Entry| entry.joins <= round && entry.leaves.is_none_or(|leaves| leaves > round);
        let there = |card: &&swiss::Card| is_there(&self.plan.entrants[card.entrant.index()]);
        let cards: Vec<swiss::Card> = self.swiss.iter().filter(there).cloned().collect();
        if cards.len() < 2 {
            self.is_over = true;
            return;
        }
        self.round = round;
        let paired = swiss::pair(cards);
        for entrants in paired.pairs {
            let mut own = Vec::new();
            self.add_sets(entrants, sets, &mut own);
            self.pairs.push(Pair { entrants, sets: own });
        }
        if let Some(entrant) = paired.bye {
            self.swiss[entrant.index()].byes += 1;
            self.swiss[entrant.index()].float = 1;
            self.award(entrant, sets * self.legs);
        }
    }

    /// Puts what a pair came to on their cards.
    fn write_down(&mut self, pair: &Pair) {
        let before = pair.entrants.map(|entrant| self.swiss[entrant.index()].points);
        let points = self.points(pair);
        let numbers: Vec<usize> = pair.sets.iter().flat_map(|&set| self.matches_of(set)).collect();
        for (at, &entrant) in pair.entrants.iter().enumerate() {
            let first = |result: &MatchResult| result.lineup.side(0).any(|other| other == entrant);
            let played = numbers.iter().filter_map(|&number| self.results[number].as_ref());
            let surplus: i32 = played.map(|result| if first(result) { 1 } else { -1 }).sum();
            let card = &mut self.swiss[entrant.index()];
            card.points += points[at];
            card.surplus += surplus;
            card.float = before[at].cmp(&before[1 - at]) as i8;
            if numbers.iter().any(|&number| self.results[number].is_some()) {
                card.met.push(pair.entrants[1 - at]);
            }
        }
    }
}

/// Knockout.
impl Schedule {
    fn next_knockout(&mut self, best_of: u32, tie_breaks: u32) {
        if self.extra < tie_breaks {
            let tied: Vec<usize> = (0..self.pairs.len()).filter(|&at| self.is_tied(at)).collect();
            if !tied.is_empty() {
                self.extra += 1;
                let count = if self.plan.deals == Deals::Single { 2 } else { 1 };
                for at in tied {
                    let Pair { entrants, mut sets } = self.pairs[at].clone();
                    self.add_sets(entrants, count, &mut sets);
                    self.pairs[at].sets = sets;
                }
                return;
            }
        }
        if self.round > 0 {
            let bracket = std::mem::take(&mut self.bracket);
            self.bracket = bracket
                .chunks(2)
                .map(|places| match *places {
                    [Some(one), Some(other)] => {
                        let at = self.pairs.iter().position(|pair| pair.entrants == [one, other]);
                        Some(at.and_then(|at| self.winner(at)).unwrap_or(one.min(other)))
                    }
                    _ => places.iter().flatten().next().copied(),
                })
                .collect();
            self.pairs.clear();
        }
        if self.bracket.len() < 2 {
            self.is_over = true;
            return;
        }
        self.round += 1;
        self.extra = 0;
        for places in self.bracket.clone().chunks(2) {
            if let [Some(one), Some(other)] = *places {
                let mut sets = Vec::new();
                self.add_sets([one, other], best_of, &mut sets);
                self.pairs.push(Pair { entrants: [one, other], sets });
            }
        }
    }

    /// Who of a pair goes on; none as long as that is open or they are equal.
    fn winner(&self, pair: usize) -> Option<Entrant> {
        let pair = &self.pairs[pair];
        let [one, other] = pair.entrants;
        let points = self.points(pair);
        let open = 2 * self.open(pair);
        if points[0] > points[1] + open {
            Some(one)
        } else if points[1] > points[0] + open {
            Some(other)
        } else {
            match [one, other].map(|entrant| self.has_left(entrant, self.round)) {
                [true, false] => Some(other),
                [false, true] => Some(one),
                [true, true] => Some(one.min(other)),
                [false, false] => None,
            }
        }
    }

    /// Whether a pair has played all its sets and is equal. Also of one that has left meanwhile: its tie-break, which
    /// nobody plays any more, may have been in the schedule before.
    fn is_tied(&self, pair: usize) -> bool {
        let pair = &self.pairs[pair];
        let points = self.points(pair);
        points[0] == points[1] && self.open(pair) == 0
    }

    /// How many matches of a pair have no result.
    fn open(&self, pair: &Pair) -> u64 {
        let numbers = pair.sets.iter().flat_map(|&set| self.matches_of(set));
        numbers.filter(|&at| self.results[at].is_none()).count() as u64
    }

    /// Whether a set has not begun and its pair is decided without it.
    fn is_needless(&self, set: u32) -> bool {
        let at = self.pairs.iter().position(|pair| pair.sets.contains(&set));
        let has_not_begun = || self.results[self.matches_of(set)].iter().all(Option::is_none);
        matches!(self.plan.format, Format::Knockout { .. })
            && has_not_begun()
            && at.is_some_and(|at| self.winner(at).is_some())
    }
}
