//! Regular files that the user names.
//!
//! To open a FIFO waits until another program opens its other end, and to read one waits for what that program writes:
//! where a file is expected, it is refused. A path below `/dev`, such as `/dev/stdin` or the `/dev/fd/63` of a shell's
//! `<(command)`, is a stream that the user has opened on purpose.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FileType, OFlags};

/// What a path leads to, for error messages.
pub(super) fn kind(of: FileType) -> &'static str {
    match of {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}

/// The error with the path that it is about.
pub(super) fn at(path: &Path, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Refuses what is no regular file.
pub(super) fn check_regular(path: &Path, file: &File) -> io::Result<Metadata> {
    let found = file.metadata()?;
    if found.is_file() {
        return Ok(found);
    }
    let kind = kind(FileType::from_raw_mode(found.mode()));
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is {kind}, not a file", path.display())))
}

/// Opens a file of the user's.
///
/// # Errors
/// When it cannot be opened or is no regular file.
pub fn open_regular(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    if path.starts_with("/dev") {
        return how.open(path);
    }
    // Without this, opening a FIFO waits for its other end. A regular file does not know it.
    let file = how.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    check_regular(path, &file)?;
    Ok(file)
}

/// Reads a file of the user's.
///
/// # Errors
/// When it cannot be read or is no regular file.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path, OpenOptions::new().read(true))?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file with a secret in it, which its user alone may read: the rule that `ssh` has for private keys.
///
/// # Errors
/// When others may read it, and as [`read_regular`].
pub fn read_secret(path: &Path) -> io::Result<String> {
    let mut file = open_regular(path, OpenOptions::new().read(true))?;
    let found = file.metadata()?;
    if found.is_file() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 != 0 {
        let (mode, path) = (found.mode() & 0o777, path.display());
        let what = format!("others may read it (mode {mode:04o}): `chmod 600 {path}` makes it secret");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_secret_that_others_may_read_is_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seed");
        fs::write(&path, "secret").unwrap();
        for (mode, is_refused) in
            [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o620, true), (0o644, true)]
        {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let read = read_secret(&path).map_err(|error| error.to_string());
            assert_eq!(read.is_err(), is_refused, "{mode:o}: {read:?}");
            assert!(read.is_ok_and(|text| text == "secret") || is_refused);
        }
        let error = read_secret(&path).unwrap_err().to_string();
        assert!(error.contains("(mode 0644): `chmod 600 ") && !error.contains("secret\n"), "{error}");
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        for error in [read_regular(&path).unwrap_err(), read_secret(&path).unwrap_err()] {
            assert!(error.to_string().ends_with("is a FIFO, not a file"), "{error}");
        }
        // Nobody reads it.
        open_regular(&path, OpenOptions::new().append(true).create(true)).unwrap_err();
        let error = read_regular(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("is a folder, not a file"), "{error}");
        assert!(read_regular(Path::new("/dev/null")).unwrap().is_empty());
    }
}
