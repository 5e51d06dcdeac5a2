//! Limits a run to the available file descriptors.

use rustix::process::{Resource, getrlimit};

use crate::runner::run_failure::RunFailure;

/// The descriptors per bot process: three pipes, its pidfd, its processor time, and a temporary one.
const DESCRIPTORS: u64 = 6;
/// The other descriptors of a run: standard streams, threads, the log, a database, records, and those of bots that end
/// while the next ones start. 35 were seen with two lanes.
const OTHER_DESCRIPTORS: u64 = 40;

/// Reduces the numbers of jobs and processes to the available descriptors: a bot without descriptors would lose its
/// match.
///
/// # Errors
/// If there are too few descriptors for one match.
pub(super) fn affordable(jobs: usize, processes: usize, seats: usize) -> Result<(usize, usize), RunFailure> {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let needed = |jobs: usize| OTHER_DESCRIPTORS + (jobs * seats) as u64 * DESCRIPTORS;
    let most = usize::try_from(files.saturating_sub(OTHER_DESCRIPTORS) / DESCRIPTORS).unwrap_or(usize::MAX);
    let possible = jobs.min(most / seats);
    if possible == 0 {
        let needed = needed(1);
        return Err(format!(
            "a match needs up to {needed} file descriptors, but the limit is {files}: raise it (`ulimit -Hn`)"
        )
        .into());
    }
    if possible < jobs {
        let needed = needed(jobs);
        tracing::warn!(
            "using {possible} jobs instead of {jobs}, which need up to {needed} file descriptors: the limit is {files} \
             (`ulimit -Hn`)"
        );
    }
    Ok((possible, processes.min(most)))
}
