//! The command line of a bot.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

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
    type Err = CommandError;
    fn from_str(text: &str) -> Result<Command, CommandError> {
        match shlex::split(text) {
            None => Err(CommandError::OpenQuote(text.to_owned())),
            Some(argv) if argv.is_empty() => Err(CommandError::Empty),
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
    /// # Errors Names the missing part and its place.
    pub fn check(&self) -> Result<(), CommandError> {
        let mut folders = [&self.directory, &self.files].into_iter().flatten();
        if let Some(missing) = folders.find(|folder| !folder.is_dir()) {
            return Err(CommandError::NoFolder(missing.clone()));
        }
        if self.find().is_some() {
            return self.check_script();
        }
        let name = self.program().into_owned();
        if !name.contains('/') {
            return Err(CommandError::NotInPath { name });
        }
        let directory = self.directory.clone();
        if self.resolve(&name).is_file() {
            return Err(CommandError::NotExecutable { name, directory });
        }
        Err(CommandError::NoProgram { name, directory })
    }

    /// Checks that the system can run the program, if that is a script.
    ///
    /// # Errors
    /// [`CommandError::WindowsLineEnding`], [`CommandError::NoInterpreter`].
    pub fn check_script(&self) -> Result<(), CommandError> {
        self.find().and_then(|program| self.script_defect(&program)).map_or(Ok(()), Err)
    }

    /// The reason why the system cannot run a program, if it is a script.
    fn script_defect(&self, program: &str) -> Option<CommandError> {
        let mut start = Vec::new();
        let file = std::fs::File::open(self.resolve(program)).ok()?;
        file.take(FIRST_LINE).read_to_end(&mut start).ok()?;
        let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
        let (line, name) = (String::from_utf8_lossy(line), self.program().into_owned());
        if line.ends_with('\r') {
            let interpreter = line.split_whitespace().last()?.to_owned();
            return Some(CommandError::WindowsLineEnding { name, interpreter });
        }
        let interpreter = line.split_whitespace().next()?.to_owned();
        let is_missing = !self.resolve(&interpreter).exists();
        is_missing.then_some(CommandError::NoInterpreter { name, interpreter })
    }

    /// The working directory relative to the directory with all files of the bot; `None` if it has none.
    ///
    /// # Errors
    /// If one of them does not exist, or it is elsewhere.
    pub fn directory_in_files(&self) -> std::io::Result<Option<PathBuf>> {
        let Some(files) = &self.files else { return Ok(None) };
        let directory = self.resolve(".").canonicalize()?;
        let directory = directory.strip_prefix(files.canonicalize()?).map_err(std::io::Error::other)?;
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
            let mut file = std::fs::File::open(file).ok()?;
            let mut hash = Sha256::new();
            std::io::copy(&mut file, &mut HashWriter(&mut hash)).ok()?;
            Some((path, hex::encode(&hash.finalize())))
        };
        files.filter_map(digest).collect()
    }
}

/// The maximum length of the first line of a script, in bytes.
const FIRST_LINE: u64 = 256;

/// Reasons why a text is no command line, or a command cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    #[error("`{0}` cannot be split into words: a quote is not closed")]
    OpenQuote(String),
    #[error("an empty command line starts no bot")]
    Empty,
    #[error("`{0}:` names no engine: its program follows, as in `{0}:./engine`")]
    NoEngine(&'static str),
    #[error("`{0}` is not percent-encoded: write % as %25")]
    Percent(String),
    #[error("`{name}={value}` is no budget: it is nodes=N, depth=N or movetime=MS, with a number from 1")]
    Budget { name: String, value: String },
    #[error("`ponder={0}`: it is `true` or `false`")]
    Ponder(String),
    #[error("an option of an engine has no name")]
    NamelessOption,
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    #[error(
        "the script `{name}` has a Windows line ending in its first line, so that the system looks for a program \
         `{interpreter}\\r`: `sed -i 's/\\r$//' {name}` removes it"
    )]
    WindowsLineEnding { name: String, interpreter: String },
    #[error(
        "the script `{name}` is run by `{interpreter}`, which does not exist: mend its first line, or start it with its \
         interpreter"
    )]
    NoInterpreter { name: String, interpreter: String },
    #[error("there is no program `{name}` in the folders of PATH")]
    NotInPath { name: String },
    #[error("the file `{name}` {} may not be run: `chmod +x` makes it a program", place(.directory))]
    NotExecutable {
        name: String,
        /// The working directory; `None`: that of the referee.
        directory: Option<PathBuf>,
    },
    #[error("there is no program `{name}` {}", place(.directory))]
    NoProgram {
        name: String,
        /// The working directory; `None`: that of the referee.
        directory: Option<PathBuf>,
    },
}

impl From<CommandError> for Wrong {
    fn from(error: CommandError) -> Wrong {
        Wrong::of(&error)
    }
}

/// From where the path of a program leads.
fn place(directory: &Option<PathBuf>) -> String {
    directory.as_ref().map_or("here".to_owned(), |directory| format!("seen from {}", directory.display()))
}

struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
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
        assert_eq!(" ".parse::<Command>(), Err(CommandError::Empty));
    }

    #[test]
    fn the_label_is_the_script_where_there_is_one() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(format!("python3 -u {script} 7").parse::<Command>().unwrap().label(), "Cargo");
        assert_eq!("./target/fast-bot --depth 3".parse::<Command>().unwrap().label(), "fast-bot");
    }
}
