//! The commands of `fcntl` and `ioctl` that a bot may use.
//!
//! Both calls have hundreds of commands, and drivers add more: some stop other programs (leases, flow control of a
//! terminal), signal them, or change a file system. Only those below are allowed, which act on descriptors of the caller.

use nix::libc;
use seccompiler::BpfProgram;

use super::bpf;

/// A mask and a value: a command is allowed if its bits in the mask have this value.
type Allowed = (u32, u32);

const fn exactly(command: u32) -> Allowed {
    (u32::MAX, command)
}

/// The commands of `fcntl` that act on a descriptor, a pipe or a memory file.
const FCNTL: &[Allowed] = &[
    exactly(libc::F_DUPFD as u32),
    exactly(libc::F_DUPFD_CLOEXEC as u32),
    exactly(libc::F_GETFD as u32),
    exactly(libc::F_SETFD as u32),
    exactly(libc::F_GETFL as u32),
    exactly(libc::F_SETFL as u32),
    exactly(libc::F_GETPIPE_SZ as u32),
    exactly(libc::F_SETPIPE_SZ as u32),
    exactly(libc::F_ADD_SEALS as u32),
    exactly(libc::F_GET_SEALS as u32),
    exactly(F_DUPFD_QUERY),
];
/// From linux/fcntl.h: whether two descriptors are the same.
const F_DUPFD_QUERY: u32 = 1027;

/// The commands of `fcntl` for locks. Others notice them, so they are refused where files are confined.
const LOCKS: &[Allowed] = &[
    exactly(libc::F_GETLK as u32),
    exactly(libc::F_SETLK as u32),
    exactly(libc::F_SETLKW as u32),
    exactly(libc::F_OFD_GETLK as u32),
    exactly(libc::F_OFD_SETLK as u32),
    exactly(libc::F_OFD_SETLKW as u32),
];

/// The requests of `ioctl` that act on a descriptor, read the state of a terminal, a socket or a pipe, create a
/// terminal, or copy a file. None changes a terminal: it may be that of a person.
const IOCTL: &[Allowed] = &[
    exactly(libc::FIOCLEX as u32),
    exactly(libc::FIONCLEX as u32),
    exactly(libc::FIONBIO as u32),
    exactly(libc::FIONREAD as u32),
    exactly(libc::TCGETS as u32),
    exactly(libc::TCGETS2 as u32),
    exactly(libc::TIOCGWINSZ as u32),
    exactly(libc::TIOCGPGRP as u32),
    exactly(libc::TIOCGSID as u32),
    exactly(libc::TIOCOUTQ as u32),
    exactly(libc::TIOCGPTN as u32),
    exactly(libc::TIOCSPTLCK as u32),
    exactly(libc::TIOCGPTPEER as u32),
    exactly(libc::SIOCGIFNAME as u32),
    exactly(libc::SIOCGIFCONF as u32),
    exactly(libc::SIOCGIFFLAGS as u32),
    exactly(libc::SIOCGIFADDR as u32),
    exactly(libc::SIOCGIFBRDADDR as u32),
    exactly(libc::SIOCGIFNETMASK as u32),
    exactly(libc::SIOCGIFMTU as u32),
    exactly(libc::SIOCGIFHWADDR as u32),
    exactly(libc::SIOCGIFINDEX as u32),
    exactly(libc::FICLONE as u32),
    exactly(libc::FICLONERANGE as u32),
];

/// The requests of drivers for GPUs, whose devices a bot sees only where its files are not confined: DRM and NVIDIA have a
/// type, and NVIDIA's unified memory has small numbers.
const GPUS: &[Allowed] = &[
    (HAS_SIZE_AND_TYPE, WITH_SIZE | (b'd' as u32) << 8),
    (HAS_SIZE_AND_TYPE, WITH_SIZE | (b'F' as u32) << 8),
    (0xffff_ff00, 0),
    exactly(UVM_INITIALIZE),
    exactly(UVM_DEINITIALIZE),
];
/// From asm-generic/ioctl.h: the direction "read and write", and the type of a request.
const HAS_SIZE_AND_TYPE: u32 = 0xc000_ff00;
const WITH_SIZE: u32 = 0xc000_0000;
/// From nvidia-uvm/uvm_linux_ioctl.h.
const UVM_INITIALIZE: u32 = 0x3000_0001;
const UVM_DEINITIALIZE: u32 = 0x3000_0002;

/// The filters for `fcntl` and `ioctl`. `confines_files`: the bot reaches only some files.
pub(super) fn filters(confines_files: bool) -> [BpfProgram; 2] {
    let [locks, gpus] = if confines_files { [&[][..], &[]] } else { [LOCKS, GPUS] };
    [filter(libc::SYS_fcntl, FCNTL.iter().chain(locks)), filter(libc::SYS_ioctl, IOCTL.iter().chain(gpus))]
}

/// Refuses a call unless its second argument is an allowed command. [`super::install`] installs other filters that check
/// the architecture.
fn filter<'a>(call: libc::c_long, allowed: impl Iterator<Item = &'a Allowed>) -> BpfProgram {
    let mut program = vec![
        bpf::load(bpf::NUMBER),
        bpf::jump(bpf::JUMP_IF_EQUAL, call as u32, 1, 0),
        bpf::end(libc::SECCOMP_RET_ALLOW),
    ];
    for &(mask, value) in allowed {
        program.push(bpf::load(bpf::argument(1)));
        program.push(bpf::mask(mask));
        program.push(bpf::jump(bpf::JUMP_IF_EQUAL, value, 0, 1));
        program.push(bpf::end(libc::SECCOMP_RET_ALLOW));
    }
    program.push(bpf::end(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
    program
}
