//! A bot's directory, built as a league does it to which it is handed in.

use std::fs;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::bot::Command;
use crate::cli::bots::{block_on, launch};
use crate::cli::sandbox::SandboxOptions;
use crate::cli::screen::stderr_line;
use crate::cli::signals::interrupted;
use crate::cli::{Exit, Failure};
use crate::game::Chain;
use crate::game::printable::printable;
use crate::runs::submissions::SubmissionsConfig;
use crate::runs::submissions::{
    Build, SubmissionLog, SubmissionTerms, TrialError, build, open_archive, pack_bot,
};

/// How many paths that are left out are named.
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

/// The unpacked and built bot of a directory.
pub(super) struct SubmittedDirectory {
    /// How the bot is started.
    pub(super) command: Command,
    /// Its files.
    _place: TempDir,
}

impl SubmittedDirectory {
    /// Packs a directory, unpacks the archive elsewhere and builds the bot, with the default limits of leagues. If that fails,
    /// prints the log and returns none.
    pub(super) fn build(
        directory: &Path,
        sandbox: &SandboxOptions,
    ) -> Result<Option<SubmittedDirectory>, Failure> {
        let terms = SubmissionsConfig::default().terms(u32::MAX).map_err(Failure::usage)?;
        let bot_sandbox = sandbox.strict()?;
        let mut limits = terms.build.clone();
        limits.read.clone_from(&bot_sandbox.limits().read);
        let build_sandbox = bot_sandbox.with(limits).map_err(Failure::usage)?;
        let place = tempfile::tempdir().map_err(Failure::cannot_run)?;
        let mut log = SubmissionLog::new(place.path());
        let mut archive = tempfile::tempfile().map_err(Failure::cannot_run)?;
        let packed = pack_bot(directory, terms.archive, BufWriter::new(&mut archive));
        let packed =
            packed.map_err(|error| Failure::usage(format!("{}: {}", directory.display(), Chain(&error))))?;
        say_left_out(&packed.left_out);
        let packed = packed.archive;
        archive.flush().and_then(|()| archive.rewind()).map_err(Failure::cannot_run)?;
        let (source, bot) = (place.path().join("source"), place.path().join("bot"));
        fs::create_dir(&source).map_err(Failure::cannot_run)?;
        let SubmissionTerms { archive: limits, result, build_time, .. } = terms;
        let launch = launch()?;
        let built = block_on(async {
            let file = open_archive(&archive, &packed.id, &source, limits).await?;
            let order = Build {
                sandbox: &build_sandbox,
                launch: &launch,
                archive: &archive,
                id: packed.id,
                limits,
                result,
                most_time: build_time,
                source: &source,
                bot: &bot,
            };
            tokio::select! {
                built = build(&file, order, tempfile::tempfile, &mut log) => built?,
                () = interrupted() => return Ok(None),
            };
            Ok(Some(file))
        })?;
        let file = match built {
            Ok(Some(file)) => file,
            Ok(None) => {
                return Err(Failure { exit: Exit::Interrupted, error: anyhow::anyhow!("interrupted") });
            }
            Err(error @ (TrialError::Machine(_) | TrialError::NotStarted(_))) => {
                return Err(Failure::cannot_run(error));
            }
            Err(refused) => {
                log.line(Chain(&refused));
                stderr_line(log.text().trim_end());
                return Ok(None);
            }
        };
        let command = file.command_in(&bot, &bot_sandbox).map_err(Failure::usage)?;
        Ok(Some(SubmittedDirectory { command, _place: place }))
    }
}
