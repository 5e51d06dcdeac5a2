//! Matches between the same bots, one at a time or several concurrently.
//!
//! ```no_run
//! use referee_bots::Launch;
//! use referee_engine::driver::{Run, Terms};
//! use referee_engine::runner::{MatchRunner, Openings};
//! use referee_engine::sources::{self, BotSpec};
//! use referee_game::chance::Seed;
//! use referee_match::Opening;
//! use referee_runs::play::{Play, PlayEvent, seating_for};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rules = referee_game::Catalog::empty().find("checkers")?;
//! let run = Run { seed: Seed([7; 32]), terms: Terms::default() };
//! let bots = BotSpec::of(vec![sources::parse("python3 one.py")?, sources::parse("./other --depth 3")?]);
//! let seating = seating_for(rules, bots.len(), None)?;
//! let runner = MatchRunner { jobs: 2, ..MatchRunner::new(run, rules, seating, bots, Launch::Directly) };
//! let openings = Openings::same(rules.default_options(), Opening::None);
//! let play = Play { runner, matches: 10, openings, mirror: None, trust_bots: false, max_cost: None };
//! let result = play.run(std::future::pending(), |event| {
//!     if let PlayEvent::Ended(finished) = event {
//!         println!("{}: {}", finished.id, finished.ending.reason);
//!     }
//! });
//! for bot in &result.summary.bots {
//!     println!("{}: {} wins, {} draws, {} losses", bot.bot, bot.wdl.wins, bot.wdl.draws, bot.wdl.losses);
//! }
//! # Ok(())
//! # }
//! ```

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;

use referee_engine::runner::{
    EndedMatch, Fixture, Halt, MatchRunner, Next, Openings, RunEnd, RunEvent, RunFailure, Scheduler, Wait,
    deal_leaks_information,
};
use referee_engine::sources::{Source, check_programs};
use referee_game::Wrong;
use referee_game::erased::Rules;
use referee_game::seat::{Seat, Seating};
use referee_match::{Faults, InfoTotals, Leg};
use referee_report::{BotSummary, Comparison, RunSummary, SetReport};
use referee_results::{FinishedMatch, FirstFaults, moves_of_set};
use referee_stats::Wdl;
use referee_stats::amounts::AmountSample;
use referee_stats::sample::{Sample, SetMoves};
use referee_stats::schedule::MatchId;
use referee_stats::sprt::SetScores;

use crate::budget::Budget;
use crate::config::Dollars;

/// The configuration of `referee play`.
#[derive(Debug)]
pub struct Play {
    /// The bots, with one bot per seat or one per side, as [`seating_for`] allows; the first starts in seat 0, and the bots
    /// rotate by one seat from match to match.
    pub runner: MatchRunner,
    pub matches: u32,
    /// The openings of the matches.
    pub openings: Openings,
    /// The number of matches on each deal, and the seats of the bots in each.
    pub mirror: Option<Mirror>,
    /// Whether to trust that bots remember nothing of earlier matches, so that no new processes are needed for deals
    /// with chance or secrets. Otherwise bots that connect cannot play them: see [`Play::check`].
    pub trust_bots: bool,
    /// The cost of matches at which the run is interrupted, as the bots report it.
    pub max_cost: Option<Dollars>,
}

/// The matches of a mirrored set on one deal, with the bots in other seats each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// The rotations: each bot once in each place, in as many matches as bots.
    Rotations,
    /// Every order of the bots: 2 matches for two bots, 6 for three.
    All,
}

impl Mirror {
    /// The number of matches of a set.
    pub fn size(self, bots: usize) -> usize {
        match self {
            Mirror::Rotations => bots,
            Mirror::All => (1..=bots).product(),
        }
    }

    /// The order of the bots in a match of a set; `index` counts from 0.
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

/// The seating for a number of bots: each bot has one seat, or all seats of a side.
///
/// # Errors
/// If the number of bots fits neither the seats nor the sides.
pub fn seating_for(rules: &dyn Rules, bots: usize, seats: Option<u8>) -> Result<Seating, Wrong> {
    let of_game = rules.meta().seatings.iter().copied();
    if seats.is_some() {
        let seating = rules.meta().seating(seats)?;
        return if bots == seating.seats() || bots == seating.sides() {
            Ok(seating)
        } else {
            let (seats, sides) = (seating.seats(), seating.sides());
            Err(format!("{seats} seats in {sides} sides need {} bots", or([sides, seats])).into())
        };
    }
    let each_seat = of_game.clone().find(|seating| seating.seats() == bots);
    each_seat.or_else(|| of_game.clone().find(|seating| seating.sides() == bots)).ok_or_else(|| {
        let bots = of_game.flat_map(|seating| [seating.seats(), seating.sides()]);
        format!("{} needs {} bots", rules.meta().id, or(bots)).into()
    })
}

/// Joins counts: `2 or 4`.
fn or(counts: impl IntoIterator<Item = usize>) -> String {
    let counts: BTreeSet<usize> = counts.into_iter().collect();
    counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

/// Checks that all bots can be restarted for each match of a deal that leaks information.
///
/// # Errors
/// Which bot cannot be restarted, and why.
pub fn check_fresh<'a>(
    rules: &dyn Rules,
    bots: impl IntoIterator<Item = &'a Arc<dyn Source>>,
) -> Result<(), Wrong> {
    match bots.into_iter().find(|bot| !bot.is_started()) {
        None => Ok(()),
        Some(bot) => Err(format!(
            "{} has chance or hidden information, so a bot that remembers the first match of a deal knows what will \
             happen in the second, and the referee cannot restart `{bot}`",
            rules.meta().id
        )
        .into()),
    }
}

/// Reasons why matches would be unfair or cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum InvalidPlay {
    #[error(transparent)]
    NotRestartable(#[from] Wrong),
    #[error("{matches} matches are not whole mirrored sets of {size}")]
    IncompleteSet { matches: u32, size: u32 },
}

#[derive(Debug)]
pub enum PlayEvent<'a> {
    /// Bots can connect to this address.
    Listening(SocketAddr),
    /// A match waits for a bot of this name to connect.
    Waiting(&'a str),
    /// The watched match has news, as text.
    Moved(&'a str),
    Ended(&'a FinishedMatch),
    /// A mirrored set is complete, or the run has ended within it.
    SetEnded(&'a SetReport),
}

#[derive(Debug)]
pub struct PlayResult {
    pub summary: RunSummary,
    /// The reason why the run costs more than it may, which interrupts it.
    pub over_budget: Option<String>,
    /// The error that ended the run early.
    pub stopped: Option<RunFailure>,
}

/// A match that is to be played.
#[derive(Debug, Clone, Copy)]
struct PendingMatch {
    set: u32,
    /// The index in the set, from 0.
    index: u32,
    /// The number of the attempt, from 1.
    attempt: u32,
}

/// The matches of a run in order. The matches of a set run one at a time, so that the last one ends last.
#[derive(Debug)]
struct SetsInOrder {
    sets: RangeInclusive<u32>,
    /// The number of matches of a set.
    size: u32,
    mirror: Option<Mirror>,
    /// The next matches of sets that have begun and of which no match is in progress.
    begun: VecDeque<PendingMatch>,
    /// The matches in progress, by id.
    running: HashMap<String, PendingMatch>,
    seats: usize,
    bots: usize,
    openings: Openings,
}

impl Scheduler for SetsInOrder {
    fn next(&mut self, _: Option<&[usize]>) -> Next {
        let begun = self.begun.pop_front();
        let next = begun.or_else(|| self.sets.next().map(|set| PendingMatch { set, index: 0, attempt: 1 }));
        let Some(next @ PendingMatch { set, index, attempt }) = next else {
            // A match in progress may have to be played again.
            return if self.running.is_empty() { Next::Never } else { Next::Later };
        };
        let number = (set - 1) * self.size + index + 1;
        let id = MatchId { number, attempt }.to_string();
        self.running.insert(id.clone(), next);
        let order = match self.mirror {
            Some(mirror) => mirror.order(self.bots, index as usize),
            None => Mirror::Rotations.order(self.bots, number as usize - 1),
        };
        // Without mirroring, each match is a set.
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
            // Seat numbers of a side differ by multiples of the number of sides.
            bots: (0..self.seats).map(|seat| order[seat % self.bots]).collect(),
            wait: Wait::Always,
            secret: None,
        })
    }

    fn ended(&mut self, fixture: &Fixture, finished: &FinishedMatch) -> bool {
        let Some(ended @ PendingMatch { set, index, attempt }) = self.running.remove(&fixture.id) else {
            return false;
        };
        if finished.is_to_be_replayed() {
            self.begun.push_back(PendingMatch { attempt: attempt + 1, ..ended });
        } else if index + 1 < self.size {
            self.begun.push_back(PendingMatch { set, index: index + 1, attempt: 1 });
        } else {
            return false;
        }
        true
    }
}

impl Play {
    /// Validates the configuration.
    ///
    /// # Errors
    /// Why it would be unfair or cannot be played.
    pub fn check(&self) -> Result<(), InvalidPlay> {
        let Some(mirror) = self.mirror else { return Ok(()) };
        if self.needs_fresh_bots() {
            let sources = self.runner.bots.iter().map(|entrant| &entrant.source);
            check_fresh(self.runner.rules, sources)?;
        }
        let size = mirror.size(self.runner.bots.len()) as u32;
        if !self.matches.is_multiple_of(size) {
            return Err(InvalidPlay::IncompleteSet { matches: self.matches, size });
        }
        Ok(())
    }

    fn needs_fresh_bots(&self) -> bool {
        self.mirror.is_some() && deal_leaks_information(self.runner.rules.meta()) && !self.trust_bots
    }

    /// Plays. `interrupt` aborts the run; `on_event` receives events on a thread of its own.
    pub fn run(
        self,
        interrupt: impl Future<Output = ()>,
        mut on_event: impl FnMut(PlayEvent<'_>) + Send,
    ) -> PlayResult {
        let is_fresh = self.needs_fresh_bots();
        let trust_bots = self.mirror.is_some().then_some(self.trust_bots);
        let Play { mut runner, matches, openings, mirror, max_cost, .. } = self;
        let mut budget = Budget::new(max_cost, Vec::new());
        for entrant in &mut runner.bots {
            entrant.is_fresh = is_fresh;
        }
        let mut tally = RunTally::new(&runner, mirror, trust_bots, openings.are_drawn());
        if let Err(why) = check_programs(&runner.bots) {
            return PlayResult {
                summary: tally.into_summary(),
                over_budget: None,
                stopped: Some(why.into()),
            };
        }
        let size = mirror.map_or(1, |mirror| mirror.size(runner.bots.len()) as u32);
        let schedule = SetsInOrder {
            sets: 1..=matches / size,
            size,
            mirror,
            begun: VecDeque::new(),
            running: HashMap::new(),
            seats: runner.seating.seats(),
            bots: runner.bots.len(),
            openings,
        };
        let on_run_event = |event: RunEvent<'_>| {
            match event {
                RunEvent::Listening(address) => on_event(PlayEvent::Listening(address)),
                RunEvent::Waiting(name) => on_event(PlayEvent::Waiting(name)),
                RunEvent::Moved(text) => on_event(PlayEvent::Moved(text)),
                RunEvent::Ended(EndedMatch { fixture, finished, no_show, .. }) => {
                    let moves = tally.moves(fixture, finished);
                    tally.count(fixture, finished, moves.as_ref());
                    budget.charge(&fixture.bots, &finished.totals);
                    let absent = no_show.as_ref().map(|no_show| no_show.seat);
                    tally.summary.first_faults.add(finished, absent);
                    on_event(PlayEvent::Ended(finished));
                    if let Some(set) = tally.add_to_set(fixture, finished, moves) {
                        on_event(PlayEvent::SetEnded(&set));
                    }
                    if let Some(no_show) = no_show {
                        return Err(no_show.clone().into());
                    }
                    return if budget.exceeded().is_some() { Err(Halt::Done) } else { Ok(()) };
                }
                RunEvent::Connected(_) | RunEvent::Settled => {}
            }
            Ok(())
        };
        let RunEnd { is_interrupted, is_done, why, .. } = runner.play(schedule, interrupt, on_run_event);
        for set in tally.open_sets() {
            on_event(PlayEvent::SetEnded(&set));
        }
        tally.summary.interrupted = is_interrupted || is_done;
        PlayResult {
            summary: tally.into_summary(),
            over_budget: budget.exceeded().filter(|_| is_done),
            stopped: why,
        }
    }
}

/// Sums up the results of a run.
struct RunTally {
    summary: RunSummary,
    /// Incomplete sets, in the order in which their first match ended.
    sets: Vec<SetReport>,
    /// The moves of the matches of incomplete sets, with the bots by seat.
    moves: HashMap<String, Vec<(Vec<u8>, SetMoves)>>,
    /// With two bots: the scores of the first one, per mirrored set or match.
    sample: Option<Sample>,
    /// By bot: what it gets, per mirrored set or match.
    amounts: Vec<AmountSample>,
    /// Whether matches can have the moves of earlier ones.
    can_repeat: bool,
}

impl RunTally {
    fn new(
        runner: &MatchRunner,
        mirror: Option<Mirror>,
        trust_bots: Option<bool>,
        are_openings_drawn: bool,
    ) -> RunTally {
        let bots = runner.bots.iter().map(|entrant| BotSummary {
            bot: entrant.name.clone(),
            command: entrant.source.to_string(),
            matches: 0,
            wdl: Wdl::default(),
            score: 0.0,
            amount: None,
            sets: trust_bots.map(|_| Wdl::default()),
            faults: Faults::default(),
            totals: InfoTotals::default(),
            cpu_ms: 0,
            sandbox: entrant.source.command().map(|command| command.sandbox.clone()),
        });
        let summary = RunSummary {
            game: runner.rules.meta().id.to_owned(),
            amounts: runner.rules.meta().amounts,
            matches: 0,
            aborted: 0,
            void: 0,
            paused: 0,
            rules_restarts: 0,
            bots: bots.collect(),
            difference: None,
            seed: runner.run.seed.to_hex(),
            trust_bots,
            interrupted: false,
            first_faults: FirstFaults::default(),
        };
        let bots = runner.bots.len();
        let legs = mirror.map_or(1, |mirror| mirror.size(bots) as u32);
        let sample =
            (bots == 2).then(|| Sample::new(SetScores::new(legs, 1)).with_drawn_openings(are_openings_drawn));
        let can_repeat = !runner.rules.meta().chance;
        let (sets, moves) = (Vec::new(), HashMap::new());
        let amounts = vec![AmountSample::default(); bots];
        RunTally { summary, sets, moves, sample, amounts, can_repeat }
    }

    /// The moves of a match with the bots by seat, if they matter.
    fn moves(&self, fixture: &Fixture, finished: &FinishedMatch) -> Option<(Vec<u8>, SetMoves)> {
        if self.sample.is_none() || !self.can_repeat || finished.ending.scores.is_none() {
            return None;
        }
        Some((fixture.bots.iter().map(|&bot| bot as u8).collect(), finished.moves?))
    }

    fn count(&mut self, fixture: &Fixture, finished: &FinishedMatch, moves: Option<&(Vec<u8>, SetMoves)>) {
        *match finished.ending.scores {
            Some(_) => &mut self.summary.matches,
            None => &mut self.summary.aborted,
        } += 1;
        self.summary.void += u32::from(finished.is_void);
        self.summary.paused += u32::from(finished.paused_ms > 0);
        self.summary.rules_restarts += finished.rules_restarts;
        for (bot, summary) in self.summary.bots.iter_mut().enumerate() {
            let seats: Vec<usize> =
                (0..fixture.bots.len()).filter(|&seat| fixture.bots[seat] == bot).collect();
            for &seat in &seats {
                summary.faults.merge(&finished.counted_faults(Seat(seat as u8)));
                summary.totals.merge(&finished.totals[seat]);
                summary.cpu_ms += finished.cpu_ms[seat].unwrap_or(0);
            }
            // The seats of a bot are all on one side, so the first one represents it.
            let Some(&seat) = seats.first() else { continue };
            // The bot's `hello` may have named it.
            summary.bot.clone_from(&finished.seats[seat]);
            let Some(scores) = &finished.ending.scores else { continue };
            summary.matches += 1;
            summary.score += scores[seat];
            if let Some(sample) = self.sample.as_mut().filter(|_| bot == 0 && fixture.deal.is_none()) {
                sample.add(scores[seat], moves.map(|moves| moves_of_set(vec![moves.clone()])));
            }
            if let Some(amounts) = finished.ending.amounts.as_ref().filter(|_| fixture.deal.is_none()) {
                self.amounts[bot].add(amounts[seat]);
            }
            finished.result_of(Seat(seat as u8)).into_iter().for_each(|result| summary.wdl.count(result, 1));
        }
    }

    /// Adds a match to its set, if it belongs to one. Returns the set once it is complete.
    fn add_to_set(
        &mut self,
        fixture: &Fixture,
        finished: &FinishedMatch,
        moves: Option<(Vec<u8>, SetMoves)>,
    ) -> Option<SetReport> {
        let deal =
            fixture.deal.as_ref().filter(|_| !finished.is_to_be_replayed() || finished.is_cut_off())?;
        let index = self.sets.iter().position(|set| set.id == *deal).unwrap_or_else(|| {
            self.sets.push(SetReport {
                id: deal.clone(),
                deal: deal.clone(),
                matches: Vec::new(),
                bots: self.summary.bots.iter().map(|bot| bot.bot.clone()).collect(),
                scores: Some(vec![0.0; self.summary.bots.len()]),
                amounts: self.summary.amounts.map(|_| vec![0.0; self.summary.bots.len()]),
            });
            self.sets.len() - 1
        });
        self.moves.entry(deal.clone()).or_default().extend(moves);
        let set = &mut self.sets[index];
        set.matches.push(finished.id.clone());
        for (sums, of_match) in
            [(&mut set.scores, &finished.ending.scores), (&mut set.amounts, &finished.ending.amounts)]
        {
            *sums = sums.take().zip(of_match.as_ref()).map(|(mut sums, of_match)| {
                for (bot, sum) in sums.iter_mut().enumerate() {
                    let seat = fixture.bots.iter().position(|&entrant| entrant == bot);
                    *sum += seat.map_or(0.0, |seat| of_match[seat]);
                }
                sums
            });
        }
        if fixture.leg != Leg::Last {
            return None;
        }
        let mut set = self.sets.remove(index);
        for (amount, sample) in set.amounts.iter_mut().flatten().zip(&mut self.amounts) {
            *amount /= set.matches.len() as f64;
            sample.add(*amount);
        }
        let moves = self.moves.remove(deal).filter(|_| self.can_repeat).map(moves_of_set);
        if let Some(scores) = &set.scores {
            if let Some(sample) = &mut self.sample {
                sample.add(scores[0] / set.matches.len() as f64, moves);
            }
            for (bot, summary) in self.summary.bots.iter_mut().enumerate() {
                let others = scores.iter().enumerate().filter(|&(other, _)| other != bot);
                let best = others.map(|(_, &score)| score).fold(f64::MIN, f64::max);
                if let Some(sets) = &mut summary.sets {
                    sets.count(best.total_cmp(&scores[bot]).into(), 1);
                }
            }
        }
        Some(set)
    }

    fn into_summary(mut self) -> RunSummary {
        for (bot, sample) in self.summary.bots.iter_mut().zip(&self.amounts) {
            bot.amount = sample.mean();
        }
        RunSummary { difference: self.sample.as_ref().map(Comparison::from), ..self.summary }
    }

    /// The incomplete sets, without scores.
    fn open_sets(&mut self) -> Vec<SetReport> {
        let mut sets = std::mem::take(&mut self.sets);
        for set in &mut sets {
            (set.scores, set.amounts) = (None, None);
        }
        sets
    }
}

#[cfg(test)]
mod tests {
    use referee_match::{Ending, Opening};
    use referee_protocol::words::EndedBy;
    use referee_stats::Cause;
    use serde_json::value::RawValue;

    use super::*;

    fn aborted(id: &str, cause: Cause) -> FinishedMatch {
        let ended_by = EndedBy::Aborted;
        let ending = Ending {
            ended_by,
            reason: ended_by.to_string(),
            ranks: None,
            scores: None,
            amounts: None,
            fault: None,
        };
        let attempt = id.parse().map_or(1, |id: MatchId| id.attempt);
        FinishedMatch {
            cause: Some(cause),
            is_void: cause.is_void(attempt),
            ..FinishedMatch::new(id.to_owned(), Seating::new(2, 2), vec![String::new(); 2], ending)
        }
    }

    /// Plays the schedule to its end. `ends` gives the cause of an abort by match id. Returns ids and deals.
    fn played(
        mirror: Option<Mirror>,
        matches: u32,
        ends: impl Fn(&str) -> Option<Cause>,
    ) -> Vec<(String, Option<String>)> {
        let size = mirror.map_or(1, |mirror| mirror.size(2) as u32);
        let mut schedule = SetsInOrder {
            sets: 1..=matches / size,
            size,
            mirror,
            begun: VecDeque::new(),
            running: HashMap::new(),
            seats: 2,
            bots: 2,
            openings: Openings::same(RawValue::from_string("{}".to_owned()).unwrap(), Opening::None),
        };
        let mut played = Vec::new();
        while let Next::Match(fixture) = schedule.next(None) {
            let cause = ends(&fixture.id);
            let mut finished = aborted(&fixture.id, cause.unwrap_or(Cause::Paused));
            finished.ending.ranks = cause.is_none().then(|| vec![1, 2]);
            schedule.ended(&fixture, &finished);
            played.push((fixture.id, fixture.deal));
        }
        played
    }

    #[test]
    fn a_match_without_a_result_is_replayed_and_finally_void() {
        let ids = |played: Vec<(String, Option<String>)>| -> Vec<String> {
            played.into_iter().map(|(id, _)| id).collect()
        };
        assert_eq!(ids(played(None, 1, |id| (id == "m1").then_some(Cause::Paused))), ["m1", "m1.2"]);
        assert_eq!(ids(played(None, 1, |_| Some(Cause::Paused))), ["m1", "m1.2", "m1.3"]);
        assert_eq!(ids(played(None, 1, |_| Some(Cause::NoBots))), ["m1"]);
    }

    #[test]
    fn match_of_set_is_replayed_on_its_deal_before_next() {
        let played = played(Some(Mirror::Rotations), 2, |id| (id == "m1").then_some(Cause::Paused));
        let deal = Some("s1".to_owned());
        let all = ["m1", "m1.2", "m2"].map(|id| (id.to_owned(), deal.clone()));
        assert_eq!(played, all);
    }

    #[test]
    fn rotations_seat_each_bot_once_in_each_place() {
        let orders: Vec<_> = (0..3).map(|index| Mirror::Rotations.order(3, index)).collect();
        assert_eq!(orders, [[0, 1, 2], [1, 2, 0], [2, 0, 1]]);
        assert_eq!(Mirror::Rotations.size(3), 3);
    }

    #[test]
    fn all_orders_are_distinct() {
        let orders: Vec<_> = (0..Mirror::All.size(3)).map(|index| Mirror::All.order(3, index)).collect();
        assert_eq!(orders, [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]);
    }
}
