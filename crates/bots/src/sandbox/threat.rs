//! Threats of bots, and the layers that stop them.

use super::Layer;
use super::Layer::{Bubblewrap, Cgroup, Landlock, LandlockScope, NoNewPrivs, Rlimits, Seccomp};

/// An attack that a bot may try against its opponent, the referee or the machine.
#[derive(Debug)]
pub struct Threat {
    pub what: &'static str,
    /// The layers of `strict` that stop it: any of them suffices.
    pub strict: &'static [Layer],
    /// The layers of `basic` that stop it: any of them suffices.
    pub basic: &'static [Layer],
}

const fn threat(what: &'static str, strict: &'static [Layer], basic: &'static [Layer]) -> Threat {
    Threat { what, strict, basic }
}

/// The threats that `referee sandbox check` reports on. `as_root`: bots run as root, which the kernel does not limit
/// to a number of processes.
pub fn threats(as_root: bool) -> impl Iterator<Item = &'static Threat> {
    std::iter::once(if as_root { &FORKS_AS_ROOT } else { &FORKS }).chain(OTHERS)
}

const FORKS: Threat = threat("start processes without end", &[Cgroup, Rlimits], &[]);
const FORKS_AS_ROOT: Threat = Threat { strict: &[Cgroup], ..FORKS };
const OTHERS: &[Threat] = &[
    threat("use much private memory", &[Cgroup, Rlimits], &[]),
    threat("use much shared memory", &[Cgroup], &[]),
    threat("use all processors", &[Cgroup], &[]),
    threat("get more processor time by many sessions", &[Bubblewrap, Cgroup], &[]),
    threat("leave a process behind", &[Bubblewrap], &[]),
    threat("outlive a killed referee", &[Bubblewrap], &[]),
    threat("read seeds, tokens, records and other bots", &[Bubblewrap, Landlock], &[]),
    threat("change its program", &[Bubblewrap, Landlock], &[]),
    threat("change modes, owners and times of files", &[Bubblewrap, Seccomp], &[]),
    threat("fill the temporary directory", &[Bubblewrap], &[]),
    threat("leave files for later matches", &[Bubblewrap, Landlock], &[]),
    threat("use the network", &[Bubblewrap, Seccomp], &[]),
    threat("connect to Unix sockets of services", &[Bubblewrap, Seccomp], &[]),
    threat("connect to abstract Unix sockets", &[Bubblewrap, Seccomp, LandlockScope], &[LandlockScope]),
    threat("use rare parts of the kernel", &[Seccomp], &[Seccomp]),
    threat("share memory and queues with another bot", &[Bubblewrap, Seccomp], &[]),
    threat("signal other processes", &[Bubblewrap, LandlockScope], &[LandlockScope]),
    threat("reach into memory and pipes of other processes", &[Bubblewrap, Landlock], &[Landlock]),
    threat("change limits and priority of other processes", &[Bubblewrap, Seccomp], &[Seccomp]),
    threat("gain privileges by a setuid program", &[NoNewPrivs], &[NoNewPrivs]),
    threat("call the kernel as a 32-bit or x32 program", &[Seccomp], &[Seccomp]),
    threat("type into a terminal", &[Seccomp], &[Seccomp]),
];
