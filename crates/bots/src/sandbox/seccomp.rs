//! The filter of system calls.

mod commands;

use std::collections::BTreeMap;
use std::error::Error;

use nix::libc::{self, c_long};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op,
    SeccompCondition as Condition, SeccompFilter, SeccompRule, TargetArch,
};

type SeccompRules = BTreeMap<i64, Vec<SeccompRule>>;

/// System calls that fail with EPERM: they reach into other processes, change the system, or are parts of the kernel that
/// a bot does not need and in which vulnerabilities were frequent.
const REFUSED: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    // Rarely used parts of the kernel.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    // The system.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// Shared memory, semaphores and queues of System V and POSIX: they outlive a process. Without an IPC namespace they are
/// refused to bots whose files are confined.
const IPC: &[c_long] =
    &[libc::SYS_shmget, libc::SYS_semget, libc::SYS_msgget, libc::SYS_mq_open, libc::SYS_mq_unlink];

/// Calls that others notice through files that several bots can read. They are refused to bots whose files are confined.
/// `flock` is not among them: the Java virtual machine needs it, and prints a warning to standard output without it.
const NOTICED: &[c_long] = &[libc::SYS_inotify_init1];

/// Calls that change modes, times, owners and attributes of files, which Landlock does not restrict. Without a mount
/// namespace they are refused to bots whose files are confined.
const METADATA: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];
/// Numbers of newer calls, which all architectures share.
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const FILE_SETATTR: c_long = 469;

/// Calls that set the priority or limits of a process, as far as these arguments, counted from 0, have these values: they
/// name the caller alone, and neither another process nor a group or a user.
const OF_THE_CALLER: &[(c_long, &[(u8, u64)])] = &[
    (libc::SYS_prlimit64, &[(0, 0)]),
    (libc::SYS_setpriority, &[(0, libc::PRIO_PROCESS as u64), (1, 0)]),
    (libc::SYS_ioprio_set, &[(0, IOPRIO_WHO_PROCESS), (1, 0)]),
    (libc::SYS_sched_setaffinity, &[(0, 0)]),
    (libc::SYS_sched_setattr, &[(0, 0)]),
    (libc::SYS_sched_setparam, &[(0, 0)]),
    (libc::SYS_sched_setscheduler, &[(0, 0)]),
];
/// From linux/ioprio.h.
const IOPRIO_WHO_PROCESS: u64 = 1;

/// `clone` with any of these creates a namespace.
const NAMESPACES: u64 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u64;

/// Sockets that a bot may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sockets {
    /// The families of the Internet, Unix and routing tables: what name lookups need.
    Network,
    /// Unix sockets and IP, in a network namespace without a network.
    Isolated,
    /// No sockets, as there is no namespace.
    Refused,
}

impl Sockets {
    fn families(self) -> &'static [libc::c_int] {
        match self {
            Sockets::Network => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
            Sockets::Isolated => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6],
            Sockets::Refused => &[],
        }
    }
}

/// Parameters of the filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilterScope {
    pub(super) sockets: Sockets,
    /// Whether IPC calls are allowed.
    pub(super) has_ipc: bool,
    /// Whether the bot has namespaces.
    pub(super) is_isolated: bool,
    /// Whether the bot reaches only some files.
    pub(super) confines_files: bool,
    /// Whether calls that change metadata of files are refused.
    pub(super) keeps_metadata: bool,
}

/// Installs the filter in this thread.
pub(super) fn install(scope: FilterScope) -> Result<(), Box<dyn Error + Send + Sync>> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let compile = |rules: SeccompRules, errno: libc::c_int| {
        let refuse = SeccompAction::Errno(errno as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch);
        filter.and_then(BpfProgram::try_from)
    };
    let refused = compile(refused(scope)?, libc::EPERM)?;
    // The flags of `clone3` are in memory, where a filter cannot look. The C library then calls `clone`.
    let unknown = compile(SeccompRules::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)?;
    // `setsid` succeeds without effect. The scheduler shares the processors among sessions (autogroups): a bot with many would
    // get more time than its opponent, and would delay it. Its session ends with its namespace anyway.
    let without_effect = if scope.is_isolated {
        compile(SeccompRules::from([(libc::SYS_setsid, Vec::new())]), 0)?
    } else {
        BpfProgram::new()
    };
    let [fcntl, ioctl] = commands::filters(scope.confines_files);
    let programs = [other_tables(), unknown, without_effect, refused, fcntl, ioctl];
    for program in programs.iter().filter(|program| !program.is_empty()) {
        seccompiler::apply_filter(program)?;
    }
    Ok(())
}

fn refused(
    FilterScope { sockets, has_ipc, confines_files, keeps_metadata, .. }: FilterScope,
) -> Result<SeccompRules, BackendError> {
    let mut rules: SeccompRules = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    if !has_ipc {
        rules.extend(IPC.iter().map(|&call| (call, Vec::new())));
    }
    if keeps_metadata {
        rules.extend(METADATA.iter().map(|&call| (call, Vec::new())));
    }
    if confines_files {
        rules.extend(NOTICED.iter().map(|&call| (call, Vec::new())));
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_inotify_init, Vec::new());
    }
    let rule = |conditions| SeccompRule::new(conditions);
    for &(call, arguments) in OF_THE_CALLER {
        let differs = |&(argument, value)| rule(vec![Condition::new(argument, Len::Dword, Op::Ne, value)?]);
        rules.insert(call, arguments.iter().map(differs).collect::<Result<_, _>>()?);
    }
    let of_namespaces = (0..64).map(|bit| 1 << bit).filter(|bit| NAMESPACES & bit != 0);
    let any = of_namespaces
        .map(|bit| rule(vec![Condition::new(0, Len::Qword, Op::MaskedEq(bit), bit)?]))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_clone, any);
    let families = sockets.families();
    let others: Vec<Condition> = families
        .iter()
        .map(|&family| Condition::new(0, Len::Dword, Op::Ne, family as u64))
        .collect::<Result<_, _>>()?;
    let raw = Condition::new(1, Len::Dword, Op::MaskedEq(0xf), libc::SOCK_RAW as u64)?;
    let ip = |family: libc::c_int| Condition::new(0, Len::Dword, Op::Eq, family as u64);
    let of_sockets = if others.is_empty() {
        Vec::new()
    } else {
        vec![
            rule(others)?,
            rule(vec![ip(libc::AF_INET)?, raw.clone()])?,
            rule(vec![ip(libc::AF_INET6)?, raw])?,
        ]
    };
    rules.insert(libc::SYS_socket, of_sockets);
    Ok(rules)
}

/// Ends a process on x86-64 that uses the system calls of x32, which have other numbers. Calls of 32-bit programs have
/// another architecture and end the process in every filter.
fn other_tables() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    if !cfg!(target_arch = "x86_64") {
        return BpfProgram::new();
    }
    vec![
        bpf::load(bpf::NUMBER),
        bpf::jump(bpf::JUMP_IF_GREATER_OR_EQUAL, X32, 1, 0),
        bpf::end(libc::SECCOMP_RET_ALLOW),
        bpf::end(libc::SECCOMP_RET_KILL_PROCESS),
    ]
}

/// Instructions of a filter.
mod bpf {
    use seccompiler::sock_filter;

    /// The offset of the call's number in `struct seccomp_data`.
    pub(super) const NUMBER: u32 = 0;
    pub(super) const JUMP_IF_EQUAL: u16 = 0x15;
    pub(super) const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;

    /// The offset of the lower half of an argument, counted from 0.
    pub(super) const fn argument(index: u32) -> u32 {
        let half = if cfg!(target_endian = "big") { 4 } else { 0 };
        16 + 8 * index + half
    }

    pub(super) fn load(at: u32) -> sock_filter {
        sock_filter { code: 0x20, jt: 0, jf: 0, k: at }
    }

    pub(super) fn mask(bits: u32) -> sock_filter {
        sock_filter { code: 0x54, jt: 0, jf: 0, k: bits }
    }

    /// Skips `yes` or `no` instructions.
    pub(super) fn jump(code: u16, value: u32, yes: u8, no: u8) -> sock_filter {
        sock_filter { code, jt: yes, jf: no, k: value }
    }

    pub(super) fn end(action: u32) -> sock_filter {
        sock_filter { code: 0x06, jt: 0, jf: 0, k: action }
    }
}
