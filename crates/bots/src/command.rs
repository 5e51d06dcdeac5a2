//! The command line of a bot.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use referee_game::{Wrong, hex};
use sha2::{Digest, Sha256};

use crate::Keep;
use crate::engine::{EngineCommand, is_engine, program};
use crate::sandbox::{Sandbox, View};

/// A command line, split into words like a shell does, and run without a shell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// The program and its arguments. An [engine](EngineCommand) has its dialect and options in the first word.
    pub argv: Vec<String>,
    /// The working directory; by default that of the referee.
    pub directory: Option<PathBuf>,
    /// The directory with all files of the bot. Its sandbox shows it as a whole, and it goes to other machines with the bot.
    pub files: Option<PathBuf>,
    /// The directory that it may change, if it is a program that edits a bot. Its sandbox shows it as a whole.
    pub workspace: Option<PathBuf>,
    /// Environment variables in addition to those that every bot gets.
    pub env: BTreeMap<String, String>,
    /// The sandbox; by default none.
    pub sandbox: Sandbox,
    /// The directory that outlives its processes. It has one in a mount namespace only.
    pub keep: Option<Keep>,
}

impl FromStr for Command {
    type Err = Wrong;
    fn from_str(text: &str) -> Result<Command, Wrong> {
        match shlex::split(text) {
            None => Err(format!("`{text}` cannot be split into words: a quote is not closed").into()),
            Some(argv) if argv.is_empty() => Err(EMPTY),
            Some(argv) => {
                EngineCommand::of(&argv)?;
                Ok(Command { argv, ..Command::default() })
            }
        }
    }
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            &shlex::try_join(self.argv.iter().map(String::as_str)).unwrap_or_else(|_| self.argv.join(" ")),
        )
    }
}

impl Command {
    /// The program that runs: of an engine, that of the engine.
    pub fn program(&self) -> Cow<'_, str> {
        program(&self.argv[0])
    }

    /// The program and its arguments.
    pub fn words(&self) -> impl Iterator<Item = Cow<'_, str>> {
        std::iter::once(self.program()).chain(self.argv[1..].iter().map(|word| word.as_str().into()))
    }

    /// Returns whether a bridge starts it, since it is an [engine](EngineCommand).
    pub fn is_engine(&self) -> bool {
        is_engine(&self.argv[0])
    }

    /// A short name: the name of the script if an interpreter runs one, otherwise that of the program.
    pub fn label(&self) -> String {
        let stem = Path::new(&*self.main_file())
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let label: String = stem.chars().map(plain).take(40).collect();
        if label.is_empty() { "bot".to_owned() } else { label }
    }

    /// The script if an interpreter runs one, otherwise the program.
    fn main_file(&self) -> Cow<'_, str> {
        let script =
            self.argv.iter().skip(1).find(|word| !word.starts_with('-') && self.resolve(word).is_file());
        script.map_or_else(|| self.program(), |script| script.as_str().into())
    }

    /// The directory of its script or program, where its version can be found; the working directory for a program that
    /// is looked up in PATH.
    pub fn home(&self) -> PathBuf {
        let file = self.resolve(&self.main_file());
        Path::new(".").join(file.parent().unwrap_or(Path::new("")))
    }

    /// The path of a file that the command names.
    fn resolve(&self, path: &str) -> PathBuf {
        self.directory.as_deref().unwrap_or(Path::new("")).join(path)
    }

    /// Checks that the directories and the program exist, without starting the program.
    ///
    /// # Errors
    /// Says what is missing and where it was expected.
    pub fn check(&self) -> Result<(), Wrong> {
        let mut folders = [&self.directory, &self.files].into_iter().flatten();
        if let Some(missing) = folders.find(|folder| !folder.is_dir()) {
            return Err(format!("there is no folder {}", missing.display()).into());
        }
        if self.find().is_some() {
            return self.check_script();
        }
        let name = self.program().into_owned();
        if !name.contains('/') {
            return Err(format!("there is no program `{name}` in the folders of PATH").into());
        }
        let place = match &self.directory {
            Some(directory) => format!("seen from {}", directory.display()),
            None => "here".to_owned(),
        };
        if self.resolve(&name).is_file() {
            let expected = "may not be run: `chmod +x` makes it a program";
            return Err(format!("the file `{name}` {place} {expected}").into());
        }
        Err(format!("there is no program `{name}` {place}").into())
    }

    /// Checks that the system can run the program, if that is a script.
    ///
    /// # Errors
    /// As [`Command::check_line_ending`]; if the interpreter does not exist.
    pub fn check_script(&self) -> Result<(), Wrong> {
        self.check_line_ending()?;
        let Some(line) = self.first_line_of_script() else { return Ok(()) };
        let Some(interpreter) = line.split_whitespace().next() else { return Ok(()) };
        if self.resolve(interpreter).exists() {
            return Ok(());
        }
        Err(format!(
            "the script `{}` is run by `{interpreter}`, which does not exist: mend its first line, or start it with its \
             interpreter",
            self.program()
        )
        .into())
    }

    /// Checks that the first line of the program, if that is a script, has no line ending of Windows.
    ///
    /// # Errors
    /// If it has: the system cannot run it, on any machine.
    pub fn check_line_ending(&self) -> Result<(), Wrong> {
        let Some(line) = self.first_line_of_script().filter(|line| line.ends_with('\r')) else {
            return Ok(());
        };
        let Some(interpreter) = line.split_whitespace().last() else { return Ok(()) };
        let name = self.program();
        Err(format!(
            "the script `{name}` has a Windows line ending in its first line, so that the system looks for a program \
             `{interpreter}\\r`: `sed -i 's/\\r$//' {name}` removes it"
        )
        .into())
    }

    /// The rest of the line that begins with `#!`, if the program is a script.
    fn first_line_of_script(&self) -> Option<String> {
        let mut start = Vec::new();
        let file = File::open(self.resolve(&self.find()?)).ok()?;
        file.take(FIRST_LINE).read_to_end(&mut start).ok()?;
        let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
        Some(String::from_utf8_lossy(line).into_owned())
    }

    /// The working directory relative to the directory with all files of the bot; `None` if it has none.
    ///
    /// # Errors
    /// If one of them does not exist, or it is elsewhere.
    pub fn directory_in_files(&self) -> io::Result<Option<PathBuf>> {
        let Some(files) = &self.files else { return Ok(None) };
        let directory = self.resolve(".").canonicalize()?;
        let directory = directory.strip_prefix(files.canonicalize()?).map_err(io::Error::other)?;
        Ok(Some(directory.to_owned()))
    }

    fn find(&self) -> Option<String> {
        let path = self.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"));
        let path = path
            .map(|path| if self.sandbox.confines_files() { View::of(self).search_path(&path) } else { path });
        let is_here =
            |path: &Path| is_program(&self.directory.as_deref().unwrap_or(Path::new("")).join(path));
        let found = find((*self.program()).as_ref(), path.as_deref(), is_here)?;
        Some(found.to_string_lossy().into_owned())
    }

    /// SHA-256 of the program and of every argument that is a file: identifies the bot in a record.
    pub fn fingerprints(&self) -> Vec<(String, String)> {
        let program = self.find();
        let files = program.into_iter().chain(self.argv.iter().skip(1).cloned());
        let digest = |path: String| {
            // Opening a file that is not regular may block, for example on the other end of a FIFO.
            let file = Some(self.resolve(&path)).filter(|file| file.is_file())?;
            let digest = digest(File::open(file).ok()?).ok()?;
            Some((path, digest))
        };
        files.filter_map(digest).collect()
    }
}

const EMPTY: Wrong = Wrong::new("an empty command line starts no bot");
/// The maximum length of the first line of a script, in bytes.
const FIRST_LINE: u64 = 256;

/// Digests by device, inode and the time of the last change: many bots share an interpreter, which may have a hundred megabytes.
static DIGESTS: Mutex<BTreeMap<[i64; 4], String>> = Mutex::new(BTreeMap::new());

/// SHA-256 of a file, in hex.
fn digest(mut file: File) -> io::Result<String> {
    let state = file.metadata()?;
    let key = [state.dev().cast_signed(), state.ino().cast_signed(), state.ctime(), state.ctime_nsec()];
    let known = || DIGESTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(digest) = known().get(&key) {
        return Ok(digest.clone());
    }
    let mut hash = Sha256::new();
    io::copy(&mut file, &mut HashWriter(&mut hash))?;
    let digest = hex::encode(&hash.finalize());
    // Changes in quick succession may have the same time.
    if UNIX_EPOCH.elapsed().is_ok_and(|now| now.as_secs().cast_signed() > state.ctime() + 1) {
        known().insert(key, digest.clone());
    }
    Ok(digest)
}

struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Finds a program like `execvp` does: a name without a slash is looked up in the folders of `path`.
pub(super) fn find(
    name: &OsStr,
    path: Option<&OsStr>,
    is_program: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let found: Vec<PathBuf> = if name.as_bytes().contains(&b'/') {
        vec![name.into()]
    } else {
        std::env::split_paths(path?).map(|folder| folder.join(name)).collect()
    };
    found.into_iter().find(|file| is_program(file))
}

/// Returns whether this is an executable file.
pub(super) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        let command: Command = "python3 'my bot.py' --name \"a b\"".parse().unwrap();
        assert_eq!(command.argv, ["python3", "my bot.py", "--name", "a b"]);
        let error = "python3 'bot.py".parse::<Command>().unwrap_err();
        assert!(error.to_string().contains("quote"), "{error}");
        assert_eq!(" ".parse::<Command>(), Err(EMPTY));
    }

    #[test]
    fn the_label_is_the_script_where_there_is_one() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(format!("python3 -u {script} 7").parse::<Command>().unwrap().label(), "Cargo");
        assert_eq!("./target/fast-bot --depth 3".parse::<Command>().unwrap().label(), "fast-bot");
    }

    #[test]
    fn digest_follows_every_change_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let with = |text: &str| {
            std::fs::write(&path, text).unwrap();
            digest(File::open(&path).unwrap()).unwrap()
        };
        let expected = |text: &str| hex::encode(&Sha256::digest(text));
        assert_eq!(with("one"), expected("one"));
        assert_eq!(with("two"), expected("two"), "right after another change");
        std::thread::sleep(std::time::Duration::from_millis(2100));
        let kept = [(); 2].map(|()| digest(File::open(&path).unwrap()).unwrap());
        assert_eq!(kept, [(); 2].map(|()| expected("two")));
        assert_eq!(with("six"), expected("six"), "after its digest was kept");
    }
}
