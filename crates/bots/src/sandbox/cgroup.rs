//! Control groups (version 2), which limit all processes of a bot together.
//!
//! The referee needs a subtree that is delegated to it, for example the scope of `systemd-run --user --scope -p
//! Delegate=yes referee ...`. It moves itself to a group of its own in this subtree, because a group with processes
//! cannot have limited groups below it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use referee_game::Wrong;

use super::BotLimits;
use crate::launcher::SpawnError;

const CONTROLLERS: [&str; 3] = ["memory", "pids", "cpu"];
/// The period of `cpu.max`, in microseconds.
const PERIOD: f64 = 100_000.0;
/// The interval of retries until exited processes have left a group.
const REST: Duration = Duration::from_millis(5);
/// The number of tries for the own group, which others may be in for good.
const TRIES_TO_DELEGATE: u32 = 40;
/// The number of tries to remove a group whose processes have been killed.
const TRIES_TO_REMOVE: u32 = 200;
/// Advice where no subtree is delegated.
const HELP: &str =
    "with systemd, start the referee as `systemd-run --user --scope -p Delegate=yes referee ...`";

/// The control group of a bot. Dropping it kills the processes in it and removes it.
#[derive(Debug)]
pub(crate) struct Cgroup(PathBuf);

/// Prepares the subtree of this process, once.
///
/// # Errors
/// What is missing, and what would help.
pub(super) fn subtree() -> Result<&'static Path, Wrong> {
    static SUBTREE: OnceLock<Result<PathBuf, Wrong>> = OnceLock::new();
    let prepare = || {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let folder =
            own_folder(&mounts, &own).ok_or_else(|| format!("no cgroup v2 hierarchy is mounted; {HELP}"))?;
        delegate(&folder).map(|()| folder)
    };
    SUBTREE.get_or_init(prepare).as_deref().map_err(Clone::clone)
}

/// The folder of this process's group: from proc_pid_mountinfo(5) and cgroups(7).
fn own_folder(mounts: &str, own: &str) -> Option<PathBuf> {
    let path = Path::new(own.lines().find_map(|line| line.strip_prefix("0::"))?);
    mounts.lines().find_map(|line| {
        let (fields, kind) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let below = path.strip_prefix(root).ok().filter(|_| kind.starts_with("cgroup2 "))?;
        // An empty rest would add a slash.
        Some(Path::new(point).join(below).components().collect())
    })
}

/// Returns whether a list in a file of the group contains all controllers.
fn lists_controllers(folder: &Path, file: &str) -> bool {
    let list = fs::read_to_string(folder.join(file)).unwrap_or_default();
    CONTROLLERS.iter().all(|controller| list.split_whitespace().any(|listed| listed == *controller))
}

/// Makes the controllers available to groups below `folder`.
fn delegate(folder: &Path) -> Result<(), Wrong> {
    let group = folder.display();
    if !lists_controllers(folder, "cgroup.controllers") {
        let lacking = "lacks one of the controllers memory, pids and cpu";
        return Err(format!("{group} {lacking}; {HELP}").into());
    }
    let refused =
        |error: io::Error| Wrong::from(format!("{group} is not delegated to this user ({error}); {HELP}"));
    if lists_controllers(folder, "cgroup.subtree_control") {
        // The group may still not be writable.
        let trial = folder.join(format!("referee-trial-{}", std::process::id()));
        return fs::create_dir(&trial).and_then(|()| fs::remove_dir(&trial)).map_err(refused);
    }
    let ours = folder.join(format!("referee-{}", std::process::id()));
    fs::create_dir(&ours).map_err(refused)?;
    fs::write(ours.join("cgroup.procs"), std::process::id().to_string()).map_err(refused)?;
    let enable = || fs::write(folder.join("cgroup.subtree_control"), "+memory +pids +cpu");
    // A child that has just ended, such as one that tried another layer, is still in the group.
    while_busy(TRIES_TO_DELEGATE, enable).map_err(|error| {
        let what = "other processes are in the control group of the referee";
        format!("{group}: {what} ({error}); {HELP}").into()
    })
}

/// Tries something again while processes that are ending prevent it.
fn while_busy(tries: u32, mut work: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 1..tries {
        match work() {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(REST),
            done => return done,
        }
    }
    work()
}

impl Cgroup {
    /// Creates a group with these limits.
    ///
    /// # Errors
    /// If the group cannot be created, or a limit does not hold.
    pub(super) fn create(limits: &BotLimits) -> Result<Cgroup, SpawnError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Cgroup::below(subtree()?, &format!("referee-{}-bot-{number}", std::process::id()), limits)
    }

    fn below(subtree: &Path, name: &str, limits: &BotLimits) -> Result<Cgroup, SpawnError> {
        let path = subtree.join(name);
        fs::create_dir(&path)?;
        let group = Cgroup(path);
        if let Some(memory) = limits.memory {
            group.set("memory.max", &memory.bytes().to_string())?;
            // Without swap this file does not exist.
            let _ = group.set("memory.swap.max", "0");
            let _ = group.set("memory.oom.group", "1");
        }
        if let Some(processes) = limits.processes {
            group.set("pids.max", &processes.to_string())?;
        }
        if let Some(cpus) = limits.cpus {
            group.set("cpu.max", &format!("{} {PERIOD}", (cpus * PERIOD).round()))?;
        }
        Ok(group)
    }

    /// Writes a limit and reads it back. The kernel rounds memory down to whole pages.
    fn set(&self, file: &str, value: &str) -> Result<(), SpawnError> {
        let file = self.0.join(file);
        fs::write(&file, value)?;
        let kept = fs::read_to_string(&file)?;
        let (kept, value) = (kept.trim(), value.trim());
        let page = rustix::param::page_size() as u64;
        let is_close = |kept: u64, value: u64| kept <= value && value - kept < page;
        if kept == value || kept.parse().ok().zip(value.parse().ok()).is_some_and(|(k, v)| is_close(k, v)) {
            return Ok(());
        }
        let file = file.display();
        Err(Wrong::from(format!("{file}: {value} was written, but {kept} is in force")).into())
    }

    /// The folder, for the process that joins it.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns whether the kernel killed a process because of the memory limit.
    pub(crate) fn has_run_out_of_memory(&self) -> bool {
        self.number("memory.events", "oom_kill").is_some_and(|kills| kills > 0)
    }

    /// The CPU time of all its processes so far.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        self.number("cpu.stat", "usage_usec").map(Duration::from_micros)
    }

    /// The value in a line `KEY VALUE` of a file.
    fn number(&self, file: &str, key: &str) -> Option<u64> {
        let text = fs::read_to_string(self.0.join(file)).ok()?;
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.parse().ok())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The group may be empty already.
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
        if let Err(error) = while_busy(TRIES_TO_REMOVE, || fs::remove_dir(&self.0))
            && error.kind() == io::ErrorKind::ResourceBusy
        {
            tracing::warn!(path = %self.0.display(), "a control group cannot be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Size;

    #[test]
    fn the_own_group_is_found_below_its_mount() {
        let mounts = "25 1 0:22 / /proc rw - proc proc rw\n\
                      30 24 0:26 /user.slice /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        let found = own_folder(mounts, "4:memory:/x\n0::/user.slice/run-1.scope\n");
        assert_eq!(found, Some("/sys/fs/cgroup/run-1.scope".into()));
        assert_eq!(own_folder(mounts, "0::/system.slice\n"), None);
        assert_eq!(own_folder("", "0::/\n"), None);
    }

    #[test]
    fn limits_are_written_in_the_units_of_the_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let limits = BotLimits {
            memory: Some(Size::mebibytes(512)),
            processes: Some(64),
            cpus: Some(1.5),
            ..BotLimits::default()
        };
        let group = Cgroup::below(folder.path(), "bot", &limits).unwrap();
        let read = |name: &str| fs::read_to_string(group.0.join(name)).unwrap();
        assert_eq!(read("memory.max"), "536870912");
        assert_eq!(read("pids.max"), "64");
        assert_eq!(read("cpu.max"), "150000 100000");
        fs::write(group.0.join("memory.events"), "oom 3\noom_kill 1\n").unwrap();
        assert!(group.has_run_out_of_memory());
    }

    #[test]
    fn a_folder_without_controllers_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cgroup.controllers"), "cpuset cpu io\n").unwrap();
        let error = delegate(folder.path()).unwrap_err().to_string();
        assert!(error.contains("lacks one of the controllers") && error.contains("Delegate=yes"), "{error}");
    }
}
