//! Rulings: decisions of the organiser that replace results of matches.

use std::collections::BTreeSet;

use super::{MatchId, Schedule, ScheduleError};
use crate::standings::{Award, Unplayed};
use crate::{Deals, Entrant, Lineup};
use referee_game::Wrong;

/// A ruling on the result of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchRuling {
    /// The match does not count: see *Void* in the documentation of this module.
    Void,
    /// The match counts as not played: the side of the winner gets the points of a win; without a winner each side gets half of
    /// them. Like the points of a bye they count in the standings, and as evidence of strength they do not.
    Award {
        /// The winner; `None` for a draw.
        winner: Option<Entrant>,
    },
    /// The match is due again; this attempt and earlier ones do not count.
    Replay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    pub decides: MatchRuling,
    /// The match, and for [`MatchRuling::Replay`] its last attempt before the ruling.
    pub id: MatchId,
    /// [`Schedule::next_round`] when it was made: earlier rounds stay paired by what was played.
    pub since: u32,
    /// [`Schedule::next_round`] when it was undone.
    pub until: Option<u32>,
}

impl Ruling {
    /// Returns whether it is in force when this round is paired.
    fn is_in_force(&self, round: u32) -> bool {
        self.since <= round && self.until.is_none_or(|until| until > round)
    }
}

const INCONSISTENT: Wrong = Wrong::new("the schedule is inconsistent with this ruling");

/// A match of a round of a knockout that is over.
fn decided(number: u32, round: u32, now: u32) -> Wrong {
    format!("m{number} is of round {round}, and round {now} of the knockout is paired by its result").into()
}

fn needless(refused: ScheduleError) -> Wrong {
    let number = refused.number();
    format!("with this ruling m{number}, which was played, would not be needed: rule on it first").into()
}

impl Schedule {
    /// The decision on a match instead of its result, if any.
    pub fn ruling_on(&self, number: u32) -> Option<MatchRuling> {
        self.ruled.get(&number).copied()
    }

    /// Checks that a ruling which is made now is possible, and returns the schedule with it. Of a mirrored set all matches are
    /// replayed, on a new deal: pass a ruling for each of them.
    ///
    /// # Errors
    /// Why it is not possible.
    pub fn with_rulings(&self, rulings: &[Ruling]) -> Result<Schedule, Wrong> {
        for ruling in rulings {
            self.check_ruling(ruling)?;
        }
        let mut plan = self.plan.clone();
        plan.rulings.extend(rulings);
        let replayed: Vec<u32> = rulings
            .iter()
            .filter(|ruling| ruling.decides == MatchRuling::Replay)
            .map(|ruling| ruling.id.number)
            .collect();
        let played = self.played_results().filter(|(number, _)| !replayed.contains(number));
        let (schedule, refused) = Schedule::resume(plan, played.collect::<Vec<_>>(), self.voids.clone())
            .map_err(|_| INCONSISTENT)?;
        match refused.first() {
            Some(&refused) => Err(needless(refused)),
            None => Ok(schedule),
        }
    }

    /// The schedule without a ruling that is undone now, given by its index in the plan.
    ///
    /// # Errors
    /// Why it cannot be undone.
    pub fn without_rulings(&self, indices: &[usize]) -> Result<Schedule, Wrong> {
        let (mut plan, now) = (self.plan.clone(), self.next_round());
        for &index in indices {
            let ruling = &mut plan.rulings[index];
            ruling.until = Some(now);
            let (number, round) = (ruling.id.number, self.round_of(ruling.id.number)?);
            if plan.format.is_final() && round < self.round {
                return Err(decided(number, round, self.round));
            }
        }
        let played = self.played_results().collect::<Vec<_>>();
        let (schedule, refused) =
            Schedule::resume(plan, played, self.voids.clone()).map_err(|_| INCONSISTENT)?;
        match refused.first() {
            Some(ScheduleError::Unknown(_)) | None => Ok(schedule),
            Some(&refused) => Err(needless(refused)),
        }
    }

    fn round_of(&self, number: u32) -> Result<u32, Wrong> {
        self.expected(number)
            .map(|(set, _)| self.sets[set as usize - 1].round)
            .ok_or_else(|| Wrong::of(&ScheduleError::Unknown(number)))
    }

    fn check_ruling(&self, ruling: &Ruling) -> Result<(), Wrong> {
        let (number, now) = (ruling.id.number, self.round);
        let round = self.round_of(number)?;
        let is_played = self.results[number as usize - 1].is_some();
        if self.plan.format.is_final() && round < now {
            return Err(decided(number, round, now));
        }
        if ruling.decides == MatchRuling::Replay {
            return match is_played {
                false => Err(format!("m{number} has not been played yet").into()),
                true if round < now && !self.plan.format.is_known() => {
                    Err(format!(
                        "m{number} is of round {round}, and round {now} is paired: it can be void or awarded, but not replayed"
                    )
                    .into())
                }
                true => Ok(()),
            };
        }
        let is_ruled = self.ruled.contains_key(&number);
        if is_played || is_ruled || self.is_open(number as usize - 1) && self.is_due(self.set_of(number)) {
            return Ok(());
        }
        Err(format!("m{number} is not played: its pair is decided, or an entrant has withdrawn").into())
    }

    /// Returns all results that were played, whether or not a ruling replaces them.
    pub(super) fn played_results(&self) -> impl Iterator<Item = (u32, crate::MatchResult)> {
        let counting = self.results.iter().enumerate();
        let counting = counting.filter_map(|(at, result)| Some((at as u32 + 1, (*result)?)));
        counting.chain(self.set_aside.iter().map(|(&number, &result)| (number, result)))
    }

    /// The decision on a match when a round is paired.
    pub(super) fn ruling_at(&self, number: u32, round: u32) -> Option<MatchRuling> {
        let mut rulings = self.plan.rulings.iter().rev();
        let found = rulings.find(|ruling| {
            ruling.id.number == number && ruling.decides != MatchRuling::Replay && ruling.is_in_force(round)
        });
        found.map(|ruling| ruling.decides)
    }

    /// Puts a ruling in the place of a result, or the result back.
    pub(super) fn apply_ruling(&mut self, number: u32, ruling: Option<MatchRuling>) {
        let at = number as usize - 1;
        match ruling {
            Some(ruling) => {
                self.ruled.insert(number, ruling);
                self.set_aside.extend(self.results[at].take().map(|result| (number, result)));
            }
            None => {
                self.ruled.remove(&number);
                self.results[at] = self.set_aside.remove(&number);
            }
        }
    }

    /// Applies the rulings that were made or undone while this round of a Swiss tournament was the last one
    /// paired, on matches of earlier rounds. It is paired by the earlier results.
    pub(super) fn apply_late_rulings(&mut self) {
        let next = self.round + 1;
        let changed = |ruling: &&Ruling| ruling.since == next || ruling.until == Some(next);
        let numbers: Vec<u32> =
            self.plan.rulings.iter().filter(changed).map(|ruling| ruling.id.number).collect();
        for number in numbers {
            let is_earlier = self.round_of(number).is_ok_and(|round| round < self.round);
            let ruling = self.ruling_at(number, next);
            if !is_earlier || ruling == self.ruling_on(number) {
                continue;
            }
            let set = self.set_of(number);
            let pair =
                [0, 1].map(|side| self.sets[set as usize - 1].first.side(side).next().unwrap_or_default());
            let before = self.points(pair, &[set]);
            self.apply_ruling(number, ruling);
            let after = self.points(pair, &[set]);
            for (at, entrant) in pair.into_iter().enumerate() {
                let card = &mut self.swiss[entrant.index()];
                card.points = card.points + after[at] - before[at];
            }
        }
    }

    /// Twice the points that an entrant gets for a match by a ruling.
    pub(super) fn awarded(&self, number: u32, entrant: Entrant) -> u64 {
        let Some(MatchRuling::Award { winner }) = self.ruling_on(number) else { return 0 };
        let Some((_, lineup)) = self.expected(number) else { return 0 };
        let sides = || 0..lineup.seating().sides();
        match winner {
            None => u64::from(lineup.has(entrant)),
            Some(winner) => {
                let has = |side: usize, which: Entrant| lineup.side(side).any(|other| other == which);
                2 * u64::from(sides().any(|side| has(side, winner) && has(side, entrant)))
            }
        }
    }

    /// The points by rulings on matches of these lineups.
    pub(super) fn awards_by_rulings(&self, counts: impl Fn(&Lineup) -> bool) -> Vec<Award> {
        let mut awards = Vec::new();
        let awarded = self.ruled.iter().filter(|(_, ruling)| matches!(ruling, MatchRuling::Award { .. }));
        for (&number, _) in awarded {
            let Some((set, lineup)) = self.expected(number).filter(|(_, lineup)| counts(lineup)) else {
                continue;
            };
            let round = self.sets[set as usize - 1].round;
            let entrants: BTreeSet<Entrant> = lineup.seats().iter().copied().collect();
            for entrant in entrants {
                let half_points = self.awarded(number, entrant) as u32;
                awards.push(Award { round, entrant, reason: Unplayed::Ruling, matches: 1, half_points });
            }
        }
        awards
    }
}

impl super::Plan {
    /// The number of times that a set was replayed by rulings before an attempt at one of its matches.
    pub(super) fn replays_before(&self, id: MatchId) -> u32 {
        let is_before = |ruling: &&Ruling| {
            ruling.decides == MatchRuling::Replay
                && ruling.until.is_none()
                && ruling.id.number == id.number
                && ruling.id.attempt < id.attempt
        };
        self.rulings.iter().filter(is_before).count() as u32
    }

    /// The deal of an attempt at a match: that of its set if deals are mirrored, and a new one after each ruling that the
    /// set is replayed, since the dice of the old one are public.
    pub fn deal(&self, id: MatchId) -> String {
        if self.deals == Deals::Single {
            return id.to_string();
        }
        let set = id.set(self.deals.legs(self.seating) as u32);
        match self.replays_before(id) {
            0 => format!("s{set}"),
            replays => format!("s{set}.{}", replays + 1),
        }
    }
}
