//! Many matches on many lanes: what is played next, by which bots, and what becomes of the results.

mod archive;
mod bots;
mod common;
mod cpu;
mod descriptors;
mod fixture;
mod host;
mod journal;
mod lane_messages;
mod live;
mod match_runner;
mod moves;
mod openings;
mod pairings;
mod play;
mod record_sink;
mod regression;
mod regression_results;
mod reporter;
mod results;
mod resumed;
mod roster;
mod run_event;
mod run_failure;
mod scheduler;
mod start_check;
mod starts;
mod stop_signal;
mod tournament_scheduler;

pub use archive::{NotKept, Unsealed};
pub use descriptors::TooFewDescriptors;
pub use fixture::{Fixture, MatchSecret, Wait, deal_leaks_information};
pub use host::{HostError, HostMatches, HostPlayed, HostRun, RefusedOpen, serve_host};
pub use live::{LiveEvent, LiveFeed, LiveHeader, LiveReceiver, LiveStep, MOST_BOARDS, Visibility, live_feed};
pub use match_runner::{MatchRunner, RunChange, RunEnd};
pub use moves::short_moves_of_match;
pub use openings::Openings;
pub use play::{
    InvalidPlay, Mirror, NotRestartable, Play, PlayEvent, PlayResult, SeatingError, check_fresh, seating_for,
};
pub use record_sink::{MOST_RULES_FAILED, RecordSink};
pub use reporter::Watch;
pub use results::{BotSummary, Comparison, RunSummary, SetReport};
pub use resumed::{LineDefect, OtherJournal, ResumedMatch};
pub use roster::Roster;
pub use run_event::{EndedMatch, Halt, NoShow, RunEvent, StartFailure};
pub use run_failure::RunFailure;
pub use scheduler::{DueSet, JoinError, Next, NextSet, Scheduler, SetScheduler};
pub use start_check::{CannotPlay, StartCheck, check_starts};
pub use stop_signal::signalled;

pub use regression::{Added, RegressionRun, RegressionSet};
pub use regression_results::{Crash, ResultLine, ResultMatch};
pub use tournament_scheduler::{LiveSchedule, Scoring, TournamentScheduler, is_between};
