//! Regular files given by the user.
//!
//! Opening a FIFO blocks until another program opens its other end, and reading it blocks until that program writes:
//! FIFOs are rejected. Paths below `/dev`, such as `/dev/stdin` or `/dev/fd/63` from a shell's `<(command)`, are
//! streams that the user has opened on purpose.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use rustix::fs::{FileType, OFlags};

use crate::private::keep_private;

/// Describes a file type for error messages.
pub(super) fn kind(of: FileType) -> &'static str {
    match of {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}

/// Adds the path to an error.
pub(super) fn at(path: &Path, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Rejects everything except regular files.
pub(super) fn check_regular(path: &Path, file: &File) -> io::Result<Metadata> {
    let found = file.metadata()?;
    if found.is_file() {
        return Ok(found);
    }
    let kind = kind(FileType::from_raw_mode(found.mode()));
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is {kind}, not a file", path.display())))
}

/// Opens a file given by the user.
///
/// # Errors
/// If it cannot be opened or is not a regular file.
pub fn open_regular(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    if path.starts_with("/dev") {
        return how.open(path);
    }
    // Without `NONBLOCK`, opening a FIFO would block. The flag has no effect on regular files.
    let file = how.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    check_regular(path, &file)?;
    Ok(file)
}

/// The size of the largest file that is read as a whole, in bytes.
pub(super) const MOST_READ: u64 = 1 << 30;

/// The bytes that compressed data may give for each of its own, beyond [`LEAST_UNPACKED`].
const MOST_RATIO: u64 = 100;
/// The bytes that any compressed data may give.
const LEAST_UNPACKED: u64 = 4 << 20;

/// The maximum uncompressed size of compressed data of this size. It grows with the data, so that a small
/// file cannot take much memory.
pub fn most_unpacked(packed: usize) -> u64 {
    (packed as u64).saturating_mul(MOST_RATIO).saturating_add(LEAST_UNPACKED).min(MOST_READ)
}

fn too_large(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

fn size(bytes: u64) -> String {
    match (bytes >> 20, bytes >> 10) {
        (0, 0) => format!("{bytes} bytes"),
        (0, kibibytes) => format!("{kibibytes} KiB"),
        (mebibytes, _) => format!("{mebibytes} MiB"),
    }
}

/// Reads everything, up to this number of bytes. The memory grows with the bytes that have been read.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] if there is more, and those of the reader.
pub fn read_limited(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(format!("it is larger than {}, up to which it is read", size(most))));
    }
    Ok(bytes)
}

/// Reads a file given by the user, of 1 GiB at most.
///
/// # Errors
/// If it cannot be read, is not a regular file, or is too large.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    read_limited(open_regular(path, OpenOptions::new().read(true))?, MOST_READ)
}

/// The first bytes of data compressed with gzip (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Decompresses the contents of a file, if they are compressed with gzip.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] if there is more than compressed data of this size may give; if the data is damaged.
pub fn unpack(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let unpacked = read_limited(MultiGzDecoder::new(&*bytes), most_unpacked(bytes.len()));
    unpacked.map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(format!("decompressed, {error}: decompress it first")),
        _ => error,
    })
}

/// Returns whether a file name ends with `.` and this extension, before that of a compressed file if it has
/// one.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    let has = |path: &Path, wanted: &str| {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
    };
    let is_of_compressed = || path.file_stem().is_some_and(|stem| has(Path::new(stem), extension));
    has(path, extension) || has(path, "gz") && is_of_compressed()
}

/// Reads a text with a secret, which only the owner may be able to write, and only the owner and the group to read. A byte
/// order mark is removed. The file becomes private: see
/// [`keep_private`].
///
/// # Errors
/// If other users can read or change it, and those of [`read_regular`].
pub fn read_secret(path: &Path) -> io::Result<String> {
    keep_private(path);
    let file = open_regular(path, OpenOptions::new().read(true))?;
    let found = file.metadata()?;
    if found.is_file() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o027 != 0 {
        let (mode, path) = (found.mode() & 0o777, path.display());
        let what = if found.mode() & 0o007 != 0 { "other users can read" } else { "its group can change" };
        let what = format!(
            "{what} it (mode {mode:04o}): run `chmod 600 {path}`, or mount the secret of a container with mode 0440"
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    let text = String::from_utf8(read_limited(file, MOST_READ)?);
    let mut text = text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::private_paths;

    #[test]
    fn secret_that_others_can_read_is_rejected_with_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seed");
        fs::write(&path, "secret").unwrap();
        for (mode, is_refused) in [
            (0o600, false),
            (0o400, false),
            (0o640, false),
            (0o440, false),
            (0o460, true),
            (0o604, true),
            (0o444, true),
            (0o602, true),
            (0o620, true),
            (0o644, true),
        ] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let read = read_secret(&path).map_err(|error| error.to_string());
            assert!(private_paths().contains(&path.canonicalize().unwrap()));
            assert_eq!(read.is_err(), is_refused, "{mode:o}: {read:?}");
            assert!(read.is_ok_and(|text| text == "secret") || is_refused);
        }
        let error = read_secret(&path).unwrap_err().to_string();
        assert!(error.contains("(mode 0644): run `chmod 600 ") && !error.contains("secret\n"), "{error}");
    }

    #[test]
    fn no_more_is_read_than_the_limit() {
        assert_eq!(read_limited(&b"1234"[..], 4).unwrap(), b"1234");
        let error = read_limited(io::repeat(b'x'), 5 << 20).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it is larger than 5 MiB, up to which it is read");
        let error = read_limited(io::repeat(b'x'), 64 << 10).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 64 KiB, up to which it is read");
        assert_eq!(most_unpacked(0), 4 << 20);
        assert_eq!(most_unpacked(1 << 20), 104 << 20);
        assert_eq!(most_unpacked(usize::MAX), MOST_READ);
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        fs::write(&path, "\u{feff}ann=\u{feff}secret\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read_secret(&path).unwrap(), "ann=\u{feff}secret\n");
    }

    #[test]
    fn a_file_that_is_not_regular_is_rejected_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        for error in [read_regular(&path).unwrap_err(), read_secret(&path).unwrap_err()] {
            assert!(error.to_string().ends_with("is a FIFO, not a file"), "{error}");
        }
        // The FIFO has no reader.
        open_regular(&path, OpenOptions::new().append(true).create(true)).unwrap_err();
        let error = read_regular(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("is a directory, not a file"), "{error}");
        assert!(read_regular(Path::new("/dev/null")).unwrap().is_empty());
    }
}
