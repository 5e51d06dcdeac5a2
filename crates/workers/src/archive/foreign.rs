//! Unpacks zip files and compressed tar archives as other programs write them.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use referee_game::Wrong;
use tar::EntryType;
use zip::ZipArchive;
use zip::result::ZipError;

use super::entry::{BLOCK, Entry, EntryKind, describe};
use super::error::at;
use super::{ArchiveError, ArchiveLimits};

/// The maximum size of an extension of a tar archive, such as a long name.
const MOST_EXTENSION: u64 = 16 << 10;
/// The maximum length of the target of a link.
const MOST_TARGET: u64 = 4 << 10;
/// The size of the end of a zip file: its record and the longest comment.
const MOST_END: u64 = 22 + 65_535;
/// Names of files and directories that are dropped: those that systems add, and the history of the sources.
const DROPPED: [&str; 3] = ["__MACOSX", ".DS_Store", ".git"];
/// The start of the name that macOS adds: `._x` to a file `x`.
const DROPPED_START: &str = "._";

/// Unpacks a zip file or a tar.gz into an empty directory that only this user can change: regular files, with the modes 0644
/// and 0755, then links. They have passed none of the checks of links and names that packing them makes. Returns whether it
/// is such an archive; otherwise nothing was written.
///
/// # Errors
/// Names the entry that is not allowed and the reason; I/O errors. Some files may exist then.
pub fn unpack_foreign(
    mut archive: impl Read + Seek,
    folder: &Path,
    limits: ArchiveLimits,
) -> Result<bool, ArchiveError> {
    let mut magic = [0; 4];
    archive.rewind()?;
    let size = archive.by_ref().take(4).read(&mut magic)?;
    archive.rewind()?;
    let (folders, links) = (HashSet::new(), Vec::new());
    let mut target = Target { folder, limits, bytes: 0, entries: 0, folders, links };
    match &magic[..size] {
        b"PK\x03\x04" | b"PK\x05\x06" => unpack_zip(archive, &mut target)?,
        [0x1f, 0x8b, ..] => unpack_tar(archive, &mut target)?,
        _ => return Ok(false),
    }
    // Only now, so that no file was written through one.
    for (path, to) in target.links {
        let place = folder.join(&path);
        let entry = Entry { path, kind: EntryKind::Link { target: to.clone() } };
        symlink(to, &place).map_err(|error| in_the_way(&entry, error))?;
    }
    Ok(true)
}

/// The directory in which an archive is unpacked, and the size unpacked so far.
struct Target<'a> {
    folder: &'a Path,
    limits: ArchiveLimits,
    bytes: u64,
    entries: usize,
    /// The directories that were made.
    folders: HashSet<String>,
    /// The paths and targets of links.
    links: Vec<(String, String)>,
}

/// The path of an entry within the archive; `None` if it is dropped.
fn path_of(name: &str) -> Result<Option<String>, ArchiveError> {
    let error = |reason: &str| ArchiveError::entry(name, reason);
    if name.contains('\\') {
        return Err(error("the path contains a backslash; `/` separates names in archives"));
    }
    if name.starts_with('/') || matches!(name.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic()) {
        return Err(error("the path is absolute"));
    }
    let names: Vec<&str> = name.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    let is_dropped = |name: &&str| DROPPED.contains(name) || name.starts_with(DROPPED_START);
    if names.is_empty() || names.iter().any(is_dropped) {
        return Ok(None);
    }
    Ok(Some(names.join("/")))
}

impl Target<'_> {
    /// Counts an entry with this number of bytes.
    fn count(&mut self, name: &str, bytes: u64) -> Result<(), ArchiveError> {
        let ArchiveLimits { bytes: most_bytes, entries: most } = self.limits;
        self.bytes = self.bytes.saturating_add(bytes);
        self.entries += 1;
        let reason = match (self.bytes > most_bytes, self.entries > most) {
            (true, _) => format!("with it the files have {} bytes; {most_bytes} are allowed", self.bytes),
            (_, true) => format!("the archive has more than {most} files, links and directories"),
            _ => return Ok(()),
        };
        Err(ArchiveError::entry(name, &reason))
    }

    /// Makes the directories above an entry, whose path it checks.
    fn make_parents(&mut self, entry: &Entry) -> Result<(), ArchiveError> {
        entry.check_path()?;
        entry.header()?;
        for (end, _) in entry.path.match_indices('/') {
            let above = &entry.path[..end];
            if !self.folders.contains(above) {
                self.count(&entry.path, 0)?;
                fs::create_dir(self.folder.join(above)).map_err(|error| in_the_way(entry, error))?;
                self.folders.insert(above.to_owned());
            }
        }
        Ok(())
    }

    /// Writes a file with this size.
    fn file(
        &mut self,
        path: &str,
        size: u64,
        is_program: bool,
        contents: impl Read,
    ) -> Result<(), ArchiveError> {
        let entry = Entry { path: path.to_owned(), kind: EntryKind::File { size, is_program } };
        self.make_parents(&entry)?;
        let place = self.folder.join(path);
        // A script that was packed on Windows has no mode.
        let mut contents = contents.take(size.saturating_add(1));
        let mut start = [0; 4];
        let mut known = 0;
        while known < start.len() {
            match contents.read(&mut start[known..]).map_err(damaged)? {
                0 => break,
                more => known += more,
            }
        }
        let is_script = start.starts_with(b"#!") || start == *b"\x7fELF";
        let mode = if is_program || is_script { 0o755 } else { 0o644 };
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&place);
        let mut file = file.map_err(|error| in_the_way(&entry, error))?;
        let mut write = |bytes: &[u8]| file.write_all(bytes).map_err(|error| at(&place, error));
        write(&start[..known])?;
        let (mut written, mut part) = (known as u64, vec![0; 64 << 10]);
        loop {
            match contents.read(&mut part).map_err(damaged)? {
                0 => break,
                more => {
                    write(&part[..more])?;
                    written += more as u64;
                }
            }
        }
        if written != size {
            return Err(entry.error("it has another size than its header says"));
        }
        Ok(())
    }

    fn link(&mut self, path: &str, target: &[u8]) -> Result<(), ArchiveError> {
        let target = String::from_utf8_lossy(target).trim_start_matches("./").to_owned();
        let entry = Entry { path: path.to_owned(), kind: EntryKind::Link { target: target.clone() } };
        self.make_parents(&entry)?;
        if target.is_empty() || target.chars().any(char::is_control) {
            return Err(entry.error("it links to no path"));
        }
        self.links.push((path.to_owned(), target));
        Ok(())
    }
}

/// Converts errors of writing an entry: another entry may be in its place.
fn in_the_way(entry: &Entry, error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            entry.error("the archive has it twice, or a part of its path is a file")
        }
        _ => at(Path::new(&entry.path), error).into(),
    }
}

/// Converts errors of reading damaged data to errors of the archive.
fn damaged(error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::Other => Wrong::at("the archive is damaged", error).into(),
        _ => error.into(),
    }
}

fn unreadable(error: ZipError) -> ArchiveError {
    match error {
        ZipError::Io(error) => damaged(error),
        error => Wrong::at("the zip file cannot be read", error).into(),
    }
}

/// The number of entries that the end of a zip file states. It keeps the reader from making room for millions.
fn stated_entries(archive: &mut (impl Read + Seek)) -> Result<usize, ArchiveError> {
    let size = archive.seek(SeekFrom::End(0))?;
    let start = size.saturating_sub(MOST_END + 20);
    archive.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    archive.take(MOST_END + 20).read_to_end(&mut end)?;
    if end.windows(4).any(|bytes| bytes == b"PK\x06\x07") {
        let why = "the zip file is one for more than 65,535 files, or for more than 4 GiB";
        return Err(ArchiveError::wrong(why));
    }
    let found = end.windows(4).rposition(|bytes| bytes == b"PK\x05\x06");
    let count = found.and_then(|at| end.get(at + 10..at + 12)).map(|count| [count[0], count[1]]);
    count
        .map(|count| u16::from_le_bytes(count).into())
        .ok_or_else(|| ArchiveError::wrong("the zip file is cut off: its directory is missing"))
}

fn unpack_zip(mut archive: impl Read + Seek, target: &mut Target<'_>) -> Result<(), ArchiveError> {
    let stated = stated_entries(&mut archive)?;
    archive.rewind()?;
    let mut zip = ZipArchive::new(archive).map_err(unreadable)?;
    if zip.len() != stated {
        return Err(ArchiveError::wrong("the zip file has a name twice, or lacks entries"));
    }
    let mut entries = Vec::new();
    for index in 0..zip.len() {
        let entry = zip.by_index_raw(index).map_err(unreadable)?;
        let name = entry.name().map_err(unreadable)?.into_owned();
        if entry.is_dir() {
            path_of(name.trim_end_matches('/'))?;
            continue;
        }
        let Some(path) = path_of(&name)? else { continue };
        if entry.encrypted() {
            return Err(ArchiveError::entry(&name, "it is encrypted"));
        }
        target.count(&name, entry.size())?;
        let is_program = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        entries.push((index, path, entry.is_symlink(), is_program));
    }
    for (index, path, is_link, is_program) in entries {
        let entry = zip.by_index(index).map_err(unreadable)?;
        if is_link {
            let mut to = Vec::new();
            entry.take(MOST_TARGET).read_to_end(&mut to).map_err(damaged)?;
            target.link(&path, &to)?;
        } else {
            target.file(&path, entry.size(), is_program, entry)?;
        }
    }
    Ok(())
}

/// The tar archive in a gzip file. It ends where no archive within the limits is longer.
fn inflated(archive: &mut (impl Read + Seek), limits: ArchiveLimits) -> io::Result<tar::Archive<impl Read>> {
    archive.rewind()?;
    // Names, directories and extensions have blocks of their own.
    let most = limits.bytes.saturating_add(8 * BLOCK as u64 * (limits.entries as u64 + 64));
    Ok(tar::Archive::new(MultiGzDecoder::new(archive).take(most)))
}

fn unpack_tar(mut archive: impl Read + Seek, target: &mut Target<'_>) -> Result<(), ArchiveError> {
    let limits = target.limits;
    // The second time, extensions are read into memory.
    for entry in inflated(&mut archive, limits)?.entries().map_err(damaged)?.raw(true) {
        let entry = entry.map_err(damaged)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let size = entry.header().entry_size().map_err(damaged)?;
        let wrong = |reason: String| Err(ArchiveError::entry(&name, &reason));
        match entry.header().entry_type() {
            EntryType::Regular => target.count(&name, size)?,
            EntryType::Symlink => target.count(&name, 0)?,
            EntryType::Directory => {}
            EntryType::GNULongName
            | EntryType::GNULongLink
            | EntryType::XHeader
            | EntryType::XGlobalHeader => {
                if size > MOST_EXTENSION {
                    return wrong(format!(
                        "its name or attributes have {size} bytes; {MOST_EXTENSION} are allowed"
                    ));
                }
            }
            other => {
                let what = describe(other);
                return wrong(format!("it is {what}; files and symbolic links are allowed"));
            }
        }
    }
    for entry in inflated(&mut archive, limits)?.entries().map_err(damaged)? {
        let entry = entry.map_err(damaged)?;
        let name = entry.path_bytes().into_owned();
        let Ok(name) = String::from_utf8(name) else {
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            return Err(ArchiveError::entry(&path, "its path is not UTF-8"));
        };
        let Some(path) = path_of(&name)? else { continue };
        match entry.header().entry_type() {
            EntryType::Regular => {
                let is_program = entry.header().mode().map_err(damaged)? & 0o111 != 0;
                // An extension may state another size.
                let size = entry.size();
                if size > limits.bytes {
                    target.count(&name, size)?;
                }
                target.file(&path, size, is_program, entry)?;
            }
            EntryType::Symlink => {
                let to = entry.link_name_bytes().unwrap_or_default().into_owned();
                target.link(&path, &to)?;
            }
            _ => {}
        }
    }
    Ok(())
}
