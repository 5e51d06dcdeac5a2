//! Preparations before the program starts bots.

use std::path::Path;
use std::sync::Arc;

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::bot::{Command, Launch, OrphanReaper};
use crate::cli::exit::Failure;
use crate::sources::Source;

/// Raises the limit of open files. Each process needs three descriptors and each connection one; many systems have a
/// soft limit of 1,024.
fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "cannot raise the limit of open files");
    }
}

/// Sets the working directory of a bot that this program starts; `option` gave it.
pub(super) fn run_in(bot: &mut Arc<dyn Source>, directory: &Path, option: &str) -> Result<(), Failure> {
    let Some(command) = bot.command() else {
        return Err(Failure::usage(format!(
            "{option}: `{bot}` connects by itself, from a directory of its own"
        )));
    };
    *bot = Arc::new(Command { directory: Some(directory.to_owned()), ..command.clone() });
    Ok(())
}

/// The launcher of this program's bots.
pub(super) fn launch() -> Result<Launch, Failure> {
    Launch::through_this_program()
        .map_err(|error| Failure::cannot_run(format!("cannot find the path of this program: {error}")))
}

/// Runs a future on the current thread.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::cannot_run)?;
    Ok(with_bots(|| runtime.block_on(future)))
}

/// Runs a function that starts bots. No bot process is left when it returns.
pub(super) fn with_bots<T>(work: impl FnOnce() -> T) -> T {
    raise_open_files();
    let orphanage = OrphanReaper::open();
    let result = work();
    orphanage.close();
    result
}
