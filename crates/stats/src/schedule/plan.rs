//! The configuration of a tournament's pairings.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Ruling;
use crate::grade::GradeTerms;
use crate::pairing::{partners, swiss};
use crate::race::RaceTerms;
use crate::standings::TieBreak;
use crate::{Deals, Entrant};
use referee_game::{Seating, Wrong};
use serde::{Deserialize, Serialize};

/// The format of a tournament.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Format {
    /// A round robin of `cycles` cycles. With three or more sides, all groups of as many entrants as there are sides.
    RoundRobin {
        /// From 1.
        cycles: u32,
    },
    /// The first entrant against each of the others, `cycles` times. With three or more sides, with all groups of others.
    Gauntlet {
        /// From 1.
        cycles: u32,
    },
    /// By the points so far ([`swiss`]). Two sides.
    Swiss {
        /// From 1 to [`swiss::MAX_ROUNDS`].
        rounds: u32,
        /// The number of sets per pair and round, from 1.
        sets: u32,
    },
    /// Losers are eliminated ([`knockout`](crate::pairing::knockout)); seeded in the order of the
    /// entrants. Two sides.
    Knockout {
        /// The maximum number of sets per pair before a tie-break; it ends early when the loser can no longer draw
        /// level.
        best_of: u32,
        /// The maximum number of further sets to break a tie, one after the other until one is not drawn. After them
        /// the higher seed advances. With [`Deals::Single`] each is one match in both seats, so two.
        tie_breaks: u32,
    },
    /// Every two entrants as partners ([`partners`]). Sides of two seats.
    Partners {
        /// From 1.
        cycles: u32,
    },
    /// A race until one is picked as the best ([`race`](crate::race)). Two sides.
    Race(RaceTerms),
    /// The first entrant against the others, whose strengths are known, until its own is ([`grade`](crate::grade)). Two sides.
    Grade(GradeTerms),
    /// The first two entrants against each other. With three sides, each has two sides in turn.
    Duel {
        /// From 1.
        sets: u32,
    },
}

impl Format {
    /// The customary tie-breaks of the standings.
    pub fn tie_breaks(self) -> &'static [TieBreak] {
        match self {
            Format::Swiss { .. } => {
                &[TieBreak::DirectEncounter, TieBreak::Buchholz, TieBreak::SonnebornBerger, TieBreak::Wins]
            }
            Format::RoundRobin { .. } => {
                &[TieBreak::DirectEncounter, TieBreak::SonnebornBerger, TieBreak::Wins]
            }
            // The entrants of these formats play different numbers of matches.
            Format::Race(_) | Format::Grade(_) => &[],
            _ => &[TieBreak::SonnebornBerger, TieBreak::Wins],
        }
    }

    /// The entrant that plays against each of the others, and is outside the ranking.
    pub fn hero(self) -> Option<Entrant> {
        matches!(self, Format::Gauntlet { .. } | Format::Grade(_)).then_some(Entrant(0))
    }

    /// Returns whether all matches are known in advance, and those of a late entrant when it joins.
    pub fn is_known(self) -> bool {
        !matches!(self, Format::Swiss { .. }) && !self.is_final()
    }

    /// Returns whether later pairs depend on results so that earlier rounds cannot be changed, and no entrant
    /// can enter late.
    pub fn is_final(self) -> bool {
        matches!(self, Format::Knockout { .. } | Format::Race(_) | Format::Grade(_))
    }
}

/// The rounds in which an entrant takes part. In formats that are known in advance, changes are counted instead of rounds,
/// from 2 ([`Schedule::next_round`](super::Schedule::next_round)).
#[derive(Clone, Debug, PartialEq)]
pub struct Participation {
    /// The first round in which it is paired; 1 if it takes part from the start.
    pub joins: u32,
    /// The first round in which it is no longer paired.
    pub leaves: Option<u32>,
    /// The rounds of a Swiss tournament that it missed between a withdrawal and its return.
    pub missed: Vec<Range<u32>>,
    /// The rounds of a Swiss tournament for which it requested a bye.
    pub absent: BTreeSet<u32>,
    /// Whether all results of the entrant are annulled when it leaves, however many there are, in formats that are known in
    /// advance.
    pub is_disqualified: bool,
    /// The known strength, in Elo, if it is an anchor of grades.
    pub elo: Option<f64>,
}

impl Participation {
    /// Returns whether it takes part in a round, with an opponent or a bye.
    pub(super) fn takes_part(&self, round: u32) -> bool {
        self.joins <= round
            && self.leaves.is_none_or(|leaves| leaves > round)
            && !self.missed.iter().any(|missed| missed.contains(&round))
    }

    /// Returns whether it plays no more in a round, although it may have been paired in it.
    pub(super) fn has_left(&self, round: u32) -> bool {
        self.leaves.is_some_and(|leaves| leaves <= round + 1)
            || self.missed.iter().any(|missed| missed.start <= round + 1 && round < missed.end)
    }
}

impl Default for Participation {
    fn default() -> Self {
        Participation {
            joins: 1,
            leaves: None,
            missed: Vec::new(),
            absent: BTreeSet::new(),
            is_disqualified: false,
            elo: None,
        }
    }
}

/// The half points per match, from 0 to 2, of an entrant of a Swiss tournament without an opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByePoints {
    /// The byes because the number of entrants is odd.
    pub allocated: u32,
    /// The byes in the rounds of [`Participation::absent`].
    pub requested: u32,
}

impl Default for ByePoints {
    fn default() -> Self {
        ByePoints { allocated: 2, requested: 1 }
    }
}

/// Orders of entrants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankBy {
    /// Points, which come from ranks.
    #[default]
    Points,
    /// Points in relation to those that could be had. Of formats whose entrants play different numbers of matches by design, and
    /// never configured.
    #[serde(skip_deserializing)]
    Share,
    /// The progress of a race towards picking them. Of races, and never configured.
    #[serde(skip_deserializing)]
    Race,
    /// The mean amount a match. Only in formats that are known in advance: others pair by points.
    Amounts,
}

/// The complete input of a schedule, except the results.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub format: Format,
    pub seating: Seating,
    /// The number of matches per deal.
    pub deals: Deals,
    pub byes: ByePoints,
    /// Orders the standings, as configured ([`Plan::ranked_by`]).
    pub rank_by: RankBy,
    /// The entrants, in the order of their seeds; late ones at the end.
    pub entrants: Vec<Participation>,
    /// The rulings on matches, in the order in which they were made.
    pub rulings: Vec<Ruling>,
}

/// The number of subsets of this size of a set of `of` elements.
fn binomial(of: u64, size: u64) -> u64 {
    (0..size).fold(1, |product: u64, at| product.saturating_mul(of - at) / (at + 1))
}

/// The maximum number of matches of a schedule.
const MAX_MATCHES: u64 = 100_000_000;

/// The maximum number of entrants of a race, whose pairs take time with the cube of it, and of a grade, whose fit does.
const MAX_RACERS: u64 = 256;

impl Plan {
    /// A tournament of `entrants` that all take part from the start.
    pub fn new(format: Format, seating: Seating, deals: Deals, entrants: usize) -> Plan {
        let byes = ByePoints::default();
        Plan {
            format,
            seating,
            deals,
            byes,
            rank_by: RankBy::Points,
            entrants: vec![Participation::default(); entrants],
            rulings: Vec::new(),
        }
    }

    /// Orders the standings before tie-breaks. The versions of a race play as often as that tells something,
    /// partners do not all play equally often, nor do the opponents in a gauntlet that an entrant joins late,
    /// so their share of points orders them.
    pub fn ranked_by(&self) -> RankBy {
        match (self.rank_by, self.format) {
            (RankBy::Points, Format::Gauntlet { .. } | Format::Grade(_) | Format::Partners { .. }) => {
                RankBy::Share
            }
            (_, Format::Race(_)) => RankBy::Race,
            (by, _) => by,
        }
    }

    /// The number of entrants that take part from the start.
    pub(super) fn field(&self) -> usize {
        self.entrants.iter().take_while(|entry| entry.joins <= 1).count()
    }

    /// The entrants that are paired in a round of a Swiss tournament.
    pub(super) fn paired(&self, round: u32) -> impl Iterator<Item = Entrant> {
        let entries = self.entrants.iter().enumerate();
        let paired =
            entries.filter(move |(_, entry)| entry.takes_part(round) && !entry.absent.contains(&round));
        paired.map(|(index, _)| Entrant(index as u16))
    }

    /// Validates the plan.
    ///
    /// # Errors
    /// Why the plan is inconsistent.
    pub fn check(&self) -> Result<(), Wrong> {
        let fail = |why: String| Err(Wrong::from(why));
        let (count, sides) = (self.entrants.len() as u64, self.seating.sides());
        if self.entrants.iter().skip(self.field()).any(|entry| entry.joins <= 1) {
            return fail("late entrants must follow those that take part from the start".to_owned());
        }
        let (name, numbers, least, fits) = match self.format {
            Format::RoundRobin { cycles } => ("round robin", [cycles, 1], sides, true),
            Format::Gauntlet { cycles } => ("a gauntlet", [cycles, 1], sides, true),
            Format::Swiss { rounds, sets } => ("a Swiss tournament", [rounds, sets], 2, sides == 2),
            Format::Knockout { best_of, .. } => ("a knockout", [best_of, 1], 2, sides == 2),
            Format::Partners { cycles } => ("a rotation of partners", [cycles, 1], 2 * sides, sides > 1),
            Format::Race(terms) => {
                terms.check()?;
                ("a race", [terms.max_sets, 1], 2, sides == 2)
            }
            Format::Grade(terms) => {
                terms.check()?;
                ("a grade", [terms.max_sets, 1], 2, sides == 2)
            }
            Format::Duel { sets } => ("a duel", [sets, 1], 2, sides == 2 || sides == 3),
        };
        if !fits {
            return fail(format!(
                "{name} does not support {sides} sides: take a round robin or a gauntlet, which play all groups of {sides}"
            ));
        }
        if matches!(self.format, Format::Partners { .. }) && self.seating.seats() != 2 * sides {
            return fail(format!("{}, not {} seats in {sides} sides", partners::NEEDS, self.seating.seats()));
        }
        if matches!(self.format, Format::Race(_) | Format::Grade(_)) && self.deals == Deals::Single {
            return fail(format!("{name} needs mirrored sets"));
        }
        let is_anchor =
            |entry: &Participation| entry.elo.is_some_and(|elo| (-10_000.0..=10_000.0).contains(&elo));
        if matches!(self.format, Format::Grade(_)) && !self.entrants.iter().skip(1).all(is_anchor) {
            return fail(format!(
                "{name} needs the strength of each entrant after the first one: `elo`, from -10000 to 10000"
            ));
        }
        if numbers.contains(&0) {
            return fail(format!("{name} needs at least one cycle, round or set"));
        }
        if self.rank_by == RankBy::Amounts && !self.format.is_known() {
            return fail(format!(
                "{name} pairs by points, so it cannot rank by amounts: take a round robin or a gauntlet"
            ));
        }
        if self.byes.allocated.max(self.byes.requested) > 2 {
            return fail("a bye is worth at most 1 point per match".to_owned());
        }
        let rounds = if let Format::Swiss { rounds, .. } = self.format { rounds } else { 0 };
        if let Some(round) = self
            .entrants
            .iter()
            .find_map(|entry| entry.absent.iter().find(|&&round| round == 0 || round > rounds))
        {
            return fail(match rounds {
                0 => format!("{name} has no byes on request"),
                _ => format!("{name} of {rounds} rounds has no round {round} for a bye on request"),
            });
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
            Format::Partners { .. } if count > partners::MAX_ENTRANTS as u64 => {
                return fail(format!("{name} has at most {} entrants, not {count}", partners::MAX_ENTRANTS));
            }
            Format::Knockout { .. } | Format::Race(_) | Format::Grade(_) if self.field() as u64 != count => {
                return fail(format!("{name} accepts no late entrants"));
            }
            Format::Duel { .. } if count != 2 => return fail(format!("{name} has 2 entrants, not {count}")),
            Format::RoundRobin { .. } if sides > 2 => binomial(count, sides as u64),
            Format::Gauntlet { .. } if sides > 2 => binomial(count - 1, sides as u64 - 1),
            Format::Swiss { .. } => count / 2,
            Format::Race(_) | Format::Grade(_) if count > MAX_RACERS => {
                return fail(format!("{name} has at most {MAX_RACERS} entrants, not {count}"));
            }
            Format::Duel { .. } | Format::Race(_) | Format::Grade(_) => 1,
            _ => count * count / 2,
        };
        let matches = longest
            .saturating_mul(u64::from(numbers[0]))
            .saturating_mul(u64::from(numbers[1]))
            .saturating_mul(self.deals.legs(self.seating) as u64);
        if matches > MAX_MATCHES {
            return fail(format!("{matches} matches exceed the maximum of {MAX_MATCHES}"));
        }
        Ok(())
    }
}
