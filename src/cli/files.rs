//! Input and output files of the command line.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::exit::Failure;
use crate::cli::{output, screen};
use crate::files::{
    Folder, PackRange, RecordFolder, has_extension, most_unpacked, open_regular, read_record, read_regular,
    unpack,
};
use crate::report::replay::record_of_page;

/// The error for a file that cannot be read.
fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let what = format!("{}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge => Failure::usage(what),
        _ => Failure::cannot_run(what),
    }
}

/// The error for a file that cannot be written.
fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::cannot_run(format!("{}: {error}", path.display()))
}

/// Expands directories to their files with one of the extensions, sorted by name. If records are wanted, packs of leagues are
/// expanded to their records, also the packs in directories.
pub(super) fn expand(paths: &[PathBuf], endings: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let has_records = endings.contains(&"jsonl");
        if !path.is_dir() {
            match pack_of(path).filter(|_| has_records) {
                Some((directory, range)) => files.extend(packed(directory, range)?),
                None => files.push(path.clone()),
            }
            continue;
        }
        let read = fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
        let mut found: Vec<PathBuf> = read
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| endings.iter().any(|ending| has_extension(path, ending)))
            .collect();
        if has_records {
            let names = Folder::open(path).and_then(|folder| RecordFolder::new(folder).names());
            let names = names.map_err(Failure::cannot_run)?;
            let files: BTreeSet<PathBuf> = found.iter().cloned().collect();
            found.extend(names.iter().map(|name| path.join(name)).filter(|path| !files.contains(path)));
        }
        if found.is_empty() {
            let wanted: Vec<String> = endings.iter().map(|ending| format!("*.{ending}")).collect();
            let what = format!("{} contains no records ({})", path.display(), wanted.join(", "));
            return Err(Failure::usage(what));
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

/// The directory of a pack, and which one it is.
fn pack_of(path: &Path) -> Option<(&Path, PackRange)> {
    let range = PackRange::of_pack(path.file_name()?.to_str()?)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Some((parent.unwrap_or(Path::new(".")), range))
}

/// The records in a pack of this directory, in its order.
fn packed(directory: &Path, range: PackRange) -> Result<Vec<PathBuf>, Failure> {
    let pack = directory.join(range.name());
    // A missing pack would seem to have no records.
    fs::metadata(&pack).map_err(|error| unreadable(&pack, &error))?;
    let names = Folder::open(directory).and_then(|folder| RecordFolder::new(folder).packed(range));
    let names = names.map_err(Failure::cannot_run)?;
    Ok(names.iter().map(|name| directory.join(name)).collect())
}

const PAGE: &str = "<!DOCTYPE html>";

/// Reads a file, decompresses it if it is compressed with gzip, and takes the record out of a page of a tournament's site. A
/// record without a file may be in a pack of its directory.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let found = read_regular(path).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => read_record(path).map_err(|of_pack| match of_pack.kind() {
            io::ErrorKind::NotFound => error,
            _ => of_pack,
        }),
        _ => Err(error),
    });
    let bytes = found.and_then(unpack).map_err(|error| unreadable(path, &error))?;
    if !bytes.starts_with(PAGE.as_bytes()) {
        return Ok(bytes);
    }
    let most = most_unpacked(bytes.len());
    let record = str::from_utf8(&bytes).ok().and_then(|page| record_of_page(page, most));
    record.ok_or_else(|| {
        let what = "is a page without a record, or with one that is too large for the page";
        Failure::usage(format!("{} {what}", path.display()))
    })
}

/// Checks that the folder of a file that an option names exists.
pub(super) fn check_folder(option: &str, path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    match folder {
        Some(folder) => {
            let (path, folder) = (path.display(), folder.display());
            Err(Failure::usage(format!("{option} {path}: there is no folder {folder}: make it first")))
        }
        None => Ok(()),
    }
}

/// The output of a subcommand: a file or standard output.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct OutputOptions {
    /// Write to this new file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file given with -o
    #[arg(long, requires = "output")]
    force: bool,
}

impl OutputOptions {
    /// Returns whether the output is a file.
    pub(super) fn is_file(&self) -> bool {
        self.output.is_some()
    }

    /// Checks that the file is a new one, or may be overwritten.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match &self.output {
            Some(path) if !self.force && path.exists() => Err(taken(path)),
            _ => Ok(()),
        }
    }

    /// Writes all bytes. A terminal gets them with escaped control characters.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(path) = &self.output else {
            let mut out = output::stdout();
            if output::is_terminal() {
                screen::Screen(&mut out).write_all(bytes)?;
            } else {
                out.write_all(bytes)?;
            }
            return Ok(out.flush()?);
        };
        if self.force {
            return OutFile::create("-o", path)?.write(|file| file.write_all(bytes));
        }
        check_folder("-o", path)?;
        File::create_new(path).and_then(|mut file| file.write_all(bytes)).map_err(|error| {
            match error.kind() {
                io::ErrorKind::AlreadyExists => taken(path),
                _ => not_written(path, &error),
            }
        })
    }
}

fn taken(path: &Path) -> Failure {
    let path = path.display();
    Failure::usage(format!("{path}: the file exists: name a new file, or overwrite it with --force"))
}

/// An output file, opened before a run so that an error is reported at once.
pub(super) struct OutFile {
    file: File,
    path: PathBuf,
    /// The directory and the name of a file that appears as a whole.
    place: Option<(Folder, String)>,
}

impl OutFile {
    /// Creates the file of this option, or replaces it, when its contents are written. A stream below `/dev` is written to as
    /// it is.
    pub(super) fn create(option: &str, path: &Path) -> Result<OutFile, Failure> {
        check_folder(option, path)?;
        if path.starts_with("/dev") {
            return OutFile::open(OpenOptions::new().write(true), path);
        }
        let begun = Folder::of_file(path).and_then(|(folder, name)| {
            let folder = folder.public();
            Ok((folder.create_unfinished(&name)?, folder, name))
        });
        let (file, folder, name) = begun.map_err(Failure::cannot_run)?;
        Ok(OutFile { file, path: path.to_owned(), place: Some((folder, name)) })
    }

    /// The job summary file of GitHub Actions.
    pub(super) fn job_summary() -> Result<OutFile, Failure> {
        let path = env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).ok_or_else(|| {
            Failure::usage(
                "--github: $GITHUB_STEP_SUMMARY is not set; it exists in steps of GitHub Actions only",
            )
        })?;
        OutFile::open(OpenOptions::new().append(true), Path::new(&path))
    }

    fn open(how: &mut OpenOptions, path: &Path) -> Result<OutFile, Failure> {
        let file = open_regular(path, how.create(true)).map_err(|error| not_written(path, &error))?;
        Ok(OutFile { file, path: path.to_owned(), place: None })
    }

    pub(super) fn write(mut self, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), Failure> {
        write(&mut self.file).map_err(|error| not_written(&self.path, &error))?;
        match self.place.take() {
            Some((folder, name)) => folder.finish(&name).map_err(Failure::cannot_run),
            None => Ok(()),
        }
    }
}

impl Drop for OutFile {
    fn drop(&mut self) {
        if let Some((folder, name)) = &self.place {
            // The run has failed, which is reported.
            let _ = folder.discard_unfinished(name);
        }
    }
}
