//! The files that a confined bot can read.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use referee_files::private_paths;
use serde::{Deserialize, Serialize};

use crate::Command;

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
    "protocols",
    "python*",
    "resolv.conf",
    "services",
    "timezone",
];

/// Certificates and settings of OpenSSL. Private keys are in directories beside them.
const CERTIFICATES: &[&str] = &[
    "/etc/pki/ca-trust",
    "/etc/pki/java",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];

/// The files that a confined bot can read: of the system, of the bot, and further ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct View {
    /// Absolute paths.
    pub(super) paths: Vec<PathBuf>,
    /// The working directory, which may be empty.
    pub(super) directory: PathBuf,
    /// The absolute path of the directory that it may change.
    pub(super) workspace: Option<PathBuf>,
}

impl View {
    /// The view of a bot: the system, the directories of the files that its command line names, the directory with all of
    /// its files if it has one, and the paths in `read`.
    ///
    /// A named file is seen without its neighbours if a private path, a file of another bot or the referee's working
    /// directory is or is below its directory. A private file is not seen, even if it is named.
    pub(crate) fn of(command: &Command) -> View {
        let here = std::env::current_dir().unwrap_or_default();
        let (read, private) = (&command.sandbox.limits().read, private_paths());
        let mut paths = system();
        let hidden: Vec<&PathBuf> = private.iter().chain(command.sandbox.others()).chain([&here]).collect();
        // A link gives access to its target.
        let has_hidden = |folder: &Path| {
            let folder = resolved(folder);
            hidden.iter().any(|path| path.starts_with(&folder))
        };
        for file in named_files(command) {
            let target = resolved(&file);
            if private.contains(&target) {
                continue;
            }
            match file.parent() {
                Some(folder) if !has_hidden(folder) => paths.push(folder.to_owned()),
                _ => paths.push(file),
            }
            paths.push(target);
        }
        let workspace = command.workspace.as_ref().map(|path| plain(&here.join(path)));
        paths.extend(read.iter().chain(&command.files).map(|path| plain(&here.join(path))));
        paths.extend(workspace.clone());
        paths.sort();
        // A path below another one is readable with it.
        paths.dedup_by(|path, above| path.starts_with(above));
        View { paths, directory: directory(command), workspace }
    }

    /// A private path that is readable.
    pub(super) fn exposed(&self) -> Option<PathBuf> {
        let visible: Vec<PathBuf> = self.paths.iter().map(|path| resolved(path)).collect();
        private_paths().into_iter().find(|private| visible.iter().any(|visible| private.starts_with(visible)))
    }

    /// Returns whether a path is readable.
    fn contains(&self, path: &Path) -> bool {
        self.paths.iter().any(|visible| path.starts_with(visible))
    }

    /// The directories of a search path that are readable: programs elsewhere cannot run.
    pub(crate) fn search_path(&self, path: &OsStr) -> OsString {
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
    let paths = command.words().enumerate().filter(|(at, word)| *at > 0 || word.contains('/'));
    paths.map(move |(_, word)| plain(&directory.join(&*word))).filter(|path| path.is_file())
}

/// The path with all links followed, or as it is if it does not exist.
pub(super) fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
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
    let mut found = Vec::new();
    for path in SYSTEM.iter().chain(CERTIFICATES).map(PathBuf::from).chain(etc) {
        add_public(&path, &mut found);
    }
    found.retain(|path| path.exists() && (!path.is_symlink() || leads_to_public(path)));
    found
}

/// Returns whether every user can read the target of a link of the system: it is shown in place of the link.
fn leads_to_public(link: &Path) -> bool {
    let target = resolved(link);
    let is_reached = |folder: &Path| folder.metadata().is_ok_and(|about| about.mode() & 0o001 != 0);
    target.ancestors().skip(1).all(is_reached) && add_public(&target, &mut Vec::new())
}

/// Adds a path, without the parts that some users cannot read: keys beside certificates, passwords in
/// settings. Returns whether it is added as a whole.
fn add_public(path: &Path, found: &mut Vec<PathBuf>) -> bool {
    // A missing file hides nothing.
    let Ok(about) = path.symlink_metadata() else { return true };
    let needed = if about.is_dir() { 0o005 } else { 0o004 };
    if about.mode() & needed != needed {
        return false;
    }
    let before = found.len();
    let mut is_whole = true;
    if about.is_dir() && is_searched(path) {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            is_whole &= add_public(&entry.path(), found);
        }
    }
    if is_whole {
        found.truncate(before);
        found.push(path.to_owned());
    }
    is_whole
}

/// Returns whether a directory of the system is searched for private files: where administrators put files.
/// Elsewhere there are only the many files of packages, which are public.
fn is_searched(path: &Path) -> bool {
    const LOCAL: &str = "/usr/local";
    match path.strip_prefix(LOCAL) {
        Ok(below) => below.components().count() <= 1,
        Err(_) => path == Path::new("/usr") || !SYSTEM.iter().any(|system| path.starts_with(system)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{BotLimits, Sandbox};

    fn sandboxed(line: &str) -> Command {
        Command { sandbox: Sandbox::default(), ..line.parse().unwrap() }
    }

    fn view(line: &str, limits: BotLimits) -> View {
        let sandbox = Sandbox::default().with(limits).unwrap();
        View::of(&Command { sandbox, ..sandboxed(line) })
    }

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
    }

    #[test]
    fn a_bot_sees_the_folders_of_its_files() {
        let view = view("python3 ../../bots/python/random_bot.py", BotLimits::default());
        let root = repository();
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
        assert!(!view.contains(&root.join("README.md")));
    }

    #[test]
    fn a_bot_sees_all_of_its_files() {
        let root = repository();
        let command = Command { files: Some(root.join("bots/python")), ..sandboxed("python3 random_bot.py") };
        assert!(View::of(&command).contains(&root.join("bots/python/tests")));
        assert!(!View::of(&command).contains(&root.join("bots/hostile")));
    }

    #[test]
    fn private_files_of_the_system_are_left_out() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let chmod = |name: &str, mode| {
            std::fs::set_permissions(path(name), PermissionsExt::from_mode(mode)).unwrap();
        };
        chmod(".", 0o755);
        for name in ["certs", "certs/more", "private"] {
            std::fs::create_dir(path(name)).unwrap();
            chmod(name, 0o755);
        }
        for name in ["certs/a.pem", "certs/more/b.pem", "private/key.pem"] {
            std::fs::write(path(name), "x").unwrap();
            chmod(name, 0o644);
        }
        let public = || {
            let mut found = Vec::new();
            add_public(folder.path(), &mut found);
            found.sort();
            found
        };
        assert_eq!(public(), [folder.path()]);
        chmod("private", 0o710);
        assert_eq!(public(), [path("certs")]);
        chmod("certs/a.pem", 0o600);
        assert_eq!(public(), [path("certs/more")]);
        std::os::unix::fs::symlink("private/key.pem", path("link")).unwrap();
        assert!(!leads_to_public(&path("link")));
        chmod("private", 0o755);
        assert!(leads_to_public(&path("link")));
    }

    #[test]
    fn a_link_does_not_show_what_is_beside_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("real")).unwrap();
        for name in ["real/bot.py", "real/seed"] {
            std::fs::write(path(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("real", path("link")).unwrap();
        let line = format!("python3 {}", path("link/bot.py").display());
        let sees = |name: &str| view(&line, BotLimits::default()).contains(&path(name));
        assert!(sees("link/bot.py") && sees("link/seed"));
        referee_files::keep_private(&path("real/seed"));
        assert!(sees("link/bot.py") && !sees("link/seed") && !sees("real/seed"));
        let line = format!("python3 {} {}", path("link/bot.py").display(), path("link/seed").display());
        assert!(!view(&line, BotLimits::default()).contains(&path("link/seed")));
        let read = BotLimits { read: vec![path("link")], ..BotLimits::default() };
        assert_eq!(view(&line, read).exposed(), Some(path("real/seed").canonicalize().unwrap()));
    }

    #[test]
    fn only_readable_folders_stay_in_the_search_path() {
        let view = view("x", BotLimits { read: vec!["/opt".into()], ..BotLimits::default() });
        let path = view.search_path(OsStr::new("/root/bin:/usr/bin:/opt/models/bin:/bin"));
        assert_eq!(path, "/usr/bin:/opt/models/bin:/bin");
    }
}
