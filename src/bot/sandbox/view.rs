//! The files that a confined bot can read.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bot::Command;

/// Programs and libraries of the system.
pub(super) const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Entries of `/etc` that programs need and that hold no secrets. `*` stands for any end of a name.
const ETC: &[&str] = &[
    "alternatives",
    "ca-certificates*",
    "group",
    "host.conf",
    "hosts",
    "java-*",
    "ld.so.cache",
    "ld.so.conf*",
    "locale*",
    "localtime",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "passwd",
    "pki",
    "protocols",
    "python*",
    "resolv.conf",
    "services",
    "ssl",
    "timezone",
];

/// The files that a confined bot can read: of the system, of the bot, and further ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::bot) struct View {
    /// Absolute paths.
    pub(super) paths: Vec<PathBuf>,
    /// The working directory, which may be empty.
    pub(super) directory: PathBuf,
}

impl View {
    /// The view of a bot: the system, the directories of the files that its command line names, the directory with all of
    /// its files if it has one, and the paths in `read`.
    ///
    /// A named file is seen without its neighbours if one of the paths in `private`, or the referee's working directory,
    /// is or is below its directory.
    pub(in crate::bot) fn of(command: &Command) -> View {
        let here = std::env::current_dir().unwrap_or_default();
        let (read, private) = (&command.sandbox.limits().read, command.sandbox.private());
        let mut paths = system();
        let is_private = |folder: &Path| private.iter().chain([&here]).any(|path| path.starts_with(folder));
        for file in named_files(command) {
            match file.parent() {
                Some(folder) if !is_private(folder) => paths.push(folder.to_owned()),
                _ => paths.push(file),
            }
        }
        paths.extend(read.iter().chain(&command.files).map(|path| plain(&here.join(path))));
        paths.sort();
        // What is below another path is readable with it.
        paths.dedup_by(|path, above| path.starts_with(above));
        View { paths, directory: directory(command) }
    }

    /// Whether a path is readable.
    fn contains(&self, path: &Path) -> bool {
        self.paths.iter().any(|visible| path.starts_with(visible))
    }

    /// The directories of a search path that are readable: programs elsewhere cannot run.
    pub(in crate::bot) fn search_path(&self, path: &OsStr) -> OsString {
        let visible = std::env::split_paths(path).filter(|folder| self.contains(folder));
        std::env::join_paths(visible).unwrap_or_default()
    }
}

/// The absolute path of the working directory of a bot.
fn directory(command: &Command) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    plain(&here.join(command.directory.as_deref().unwrap_or(Path::new(""))))
}

/// The files that the command line of a bot names, apart from programs that are looked up in PATH.
pub(super) fn named_files(command: &Command) -> impl Iterator<Item = PathBuf> {
    let directory = directory(command);
    let paths = command.argv.iter().enumerate().filter(|(at, word)| *at > 0 || word.contains('/'));
    paths.map(move |(_, word)| plain(&directory.join(word))).filter(|path| path.is_file())
}

/// Removes `.` and `..`, as far as that needs no look at the file system.
fn plain(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

fn system() -> Vec<PathBuf> {
    let named = |name: &str| {
        ETC.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *known,
        })
    };
    let etc = std::fs::read_dir("/etc").into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let etc = etc.filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(named));
    SYSTEM.iter().map(PathBuf::from).filter(|path| path.exists()).chain(etc).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bot::sandbox::{BotLimits, Sandbox};

    fn sandboxed(line: &str) -> Command {
        Command { sandbox: Sandbox::default(), ..line.parse().unwrap() }
    }

    fn view(line: &str, limits: BotLimits) -> View {
        let sandbox = Sandbox::default().with(limits).unwrap();
        View::of(&Command { sandbox, ..sandboxed(line) })
    }

    #[test]
    fn a_bot_sees_the_folders_of_its_files() {
        let view = view("python3 bots/python/random_bot.py", BotLimits::default());
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(view.contains(&root.join("bots/python/referee_bot")));
        assert!(!view.contains(&root.join("bots/hostile")));
        assert!(view.contains(Path::new("/usr/bin/python3")));
        assert!(!view.contains(Path::new("/etc/shadow")));
    }

    #[test]
    fn a_file_in_the_working_directory_is_seen_alone() {
        let view = view("sh ./Cargo.toml .", BotLimits::default());
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(view.contains(&root.join("Cargo.toml")));
        assert!(!view.contains(&root.join("Cargo.lock")));
    }

    #[test]
    fn a_bot_sees_all_of_its_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let command = Command { files: Some(root.join("bots/python")), ..sandboxed("python3 random_bot.py") };
        assert!(View::of(&command).contains(&root.join("bots/python/tests")));
        assert!(!View::of(&command).contains(&root.join("bots/hostile")));
    }

    #[test]
    fn only_readable_folders_stay_in_the_search_path() {
        let view = view("x", BotLimits { read: vec!["/opt".into()], ..BotLimits::default() });
        let path = view.search_path(OsStr::new("/root/bin:/usr/bin:/opt/models/bin:/bin"));
        assert_eq!(path, "/usr/bin:/opt/models/bin:/bin");
    }
}
