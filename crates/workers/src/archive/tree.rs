//! The rules for all entries of an archive together.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use super::entry::{Entry, EntryKind};
use super::{ArchiveError, ArchiveLimits};

/// The names of an archive, entry by entry.
#[derive(Debug)]
pub(super) struct Tree {
    limits: ArchiveLimits,
    /// Every file, link and directory by its folded path.
    nodes: BTreeMap<String, Node>,
    links: Vec<Entry>,
    bytes: u64,
    last: String,
}

#[derive(Debug)]
struct Node {
    path: String,
    kind: NodeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKind {
    Folder,
    File,
    Link,
}

/// A form of the path that is equal for paths which are the same file on a system that ignores case or normalisation.
fn fold(path: &str) -> String {
    // Upper case first: it expands characters such as `ß`.
    path.nfd().collect::<String>().to_uppercase().to_lowercase().nfd().collect()
}

impl Tree {
    pub(super) fn new(limits: ArchiveLimits) -> Tree {
        Tree { limits, nodes: BTreeMap::new(), links: Vec::new(), bytes: 0, last: String::new() }
    }

    /// Adds an entry, whose path has been checked.
    ///
    /// # Errors
    /// If it is not allowed after the others.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<(), ArchiveError> {
        if entry.path == self.last {
            return Err(entry.error("the archive has it twice"));
        }
        if entry.path < self.last {
            return Err(entry.error(format!("it follows `{}`; entries are sorted by path", self.last)));
        }
        self.last.clone_from(&entry.path);
        self.bytes = self.bytes.saturating_add(entry.size());
        if self.bytes > self.limits.bytes {
            return Err(entry.error(format!(
                "with it the files have {} bytes; {} are allowed",
                self.bytes, self.limits.bytes
            )));
        }
        for (end, _) in entry.path.match_indices('/') {
            self.node(entry, &entry.path[..end], NodeKind::Folder)?;
        }
        let kind = match entry.kind {
            EntryKind::File { .. } => NodeKind::File,
            EntryKind::Link { .. } => NodeKind::Link,
        };
        self.node(entry, &entry.path, kind)?;
        if kind == NodeKind::Link {
            self.links.push(entry.clone());
        }
        Ok(())
    }

    fn node(&mut self, entry: &Entry, path: &str, kind: NodeKind) -> Result<(), ArchiveError> {
        let folded = fold(path);
        if let Some(other) = self.nodes.get(&folded) {
            if other.path != path {
                return Err(entry.error(format!(
                    "`{path}` differs only in case or Unicode normalisation from `{}`",
                    other.path
                )));
            }
            if other.kind != NodeKind::Folder {
                return Err(entry.error(format!("`{path}` is not a directory in the archive")));
            }
            return Ok(());
        }
        if self.nodes.len() == self.limits.entries {
            return Err(entry.error(format!(
                "the archive has more than {} files, links and directories",
                self.limits.entries
            )));
        }
        self.nodes.insert(folded, Node { path: path.to_owned(), kind });
        Ok(())
    }

    /// Checks the targets of the links after the last entry.
    ///
    /// # Errors
    /// If a link leads out of the archive, to another link or to nothing.
    pub(super) fn finish(self) -> Result<(), ArchiveError> {
        for link in &self.links {
            let EntryKind::Link { target } = &link.kind else { continue };
            let mut folder: Vec<&str> = link.path.split('/').collect();
            folder.pop();
            let mut rest = target.as_str();
            while let Some(after) = rest.strip_prefix("../") {
                if folder.pop().is_none() {
                    return Err(link.error(format!("it links to `{target}`, which is outside the archive")));
                }
                rest = after;
            }
            folder.push(rest);
            let path = folder.join("/");
            // A target below a link has no node.
            match self.nodes.get(&fold(&path)).filter(|node| node.path == path) {
                Some(node) if node.kind != NodeKind::Link => {}
                Some(_) => return Err(link.error(format!("it links to `{target}`, which is a link itself"))),
                None => {
                    return Err(link.error(format!("it links to `{target}`, which is not in the archive")));
                }
            }
        }
        Ok(())
    }
}
