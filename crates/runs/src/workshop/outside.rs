//! Files that an agent must not change.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The number of changed paths that are named.
const NAMED: usize = 20;

/// The files of a workshop that nothing changes while an agent edits, with the marks of a change.
#[derive(Debug)]
pub(super) struct ProtectedFiles {
    root: PathBuf,
    own: PathBuf,
    files: BTreeMap<PathBuf, [i64; 5]>,
}

impl ProtectedFiles {
    /// Marks all files but the directory of this agent, and those that the workshop itself writes meanwhile. The database of a
    /// round may be written for a moment after its end; verification finds changes of rounds and versions.
    pub(super) fn of(root: &Path, own: &Path) -> io::Result<ProtectedFiles> {
        let files = files(root, own)?;
        Ok(ProtectedFiles { root: root.to_owned(), own: own.to_owned(), files })
    }

    /// The paths that have changed since.
    pub(super) fn changed(&self) -> io::Result<Vec<PathBuf>> {
        let now = files(&self.root, &self.own)?;
        let is_changed = |path: &&PathBuf| now.get(*path) != self.files.get(*path);
        let all: std::collections::BTreeSet<&PathBuf> = now.keys().chain(self.files.keys()).collect();
        Ok(all.into_iter().filter(is_changed).take(NAMED).cloned().collect())
    }
}

fn files(root: &Path, own: &Path) -> io::Result<BTreeMap<PathBuf, [i64; 5]>> {
    let written = ["practice", "rounds", "versions", "logs", "events.jsonl"].map(|name| root.join(name));
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path == own || written.contains(&path) {
                continue;
            }
            let of = match path.symlink_metadata() {
                Ok(of) => of,
                Err(why) if why.kind() == io::ErrorKind::NotFound => continue,
                Err(why) => return Err(why),
            };
            if of.is_dir() {
                folders.push(path);
            } else {
                let within = path.strip_prefix(root).unwrap_or(&path).to_owned();
                let marks =
                    [of.ino() as i64, of.size() as i64, of.mode().into(), of.mtime(), of.mtime_nsec()];
                found.insert(within, marks);
            }
        }
    }
    Ok(found)
}
