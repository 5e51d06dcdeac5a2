//! The archive of a bot's directory.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern, PatternError};
use referee_workers::archive::{ArchiveError, ArchiveLimits, PackedArchive, pack_files};

use super::{BOT_FILE, BotFile, BotFileError};

/// Directories that are left out unless `files` names them: results of builds, and installed packages.
const LEFT_OUT: [&str; 3] = ["target", "node_modules", "__pycache__"];
/// The directory that is always left out.
const HISTORY: &str = ".git";

/// `*` and `?` do not match `/`; `**` does.
const GLOB: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Why a directory cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// `bot.toml` is missing or invalid.
    #[error("bot.toml: {0}")]
    BotFile(#[from] BotFileError),
    /// An entry of `files` is no glob.
    #[error("bot.toml: files: `{pattern}`: {error}")]
    Glob {
        /// The entry.
        pattern: String,
        /// What is wrong.
        error: PatternError,
    },
    /// An entry of `files` names nothing.
    #[error("bot.toml: files: `{0}` matches no file in the directory")]
    NoMatch(String),
    /// A file cannot be packed, or the archive is too large.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

impl From<io::Error> for PackError {
    fn from(error: io::Error) -> PackError {
        PackError::Archive(error.into())
    }
}

/// Writes the archive of the bot in a directory: `bot.toml` and the files that its `files` names. Without `files` that is
/// everything but hidden files and directories, and `target`, `node_modules` and `__pycache__`. A link is replaced by the
/// file that it leads to.
///
/// # Errors
/// If `bot.toml` is invalid, if a file cannot be packed, or a limit.
pub fn pack_bot(
    directory: &Path,
    limits: ArchiveLimits,
    out: impl Write,
) -> Result<(BotFile, PackedArchive), PackError> {
    let file = BotFile::read(directory)?;
    let chosen = file.files.as_deref().map(Chosen::of).transpose()?;
    let mut found = Vec::new();
    walk(directory, Path::new(""), chosen.is_none(), limits, &mut found)?;
    if let Some(chosen) = &chosen {
        chosen.check(&found)?;
        found.retain(|path| path == Path::new(BOT_FILE) || chosen.matches(path));
    }
    let packed = pack_files(directory, &found, limits, out)?;
    Ok((file, packed))
}

/// The entries of `files`.
struct Chosen(Vec<Pattern>);

impl Chosen {
    fn of(files: &[String]) -> Result<Chosen, PackError> {
        let pattern = |text: &String| {
            let plain = text.trim_start_matches("./").trim_end_matches('/');
            Pattern::new(plain).map_err(|error| PackError::Glob { pattern: text.clone(), error })
        };
        files.iter().map(pattern).collect::<Result<_, _>>().map(Chosen)
    }

    /// Whether one of the entries is this file or a directory above it.
    fn matches(&self, path: &Path) -> bool {
        self.0.iter().any(|pattern| selects(pattern, path))
    }

    fn check(&self, found: &[PathBuf]) -> Result<(), PackError> {
        let missing = self.0.iter().find(|pattern| !found.iter().any(|path| selects(pattern, path)));
        missing.map_or(Ok(()), |pattern| Err(PackError::NoMatch(pattern.as_str().to_owned())))
    }
}

fn selects(pattern: &Pattern, path: &Path) -> bool {
    let mut above = path.ancestors().filter(|path| !path.as_os_str().is_empty());
    above.any(|path| pattern.matches_path_with(path, GLOB))
}

/// Adds the files below a directory. `is_usual`: without what is usually left out.
fn walk(
    root: &Path,
    folder: &Path,
    is_usual: bool,
    limits: ArchiveLimits,
    found: &mut Vec<PathBuf>,
) -> Result<(), PackError> {
    let at = |path: &Path, error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {error}", root.join(path).display()))
    };
    for entry in fs::read_dir(root.join(folder)).map_err(|error| at(folder, error))? {
        let name = entry.map_err(|error| at(folder, error))?.file_name();
        let path = folder.join(&name);
        let name = name.to_string_lossy();
        if name == HISTORY || (is_usual && (name.starts_with('.') || LEFT_OUT.contains(&&*name))) {
            continue;
        }
        // A directory behind a link could contain itself.
        let of = fs::symlink_metadata(root.join(&path)).map_err(|error| at(&path, error))?;
        if of.is_dir() {
            walk(root, &path, is_usual, limits, found)?;
        } else {
            found.push(path);
        }
        if found.len() > limits.entries {
            let (root, most) = (root.display(), limits.entries);
            let what =
                format!("{root} has more than {most} files: name those of the bot as `files` in bot.toml");
            return Err(ArchiveError::Invalid(what).into());
        }
    }
    Ok(())
}
