//! A tournament's schedule, as lanes draw matches from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use referee_protocol::words::{EndedBy, OnFault};

use crate::core::{Seat, SeatSet, Seating};
use crate::referee::{Faults, Leg};
use crate::server::openings::Openings;
use crate::server::results::MatchReport;
use crate::server::schedule::{Fixture, Next, Schedule};
use crate::store::Journal;
use crate::tournament::schedule::{self, Due, MatchId};
use crate::tournament::{Entrant, Lineup, MatchResult};

/// Matches that are looked at for one between the same bots, so that a lane finds one soon or looks elsewhere.
const NEAR: usize = 64;

/// The schedule of a tournament that is being played. Lanes draw from it and record results in it; others look at it.
#[derive(Clone)]
pub struct Board(Arc<Mutex<schedule::Schedule>>);

impl Board {
    /// With this to be played.
    pub fn new(schedule: schedule::Schedule) -> Board {
        Board(Arc::new(Mutex::new(schedule)))
    }

    /// The schedule now.
    pub fn look(&self) -> MutexGuard<'_, schedule::Schedule> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tournament that is being played.
pub struct Contest {
    board: Board,
    scoring: Scoring,
    /// What its sets begin with.
    openings: Openings,
    /// Where it is noted that a match begins, where that outlives the run.
    journal: Option<Journal>,
    /// The matches that run, and their sets.
    running: BTreeMap<u32, u32>,
}

impl Contest {
    /// Nothing runs yet.
    pub fn new((board, scoring): (Board, Scoring), openings: Openings, journal: Option<Journal>) -> Contest {
        Contest { board, scoring, openings, journal, running: BTreeMap::new() }
    }

    /// The next match; those of a set follow each other, so that the last one is the last to end.
    fn find(&self, schedule: &schedule::Schedule, among: Option<&[usize]>) -> Option<Due> {
        let busy: BTreeSet<u32> = self.running.values().copied().collect();
        let is_free = |due: &Due| {
            !self.running.contains_key(&due.id.number) && (!due.is_mirrored || !busy.contains(&due.set))
        };
        let mut free = schedule.due().filter(is_free);
        match among {
            None => free.next(),
            Some(among) => free.take(NEAR).find(|due| is_between(&due.lineup, among)),
        }
    }

    fn fixture(&self, schedule: &schedule::Schedule, due: &Due) -> Fixture {
        let is_last = || {
            let up_to_it = schedule.due().take_while(|other| other.set <= due.set);
            up_to_it.filter(|other| other.set == due.set).count() == 1
        };
        let leg = if !due.is_mirrored {
            Leg::Only
        } else if is_last() {
            Leg::Last
        } else {
            Leg::Earlier
        };
        let (options, opening) = self.openings.of(due.set);
        let entrants: Vec<usize> = due.lineup.seats().iter().map(|entrant| entrant.index()).collect();
        Fixture {
            id: due.id.to_string(),
            deal: due.is_mirrored.then(|| due.deal()),
            leg,
            options,
            opening,
            entrants,
        }
    }
}

/// Whether these entrants have the seats, in whatever order.
fn is_between(lineup: &Lineup, entrants: &[usize]) -> bool {
    let count = |of: usize| lineup.seats().iter().filter(|entrant| entrant.index() == of).count();
    entrants.iter().all(|&of| count(of) == entrants.iter().filter(|&&other| other == of).count())
}

impl Schedule for Contest {
    fn next(&mut self, among: Option<&[usize]>) -> Next {
        let schedule = self.board.look();
        let Some(due) = self.find(&schedule, among) else {
            let is_over = among.is_none() && self.running.is_empty() && schedule.due().next().is_none();
            return if is_over { Next::Never } else { Next::Later };
        };
        let fixture = self.fixture(&schedule, &due);
        drop(schedule);
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.begin(&fixture.id, &fixture.entrants)
        {
            return Next::Broken(format!("that {} begins cannot be noted: {error}", fixture.id));
        }
        self.running.insert(due.id.number, due.set);
        Next::Match(fixture)
    }

    fn ended(&mut self, fixture: &Fixture, report: &MatchReport) -> bool {
        let Ok(MatchId { number, .. }) = fixture.id.parse() else { return false };
        self.running.remove(&number);
        let mut schedule = self.board.look();
        match self.scoring.result(fixture, report) {
            // What an entrant that has left, or a pair that is decided, still played does not count.
            Some(result) => drop(schedule.record(number, result)),
            None => schedule.cut_off(number),
        }
        // Another match of the set, or another round.
        true
    }
}

/// What matches come to for a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Scoring {
    /// Who plays with whom.
    pub seating: Seating,
    /// Matches of a set.
    pub legs: u32,
    /// What seats that fault lead to.
    pub on_fault: OnFault,
}

impl Scoring {
    /// What a match came to; none when it was cut off. One that was aborted because no bot was left has nobody ahead of the
    /// others, and all whose fault that was have lost it by that.
    pub fn result(&self, fixture: &Fixture, report: &MatchReport) -> Option<MatchResult> {
        let Scoring { seating, legs, on_fault } = *self;
        let id: MatchId = fixture.id.parse().ok()?;
        let entrants: Vec<Entrant> = fixture.entrants.iter().map(|&index| Entrant(index as u16)).collect();
        let lineup = Lineup::of_seats(seating, &entrants)?;
        let equal = vec![1; seating.seats()];
        let ranks = report.ranks.as_ref().or((!report.is_cut_off).then_some(&equal))?;
        let mut result = MatchResult::played(id.set(legs), lineup, ranks);
        let with = |test: &dyn Fn(Seat, &Faults) -> bool| -> SeatSet {
            seating.all().iter().filter(|&seat| test(seat, &report.faults[seat.index()])).collect()
        };
        result.faulted = with(&|_, faults| faults.total() > 0);
        let lost = with(&|seat, faults| {
            let ended_it = report.ended_by == EndedBy::Fault
                && report.fault.as_ref().is_some_and(|fault| fault.seat == seat.0);
            ended_it || report.ranks.is_none() && faults.total() > 0 || is_forfeit(on_fault, faults)
        });
        result.forfeited = of_sides(seating, lost);
        Some(result)
    }
}

/// Whether a seat with these faults has lost by them.
fn is_forfeit(on_fault: OnFault, faults: &Faults) -> bool {
    match on_fault {
        OnFault::Forfeit => faults.total() > 0,
        OnFault::Random => false,
        OnFault::Retry(times) => {
            let retried: u32 =
                faults.iter().filter(|(code, _)| code.is_retried()).map(|(_, count)| count).sum();
            retried > times || faults.total() > retried
        }
    }
}

/// All seats of the sides that these are on.
fn of_sides(seating: Seating, seats: SeatSet) -> SeatSet {
    let is_on = |seat: Seat| seating.members(seating.side(seat)).iter().any(|member| seats.contains(member));
    seating.all().iter().filter(|&seat| is_on(seat)).collect()
}
