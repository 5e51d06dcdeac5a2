//! Programs that owners hand in to a league: packed, built and checked, until their bots play.
//!
//! * [`BotFile`] is the `bot.toml` of a bot, and [`pack_bot`] writes the archive of its directory
//! * [`open_archive`], [`build`] and [`check`] are the steps that a submission must pass, on a server and at home
//! * [`SubmissionQueue`] works on the submissions of a league, one at a time: here, or with [`BuildWorkers`] on workers, each of
//!   which has a [`WorkerTrials`]
//! * [`BUILTIN`] is the program that builds a bot, in its sandbox
//!
//! A build runs in the temporary directory of its sandbox, which has a limit of size. It gets the archive as its standard
//! input, and its result is an archive that comes through a pipe; so nothing of the build reaches the disk of the server
//! before the server has checked it.

mod bot_file;
mod build;
mod builder;
mod check;
mod config;
mod log;
mod on_workers;
mod pack;
mod queue;
mod terms;
#[cfg(test)]
mod tests;
mod trial;
mod worker_trials;

pub use bot_file::{BOT_FILE, BotFile};
pub use build::{Build, BuiltBot, build};
pub use builder::BUILTIN;
pub(crate) use check::check_as;
pub use check::{CheckedLadder, LadderVerdict, check, check_all};
pub use config::{
    BuildsOn, SubmissionsConfig, submitted_sandbox, submitted_sandbox_elsewhere, untested_layers,
};
pub use log::SubmissionLog;
pub use on_workers::BuildWorkers;
pub use pack::{PackedBot, pack_bot, repack};
pub use queue::{BuildPlace, SubmissionQueue};
pub use terms::{SharedTerms, SubmissionTerms};
pub use trial::open_archive;
pub use worker_trials::WorkerTrials;
