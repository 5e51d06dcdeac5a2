//! The program that builds a bot. It runs in the sandbox, as a part of this program.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use referee_bots::BuiltinProgram;
use referee_game::{Chain, Wrong};
use referee_workers::archive::{ArchiveId, ArchiveLimits, pack_folder, unpack_stream};
use serde::{Deserialize, Serialize};

pub(super) const BUILDER: &str = "__build";
/// The environment variable with its [`BuildOrder`].
pub(super) const ORDER: &str = "REFEREE_BUILD";

/// The program that builds a bot, for [`referee_bots::exec_with`].
pub const BUILTIN: BuiltinProgram = (BUILDER, run);

/// The order of a build. The standard input is a pipe with the archive, and the standard output one for that of the result: what a
/// build reached through a descriptor of a file would be a file of the host.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BuildOrder {
    pub(super) archive: ArchiveId,
    pub(super) limits: ArchiveLimits,
    /// The program and its arguments.
    pub(super) argv: Vec<String>,
    pub(super) result: ArchiveLimits,
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, signal) => format!("was killed by signal {}", signal.unwrap_or_default()),
    }
}

fn run(_: &[OsString], environment: &[OsString]) -> ExitCode {
    match work(environment) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "{}", Chain(&why));
            ExitCode::FAILURE
        }
    }
}

fn work(environment: &[OsString]) -> Result<(), Wrong> {
    let variables = environment.iter().filter_map(|entry| {
        let mut parts = entry.as_bytes().splitn(2, |&byte| byte == b'=');
        let (name, value) = (parts.next()?, parts.next()?);
        Some((std::ffi::OsStr::from_bytes(name), std::ffi::OsStr::from_bytes(value)))
    });
    let (orders, variables): (Vec<_>, Vec<_>) = variables.partition(|(name, _)| *name == ORDER);
    let no_order = || io::Error::new(io::ErrorKind::InvalidInput, "there is no order to build anything");
    let (_, order) = orders.first().ok_or_else(no_order)?;
    let order: BuildOrder = serde_json::from_slice(order.as_bytes()).map_err(io::Error::from)?;
    let temporary =
        variables.iter().find(|(name, _)| *name == "TMPDIR").map(|(_, value)| PathBuf::from(value));
    let directory = temporary.unwrap_or_else(|| Path::new("/tmp").to_owned()).join("build");
    std::fs::create_dir(&directory)?;
    let input = File::from(rustix::stdio::stdin().try_clone_to_owned()?);
    unpack_stream(&input, &order.archive, &directory, order.limits).map_err(|why| Wrong::of(&why))?;
    drop(input);
    let [program, rest @ ..] = &order.argv[..] else { return Err(no_order().into()) };
    let mut command = Command::new(program);
    command.args(rest).current_dir(&directory).env_clear().envs(variables);
    // The build prints for people.
    command.stdin(Stdio::null()).stdout(rustix::stdio::stderr().try_clone_to_owned()?);
    let not_started = |error| Wrong::at(format!("`{program}` cannot be started"), error);
    let status = command.status().map_err(not_started)?;
    if !status.success() {
        return Err(format!("`{}` {}", order.argv.join(" "), ended(status)).into());
    }
    let output = File::from(rustix::stdio::stdout().try_clone_to_owned()?);
    pack_folder(&directory, order.result, BufWriter::new(output))
        .map_err(|why| Wrong::at("what was built cannot be packed", why))?;
    Ok(())
}
