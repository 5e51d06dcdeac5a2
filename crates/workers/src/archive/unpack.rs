//! Reads archives of unknown origin.

use std::fs::{self, OpenOptions};
use std::io::{self, BufReader, Read, Seek, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::entry::{BLOCK, Entry, EntryKind};
use super::error::at;
use super::tree::Tree;
use super::{ArchiveError, ArchiveId, ArchiveLimits};

/// Unpacks an archive into an empty directory that only this user can change. Writes nothing unless the archive is the one
/// with this name and valid as a whole.
///
/// # Errors
/// Names the entry that is not allowed and the reason; I/O errors, after which some files may exist.
pub fn unpack(
    mut archive: impl Read + Seek,
    id: &ArchiveId,
    folder: &Path,
    limits: ArchiveLimits,
) -> Result<(), ArchiveError> {
    is_named(&check(&mut archive, limits)?, id)?;
    archive.rewind()?;
    // The archive may have been changed since: all is checked again.
    unpack_stream(archive, id, folder, limits)
}

fn is_named(found: &ArchiveId, id: &ArchiveId) -> Result<(), ArchiveError> {
    if found == id {
        return Ok(());
    }
    Err(ArchiveError::wrong(format!("the archive is {found}, but {id} was asked for")))
}

/// Like [`unpack`], but reads the archive once and writes while it reads.
///
/// # Errors
/// As [`unpack`]; after any of them some files may exist.
pub fn unpack_stream(
    archive: impl Read,
    id: &ArchiveId,
    folder: &Path,
    limits: ArchiveLimits,
) -> Result<(), ArchiveError> {
    let mut reader = Reader::new(archive, limits);
    let mut links = Vec::new();
    while let Some(entry) = reader.next()? {
        let path = folder.join(&entry.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        match &entry.kind {
            EntryKind::File { is_program, .. } => {
                let mode = if *is_program { 0o755 } else { 0o644 };
                let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
                let mut file = file.map_err(|error| at(&path, error))?;
                reader.contents(&entry, |bytes| file.write_all(bytes).map_err(|error| at(&path, error)))?;
            }
            EntryKind::Link { target } => links.push((path, target.clone())),
        }
    }
    is_named(&reader.finish()?, id)?;
    // Only now, so that no file was written through one.
    for (path, target) in links {
        symlink(target, path)?;
    }
    Ok(())
}

/// Checks a whole archive without writing anything. Returns its name.
///
/// # Errors
/// Names the entry that is not allowed and the reason; I/O errors.
pub fn check(archive: impl Read, limits: ArchiveLimits) -> Result<ArchiveId, ArchiveError> {
    let mut reader = Reader::new(archive, limits);
    while let Some(entry) = reader.next()? {
        reader.contents(&entry, |_| Ok(()))?;
    }
    reader.finish()
}

struct Reader<R> {
    archive: BufReader<R>,
    tree: Tree,
    hash: Sha256,
}

impl<R: Read> Reader<R> {
    fn new(archive: R, limits: ArchiveLimits) -> Reader<R> {
        let archive = BufReader::with_capacity(64 << 10, archive);
        Reader { archive, tree: Tree::new(limits), hash: Sha256::new() }
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), ArchiveError> {
        self.archive.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ArchiveError::wrong("the archive is cut off"),
            _ => error.into(),
        })?;
        self.hash.update(bytes);
        Ok(())
    }

    /// The next entry, whose contents follow; `None` at the end.
    fn next(&mut self) -> Result<Option<Entry>, ArchiveError> {
        let mut block = [0; BLOCK];
        self.read(&mut block)?;
        if block == [0; BLOCK] {
            return Ok(None);
        }
        let entry = Entry::parse(&block)?;
        self.tree.add(&entry)?;
        Ok(Some(entry))
    }

    fn contents(
        &mut self,
        entry: &Entry,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), ArchiveError> {
        let (mut left, mut buffer) = (entry.size(), [0; 16 << 10]);
        while left > 0 {
            let part = &mut buffer[..left.min(16 << 10) as usize];
            self.read(part)?;
            each(part)?;
            left -= part.len() as u64;
        }
        let mut padding = [0; BLOCK];
        let padding = &mut padding[..entry.padding()];
        self.read(padding)?;
        if padding.iter().any(|&byte| byte != 0) {
            return Err(entry.error("the padding after its contents is not zero"));
        }
        Ok(())
    }

    /// Checks the bytes after the first zero block.
    fn finish(mut self) -> Result<ArchiveId, ArchiveError> {
        let mut block = [0; BLOCK];
        self.read(&mut block)?;
        if block != [0; BLOCK] || self.archive.read(&mut [0])? != 0 {
            return Err(ArchiveError::wrong("the archive does not end with two zero blocks"));
        }
        self.tree.finish()?;
        Ok(ArchiveId::of(self.hash))
    }
}
