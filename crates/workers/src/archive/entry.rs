//! An entry of an archive, and its header.

use tar::{EntryType, Header};

use super::error::ArchiveError;

/// The size of a block: of a header, and the unit of contents.
pub(super) const BLOCK: usize = 512;

/// The modes of files.
const DATA: u32 = 0o644;
const PROGRAM: u32 = 0o755;

/// A file or a link of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The path: names separated by `/`.
    pub(super) path: String,
    pub(super) kind: EntryKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    File {
        /// The size in bytes.
        size: u64,
        /// Whether the file may be executed.
        is_program: bool,
    },
    Link {
        /// The relative path of a file or directory: `../` any number of times, then names.
        target: String,
    },
}

impl Entry {
    /// The size of its contents, in bytes.
    pub(super) fn size(&self) -> u64 {
        match self.kind {
            EntryKind::File { size, .. } => size,
            EntryKind::Link { .. } => 0,
        }
    }

    /// The number of zero bytes after its contents.
    pub(super) fn padding(&self) -> usize {
        (self.size().next_multiple_of(BLOCK as u64) - self.size()) as usize
    }

    pub(super) fn error(&self, reason: impl Into<String>) -> ArchiveError {
        ArchiveError::entry(&self.path, &reason.into())
    }

    /// The header.
    ///
    /// # Errors
    /// If the path or the target is too long.
    pub(super) fn header(&self) -> Result<Header, ArchiveError> {
        let mut header = Header::new_ustar();
        header.set_path(&self.path).map_err(|_| {
            self.error("the path is too long: names have at most 100 bytes, and paths about 250")
        })?;
        header.set_mode(DATA);
        match &self.kind {
            EntryKind::File { size, is_program } => {
                header.set_entry_type(EntryType::Regular);
                header.set_size(*size);
                if *is_program {
                    header.set_mode(PROGRAM);
                }
            }
            EntryKind::Link { target } => {
                header.set_entry_type(EntryType::Symlink);
                header.set_size(0);
                header
                    .set_link_name_literal(target)
                    .map_err(|_| self.error("the target of the link has more than 100 bytes"))?;
            }
        }
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_cksum();
        Ok(header)
    }

    /// Parses a header.
    ///
    /// # Errors
    /// If it is not exactly that of an entry that is allowed.
    pub(super) fn parse(block: &[u8; BLOCK]) -> Result<Entry, ArchiveError> {
        let header = Header::from_byte_slice(block);
        let path = String::from_utf8_lossy(&header.path_bytes()).into_owned();
        let error = |reason: String| ArchiveError::entry(&path, &reason);
        let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
        let own: u32 = block[148..156].iter().map(|&byte| u32::from(byte)).sum();
        // The checksum counts as spaces.
        if header.cksum().ok() != Some(sum - own + 8 * u32::from(b' ')) {
            if let Some((_, what)) = FORMATS.iter().find(|(magic, _)| block.starts_with(magic)) {
                return Err(ArchiveError::wrong(format!("it is {what}, not a tar archive")));
            }
            return Err(error("the checksum of its header is wrong: the archive is damaged".to_owned()));
        }
        if header.as_gnu().is_some() {
            return Err(ArchiveError::wrong("it is in the format of GNU tar, not in normal form".to_owned()));
        }
        let mode = header.mode().ok();
        let kind = match header.entry_type() {
            EntryType::Regular => {
                if mode != Some(DATA) && mode != Some(PROGRAM) {
                    let mode = mode.unwrap_or_default();
                    return Err(error(format!("its mode is {mode:04o}; 0644 and 0755 are allowed")));
                }
                let size = header.entry_size().map_err(|_| error("its size is not a number".to_owned()))?;
                EntryKind::File { size, is_program: mode == Some(PROGRAM) }
            }
            EntryType::Symlink => {
                let target = header.link_name_bytes().unwrap_or_default().into_owned();
                EntryKind::Link { target: String::from_utf8_lossy(&target).into_owned() }
            }
            other => {
                let what = describe(other);
                return Err(error(format!("it is {what}; files and symbolic links are allowed")));
            }
        };
        if std::str::from_utf8(&header.path_bytes()).is_err() {
            return Err(error("its path is not UTF-8".to_owned()));
        }
        let entry = Entry { path, kind };
        entry.check_path()?;
        if entry.header()?.as_bytes() != block {
            return Err(entry.error(
                "its header is not in normal form: ustar, owner and time 0, and no fields but path, mode and size",
            ));
        }
        Ok(entry)
    }

    /// Checks the path and the form of the target.
    pub(super) fn check_path(&self) -> Result<(), ArchiveError> {
        if self.path.starts_with('/') {
            return Err(self.error("the path is absolute"));
        }
        if self.path.split('/').any(|name| name == "..") {
            return Err(self.error("the path contains `..`"));
        }
        if self.path.split('/').any(|name| name.is_empty() || name == ".") {
            return Err(self.error("the path has an empty name or `.`"));
        }
        if self.path.chars().any(char::is_control) {
            return Err(self.error("the path contains a control character"));
        }
        let EntryKind::Link { target } = &self.kind else { return Ok(()) };
        if target.starts_with('/') {
            return Err(self.error(format!("it links to the absolute path `{target}`")));
        }
        let mut names = target.split('/').skip_while(|&name| name == "..");
        if names.any(|name| name.is_empty() || name == "." || name == "..") {
            return Err(self.error(format!(
                "it links to `{target}`; a target has `..` only at its start, and no `.` or empty name"
            )));
        }
        Ok(())
    }
}

/// The first bytes of files in other formats.
const FORMATS: [(&[u8], &str); 8] = [
    (b"PK\x03\x04", "a zip file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"7z\xbc\xaf", "a 7-Zip file"),
    (b"Rar!", "a RAR file"),
    (b"\x7fELF", "a program"),
];

/// Describes the type of an entry that is not allowed.
pub(super) fn describe(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Link => "a hard link",
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Fifo => "a FIFO",
        EntryType::Directory => "a directory, which archives contain by the paths of its files only",
        EntryType::GNULongName | EntryType::GNULongLink | EntryType::XHeader | EntryType::XGlobalHeader => {
            "an extension for long names or attributes"
        }
        EntryType::GNUSparse => "a sparse file",
        _ => "of an unknown type",
    }
}
