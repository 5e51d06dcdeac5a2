//! Matches between the same bots, one after the other or several at once.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;
use std::ops::RangeInclusive;

use crate::core::erased::Rules;
use crate::core::seat::{Seat, Seating};
use crate::games;
use crate::referee::{Faults, Leg};
use crate::server::entrant::Source;
use crate::server::house::{Halt, Happening, House, Stopped};
use crate::server::openings::Openings;
use crate::server::results::{BotSummary, MatchReport, SetReport, Sets, Summary};
use crate::server::schedule::{Fixture, Next, Schedule};

/// What is to be played.
pub struct Play {
    /// Where. Its entrants are one for each seat or one for each side, as [`seating_for`] allows; the first begins in seat
    /// 0, and they move on by one seat from match to match.
    pub house: House,
    /// How many matches.
    pub matches: u32,
    /// What its matches begin with.
    pub openings: Openings,
    /// How often each deal is played, and with the bots where.
    pub mirror: Option<Mirror>,
    /// Whether bots remember nothing of earlier matches, so that those of a deal with chance or secrets need no new
    /// processes. Else no bot that connects may play one: see [`Play::check`].
    pub trust_bots: bool,
}

/// A mirrored set: a deal is played several times, with the bots in other seats each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// Each bot once in each place: as many matches as bots.
    Rotations,
    /// The bots in every order: 2 matches for two bots, 6 for three.
    All,
}

impl Mirror {
    /// How many matches a set of so many bots has.
    pub fn size(self, bots: usize) -> usize {
        match self {
            Mirror::Rotations => bots,
            Mirror::All => (1..=bots).product(),
        }
    }

    /// The order of the bots in a match of a set, counted from 0.
    fn order(self, bots: usize, index: usize) -> Vec<usize> {
        match self {
            Mirror::Rotations => (0..bots).map(|place| (place + index) % bots).collect(),
            Mirror::All => {
                let mut left: Vec<usize> = (0..bots).collect();
                let mut index = index;
                let pick = |place: usize| {
                    let orders_of_rest: usize = (1..bots - place).product();
                    let bot = left.remove(index / orders_of_rest);
                    index %= orders_of_rest;
                    bot
                };
                (0..bots).map(pick).collect()
            }
        }
    }
}

/// How the seats play together when so many bots play a game: each has a seat, or all seats of a side.
///
/// # Errors
/// When so many bots do not fill these seats, or any number of seats.
pub fn seating_for(rules: &dyn Rules, bots: usize, seats: Option<u8>) -> Result<Seating, String> {
    let of_game = rules.meta().seatings.iter().copied();
    if seats.is_some() {
        let seating = games::seating(rules, seats)?;
        return if bots == seating.seats() || bots == seating.sides() {
            Ok(seating)
        } else {
            let sides = seating.sides();
            Err(format!(
                "{} seats in {sides} sides are for {sides} or {} bots",
                seating.seats(),
                seating.seats()
            ))
        };
    }
    let each_seat = of_game.clone().find(|seating| seating.seats() == bots);
    each_seat.or_else(|| of_game.clone().find(|seating| seating.sides() == bots)).ok_or_else(|| {
        let counts: BTreeSet<usize> =
            of_game.flat_map(|seating| [seating.seats(), seating.sides()]).collect();
        let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
        format!("{} is played by {} bots", rules.meta().id, counts.join(" or "))
    })
}

/// Whether in the second match of a deal a bot that remembers the first knows what is to come.
pub fn is_told_by_a_deal(rules: &dyn Rules) -> bool {
    rules.meta().chance || rules.meta().hidden
}

/// Refuses bots that cannot be started anew for each match of such a deal.
///
/// # Errors
/// Which bot, and why.
pub fn check_fresh<'a>(rules: &dyn Rules, bots: impl IntoIterator<Item = &'a Source>) -> Result<(), String> {
    match bots.into_iter().find(|bot| matches!(bot, Source::Tcp(_))) {
        None => Ok(()),
        Some(bot) => Err(format!(
            "{} has chance or hidden information: in the second match of a deal a bot that remembers the first knows \
             what is to come, and `{bot}` cannot be started anew",
            rules.meta().id
        )),
    }
}

/// What is told while playing.
pub enum Step<'a> {
    /// Bots can connect here.
    Listening(SocketAddr),
    /// A match waits for a bot of this name to connect.
    Waiting(&'a str),
    /// A match has ended.
    Ended(&'a MatchReport),
    /// A mirrored set is complete, or the run ends within it.
    SetEnded(&'a SetReport),
}

/// How a run ended.
pub struct Played {
    /// All results.
    pub summary: Summary,
    /// Why it could not go on to its end.
    pub stopped: Option<String>,
}

/// The matches of a run in order. Those of a set follow each other, so that the last one is the last to end.
struct InOrder {
    sets: RangeInclusive<u32>,
    /// How many matches a set has.
    size: u32,
    mirror: Option<Mirror>,
    /// Sets of which no match runs and some are left: the set, and the next of its matches, from 0.
    begun: VecDeque<(u32, u32)>,
    /// By id: the set that a match belongs to, and what is next in it.
    running: HashMap<String, (u32, u32)>,
    seats: usize,
    bots: usize,
    openings: Openings,
}

impl Schedule for InOrder {
    fn next(&mut self, _: Option<&[usize]>) -> Next {
        let begun = self.begun.pop_front();
        let Some((set, index)) = begun.or_else(|| self.sets.next().map(|set| (set, 0))) else {
            let more_follow = self.running.values().any(|&(_, next)| next < self.size);
            return if more_follow { Next::Later } else { Next::Never };
        };
        let number = (set - 1) * self.size + index + 1;
        let id = format!("m{number}");
        self.running.insert(id.clone(), (set, index + 1));
        let order = match self.mirror {
            Some(mirror) => mirror.order(self.bots, index as usize),
            None => Mirror::Rotations.order(self.bots, number as usize - 1),
        };
        // Without sets, each match is one.
        let (options, opening) = self.openings.of(set);
        Next::Match(Fixture {
            id,
            deal: self.mirror.map(|_| format!("s{set}")),
            leg: match self.mirror {
                None => Leg::Only,
                Some(_) if index + 1 == self.size => Leg::Last,
                Some(_) => Leg::Earlier,
            },
            options,
            opening,
            // The seats of a side are as far apart as there are sides.
            entrants: (0..self.seats).map(|seat| order[seat % self.bots]).collect(),
        })
    }

    fn ended(&mut self, fixture: &Fixture, _: &MatchReport) -> bool {
        let Some((set, next)) = self.running.remove(&fixture.id).filter(|&(_, next)| next < self.size) else {
            return false;
        };
        self.begun.push_back((set, next));
        true
    }
}

impl Play {
    /// Refuses what would not be fair or cannot be played.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        let Some(mirror) = self.mirror else { return Ok(()) };
        if self.needs_fresh_bots() {
            check_fresh(self.house.rules, self.house.entrants.iter().map(|entrant| &entrant.source))
                .map_err(|what| format!("--mirror: {what}; --trust-bots plays nevertheless"))?;
        }
        let size = mirror.size(self.house.entrants.len()) as u32;
        if !self.matches.is_multiple_of(size) {
            return Err(format!(
                "-n {}: with --mirror a multiple of {size}, the matches of a set",
                self.matches
            ));
        }
        Ok(())
    }

    fn needs_fresh_bots(&self) -> bool {
        self.mirror.is_some() && is_told_by_a_deal(self.house.rules) && !self.trust_bots
    }

    /// Plays. `interrupt` breaks it off; `tell` is told what happens.
    pub async fn run(self, interrupt: impl Future<Output = ()>, mut tell: impl FnMut(Step<'_>)) -> Played {
        let is_fresh = self.needs_fresh_bots();
        let trust_bots = self.mirror.is_some().then_some(self.trust_bots);
        let Play { mut house, matches, openings, mirror, .. } = self;
        for entrant in &mut house.entrants {
            entrant.is_fresh = is_fresh;
        }
        let mut tally = Tally::new(&house, trust_bots);
        let size = mirror.map_or(1, |mirror| mirror.size(house.entrants.len()) as u32);
        let schedule = InOrder {
            sets: 1..=matches / size,
            size,
            mirror,
            begun: VecDeque::new(),
            running: HashMap::new(),
            seats: house.seating.seats(),
            bots: house.entrants.len(),
            openings,
        };
        let told = |happening: Happening<'_>| {
            match happening {
                Happening::Listening(address) => tell(Step::Listening(address)),
                Happening::Waiting(name) => tell(Step::Waiting(name)),
                Happening::Ended { fixture, report, never_came, .. } => {
                    tally.count(fixture, report);
                    tell(Step::Ended(report));
                    if let Some(set) = tally.add_to_set(fixture, report) {
                        tell(Step::SetEnded(&set));
                    }
                    return never_came.map_or(Ok(()), |why| Err(Halt::Because(why)));
                }
            }
            Ok(())
        };
        let Stopped { is_interrupted, why, .. } = house.play(schedule, interrupt, told).await;
        for set in tally.open_sets() {
            tell(Step::SetEnded(&set));
        }
        tally.summary.interrupted = is_interrupted;
        Played { summary: tally.summary, stopped: why }
    }
}

/// The results of a run.
struct Tally {
    seating: Seating,
    summary: Summary,
    /// Sets of which a match has ended, in that order.
    sets: Vec<SetReport>,
}

impl Tally {
    fn new(house: &House, trust_bots: Option<bool>) -> Tally {
        let bots = house.entrants.iter().map(|entrant| BotSummary {
            bot: entrant.name.clone(),
            command: entrant.source.to_string(),
            matches: 0,
            wins: 0,
            draws: 0,
            losses: 0,
            score: 0.0,
            sets: trust_bots.map(|_| Sets::default()),
            faults: Faults::default(),
            cpu_ms: 0,
        });
        let summary = Summary {
            game: house.rules.meta().id.to_owned(),
            matches: 0,
            aborted: 0,
            bots: bots.collect(),
            seed: house.run.seed.to_hex(),
            trust_bots,
            interrupted: false,
        };
        Tally { seating: house.seating, summary, sets: Vec::new() }
    }

    fn count(&mut self, fixture: &Fixture, report: &MatchReport) {
        match (&report.ranks, &report.scores) {
            (Some(_), Some(_)) => self.summary.matches += 1,
            _ => self.summary.aborted += 1,
        }
        for (bot, summary) in self.summary.bots.iter_mut().enumerate() {
            let seats: Vec<usize> =
                (0..fixture.entrants.len()).filter(|&seat| fixture.entrants[seat] == bot).collect();
            for &seat in &seats {
                summary.faults.merge(&report.counted_faults(seat));
                summary.cpu_ms += report.cpu_ms[seat].unwrap_or(0);
            }
            // Its seats are of one side, so that the first tells how it did.
            let Some(&seat) = seats.first() else { continue };
            let (Some(ranks), Some(scores)) = (&report.ranks, &report.scores) else { continue };
            let side = |seat: usize| self.seating.side(Seat(seat as u8));
            let shares =
                (0..ranks.len()).any(|other| side(other) != side(seat) && ranks[other] == ranks[seat]);
            summary.matches += 1;
            summary.score += scores[seat];
            match (ranks[seat], shares) {
                (1, false) => summary.wins += 1,
                (1, true) => summary.draws += 1,
                _ => summary.losses += 1,
            }
        }
    }

    /// Adds a match to its set, if it belongs to one. Returns the set when it is complete.
    fn add_to_set(&mut self, fixture: &Fixture, report: &MatchReport) -> Option<SetReport> {
        let deal = fixture.deal.as_ref()?;
        let index = self.sets.iter().position(|set| set.id == *deal).unwrap_or_else(|| {
            self.sets.push(SetReport {
                id: deal.clone(),
                deal: deal.clone(),
                matches: Vec::new(),
                bots: self.summary.bots.iter().map(|bot| bot.bot.clone()).collect(),
                scores: Some(vec![0.0; self.summary.bots.len()]),
            });
            self.sets.len() - 1
        });
        let set = &mut self.sets[index];
        set.matches.push(report.id.clone());
        set.scores = set.scores.take().zip(report.scores.as_ref()).map(|(mut sums, scores)| {
            for (bot, sum) in sums.iter_mut().enumerate() {
                let seat = fixture.entrants.iter().position(|&entrant| entrant == bot);
                *sum += seat.map_or(0.0, |seat| scores[seat]);
            }
            sums
        });
        if fixture.leg != Leg::Last {
            return None;
        }
        let set = self.sets.remove(index);
        if let Some(scores) = &set.scores {
            let best = scores.iter().copied().fold(f64::MIN, f64::max);
            let is_shared = scores.iter().filter(|&&score| score == best).count() > 1;
            for (bot, &score) in self.summary.bots.iter_mut().zip(scores) {
                let Some(sets) = &mut bot.sets else { continue };
                match (score == best, is_shared) {
                    (true, false) => sets.wins += 1,
                    (true, true) => sets.draws += 1,
                    (false, _) => sets.losses += 1,
                }
            }
        }
        Some(set)
    }

    /// The sets that were broken off.
    fn open_sets(&mut self) -> Vec<SetReport> {
        let mut sets = std::mem::take(&mut self.sets);
        for set in &mut sets {
            set.scores = None;
        }
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::Mirror;

    #[test]
    fn rotations_put_each_bot_once_in_each_place() {
        let orders: Vec<_> = (0..3).map(|index| Mirror::Rotations.order(3, index)).collect();
        assert_eq!(orders, [[0, 1, 2], [1, 2, 0], [2, 0, 1]]);
        assert_eq!(Mirror::Rotations.size(3), 3);
    }

    #[test]
    fn all_orders_come_once() {
        let orders: Vec<_> = (0..Mirror::All.size(3)).map(|index| Mirror::All.order(3, index)).collect();
        assert_eq!(orders, [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]);
    }
}
