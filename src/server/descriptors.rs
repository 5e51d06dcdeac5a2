//! How many descriptors a run needs.

use rustix::process::{Resource, getrlimit};

/// The descriptors that the referee holds for a process of a bot: three pipes, its end, its processor time, and one that
/// is there for a moment.
const DESCRIPTORS: u64 = 6;
/// Those that a run needs besides: standard streams, threads, the log, a database, records.
const OTHER_DESCRIPTORS: u64 = 32;

/// As many jobs and processes as there are descriptors for: a bot that finds none would lose its match.
///
/// # Errors
/// When there are too few for one match.
pub(super) fn affordable(jobs: usize, processes: usize, seats: usize) -> Result<(usize, usize), String> {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let needed = |jobs: usize| OTHER_DESCRIPTORS + (jobs * seats) as u64 * DESCRIPTORS;
    let most = usize::try_from(files.saturating_sub(OTHER_DESCRIPTORS) / DESCRIPTORS).unwrap_or(usize::MAX);
    let possible = jobs.min(most / seats);
    if possible == 0 {
        let needed = needed(1);
        return Err(format!(
            "a match needs up to {needed} descriptors, this process may have {files}: raise the limit (`ulimit -Hn`)"
        ));
    }
    if possible < jobs {
        let needed = needed(jobs);
        tracing::warn!(
            "{possible} jobs instead of {jobs}, which need up to {needed} descriptors: this process may have {files} \
             (`ulimit -Hn`)"
        );
    }
    Ok((possible, processes.min(most)))
}
