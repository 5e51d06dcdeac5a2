//! Limits a run to the available file descriptors.

use rustix::process::{Resource, getrlimit};

/// The descriptors per bot process: three pipes, its pidfd, its processor time, and a temporary one.
const DESCRIPTORS: u64 = 6;
/// The other descriptors of a run: standard streams, threads, the log, a database, records.
const OTHER_DESCRIPTORS: u64 = 32;

/// The limit of file descriptors is too low for one match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a match needs up to {needed} file descriptors, but the limit is {limit}: raise it (`ulimit -Hn`)")]
pub struct TooFewDescriptors {
    needed: u64,
    limit: u64,
}

/// Reduces the numbers of jobs and processes to the available descriptors: a bot without descriptors would lose its
/// match.
///
/// # Errors
/// If there are too few descriptors for one match.
pub(super) fn affordable(
    jobs: usize,
    processes: usize,
    seats: usize,
) -> Result<(usize, usize), TooFewDescriptors> {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let needed = |jobs: usize| OTHER_DESCRIPTORS + (jobs * seats) as u64 * DESCRIPTORS;
    let most = usize::try_from(files.saturating_sub(OTHER_DESCRIPTORS) / DESCRIPTORS).unwrap_or(usize::MAX);
    let possible = jobs.min(most / seats);
    if possible == 0 {
        return Err(TooFewDescriptors { needed: needed(1), limit: files });
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
