//! The archive of a bot's directory.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use referee_game::{Chain, Wrong};
use referee_workers::archive::{ArchiveError, ArchiveLimits, PackedArchive, pack_selected, unpack_foreign};

use super::trial::refused;
use super::{BOT_FILE, BotFile};
use crate::RunError;

/// Directories that are left out unless `files` names them: results of builds, and installed packages.
const LEFT_OUT: [&str; 3] = ["target", "node_modules", PYTHON_CACHE];
/// The directory that is always left out.
const HISTORY: &str = ".git";
/// The directory that Python writes while it runs.
const PYTHON_CACHE: &str = "__pycache__";

/// The rules of globs: `*` and `?` do not match `/`; `**` does.
const GLOB: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// A packed bot with its description.
#[derive(Debug)]
pub struct PackedBot {
    /// The contents of `bot.toml`.
    pub file: BotFile,
    pub archive: PackedArchive,
    /// The paths of files and directories that are left out because `files` does not name them, but for what Python has
    /// compiled.
    pub left_out: Vec<PathBuf>,
}

/// Writes the archive of the bot in a directory: `bot.toml` and the files that its `files` names. Without `files` that is
/// everything but hidden files and directories, and `target`, `node_modules` and `__pycache__`.
///
/// # Errors
/// If `bot.toml` is invalid, if a file cannot be packed, or a limit.
pub fn pack_bot(directory: &Path, limits: ArchiveLimits, out: impl Write) -> Result<PackedBot, RunError> {
    let file = BotFile::read(directory)?;
    let mut chosen = file.files.as_deref().map(Chosen::of).transpose()?;
    let mut left_out = Vec::new();
    let selects = |path: &Path, is_folder: bool| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        match &mut chosen {
            _ if name == HISTORY => false,
            Some(chosen) => is_folder || chosen.matches(path) || path == Path::new(BOT_FILE),
            None if name.starts_with('.') || LEFT_OUT.contains(&name) => {
                left_out.extend(Some(path.to_owned()).filter(|_| name != PYTHON_CACHE));
                false
            }
            None => true,
        }
    };
    let archive = pack_selected(directory, selects, limits, out).map_err(|error| match error {
        ArchiveError::Io(error) => error.into(),
        error @ ArchiveError::TooMany { .. } => {
            RunError::from(format!("{}: name those of the bot as `files` in bot.toml", Chain(&error)))
        }
        error => RunError::Wrong(error.into()),
    })?;
    if let Some(pattern) = chosen.into_iter().flat_map(|chosen| chosen.unmatched).next() {
        let pattern = pattern.as_str();
        return Err(format!("bot.toml: files: `{pattern}` matches no file in the directory").into());
    }
    left_out.sort();
    Ok(PackedBot { file, archive, left_out })
}

/// Writes the archive of the bot in a zip file or a tar.gz, which is unpacked into this empty directory; `None` for other
/// archives.
///
/// # Errors
/// If the archive or the bot is refused; I/O errors.
pub fn repack(
    archive: impl Read + Seek,
    directory: &Path,
    limits: ArchiveLimits,
    out: impl Write,
) -> Result<Option<PackedBot>, RunError> {
    if !unpack_foreign(archive, directory, limits).map_err(refused)? {
        return Ok(None);
    }
    let has_bot = |folder: &Path| folder.join(BOT_FILE).symlink_metadata().is_ok_and(|of| of.is_file());
    let mut root = directory.to_owned();
    if !has_bot(&root) {
        let mut within = fs::read_dir(&root)?.collect::<io::Result<Vec<_>>>()?;
        match (within.pop(), within.is_empty()) {
            (Some(only), true) if only.file_type()?.is_dir() && has_bot(&only.path()) => root = only.path(),
            _ => {
                let why = "it has no bot.toml, neither at its top nor in its only directory";
                return Err(refused(ArchiveError::wrong(why)));
            }
        }
    }
    pack_bot(&root, limits, out).map(Some)
}

struct Chosen {
    patterns: Vec<Pattern>,
    /// Patterns that have matched no file yet.
    unmatched: Vec<Pattern>,
}

impl Chosen {
    fn of(files: &[String]) -> Result<Chosen, Wrong> {
        let pattern = |text: &String| {
            let plain = text.trim_start_matches("./").trim_end_matches('/');
            Pattern::new(plain).map_err(|why| Wrong::at(format!("bot.toml: files: `{text}`"), why))
        };
        let patterns: Vec<Pattern> = files.iter().map(pattern).collect::<Result<_, _>>()?;
        Ok(Chosen { unmatched: patterns.clone(), patterns })
    }

    /// Returns whether one of the entries is this file or a directory above it.
    fn matches(&mut self, path: &Path) -> bool {
        self.unmatched.retain(|pattern| !is_selected(pattern, path));
        self.patterns.iter().any(|pattern| is_selected(pattern, path))
    }
}

fn is_selected(pattern: &Pattern, path: &Path) -> bool {
    let mut above = path.ancestors().filter(|path| !path.as_os_str().is_empty());
    above.any(|path| pattern.matches_path_with(path, GLOB))
}
