//! Processes that bots started outside their process groups and left behind.

use std::collections::HashSet;
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use super::lineage::{Lineage, children_of};

/// The interval of checks for killed processes.
const INTERVAL: Duration = Duration::from_millis(5);
/// The most checks. A killed process normally exits at once.
const MOST_CHECKS: u32 = 400;

/// Kills the processes that bots leave behind. Create it before the first bot starts.
#[derive(Debug)]
pub struct OrphanReaper {
    /// The children that this process had before: a shell that replaced itself with `exec` may have left some.
    inherited: HashSet<Pid>,
}

impl OrphanReaper {
    /// Makes this process the parent of the orphans among its descendants (a subreaper).
    pub fn open() -> OrphanReaper {
        #[cfg(target_os = "linux")]
        if let Err(error) = rustix::process::set_child_subreaper(Some(getpid())) {
            tracing::warn!(%error, "processes that bots leave behind in sessions of their own will not be found");
        }
        OrphanReaper { inherited: children().collect() }
    }

    /// Kills the processes that bots have left behind. Call it after all bots have exited. Every other child of the
    /// program must share its session: only processes of other sessions are killed.
    ///
    /// Returns the processes that still exist after 2 s: those of another user, which it may not signal, and those that
    /// the system cannot end.
    pub fn close(self) -> Vec<Pid> {
        let session_of = |process| Some(Lineage::of(process)?.session);
        let ours = session_of(getpid());
        // The children of a killed process become ours.
        let orphans = || -> Vec<Pid> {
            children().filter(|child| !self.inherited.contains(child) && session_of(*child) != ours).collect()
        };
        // A zombie remains until it is waited for.
        let reap = |orphan: &Pid| {
            let waited = waitpid(Some(*orphan), WaitOptions::NOHANG);
            matches!(waited, Ok(Some(_)) | Err(Errno::CHILD))
        };
        let mut left = Vec::new();
        for _ in 0..MOST_CHECKS {
            let found = orphans();
            for orphan in &found {
                tracing::debug!(%orphan, "left behind by a bot");
                let _ = kill_process(*orphan, Signal::KILL);
            }
            let found_any = !found.is_empty();
            left = found.into_iter().filter(|orphan| !reap(orphan)).collect();
            if !found_any {
                break;
            }
            if !left.is_empty() {
                sleep(INTERVAL);
            }
        }
        for orphan in &left {
            let name = std::fs::read_to_string(format!("/proc/{orphan}/comm")).unwrap_or_default();
            tracing::warn!(%orphan, name = ?name.trim_end(), "a process that a bot has left behind cannot be ended");
        }
        left
    }
}

/// The children of this process, orphans of its descendants included. Empty on systems without `/proc`.
pub fn children() -> impl Iterator<Item = Pid> {
    children_of("self")
}
