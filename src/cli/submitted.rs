//! A bot's directory, built as a league does it to which it is handed in.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::bot::Command;
use crate::bot::sandbox::Sandbox;
use crate::cli::bots::{block_on, launch};
use crate::cli::exit::{Exit, Failure};
use crate::cli::screen::stderr_line;
use crate::cli::signals::interrupted;
use crate::files::open_regular;
use crate::game::Chain;
use crate::game::printable::printable;
use crate::runs::RunError;
use crate::runs::submissions::{
    BotFile, Build, SubmissionLog, SubmissionTerms, SubmissionsConfig, build, open_archive, pack_bot, repack,
};
use crate::workers::archive::{self, ArchiveId};

/// The number of omitted paths that are named.
const MOST_NAMED: usize = 10;

/// Says on standard error which files of a bot's directory its archive does not have, if there are any.
pub(super) fn say_left_out(paths: &[PathBuf]) {
    let more = paths.len().saturating_sub(MOST_NAMED);
    let named = paths.iter().take(MOST_NAMED).map(|path| printable(&path.to_string_lossy()).into_owned());
    let named = named.chain((more > 0).then(|| format!("{more} more"))).collect::<Vec<_>>().join(", ");
    if !paths.is_empty() {
        stderr_line(format_args!("left out: {named}; `files` in bot.toml names what the bot needs of them"));
    }
}

/// A bot that is handed in, as an archive in the normal form.
pub(super) struct Submission {
    pub(super) id: ArchiveId,
    archive: File,
    limits: SubmissionTerms,
}

/// The unpacked and built bot of a submission.
pub(super) struct BuiltSubmission {
    pub(super) file: BotFile,
    pub(super) command: Command,
}

impl Submission {
    /// Packs a directory, a zip file or a tar.gz, or reads an archive in the normal form, with the default limits of leagues.
    pub(super) fn open(path: &Path) -> Result<Submission, Failure> {
        let limits = SubmissionsConfig::default().terms(u32::MAX).map_err(Failure::usage)?;
        let wrong = |error: &dyn Error| Failure::usage(format!("{}: {}", path.display(), Chain(error)));
        let mut archive = tempfile::tempfile().map_err(Failure::cannot_run)?;
        let packed = if path.is_dir() {
            pack_bot(path, limits.archive, BufWriter::new(&mut archive)).map_err(|error| wrong(&error))?
        } else {
            let given = open_regular(path, File::options().read(true)).map_err(|error| wrong(&error))?;
            let unpacked = tempfile::tempdir().map_err(Failure::cannot_run)?;
            match repack(&given, unpacked.path(), limits.archive, BufWriter::new(&mut archive)) {
                Ok(Some(packed)) => packed,
                Ok(None) => {
                    let id = archive::check(&given, limits.archive).map_err(|error| wrong(&error))?;
                    return Ok(Submission { id, archive: given, limits });
                }
                Err(error @ RunError::Machine(_)) => return Err(error.into()),
                Err(error) => return Err(wrong(&error)),
            }
        };
        say_left_out(&packed.left_out);
        archive.flush().and_then(|()| archive.rewind()).map_err(Failure::cannot_run)?;
        Ok(Submission { id: packed.archive.id, archive, limits })
    }

    /// Unpacks the archive in a directory and builds the bot there, in `bot`. A submission that is refused fails with
    /// [`Exit::No`] and the log.
    pub(super) fn build(
        &self,
        place: &Path,
        bot: &Path,
        bot_sandbox: &Sandbox,
    ) -> Result<BuiltSubmission, Failure> {
        let mut limits = self.limits.build.clone();
        limits.read.clone_from(&bot_sandbox.limits().read);
        let build_sandbox = bot_sandbox.with(limits).map_err(Failure::usage)?;
        let mut log = SubmissionLog::new(place);
        let source = place.join("source");
        fs::create_dir(&source).map_err(Failure::cannot_run)?;
        let SubmissionTerms { archive: limits, result, build_time, .. } = self.limits;
        let launch = launch()?;
        let built = block_on(async {
            let file = open_archive(&self.archive, &self.id, &source, limits).await?;
            let order = Build {
                sandbox: &build_sandbox,
                launch: &launch,
                archive: &self.archive,
                id: self.id,
                limits,
                result,
                most_time: build_time,
                source: &source,
                bot,
            };
            tokio::select! {
                built = build(&file, order, tempfile::tempfile, &mut log) => built?,
                () = interrupted() => return Ok(None),
            };
            Ok(Some(file))
        })?;
        let file = match built {
            Ok(Some(file)) => file,
            Ok(None) => return Err(Failure { exit: Exit::Interrupted, error: anyhow!("interrupted") }),
            Err(error @ RunError::Machine(_)) => return Err(error.into()),
            Err(refused) => {
                log.line(Chain(&refused));
                return Err(Failure { exit: Exit::No, error: anyhow!("{}", log.text().trim_end()) });
            }
        };
        let command = file.command_in(bot, bot_sandbox).map_err(Failure::usage)?;
        Ok(BuiltSubmission { file, command })
    }
}
