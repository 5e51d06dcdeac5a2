//! Random schedules and results.

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestRng, TestRunner};
use referee::game::Seating;
use referee::stats::schedule::{DueMatch, Format, Participation, Plan, Schedule};
use referee::stats::{Deals, MatchResult};

pub(crate) const TWO: Seating = Seating::new(2, 2);

/// A property test with the same cases in every run.
pub(crate) fn check<S: Strategy>(
    cases: u32,
    strategy: S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let persistence = FileFailurePersistence::Off;
    let config = Config { cases, failure_persistence: Some(Box::new(persistence)), ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::XorShift, &[7; 16]);
    TestRunner::new_with_rng(config, rng).run(&strategy, test).unwrap_or_else(|error| panic!("{error}"));
}

pub(crate) fn plan(format: Format, seating: Seating, deals: Deals, field: usize, late: usize) -> Plan {
    let mut plan = Plan::new(format, seating, deals, field);
    plan.entrants.extend((0..late).map(|_| Participation { joins: 2, ..Participation::default() }));
    plan
}

pub(crate) fn scheduled(plan: Plan) -> Schedule {
    Schedule::new(plan).unwrap_or_else(|error| panic!("{error}"))
}

/// Plays due matches in order; `rank` gives the ranks of a match.
pub(crate) fn play(schedule: &mut Schedule, rank: impl Fn(&DueMatch) -> Vec<u8>) {
    loop {
        let Some(due) = schedule.due().next() else { return };
        let result = MatchResult::played(due.set, due.lineup, &rank(&due));
        schedule.record(due.id.number, result).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// A pseudorandom result that depends on the seed, the set and the leg.
pub(crate) fn drawn(seed: u64, due: &DueMatch) -> Vec<u8> {
    let mut x = seed ^ (u64::from(due.set) << 20) ^ ((due.leg as u64) << 10) ^ 0x9e37_79b9_7f4a_7c15;
    (0..due.lineup.seating().seats())
        .map(|seat| {
            x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(27) ^ (x >> 31);
            if due.lineup.seating().sides() <= seat { 0 } else { 1 + (x >> 40) as u8 % 3 }
        })
        .collect()
}
