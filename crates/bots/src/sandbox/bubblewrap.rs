//! The command line of bubblewrap, which creates the namespaces.

use std::ffi::OsString;
#[cfg(target_os = "linux")]
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use referee_game::Wrong;

use super::view::SYSTEM;
use super::{Confinement, Sandbox};
use crate::command::{find, is_program};
use crate::keep;

/// The devices that bubblewrap shows in `/dev`.
#[cfg(target_os = "linux")]
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Advice where bubblewrap cannot work.
const HELP: &str = "see `referee spec security`";

/// Finds the path of `bwrap`.
pub(crate) fn program() -> Option<PathBuf> {
    find("bwrap".as_ref(), std::env::var_os("PATH").as_deref(), is_program)
}

/// Tries bubblewrap with the namespaces of a bot.
///
/// # Errors
/// Why it cannot isolate a bot, and what would help.
pub(super) fn probe() -> Result<(), Wrong> {
    let Some(program) = program() else {
        return Err(Wrong::new(
            "bubblewrap is not installed: on Debian and Ubuntu, `apt-get install bubblewrap`",
        ));
    };
    let mut bwrap = Command::new(&program);
    bwrap.args(isolation(false)).args(["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]);
    let ended = bwrap.stdin(Stdio::null()).output();
    let ended = ended.map_err(|error| Wrong::at(program.display().to_string(), error))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    let said = said.lines().next().unwrap_or("bubblewrap failed");
    let restricted = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
    let obstacle = match std::fs::read_to_string(restricted) {
        Ok(text) if text.trim() == "1" => "AppArmor restricts user namespaces: allow them to /usr/bin/bwrap",
        _ if said.contains("--disable-userns") => "needs bubblewrap 0.8 or later",
        _ => "user namespaces must be allowed, in a container by its runtime",
    };
    Err(format!("{said}; {obstacle}; {HELP}").into())
}

/// The options that isolate a bot, apart from its files.
fn isolation(has_network: bool) -> Vec<&'static str> {
    let mut options = vec![
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--cap-drop",
        "ALL",
        "--new-session",
        "--die-with-parent",
    ];
    options.extend(has_network.then_some("--share-net"));
    options
}

/// Protects the modes, times and owners of the devices that bubblewrap shows, which are those of the system: makes them
/// read-only in a mount namespace of this process. Data can still be written to them. Devices of another user need no
/// protection.
///
/// # Errors
/// If the system does not allow that.
#[cfg(target_os = "linux")]
pub(crate) fn protect_devices() -> io::Result<()> {
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};

    let user = rustix::process::geteuid().as_raw();
    let is_owned = |device: &&str| rustix::fs::stat(*device).is_ok_and(|of| of.st_uid == user);
    let owned: Vec<&str> = DEVICES.into_iter().filter(is_owned).collect();
    if owned.is_empty() {
        return Ok(());
    }
    let change = |source: Option<&str>, target: &str, flags: MsFlags| {
        mount(source, target, None::<&str>, flags, None::<&str>).map_err(io::Error::from)
    };
    unshare(CloneFlags::CLONE_NEWNS).map_err(io::Error::from)?;
    // Other mount namespaces must not get the following mounts.
    change(None, "/", MsFlags::MS_SLAVE | MsFlags::MS_REC)?;
    for device in owned {
        change(Some(device), device, MsFlags::MS_BIND)?;
        change(None, device, MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY)?;
    }
    Ok(())
}

/// The arguments of bubblewrap for a bot. `command` runs inside.
pub(crate) fn arguments(
    confinement: &Confinement,
    command: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let Confinement { sandbox, view, .. } = confinement;
    let mut all: Vec<OsString> = isolation(sandbox.has_network()).into_iter().map(OsString::from).collect();
    let mut add =
        |words: &[&dyn AsRef<std::ffi::OsStr>]| all.extend(words.iter().map(|word| word.as_ref().to_owned()));
    for path in &view.paths {
        match system_link(path) {
            Some(target) => add(&[&"--symlink", &target, path]),
            None => add(&[&"--ro-bind", path, path]),
        }
    }
    add(&[&"--dir", &view.directory]);
    let scratch = scratch(sandbox);
    // The kernel's counters there are the same for all bots.
    add(&[&"--proc", &"/proc", &"--tmpfs", &"/proc/sys", &"--remount-ro", &"/proc/sys"]);
    // The first process is bubblewrap, whose program and streams are files of the host.
    add(&[&"--tmpfs", &"/proc/1", &"--remount-ro", &"/proc/1"]);
    // Modes of files such as `/proc/uptime` are the same in all namespaces.
    add(&[&"--remount-ro", &"/proc"]);
    add(&[&"--dev", &"/dev", &"--size", &scratch, &"--tmpfs", &"/dev/shm"]);
    add(&[&"--remount-ro", &"/dev", &"--size", &scratch, &"--tmpfs", &"/tmp"]);
    if let Some(size) = confinement.keep {
        add(&[&"--size", &size.bytes().to_string(), &"--tmpfs", &keep::DIRECTORY]);
    }
    // The bot may have files below /tmp.
    for path in view.paths.iter().filter(|path| path.starts_with("/tmp")) {
        add(&[&"--ro-bind", path, path]);
    }
    if view.directory.starts_with("/tmp") {
        add(&[&"--dir", &view.directory]);
    }
    if let Some(workspace) = &view.workspace {
        add(&[&"--bind", workspace, workspace]);
    }
    add(&[&"--remount-ro", &"/", &"--chdir", &view.directory, &"--"]);
    all.extend(command);
    all
}

fn scratch(sandbox: &Sandbox) -> String {
    sandbox.limits().scratch.map_or(0, super::Size::bytes).to_string()
}

/// The target of a directory of the system that is a link, such as `/bin`.
fn system_link(path: &Path) -> Option<PathBuf> {
    SYSTEM.iter().any(|system| path == Path::new(system)).then(|| std::fs::read_link(path).ok()).flatten()
}
