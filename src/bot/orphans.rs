//! What bots have started and left behind outside their process groups.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// Finds and ends what bots leave behind. To be made before the first bot is started.
pub struct Orphanage {
    /// Children that this process had before: a shell that replaced itself by us may have left some.
    inherited: HashSet<Pid>,
}

impl Orphanage {
    /// Has the system hand this process what its descendants leave behind.
    pub fn open() -> Orphanage {
        #[cfg(target_os = "linux")]
        if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
            tracing::warn!(%error, "processes that bots leave behind in sessions of their own will not be found");
        }
        Orphanage { inherited: children().collect() }
    }

    /// Kills every other child of this process. To be called when all bots have ended: what is left then was theirs.
    pub fn close(self) {
        // What a killed process has started becomes our child in turn.
        for _ in 0..1000 {
            let orphans: Vec<Pid> = children().filter(|child| !self.inherited.contains(child)).collect();
            if orphans.is_empty() {
                return;
            }
            for orphan in orphans {
                tracing::debug!(%orphan, "left behind by a bot");
                let _ = kill_process(orphan, Signal::KILL);
                let _ = waitpid(Some(orphan), WaitOptions::empty());
            }
        }
    }
}

/// The processes that this one has started or that the system has handed it. None where the system does not tell.
pub fn children() -> impl Iterator<Item = Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let lists =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    let pids = |list: String| -> Vec<Pid> {
        list.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect()
    };
    lists.flat_map(pids)
}
