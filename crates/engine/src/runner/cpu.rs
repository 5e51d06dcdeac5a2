//! CPU affinity of threads and of the processes that they start.

use std::io;

#[derive(Clone, Copy)]
pub(super) struct Cpu(system::Set);

impl Cpu {
    /// The CPUs that this process may use.
    ///
    /// # Errors
    /// If the system does not report them.
    pub(super) fn all() -> io::Result<Vec<Cpu>> {
        Ok(system::each(&system::get()?).map(Cpu).collect())
    }

    /// Pins the current thread to it.
    ///
    /// # Errors
    /// If the system call fails.
    pub(super) fn keep(&self) -> io::Result<()> {
        system::set(&self.0)
    }

    /// Runs `start` on a CPU; processes that it starts inherit the affinity. Without a CPU, the affinity is
    /// unchanged.
    pub(super) fn run<T>(cpu: Option<&Cpu>, start: impl FnOnce() -> T) -> T {
        let Some((cpu, before)) = cpu.zip(system::get().ok()) else { return start() };
        let keep = |kept: io::Result<()>| {
            if let Err(error) = kept {
                tracing::warn!(%error, "a bot is not pinned");
            }
        };
        keep(cpu.keep());
        let started = start();
        keep(system::set(&before));
        started
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
mod system {
    use std::io;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    pub(super) type Set = CpuSet;

    pub(super) fn get() -> io::Result<Set> {
        Ok(sched_getaffinity(None)?)
    }

    pub(super) fn set(set: &Set) -> io::Result<()> {
        Ok(sched_setaffinity(None, set)?)
    }

    pub(super) fn each(all: &Set) -> impl Iterator<Item = Set> {
        let only = |cpu| {
            let mut set = Set::new();
            set.set(cpu);
            set
        };
        (0..Set::MAX_CPU).filter(|&cpu| all.is_set(cpu)).map(only)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
mod system {
    use std::convert::Infallible;
    use std::io;

    pub(super) type Set = Infallible;

    pub(super) fn get() -> io::Result<Set> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn set(set: &Set) -> io::Result<()> {
        match *set {}
    }

    pub(super) fn each(all: &Set) -> std::iter::Empty<Set> {
        match *all {}
    }
}
