//! The attacks, and the layers that stop them.

use ::referee::bot::sandbox::Layer;
use Layer::{Bubblewrap, Cgroup, Landlock, LandlockScope, NoNewPrivs, Rlimits, Seccomp};

/// An attack, and the layers that stop it in `strict` and in `basic`: any of them suffices.
pub(super) struct Attack {
    pub(super) script: &'static str,
    pub(super) tried: &'static str,
    pub(super) strict: &'static [Layer],
    pub(super) basic: &'static [Layer],
}

const fn attack(
    script: &'static str,
    tried: &'static str,
    strict: &'static [Layer],
    basic: &'static [Layer],
) -> Attack {
    Attack { script, tried, strict, basic }
}

/// What the launcher and the referee prevent in every mode is in force without a layer.
pub(super) const ALWAYS: &[Layer] = &[Rlimits];

pub(super) const ATTACKS: &[Attack] = &[
    attack("forks", "start 200 processes", &[Cgroup], &[]),
    attack("forks by a user", "start 200 processes", &[Cgroup, Bubblewrap], &[]),
    attack("memory", "use 512 MiB", &[Cgroup, Rlimits], &[]),
    attack("memfd", "use 512 MiB of shared memory", &[Cgroup], &[]),
    attack("spin", "use all processors", &[Cgroup], &[]),
    attack("inodes", "create 50,000 files in memory", &[Cgroup], &[]),
    attack("stops", "stop itself in its turn", ALWAYS, ALWAYS),
    attack("scratch", "write 64 MiB of temporary files", &[Bubblewrap], &[]),
    attack("scratch", "leave a file", &[Bubblewrap, Landlock], &[]),
    attack("survivor", "outlive its match", &[Bubblewrap], &[]),
    attack("survivor of the referee", "outlive a killed referee", &[Bubblewrap], &[]),
    attack("chains", "outlive its match by 30 chains of processes", &[Bubblewrap], &[]),
    attack("files", "read seed", &[Bubblewrap, Landlock], &[]),
    attack("files", "change seed", &[Bubblewrap, Landlock], &[]),
    attack("files", "read tokens", &[Bubblewrap, Landlock], &[]),
    attack("files", "change results.sqlite", &[Bubblewrap, Landlock], &[]),
    attack("files", "lock results.sqlite", &[Bubblewrap, Landlock], &[]),
    attack("files", "delete results.sqlite", &[Bubblewrap, Landlock], &[]),
    attack("files", "read m7.unsealed", &[Bubblewrap, Landlock], &[]),
    attack("files", "read victim.py", &[Bubblewrap, Landlock], &[]),
    attack("files", "change victim.py", &[Bubblewrap, Landlock], &[]),
    attack("files", "delete victim.py", &[Bubblewrap, Landlock], &[]),
    attack("files", "list records", &[Bubblewrap, Landlock], &[]),
    attack("files", "plant a link in records", &[Bubblewrap, Landlock], &[]),
    attack("files", "plant a FIFO in records", &[Bubblewrap, Landlock], &[]),
    attack("files", "plant a folder in records", &[Bubblewrap, Landlock], &[]),
    attack("files", "change its program", &[Bubblewrap, Landlock], &[]),
    attack("files", "replace its program", &[Bubblewrap, Landlock], &[]),
    attack("files", "delete its program", &[Bubblewrap, Landlock], &[]),
    attack("inherited", "find a descriptor of the referee", ALWAYS, ALWAYS),
    attack("inherited", "find a secret in its environment", ALWAYS, ALWAYS),
    attack("inherited", "open the terminal", ALWAYS, ALWAYS),
    attack("network", "connect by TCP", &[Bubblewrap, Seccomp], &[]),
    attack("network", "ask a name server by UDP", &[Bubblewrap, Seccomp], &[]),
    attack("network", "list network devices by netlink", &[Seccomp], &[]),
    attack("network", "open a raw socket", &[Seccomp], &[Seccomp]),
    attack("network", "connect to docker.sock", &[Bubblewrap, Seccomp], &[]),
    attack("network", "connect to D-Bus", &[Bubblewrap, Seccomp], &[]),
    attack("network", "connect to an abstract socket", &[Bubblewrap, Seccomp], &[LandlockScope]),
    attack("port", "connect to the referee as its opponent", &[Bubblewrap, Seccomp], &[]),
    attack("port", "listen for connections", &[Bubblewrap, Seccomp], &[]),
    attack("kills", "kill", &[Bubblewrap, LandlockScope], &[LandlockScope]),
    attack("peer", "stop", &[Bubblewrap, LandlockScope], &[LandlockScope]),
    attack("peer", "speak through its pipe", &[Bubblewrap, Landlock], &[Landlock]),
    attack("peer", "read its memory", &[Bubblewrap, Landlock], &[Landlock]),
    attack("peer", "write its memory", &[Bubblewrap, Landlock], &[Landlock]),
    attack("peer", "read its environment", &[Bubblewrap, Landlock], &[Landlock]),
    attack("peer", "set its limits", &[Bubblewrap, Seccomp], &[Seccomp]),
    attack("peer", "set its priority", &[Bubblewrap, Seccomp], &[Seccomp]),
    attack("peer", "set its processors", &[Bubblewrap, Seccomp], &[Seccomp]),
    attack("peer", "offer it to the OOM killer", &[Bubblewrap, Landlock], &[Landlock]),
    attack("referee", "stop", &[Bubblewrap, LandlockScope], &[LandlockScope]),
    attack("referee", "speak through its pipe", &[Bubblewrap, Landlock], &[Landlock]),
    attack("referee", "read its memory", &[Bubblewrap, Landlock], &[Landlock]),
    attack("referee", "write its memory", &[Bubblewrap, Landlock], &[Landlock]),
    attack("referee", "read its environment", &[Bubblewrap, Landlock], &[Landlock]),
    attack("referee", "read its command line", &[Bubblewrap], &[]),
    attack("referee", "set its limits", &[Bubblewrap, Seccomp], &[Seccomp]),
    attack("referee", "set its priority", &[Bubblewrap, Seccomp], &[Seccomp]),
    attack("referee", "set its processors", &[Bubblewrap, Seccomp], &[Seccomp]),
    attack("syscalls", "ptrace", &[Seccomp], &[Seccomp]),
    attack("syscalls", "process_vm_readv", &[Seccomp], &[Seccomp]),
    attack("syscalls", "unshare", &[Seccomp], &[Seccomp]),
    attack("syscalls", "setns", &[Seccomp], &[Seccomp]),
    attack("syscalls", "mount", &[Seccomp], &[Seccomp]),
    attack("syscalls", "keyctl", &[Seccomp], &[Seccomp]),
    attack("syscalls", "bpf", &[Seccomp], &[Seccomp]),
    attack("syscalls", "perf_event_open", &[Seccomp], &[Seccomp]),
    attack("syscalls", "userfaultfd", &[Seccomp], &[Seccomp]),
    attack("syscalls", "io_uring_setup", &[Seccomp], &[Seccomp]),
    attack("syscalls", "clone into a namespace", &[Seccomp], &[Seccomp]),
    attack("syscalls", "found a session", &[Bubblewrap], &[]),
    attack("syscalls", "AF_VSOCK", &[Seccomp], &[Seccomp]),
    attack("syscalls", "AF_ALG", &[Seccomp], &[Seccomp]),
    attack("syscalls", "AF_PACKET", &[Seccomp], &[Seccomp]),
    attack("syscalls", "TIOCSTI", &[Seccomp], &[Seccomp]),
    attack("kernel", "gain privileges by a setuid program", &[NoNewPrivs], &[NoNewPrivs]),
    attack("kernel", "call as a 32-bit program", &[Seccomp], &[Seccomp]),
    attack("kernel", "call as an x32 program", &[Seccomp], &[Seccomp]),
    attack("kernel", "leave shared memory", &[Bubblewrap, Seccomp], &[]),
    attack("kernel", "leave POSIX shared memory", &[Bubblewrap, Landlock], &[]),
];

/// The script of an attack, and its target if that is part of the name.
pub(super) fn source(script: &str) -> (&str, &str) {
    match script {
        "referee" => ("peer", "referee: "),
        "peer" | "kills" => (script, "opponent: "),
        "forks by a user" => ("forks", "user that is not root: "),
        "survivor of the referee" => ("survivor", ""),
        _ => (script, ""),
    }
}
