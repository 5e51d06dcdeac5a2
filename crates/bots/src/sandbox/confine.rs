//! Confines the process of the launcher before it becomes the bot: resource limits, Landlock, seccomp.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, Scope, make_bitflags, path_beneath_rules,
};
use referee_game::Wrong;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capability_is_in_bounding_set, remove_capability_from_bounding_set,
};

use super::seccomp::{self, FilterScope, Sockets};
use super::{Confinement, Layer, Sandbox};
use crate::keep;

/// The version of Landlock whose file rights are used, as far as the kernel has them.
const FILES: ABI = ABI::V5;
/// The first version without surprises: earlier ones forbid every move of a file to another directory.
const OLDEST: ABI = ABI::V2;
/// Devices that a confined bot may read and write.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Writable directories of a confined bot in a mount namespace.
const WRITABLE: [&str; 2] = ["/tmp", "/dev/shm"];
/// File systems whose files are settings of the kernel.
const KERNEL: [&str; 13] = [
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "efivarfs",
    "proc",
    "pstore",
    "resctrl",
    "securityfs",
    "sysfs",
    "tracefs",
];

/// Applies the layers that act on the current thread. They last across `execve` and are inherited by children.
pub(crate) fn confine(confinement: &Confinement) -> io::Result<()> {
    let sandbox = &confinement.sandbox;
    if sandbox.has(Layer::Rlimits) {
        set_limits(sandbox)?;
    }
    if sandbox.has(Layer::NoNewPrivs) {
        rustix::thread::set_no_new_privs(true)?;
        drop_capabilities()?;
    }
    if sandbox.has(Layer::Landlock) {
        restrict(confinement).map_err(io::Error::other)?;
    }
    if sandbox.has(Layer::Seccomp) {
        let is_isolated = sandbox.has(Layer::Bubblewrap);
        let sockets = match (sandbox.has_network(), is_isolated) {
            (true, _) => Sockets::Network,
            (false, true) => Sockets::Isolated,
            (false, false) => Sockets::Refused,
        };
        let confines_files = sandbox.confines_files();
        let (has_ipc, keeps_metadata) = (is_isolated || !confines_files, confinement.keeps_metadata);
        let scope = FilterScope { sockets, has_ipc, is_isolated, confines_files, keeps_metadata };
        seccomp::install(scope).map_err(io::Error::other)?;
    }
    Ok(())
}

/// The capabilities that a bot of root keeps: those for files of other users, and for ports below 1024.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Removes the other capabilities from this process, and from those that a program gets when it starts.
fn drop_capabilities() -> io::Result<()> {
    let own = rustix::thread::capabilities(None)?;
    // Ambient capabilities, such as those of a systemd service, are inheritable.
    let inheritable = own.inheritable & KEPT;
    // Root also gets what is in the bounding set.
    if own.effective.contains(CapabilitySet::SETPCAP) {
        for capability in CapabilitySet::all().difference(KEPT).iter() {
            // An older kernel does not have all of them.
            if capability_is_in_bounding_set(capability).unwrap_or(false) {
                remove_capability_from_bounding_set(capability)?;
            }
        }
    }
    // A builtin program does not start one.
    let (effective, permitted) = (own.effective & KEPT, own.permitted & KEPT);
    Ok(rustix::thread::set_capabilities(None, CapabilitySets { effective, permitted, inheritable })?)
}

/// Sets both limits, but never raises one.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let now = getrlimit(resource);
    let most = now.maximum.map_or(most, |maximum| maximum.min(most));
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

fn set_limits(sandbox: &Sandbox) -> io::Result<()> {
    limit(Resource::Core, 0)?;
    let limits = sandbox.limits();
    // Without a control group: the private memory of each process. Address space is not limited, because runtimes such
    // as those of Java, Go and node reserve much more than they use.
    if let Some(memory) = limits.memory.filter(|_| !sandbox.has(Layer::Cgroup)) {
        limit(Resource::Data, memory.bytes())?;
    }
    if let Some(scratch) = limits.scratch {
        limit(Resource::Fsize, scratch.bytes())?;
    }
    // The kernel counts the processes of a user; in a user namespace only those inside.
    if let Some(processes) = limits.processes.filter(|_| sandbox.has(Layer::Bubblewrap)) {
        limit(Resource::Nproc, processes.into())?;
    }
    Ok(())
}

/// Checks that the kernel has all these rights.
fn has(files: BitFlags<AccessFs>, scopes: BitFlags<Scope>) -> Result<(), RulesetError> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(files);
    let ruleset =
        ruleset.and_then(|ruleset| if scopes.is_empty() { Ok(ruleset) } else { ruleset.scope(scopes) });
    ruleset.and_then(Ruleset::create).map(drop)
}

pub(super) fn has_landlock() -> Result<(), Wrong> {
    has(AccessFs::from_all(OLDEST), BitFlags::EMPTY).map_err(|_| {
        Wrong::new(
            "needs Landlock in the kernel: Linux 5.19 or later with `landlock` in CONFIG_LSM or in the kernel's option `lsm=`",
        )
    })
}

/// Checks that Landlock restricts emptying files, as it does from its third version on.
pub(super) fn has_landlock_truncate() -> Result<(), Wrong> {
    has(AccessFs::from_all(ABI::V3), BitFlags::EMPTY).map_err(|_| {
        Wrong::new(
            "needs Linux 6.2 or later without the layer bubblewrap: before, Landlock does not restrict `truncate`",
        )
    })
}

pub(super) fn has_landlock_scope() -> Result<(), Wrong> {
    has(AccessFs::from_all(OLDEST), Scope::from_all(ABI::V6)).map_err(|_| {
        Wrong::new("needs Linux 6.12 or later with Landlock; the sandbox `strict` works without")
    })
}

fn restrict(confinement: &Confinement) -> Result<(), RulesetError> {
    let is_scoped = confinement.sandbox.has(Layer::LandlockScope);
    let ruleset = Ruleset::default();
    let scoped =
        |ruleset: Ruleset| if is_scoped { ruleset.scope(Scope::from_all(ABI::V6)) } else { Ok(ruleset) };
    let created = if confinement.sandbox.confines_files() {
        let all = AccessFs::from_all(FILES);
        let ruleset = scoped(ruleset.handle_access(all)?)?.create()?;
        confined(ruleset, confinement)?
    } else {
        let ruleset = scoped(ruleset.handle_access(CHANGES | AccessFs::Refer)?)?.create()?;
        open(ruleset)?
    };
    // The layers have been tried before.
    created.restrict_self().map(drop)
}

/// Allows reading in the bot's view, and writing where nothing is kept.
fn confined(ruleset: RulesetCreated, confinement: &Confinement) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(FILES);
    let read = AccessFs::from_read(FILES);
    let devices = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let mut writable: Vec<PathBuf> =
        confinement.scratch.iter().chain(&confinement.view.workspace).cloned().collect();
    if confinement.sandbox.has(Layer::Bubblewrap) {
        writable.extend(WRITABLE.map(PathBuf::from));
        writable.extend(confinement.keep.map(|_| PathBuf::from(keep::DIRECTORY)));
    }
    ruleset
        .add_rules(path_beneath_rules(&confinement.view.paths, read))?
        .add_rules(path_beneath_rules(["/proc", "/dev", "/sys/devices/system/cpu"], read))?
        .add_rules(path_beneath_rules(DEVICES, devices))?
        .add_rules(path_beneath_rules(writable, all))
}

/// Rights that write, apart from moving files.
const CHANGES: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{WriteFile | Truncate | MakeDir | RemoveDir | MakeReg | RemoveFile});

/// Allows everything but changes in file systems of the kernel, such as `oom_score_adj` of other processes and the freezer of
/// control groups.
fn open(ruleset: RulesetCreated) -> Result<RulesetCreated, RulesetError> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut writable = vec!["/proc/self".into()];
    add_outside(Path::new("/"), &of_the_kernel(&mounts), &mut writable);
    ruleset
        .add_rules(path_beneath_rules(["/"], AccessFs::Refer))?
        .add_rules(path_beneath_rules(writable, CHANGES))
}

/// Mount points of file systems whose files are settings of the kernel: from proc_pid_mountinfo(5).
fn of_the_kernel(mounts: &str) -> Vec<PathBuf> {
    let of_the_kernel = |line: &str| {
        let (fields, kind) = line.split_once(" - ")?;
        let is_one = KERNEL.contains(&kind.split(' ').next()?);
        is_one.then(|| fields.split(' ').nth(4).map(PathBuf::from))?
    };
    ["/proc", "/sys"].map(PathBuf::from).into_iter().chain(mounts.lines().filter_map(of_the_kernel)).collect()
}

/// Adds `path`, or if one of `excluded` is below it, those of its entries that are outside of them.
fn add_outside(path: &Path, excluded: &[PathBuf], found: &mut Vec<PathBuf>) {
    if excluded.iter().any(|excluded| path.starts_with(excluded)) {
        return;
    }
    if !excluded.iter().any(|excluded| excluded.starts_with(path)) {
        return found.push(path.to_owned());
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        // A link would lead around the exclusion.
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            add_outside(&entry.path(), excluded, found);
        }
    }
}
