//! Tournaments and comparisons as pure functions: pairings, and statistics of results.
//!
//! Nothing here plays a match. The shell asks what is due, plays it, and records the results:
//!
//! 1. [`schedule::Plan`] defines how a tournament is paired, [`schedule::Schedule`] what can be played now. The
//!    schedule depends only on the plan and the results, so an interrupted tournament resumes exactly where it
//!    stopped.
//! 2. [`schedule::DueMatch`] is a match with its id, its deal and its [`Lineup`], the [`Entrant`]s by seat;
//!    [`MatchResult`] is its result.
//! 3. [`standings::Standings`] are points, wins by play and by fault, tie-breaks and the cross table.
//! 4. [`rating`] estimates strengths with intervals: Elo from a [Bradley-Terry fit](rating::bradley_terry), and
//!    [Weng-Lin](rating::weng_lin).
//! 5. [`ladder`] pairs players that come and go, without rounds and without an end.
//! 6. [`regression::Regression`] tests whether a new version of a bot is stronger than its base, using [`sprt`];
//!    [`estimates`] estimates by how much.
//! 7. [`race::Race`] picks the best of several versions.
//! 8. [`grade`] measures one bot against others whose strengths are known.
//!
//! A *set* is the matches of the same entrants on one deal ([`Deals`]): the unit of all statistics. [`sample`] states which
//! sets of a comparison count, and what sets on one opening say of other openings.
//!
//! ```
//! use referee_game::Seating;
//! use referee_stats::rating::bradley_terry;
//! use referee_stats::schedule::{Format, Plan, Schedule};
//! use referee_stats::{Deals, MatchResult};
//!
//! let format = Format::RoundRobin { cycles: 1 };
//! let plan = Plan::new(format, Seating::new(2, 2), Deals::Mirrored, 3);
//! let mut schedule = Schedule::new(plan).unwrap();
//! loop {
//!     let Some(due) = schedule.due().next() else { break };
//!     assert_eq!(schedule.plan().deal(due.id), format!("s{}", due.set));
//!     // The first seat wins.
//!     let result = MatchResult::played(due.set, due.lineup, &[1, 2]);
//!     schedule.record(due.id.number, result).unwrap();
//! }
//! assert!(schedule.is_over());
//! let results: Vec<MatchResult> = schedule.results().copied().collect();
//! assert_eq!(results.len(), 6);
//! let standings = schedule.standings();
//! assert!(standings.rows.iter().all(|row| row.points == 2.0));
//! let strengths = bradley_terry::fit(&bradley_terry::Counts::of(3, &results));
//! assert!(strengths.elo[0].value.abs() < 1e-6 && strengths.advantage[0].value > 200.0);
//! ```

pub mod amounts;
mod brownian;
mod cause;
pub mod estimates;
pub mod grade;
pub mod ladder;
mod likelihood;
mod lineup;
pub mod luck;
pub mod pairing;
pub mod race;
pub mod rating;
pub mod regression;
pub mod sample;
pub mod schedule;
pub mod sprt;
pub mod standings;
mod wdl;

pub use cause::Cause;
pub use lineup::{Deals, Entrant, Lineup, MatchResult, SideAmounts};
pub use wdl::{MatchCounts, SideResult, Wdl};

/// The pairs of opponents on two sides.
fn opponents(lineup: &Lineup, side: usize, other: usize) -> impl Iterator<Item = (Entrant, Entrant)> {
    lineup.side(side).flat_map(move |entrant| lineup.side(other).map(move |opponent| (entrant, opponent)))
}
