//! How a bot is started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::core::hex;

/// A command line, split as a shell would, run without a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Where it runs; none: where the referee does.
    pub directory: Option<PathBuf>,
    /// What its environment has beyond the referee's.
    pub env: BTreeMap<String, String>,
}

impl FromStr for Command {
    type Err = String;
    fn from_str(text: &str) -> Result<Command, String> {
        match shlex::split(text) {
            None => Err(format!("`{text}` cannot be split into words: a quote is not closed")),
            Some(argv) if argv.is_empty() => Err("an empty command line starts no bot".to_owned()),
            Some(argv) => Ok(Command { argv, directory: None, env: BTreeMap::new() }),
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
    /// A short name: that of the script, where an interpreter runs one, else of the program.
    pub fn label(&self) -> String {
        let script =
            self.argv.iter().skip(1).find(|word| !word.starts_with('-') && self.resolve(word).is_file());
        let name = script.unwrap_or(&self.argv[0]);
        let stem =
            Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let label: String = stem.chars().map(plain).take(40).collect();
        if label.is_empty() { "bot".to_owned() } else { label }
    }

    /// Where a file is that the command names.
    fn resolve(&self, path: &str) -> PathBuf {
        self.directory.as_deref().unwrap_or(Path::new("")).join(path)
    }

    /// Whether there are such a folder and such a program, as far as that can be told without starting it.
    ///
    /// # Errors
    /// Where it was looked for.
    pub fn check(&self) -> Result<(), String> {
        if let Some(missing) = self.directory.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(format!("there is no folder {}", missing.display()));
        }
        let name = &self.argv[0];
        if self.find().is_some() {
            return Ok(());
        }
        if !name.contains('/') {
            return Err(format!("there is no program `{name}` in the folders of PATH"));
        }
        let folder = self.directory.as_ref();
        let place = folder.map_or("here".to_owned(), |folder| format!("seen from {}", folder.display()));
        if self.resolve(name).is_file() {
            return Err(format!("the file `{name}` {place} may not be run: `chmod +x` makes it a program"));
        }
        Err(format!("there is no program `{name}` {place}"))
    }

    /// Where the system finds the program.
    fn find(&self) -> Option<String> {
        let name = &self.argv[0];
        let is_here = |file: &String| is_program(&self.resolve(file));
        if name.contains('/') {
            return Some(name.clone()).filter(is_here);
        }
        let path = self.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"))?;
        let found =
            std::env::split_paths(&path).map(|folder| folder.join(name).to_string_lossy().into_owned());
        found.into_iter().find(is_here)
    }

    /// SHA-256 of the program and of every argument that is a file, so that a record tells which bot it was.
    pub fn fingerprints(&self) -> Vec<(String, String)> {
        let program = self.find();
        let files = program.into_iter().chain(self.argv.iter().skip(1).cloned());
        let digest = |path: String| {
            // To open what is no regular file may wait for ever, as for the other end of a pipe.
            let file = Some(self.resolve(&path)).filter(|file| file.is_file())?;
            let mut file = std::fs::File::open(file).ok()?;
            let mut hash = Sha256::new();
            std::io::copy(&mut file, &mut HashWriter(&mut hash)).ok()?;
            Some((path, hex::encode(&hash.finalize())))
        };
        files.filter_map(digest).collect()
    }
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

/// Whether this can be run.
fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        let command: Command = "python3 'my bot.py' --name \"a b\"".parse().unwrap();
        assert_eq!(command.argv, ["python3", "my bot.py", "--name", "a b"]);
        assert!("python3 'bot.py".parse::<Command>().unwrap_err().contains("quote"));
        assert!(" ".parse::<Command>().is_err());
    }

    #[test]
    fn the_label_is_the_script_where_there_is_one() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(format!("python3 -u {script} 7").parse::<Command>().unwrap().label(), "Cargo");
        assert_eq!("./target/fast-bot --depth 3".parse::<Command>().unwrap().label(), "fast-bot");
    }
}
