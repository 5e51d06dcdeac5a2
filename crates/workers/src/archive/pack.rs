//! Writes archives.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use sha2::{Digest, Sha256};

use super::entry::{BLOCK, Entry, EntryKind};
use super::error::at;
use super::tree::Tree;
use super::{ArchiveError, ArchiveId, ArchiveLimits};
use referee_files::{FoundFile, ResolvedFolder, open_regular};

/// Directories that are no part of a bot: the history of its sources, and caches of Python.
const LEFT_OUT: [&str; 2] = [".git", "__pycache__"];

/// An archive that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedArchive {
    pub id: ArchiveId,
    /// The size, in bytes.
    pub size: u64,
    /// The number of files and links in it.
    pub entries: usize,
}

/// Writes the archive of all files in a directory and below it, without `.git` and `__pycache__`.
///
/// # Errors
/// As [`pack_selected`].
pub fn pack_folder(
    folder: &Path,
    limits: ArchiveLimits,
    out: impl Write,
) -> Result<PackedArchive, ArchiveError> {
    let is_part =
        |path: &Path, is_folder: bool| !(is_folder && LEFT_OUT.iter().any(|name| path.ends_with(name)));
    pack_selected(folder, is_part, limits, out)
}

/// Writes the archive of the files in a directory and below it that are selected, see [`ResolvedFolder::walk`]. Links within
/// the directory stay links.
///
/// # Errors
/// Names a file that no archive may contain (a FIFO, a link that leads out of the directory, names that differ only in
/// case) or that changes while it is read; a limit; I/O errors.
pub fn pack_selected(
    folder: &Path,
    mut selects: impl FnMut(&Path, bool) -> bool,
    limits: ArchiveLimits,
    out: impl Write,
) -> Result<PackedArchive, ArchiveError> {
    let root = ResolvedFolder::open(folder)?;
    let mut found = Vec::new();
    root.walk(Path::new(""), &mut selects, &mut |path, of| {
        if found.len() == limits.entries {
            return Err(ArchiveError::TooMany { folder: folder.to_owned(), most: limits.entries });
        }
        let kind = match of {
            FoundFile::File(of) => kind(&path, &of)?,
            FoundFile::Link(end) => EntryKind::Link { target: text(&target(&path, &end))? },
        };
        found.push(Entry { path: text(&path)?, kind });
        Ok(())
    })?;
    write(of_root(root.path()), limits, found, out)
}

/// Writes the archive of some files, given by their paths relative to `root`. A link is replaced by the file in `root` that it
/// leads to.
///
/// # Errors
/// As [`pack_selected`].
pub fn pack_files(
    root: &Path,
    files: &[PathBuf],
    limits: ArchiveLimits,
    out: impl Write,
) -> Result<PackedArchive, ArchiveError> {
    let root = ResolvedFolder::open(root)?;
    let mut found = Vec::new();
    for file in files {
        let end = root.resolve(file)?;
        let of = fs::metadata(&end).map_err(|error| at(&end, error))?;
        found.push(Entry { path: text(file)?, kind: kind(file, &of)? });
    }
    write(of_root(root.path()), limits, found, out)
}

/// Writes the archive of all files in an open directory and below it. No link is followed, whatever happens in the directory
/// meanwhile.
///
/// # Errors
/// As [`pack_selected`], and for links.
pub fn pack_open(
    folder: BorrowedFd<'_>,
    limits: ArchiveLimits,
    out: impl Write,
) -> Result<PackedArchive, ArchiveError> {
    let (mut found, mut folders, mut seen) = (Vec::new(), vec![String::new()], 0);
    while let Some(above) = folders.pop() {
        let opened = open_within(folder, &above, OFlags::DIRECTORY)?;
        for entry in Dir::read_from(&opened).map_err(io::Error::from)? {
            let entry = entry.map_err(io::Error::from)?;
            let name = entry.file_name();
            if [c".", c".."].contains(&name) {
                continue;
            }
            seen += 1;
            if seen > limits.entries {
                let why = format!("there are more than {} files and directories", limits.entries);
                return Err(ArchiveError::wrong(why));
            }
            let path = text(&Path::new(&above).join(OsStr::from_bytes(name.to_bytes())))?;
            let of = statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)?;
            let kind = EntryKind::File { size: of.st_size as u64, is_program: of.st_mode & 0o111 != 0 };
            let entry = Entry { path, kind };
            match FileType::from_raw_mode(of.st_mode) {
                FileType::RegularFile => found.push(entry),
                FileType::Directory => {
                    // The header bounds how deep directories are.
                    entry.header()?;
                    folders.push(entry.path);
                }
                _ => return Err(entry.error("it is neither a regular file nor a directory")),
            }
        }
    }
    write(|path| open_within(folder, path, OFlags::NONBLOCK), limits, found, out)
}

/// Opens this path in an open directory, following no link.
fn open_within(folder: BorrowedFd<'_>, path: &str, how: OFlags) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = |at: BorrowedFd<'_>, name: &str, how| openat(at, name, flags | how, Mode::empty());
    let mut at = open(folder, ".", OFlags::DIRECTORY)?;
    let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
    while let Some(name) = names.next() {
        let how = if names.peek().is_some() { OFlags::DIRECTORY } else { how };
        at = open(at.as_fd(), name, how)?;
    }
    Ok(at.into())
}

/// Opens the regular files in a directory that only this user can change.
fn of_root(root: &Path) -> impl Fn(&str) -> io::Result<File> {
    move |path| {
        let file = root.join(path);
        open_regular(&file, OpenOptions::new().read(true)).map_err(|error| at(&file, error))
    }
}

fn text(path: &Path) -> Result<String, ArchiveError> {
    let is_text = path.to_str().map(str::to_owned);
    is_text.ok_or_else(|| ArchiveError::entry(&path.to_string_lossy(), "the path is not UTF-8"))
}

fn kind(path: &Path, of: &fs::Metadata) -> Result<EntryKind, ArchiveError> {
    if !of.is_file() {
        let reason = "it is not a regular file; archives contain files, links and directories";
        return Err(ArchiveError::entry(&path.to_string_lossy(), reason));
    }
    Ok(EntryKind::File { size: of.len(), is_program: of.permissions().mode() & 0o111 != 0 })
}

/// The target of a link at this path that leads to `end`. Both paths are relative to the same directory.
fn target(path: &Path, end: &Path) -> PathBuf {
    let from = path.parent().unwrap_or(Path::new(""));
    let common = from.components().zip(end.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| Path::new(".."));
    up.chain(end.components().skip(common).map(|name| Path::new(name.as_os_str()))).collect()
}

/// Writes the archive of these entries, whose files `open` opens.
fn write(
    open: impl Fn(&str) -> io::Result<File>,
    limits: ArchiveLimits,
    mut entries: Vec<Entry>,
    mut out: impl Write,
) -> Result<PackedArchive, ArchiveError> {
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    let mut tree = Tree::new(limits);
    for entry in &entries {
        entry.check_path()?;
        tree.add(entry)?;
    }
    tree.finish()?;
    let (mut hash, mut size) = (Sha256::new(), 0);
    let mut put = |bytes: &[u8]| {
        hash.update(bytes);
        size += bytes.len() as u64;
        out.write_all(bytes)
    };
    for entry in &entries {
        put(entry.header()?.as_bytes())?;
        if let EntryKind::File { size, .. } = entry.kind {
            copy(open(&entry.path)?, size, &mut put).map_err(|error| at(Path::new(&entry.path), error))?;
            put(&[0; BLOCK][..entry.padding()])?;
        }
    }
    put(&[0; 2 * BLOCK])?;
    out.flush()?;
    Ok(PackedArchive { id: ArchiveId::of(hash), size, entries: entries.len() })
}

fn copy(mut file: File, size: u64, mut put: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let changed = || io::Error::new(io::ErrorKind::InvalidData, "the file changed while it was read");
    let (mut buffer, mut left) = (vec![0; 64 << 10], size);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return if left == 0 { Ok(()) } else { Err(changed()) };
        }
        left = left.checked_sub(read as u64).ok_or_else(changed)?;
        put(&buffer[..read])?;
    }
}
