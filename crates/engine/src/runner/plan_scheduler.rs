//! Schedules the matches of a plan: those of a tournament, or of a regression.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use referee_game::{Seat, SeatSet, Seating};
use referee_match::{Faults, Leg};
use referee_protocol::words::{EndedBy, OnFault};
use referee_results::{FinishedMatch, Roster};
use referee_stats::schedule::{self, DueMatch, MatchId};
use referee_stats::{Entrant, Lineup, MatchResult};

use crate::runner::fixture::{Fixture, Wait};
use crate::runner::openings::Openings;
use crate::runner::scheduler::{DueSet, Next, NextSet, Scheduler, SetScheduler};

/// The number of due matches examined for one between the same bots, so that a lane finds one fast or plays
/// others.
const LOOKAHEAD: usize = 64;

/// The end of an attempt at a match.
#[derive(Debug, Clone, Copy)]
enum AttemptEnd {
    Played(MatchResult),
    Void,
    /// The match is played again.
    Aborted,
}

/// The attempts that have ended, in the order in which the schedule recorded them.
type AttemptNews = Arc<Mutex<Vec<(u32, AttemptEnd)>>>;

/// A copy of a schedule while it is played. It follows the schedule that the lanes draw from, so that
/// reading it does not block them.
#[derive(Debug, Clone)]
pub struct LiveSchedule {
    copy: Arc<Mutex<schedule::Schedule>>,
    news: AttemptNews,
}

impl LiveSchedule {
    /// Updates the copy and returns it.
    pub fn look(&self) -> MutexGuard<'_, schedule::Schedule> {
        let mut copy = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        let news = std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner));
        for (number, fate) in news {
            take_in(&mut copy, number, fate);
        }
        copy
    }
}

fn take_in(schedule: &mut schedule::Schedule, number: u32, fate: AttemptEnd) {
    let taken = match fate {
        AttemptEnd::Played(result) => schedule.record(number, result),
        AttemptEnd::Void => schedule.void(number),
        AttemptEnd::Aborted => return schedule.cut_off(number),
    };
    if let Err(refused) = taken {
        tracing::error!("{refused}");
    }
}

/// Hands out the matches of a plan, in progress.
#[derive(Debug)]
pub struct PlanScheduler {
    schedule: schedule::Schedule,
    /// For each [`LiveSchedule`].
    news: Vec<AttemptNews>,
    scoring: Scoring,
    /// The openings of its sets.
    openings: Openings,
    /// The matches in progress, with their sets.
    running: BTreeMap<u32, u32>,
    /// The bots that are not connected.
    absent: BTreeSet<usize>,
}

impl PlanScheduler {
    /// Starts with no match in progress.
    pub fn new(schedule: schedule::Schedule, scoring: Scoring, openings: Openings) -> PlanScheduler {
        PlanScheduler {
            schedule,
            news: Vec::new(),
            scoring,
            openings,
            running: BTreeMap::new(),
            absent: BTreeSet::new(),
        }
    }

    /// Returns a copy of the schedule that stays up to date, with a lock of its own.
    pub fn live_schedule(&mut self) -> LiveSchedule {
        let news = AttemptNews::default();
        self.news.push(news.clone());
        LiveSchedule { copy: Arc::new(Mutex::new(self.schedule.clone())), news }
    }

    /// Finds the next match. The matches of a set run one at a time, so that the last one ends last. Matches of
    /// absent bots come last, when nothing else is due and nothing in progress could make more matches due.
    fn find(&self, among: Option<&[usize]>) -> Option<(DueMatch, Wait)> {
        let busy: BTreeSet<u32> = self.running.values().copied().collect();
        let is_free = |due: &DueMatch| {
            !self.running.contains_key(&due.id.number) && (!due.is_mirrored || !busy.contains(&due.set))
        };
        let mut free = self.schedule.due().filter(is_free);
        let bots = |due: &DueMatch| self.scoring.roster.seated(&due.lineup);
        let is_here = |due: &DueMatch| !bots(due).iter().any(|bot| self.absent.contains(bot));
        let found = match among {
            None => free.find(is_here),
            Some(among) => free.take(LOOKAHEAD).find(|due| is_between(&bots(due), among) && is_here(due)),
        };
        let last_resort = || match among {
            None if self.running.is_empty() => self.schedule.due().next(),
            _ => None,
        };
        found.map(|due| (due, Wait::Never)).or_else(|| Some((last_resort()?, Wait::AsLastResort)))
    }

    fn fixture(&self, due: &DueMatch, wait: Wait) -> Fixture {
        let is_last = || {
            let up_to_it = self.schedule.due().take_while(|other| other.set <= due.set);
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
        let bots = self.scoring.roster.seated(&due.lineup);
        Fixture {
            id: due.id.to_string(),
            deal: due.is_mirrored.then(|| self.schedule.plan().deal(due.id)),
            leg,
            options,
            opening,
            bots,
            wait,
            secret: None,
        }
    }
}

/// Returns whether these bots fill the seats, in any order.
pub fn is_between(seated: &[usize], bots: &[usize]) -> bool {
    let count = |bots: &[usize], of: usize| bots.iter().filter(|&&bot| bot == of).count();
    bots.iter().all(|&of| count(seated, of) == count(bots, of))
}

impl Scheduler for PlanScheduler {
    fn next(&mut self, among: Option<&[usize]>) -> Next {
        let Some((due, wait)) = self.find(among) else {
            let is_over = among.is_none() && self.running.is_empty() && self.schedule.due().next().is_none();
            return if is_over { Next::Never } else { Next::Later };
        };
        let fixture = self.fixture(&due, wait);
        self.running.insert(due.id.number, due.set);
        Next::Match(fixture)
    }

    fn ended(&mut self, fixture: &Fixture, finished: &FinishedMatch) -> bool {
        let Ok(MatchId { number, .. }) = fixture.id.parse() else { return false };
        self.running.remove(&number);
        let fate = match self.scoring.result(fixture, finished) {
            Some(result) => AttemptEnd::Played(result),
            None if finished.is_void => AttemptEnd::Void,
            None => AttemptEnd::Aborted,
        };
        take_in(&mut self.schedule, number, fate);
        for news in &self.news {
            news.lock().unwrap_or_else(PoisonError::into_inner).push((number, fate));
        }
        // The set or the round may have another match due now.
        true
    }

    fn put_back(&mut self, fixture: &Fixture) {
        if let Ok(MatchId { number, .. }) = fixture.id.parse() {
            self.running.remove(&number);
        }
    }

    fn set_absent(&mut self, entrant: usize, is_absent: bool) {
        if is_absent {
            self.absent.insert(entrant);
        } else {
            self.absent.remove(&entrant);
        }
    }
}

impl SetScheduler for PlanScheduler {
    fn next_set(&mut self) -> NextSet {
        let mut free = self.schedule.due().filter(|due| !self.running.contains_key(&due.id.number));
        let Some(first) = free.next() else {
            let is_over = self.running.is_empty();
            return if is_over { NextSet::Never } else { NextSet::Later };
        };
        // The matches of a set have consecutive numbers.
        let rest = free.take_while(|due| due.set == first.set);
        let due: Vec<DueMatch> = std::iter::once(first).chain(rest).collect();
        let fixture = |(index, of): (usize, &DueMatch)| {
            let leg = match (of.is_mirrored, due.len() == index + 1) {
                (false, _) => Leg::Only,
                (true, true) => Leg::Last,
                (true, false) => Leg::Earlier,
            };
            Fixture { leg, ..self.fixture(of, Wait::Always) }
        };
        let fixtures = due.iter().enumerate().map(fixture).collect();
        self.running.extend(due.iter().map(|due| (due.id.number, due.set)));
        NextSet::Set(DueSet { number: first.set, fixtures })
    }
}

/// Computes tournament results from matches.
#[derive(Clone, Debug)]
pub struct Scoring {
    /// The seats of each side.
    pub seating: Seating,
    /// The number of matches of a set.
    pub legs: u32,
    pub on_fault: OnFault,
    /// The bots of each entrant.
    pub roster: Arc<Roster>,
}

impl Scoring {
    /// Returns the entrants by seat.
    pub fn entrants(&self, fixture: &Fixture) -> Vec<Entrant> {
        fixture.bots.iter().map(|&bot| Entrant(self.roster.entrant_of(bot) as u16)).collect()
    }

    /// The result of a match; `None` if it was aborted.
    pub fn result(&self, fixture: &Fixture, finished: &FinishedMatch) -> Option<MatchResult> {
        self.judge(fixture, finished, finished.ending.ranks.as_ref()?)
    }

    /// A void match as a result with equal places, for counting faults.
    pub fn void(&self, fixture: &Fixture, finished: &FinishedMatch) -> Option<MatchResult> {
        self.judge(fixture, finished, &vec![1; self.seating.seats()]).filter(|_| finished.is_void)
    }

    fn judge(&self, fixture: &Fixture, finished: &FinishedMatch, ranks: &[u8]) -> Option<MatchResult> {
        let Scoring { seating, legs, on_fault, .. } = *self;
        let id: MatchId = fixture.id.parse().ok()?;
        let lineup = Lineup::of_seats(seating, &self.entrants(fixture))?;
        let mut result = MatchResult::played(id.set(legs), lineup, ranks);
        let with = |test: &dyn Fn(Seat, &Faults) -> bool| -> SeatSet {
            seating.all().iter().filter(|&seat| test(seat, &finished.faults[seat.index()])).collect()
        };
        result.faulted = with(&|_, faults| faults.total() > 0);
        let lost = with(&|seat, faults| {
            let ended_it = finished.ending.ended_by == EndedBy::Fault
                && finished.ending.fault.as_ref().is_some_and(|fault| fault.seat == seat);
            ended_it || is_forfeit(on_fault, faults)
        });
        result.forfeited = of_sides(seating, lost);
        Some(result)
    }
}

/// Returns whether a seat with these faults loses under the policy.
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

/// Returns all seats of the sides that contain these seats.
fn of_sides(seating: Seating, seats: SeatSet) -> SeatSet {
    let is_on = |seat: Seat| seating.members(seating.side(seat)).iter().any(|member| seats.contains(member));
    seating.all().iter().filter(|&seat| is_on(seat)).collect()
}

#[cfg(test)]
mod tests {
    use referee_match::Opening;
    use referee_stats::schedule::{Format, Plan};
    use referee_stats::{Cause, Deals};
    use serde_json::value::RawValue;

    use super::*;
    use crate::runner::run_event::aborted;

    fn scheduler(deals: Deals) -> (PlanScheduler, LiveSchedule) {
        let (seating, format) = (Seating::new(2, 2), Format::RoundRobin { cycles: 1 });
        let schedule = schedule::Schedule::new(Plan::new(format, seating, deals, 2)).unwrap();
        let (legs, roster) = (schedule.legs(), Arc::new(Roster::alone(2)));
        let scoring = Scoring { seating, legs, on_fault: OnFault::Forfeit, roster };
        let openings = Openings::same(RawValue::from_string("{}".to_owned()).unwrap(), Opening::None);
        let mut scheduler = PlanScheduler::new(schedule, scoring, openings);
        let live = scheduler.live_schedule();
        (scheduler, live)
    }

    /// Plays the next match and aborts it with this cause. Returns its id.
    fn abort(scheduler: &mut PlanScheduler, cause: Cause) -> String {
        let Next::Match(fixture) = scheduler.next(None) else { panic!("nothing is due") };
        scheduler.ended(&fixture, &aborted(&fixture.id, cause));
        fixture.id
    }

    #[test]
    fn match_paused_for_too_long_is_replayed_twice_then_void() {
        for (deals, rest) in [(Deals::Single, 0), (Deals::Mirrored, 1)] {
            let (mut scheduler, live) = scheduler(deals);
            let played: Vec<String> = (0..3).map(|_| abort(&mut scheduler, Cause::Paused)).collect();
            assert_eq!(played, ["m1", "m1.2", "m1.3"]);
            let schedule = live.look();
            assert_eq!((schedule.voids(), schedule.due().count()), (1, rest));
        }
    }

    #[test]
    fn matches_of_absent_bots_come_last() {
        let (seating, format) = (Seating::new(2, 2), Format::RoundRobin { cycles: 1 });
        let schedule = schedule::Schedule::new(Plan::new(format, seating, Deals::Single, 3)).unwrap();
        let scoring =
            Scoring { seating, legs: 1, on_fault: OnFault::Forfeit, roster: Arc::new(Roster::alone(3)) };
        let openings = Openings::same(RawValue::from_string("{}".to_owned()).unwrap(), Opening::None);
        let mut scheduler = PlanScheduler::new(schedule, scoring, openings);
        let next = |scheduler: &mut PlanScheduler| match scheduler.next(None) {
            Next::Match(fixture) => Some(fixture),
            Next::Later | Next::Never => None,
        };
        let first = next(&mut scheduler).unwrap();
        assert_eq!(first.wait, Wait::Never);
        let absent = first.bots[0];
        scheduler.set_absent(absent, true);
        scheduler.put_back(&first);
        let other = next(&mut scheduler).unwrap();
        assert!(!other.bots.contains(&absent) && next(&mut scheduler).is_none(), "it may bring more");
        let mut finished = aborted(&other.id, Cause::Interrupted);
        finished.ending.ranks = Some(vec![1, 2]);
        scheduler.ended(&other, &finished);
        let awaited = next(&mut scheduler).unwrap();
        assert_eq!((awaited.id.as_str(), awaited.wait), (first.id.as_str(), Wait::AsLastResort));
        assert!(next(&mut scheduler).is_none());
        scheduler.set_absent(absent, false);
        assert_eq!(next(&mut scheduler).map(|fixture| fixture.wait), Some(Wait::Never));
    }

    #[test]
    fn an_interrupted_match_is_never_void() {
        let (mut scheduler, live) = scheduler(Deals::Single);
        for _ in 0..9 {
            abort(&mut scheduler, Cause::Interrupted);
        }
        let schedule = live.look();
        assert_eq!((schedule.voids(), schedule.due().count()), (0, 1));
    }

    #[test]
    fn a_match_without_bots_is_void_at_once() {
        let (mut scheduler, live) = scheduler(Deals::Single);
        abort(&mut scheduler, Cause::NoBots);
        assert!(matches!(scheduler.next(None), Next::Never));
        let schedule = live.look();
        assert!(schedule.is_over() && schedule.results().count() == 0);
    }
}
