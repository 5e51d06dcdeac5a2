//! The rules for all entries of an archive together.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use super::entry::{Entry, EntryKind};
use super::{ArchiveError, ArchiveLimits};

/// The names of an archive, entry by entry. Its time is proportional to the length of all paths.
#[derive(Debug)]
pub(super) struct Tree {
    limits: ArchiveLimits,
    /// The directory of the archive, then every file, link and directory.
    nodes: Vec<Node>,
    /// The nodes on the path of the last entry, from the top.
    last_nodes: Vec<usize>,
    last: String,
    links: Vec<Entry>,
    bytes: u64,
}

#[derive(Debug)]
struct Node {
    name: String,
    kind: NodeKind,
    /// The nodes in it by their folded names.
    within: HashMap<String, usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKind {
    Folder,
    File,
    Link,
}

/// The node of the directory of the archive.
const TOP: usize = 0;

/// A form of the name that is equal for names which are the same file on a system that ignores case or normalisation.
fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // Upper case first: it expands characters such as `ß`.
    name.nfd().collect::<String>().to_uppercase().to_lowercase().nfd().collect()
}

impl Tree {
    pub(super) fn new(limits: ArchiveLimits) -> Tree {
        let top = Node { name: String::new(), kind: NodeKind::Folder, within: HashMap::new() };
        let (nodes, last_nodes, links) = (vec![top], Vec::new(), Vec::new());
        Tree { limits, nodes, last_nodes, last: String::new(), links, bytes: 0 }
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
        self.bytes = self.bytes.saturating_add(entry.size());
        if self.bytes > self.limits.bytes {
            return Err(entry.error(format!(
                "with it the files have {} bytes; {} are allowed",
                self.bytes, self.limits.bytes
            )));
        }
        // Sorted entries of a directory follow each other: what the path has in common with the last one is there.
        let known = entry.path.split('/').zip(self.last.split('/')).take_while(|(one, other)| one == other);
        self.last_nodes.truncate(known.count());
        let known = self.last_nodes.len();
        let kind = match entry.kind {
            EntryKind::File { .. } => NodeKind::File,
            EntryKind::Link { .. } => NodeKind::Link,
        };
        let ends = entry.path.match_indices('/').map(|(end, _)| (end, NodeKind::Folder));
        for (end, kind) in ends.chain([(entry.path.len(), kind)]).skip(known) {
            let node = self.node(entry, &entry.path[..end], kind)?;
            self.last_nodes.push(node);
        }
        self.last.clone_from(&entry.path);
        if kind == NodeKind::Link {
            self.links.push(entry.clone());
        }
        Ok(())
    }

    /// Adds the last name of this path of an entry, below the last node.
    fn node(&mut self, entry: &Entry, path: &str, kind: NodeKind) -> Result<usize, ArchiveError> {
        let parent = self.last_nodes.last().copied().unwrap_or(TOP);
        let (above, name) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
        if self.nodes[parent].kind != NodeKind::Folder {
            let above = above.trim_end_matches('/');
            return Err(entry.error(format!("`{above}` is not a directory in the archive")));
        }
        let folded = fold(name);
        if let Some(&found) = self.nodes[parent].within.get(&folded) {
            let other = &self.nodes[found];
            if other.name != name {
                return Err(entry.error(format!(
                    "`{path}` differs only in case or Unicode normalisation from `{above}{}`",
                    other.name
                )));
            }
            if other.kind != NodeKind::Folder {
                return Err(entry.error(format!("`{path}` is not a directory in the archive")));
            }
            return Ok(found);
        }
        let node = self.nodes.len();
        if node > self.limits.entries {
            return Err(entry.error(format!(
                "the archive has more than {} files, links and directories",
                self.limits.entries
            )));
        }
        self.nodes.push(Node { name: name.to_owned(), kind, within: HashMap::new() });
        self.nodes[parent].within.insert(folded, node);
        Ok(node)
    }

    fn find<'a>(&self, mut path: impl Iterator<Item = &'a str>) -> Option<NodeKind> {
        let found = path.try_fold(TOP, |at, name| {
            let within = self.nodes[at].within.get(&fold(name)).copied();
            within.filter(|&node| self.nodes[node].name == name)
        });
        found.map(|node| self.nodes[node].kind)
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
            // A target below a link has no node.
            match self.find(folder.into_iter().chain(rest.split('/'))) {
                Some(NodeKind::File | NodeKind::Folder) => {}
                Some(NodeKind::Link) => {
                    return Err(link.error(format!("it links to `{target}`, which is a link itself")));
                }
                None => {
                    return Err(link.error(format!("it links to `{target}`, which is not in the archive")));
                }
            }
        }
        Ok(())
    }
}
