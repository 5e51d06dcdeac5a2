//! What bots have started and left behind outside their process groups.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait, waitpid};

/// Has the system hand this process what its descendants leave behind, so that [`end_orphans`] finds it.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        tracing::warn!(%error, "processes that bots leave behind in sessions of their own will not be found");
    }
}

/// Kills every child of this process. To be called when all bots have ended: what is left then was theirs.
pub fn end_orphans() {
    // What a killed process has started becomes our child in turn.
    for _ in 0..1000 {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            tracing::debug!(%child, "left behind by a bot");
            let _ = kill_process(child, Signal::KILL);
            let _ = waitpid(Some(child), WaitOptions::empty());
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
}

/// None where the system does not tell.
fn children() -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect::<Vec<_>>()
        })
        .collect()
}
