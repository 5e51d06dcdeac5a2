//! The versions of bots, kept by the SHA-256 of their archives.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use referee_bots::sandbox::Sandbox;
use referee_bots::{Command, Launch};
use referee_engine::driver::Terms;
use referee_game::Catalog;
use referee_game::erased::Rules;
use tempfile::NamedTempFile;

use crate::RunError;
use crate::submissions::{
    BotFile, Build, CheckedLadder, LadderVerdict, SubmissionLog, SubmissionTerms, build, check_as,
    open_archive, pack_bot,
};

/// The time that a decision may take in a check of a bot that plays without a clock, in milliseconds.
const UNLIMITED_MS: u64 = 60_000;

/// A version of a bot that was built.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// The SHA-256 of its archive, in hex.
    pub id: String,
    /// The directory with its files.
    pub folder: PathBuf,
    /// The command that starts it there, without a sandbox.
    pub command: Command,
}

/// The store of versions: `ID.tar` and the directory `ID` of each.
#[derive(Clone, Debug)]
pub struct Versions {
    pub(super) folder: PathBuf,
    pub(super) launch: Launch,
    pub(super) terms: SubmissionTerms,
    /// `None` if this machine has none; then no bot can be built.
    pub(super) build_sandbox: Option<Sandbox>,
}

impl Versions {
    /// The version with this id.
    ///
    /// # Errors
    /// If it is not there.
    pub fn find(&self, id: &str) -> Result<Version, RunError> {
        let folder = self.folder.join(id);
        let command = BotFile::read(&folder).and_then(|file| file.command())?;
        Ok(Version { id: id.to_owned(), folder, command })
    }

    /// Packs the bot of a directory, and builds it unless the same files were built before.
    ///
    /// # Errors
    /// If it cannot be packed or built. An error of the machine is no defect of the bot.
    pub async fn make(&self, directory: &Path, log: &mut SubmissionLog) -> Result<Version, RunError> {
        let mut archive = NamedTempFile::new_in(&self.folder)?;
        let packed = pack_bot(directory, self.terms.archive, BufWriter::new(&mut archive))?;
        archive.flush()?;
        let id = packed.archive.id;
        let folder = self.folder.join(id.to_string());
        let version = Version { id: id.to_string(), folder, command: packed.file.command()? };
        if version.folder.is_dir() {
            return Ok(version);
        }
        let place = tempfile::tempdir_in(&self.folder)?;
        let (source, bot) = (place.path().join("source"), place.path().join("bot"));
        fs::create_dir(&source)?;
        let file = open_archive(archive.as_file(), &id, &source, self.terms.archive).await?;
        let no_sandbox = Sandbox::default();
        let sandbox = match &self.build_sandbox {
            None if file.build.is_some() => return Err("the bot has a build, which needs the sandbox `strict`, and this machine lacks it: see `referee sandbox check`".into()),
            sandbox => sandbox.as_ref().unwrap_or(&no_sandbox),
        };
        let order = Build {
            sandbox,
            launch: &self.launch,
            archive: archive.as_file(),
            id,
            limits: self.terms.archive,
            result: self.terms.result,
            most_time: self.terms.build_time,
            source: &source,
            bot: &bot,
        };
        build(&file, order, || tempfile::tempfile_in(place.path()), log).await?;
        archive.persist(self.folder.join(format!("{id}.tar"))).map_err(|error| error.error)?;
        fs::rename(bot, &version.folder)?;
        Ok(version)
    }

    /// Checks a version as `referee check` does. Returns whether it has passed.
    pub async fn check(
        &self,
        version: &Version,
        sandbox: &Sandbox,
        (rules, catalog): (&'static dyn Rules, &Catalog),
        terms: &Terms,
        log: &mut SubmissionLog,
    ) -> bool {
        let command = Command {
            directory: Some(version.folder.clone()),
            files: Some(version.folder.clone()),
            sandbox: sandbox.clone(),
            ..version.command.clone()
        };
        let move_ms = terms.clock.map_or(UNLIMITED_MS, |clock| clock.delay_ms + clock.bank_ms);
        let checked = CheckedLadder {
            name: String::new(),
            rules,
            catalog: catalog.clone(),
            move_limit: Duration::from_millis(move_ms),
            hello_limit: Duration::from_millis(terms.hello_ms),
            ready_limit: Duration::from_millis(terms.first_ready_ms),
            later_ready_limit: Duration::from_millis(terms.later_ready_ms),
        };
        let verdict = check_as("check", &command, &self.launch, &checked, self.terms.check_time, log).await;
        verdict == LadderVerdict::Passed
    }
}
