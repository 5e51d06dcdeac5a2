//! The filter of system calls.

use std::collections::BTreeMap;
use std::io;

use nix::libc::{self, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition as Condition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
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

/// Calls that set the priority or limits of the process in this argument, counted from 0. 0 stands for the caller.
const OF_A_PROCESS: &[(c_long, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
];

/// `clone` with any of these creates a namespace.
const NAMESPACES: u64 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u64;

/// `ioctl` requests that type into a terminal.
const TERMINAL: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// Which sockets a bot may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sockets {
    /// The families of the Internet, Unix and routing tables: what name lookups need.
    Network,
    /// Unix sockets and IP, in a network namespace without a network.
    Isolated,
    /// None, as there is no namespace.
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

/// Installs the filter in this thread. `has_ipc`: whether IPC calls are allowed. `is_isolated`: the bot has a PID
/// namespace.
pub(super) fn install(sockets: Sockets, has_ipc: bool, is_isolated: bool) -> io::Result<()> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let compile = |rules: SeccompRules, errno: libc::c_int| {
        let refuse = SeccompAction::Errno(errno as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch);
        filter.and_then(BpfProgram::try_from).map_err(io::Error::other)
    };
    let refused = compile(refused(sockets, has_ipc).map_err(io::Error::other)?, libc::EPERM)?;
    // Its flags are in memory, where a filter cannot look. The C library then calls `clone`.
    let unknown = compile(SeccompRules::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)?;
    // It succeeds without effect. The scheduler shares the processors among sessions (autogroups): a bot with many would get
    // more time than its opponent, and would delay it. Its session ends with its namespace anyway.
    let without_effect = if is_isolated {
        compile(SeccompRules::from([(libc::SYS_setsid, Vec::new())]), 0)?
    } else {
        BpfProgram::new()
    };
    for program in
        [other_tables(), unknown, without_effect, refused].iter().filter(|program| !program.is_empty())
    {
        seccompiler::apply_filter(program).map_err(io::Error::other)?;
    }
    Ok(())
}

fn refused(sockets: Sockets, has_ipc: bool) -> Result<SeccompRules, seccompiler::BackendError> {
    let mut rules: SeccompRules = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    if !has_ipc {
        rules.extend(IPC.iter().map(|&call| (call, Vec::new())));
    }
    let rule = |conditions| SeccompRule::new(conditions);
    for &(call, argument) in OF_A_PROCESS {
        rules.insert(call, vec![rule(vec![Condition::new(argument, Len::Dword, Op::Ne, 0)?])?]);
    }
    let of_namespaces = (0..64).map(|bit| 1 << bit).filter(|bit| NAMESPACES & bit != 0);
    let any = of_namespaces
        .map(|bit| rule(vec![Condition::new(0, Len::Qword, Op::MaskedEq(bit), bit)?]))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_clone, any);
    let typing = TERMINAL.iter().map(|&request| rule(vec![Condition::new(1, Len::Dword, Op::Eq, request)?]));
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);
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

/// On x86-64 ends a process that uses the system calls of x32, which have other numbers. Calls of 32-bit programs have
/// another architecture and end the process in every filter.
fn other_tables() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    const LOAD: u16 = 0x20;
    const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;
    const RETURN: u16 = 0x06;
    if !cfg!(target_arch = "x86_64") {
        return BpfProgram::new();
    }
    let step = |code, jt, k| sock_filter { code, jt, jf: 0, k };
    vec![
        step(LOAD, 0, 0),
        step(JUMP_IF_GREATER_OR_EQUAL, 1, X32),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        step(RETURN, 0, libc::SECCOMP_RET_KILL_PROCESS),
    ]
}
