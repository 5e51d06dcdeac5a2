//! Instructions for the launcher to confine one process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use referee_game::Wrong;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::{Cgroup, Layer, Sandbox, Size, View, bubblewrap};
use crate::keep::{self, KeptFolder};
use crate::launcher::SpawnError;
use crate::{Command, Keep};

/// Steps of the launcher in a bot's process before its program runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub(crate) sandbox: Sandbox,
    pub(super) view: View,
    /// The temporary directory, if there is no mount namespace.
    pub(super) scratch: Option<PathBuf>,
    /// The path of `bwrap`, if the launcher has to run it first.
    pub(crate) bubblewrap: Option<PathBuf>,
    /// Whether calls that change metadata of files are refused: they would reach files of the host.
    pub(crate) keeps_metadata: bool,
    /// The control group to join.
    pub(crate) cgroup: Option<PathBuf>,
    /// The size of the directory that outlives the process, if it has one.
    pub(crate) keep: Option<Size>,
}

/// Resources of a process's confinement outside of it. Dropping it, after the process has ended, removes it.
#[derive(Debug, Default)]
pub(crate) struct ConfinementGuard {
    scratch: Option<TempDir>,
    /// The control group of its processes.
    pub(crate) cgroup: Option<Arc<Cgroup>>,
    /// Whether bubblewrap is the parent of the bot.
    pub(crate) is_wrapped: bool,
    /// The memory limit, in bytes.
    pub(crate) memory: u64,
    /// The limit of the size of a file, in bytes.
    pub(crate) file: Option<u64>,
    /// The directory that outlives it.
    pub(crate) kept: Option<Box<KeptFolder>>,
}

impl Confinement {
    /// Prepares the sandbox of a bot, and adapts its environment to it.
    ///
    /// # Errors
    /// If something cannot be created.
    pub(crate) fn of(
        command: &Command,
        environment: &mut BTreeMap<OsString, OsString>,
    ) -> Result<(Confinement, ConfinementGuard), SpawnError> {
        let sandbox = command.sandbox.clone();
        let mut confinement = Confinement { sandbox, ..Confinement::default() };
        let mut guard = ConfinementGuard::default();
        if confinement.sandbox.has(Layer::Rlimits) {
            guard.file = confinement.sandbox.limits().scratch.map(Size::bytes);
        }
        if confinement.sandbox.has(Layer::Cgroup) {
            let limits = confinement.sandbox.limits();
            guard.memory = limits.memory.map_or(u64::MAX, Size::bytes);
            let cgroup = Cgroup::create(limits)?;
            confinement.cgroup = Some(cgroup.path().to_owned());
            guard.cgroup = Some(Arc::new(cgroup));
        }
        if !confinement.sandbox.confines_files() {
            return Ok((confinement, guard));
        }
        confinement.view = View::of(command);
        if let Some(path) = confinement.view.exposed() {
            let path = path.display();
            return Err(Wrong::from(format!(
                "its sandbox would show {path}, which no bot may see: name files without it"
            ))
            .into());
        }
        if confinement.sandbox.has(Layer::Bubblewrap) {
            guard.is_wrapped = true;
            confinement.keep = command.keep.as_ref().map(Keep::size);
            confinement.bubblewrap =
                Some(bubblewrap::program().ok_or(Wrong::new("bubblewrap is no longer installed"))?);
        } else {
            confinement.keeps_metadata = true;
            let scratch = tempfile::Builder::new().prefix("referee-bot-").tempdir()?;
            confinement.scratch = Some(scratch.path().to_owned());
            guard.scratch = Some(scratch);
        }
        if let Some(path) = environment.get_mut("PATH".as_ref() as &std::ffi::OsStr) {
            *path = confinement.view.search_path(path);
        }
        let scratch = confinement.scratch.as_deref().unwrap_or(Path::new("/tmp"));
        for name in ["HOME", "TMPDIR"].into_iter().filter(|name| !command.env.contains_key(*name)) {
            environment.insert(name.into(), scratch.into());
        }
        if confinement.keep.is_some() {
            environment.insert(keep::VARIABLE.into(), keep::DIRECTORY.into());
        }
        Ok((confinement, guard))
    }

    /// The steps that remain inside bubblewrap.
    pub(crate) fn inside(&self) -> Confinement {
        Confinement { bubblewrap: None, cgroup: None, ..self.clone() }
    }
}
