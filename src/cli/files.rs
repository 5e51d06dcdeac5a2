//! Input and output files of the command line.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::cli::{Failure, output, screen};
use crate::report::replay::record_of_page;
use crate::store::open_regular;

/// The error for a file that cannot be read.
fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let what = format!("{}: {error}", path.display());
    if error.kind() == io::ErrorKind::NotFound { Failure::usage(what) } else { Failure::cannot_run(what) }
}

/// The error for a file that cannot be written.
fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::cannot_run(format!("{}: {error}", path.display()))
}

/// Whether a file name ends with `.` and this extension, before that of a compressed file if it has one.
pub(super) fn ends_with(path: &Path, ending: &str) -> bool {
    let has = |path: &Path, ending: &str| {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
    };
    has(path, ending) || has(path, "gz") && path.file_stem().is_some_and(|stem| has(Path::new(stem), ending))
}

/// Expands directories to their files with one of the extensions, sorted by name.
pub(super) fn expand(paths: &[PathBuf], endings: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let read = fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
        let mut found: Vec<PathBuf> = read
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| endings.iter().any(|ending| ends_with(path, ending)))
            .collect();
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

/// The maximum size of a file, which is read as a whole, decompressed.
const LIMIT: u64 = 1 << 30;
/// How a file begins that is compressed with gzip (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How a page begins.
const PAGE: &str = "<!DOCTYPE html>";

/// Reads a file, decompresses it if it is compressed with gzip, and takes the record out of a page of a tournament's site.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = |bytes: &mut Vec<u8>| {
        let mut file = BufReader::new(open_regular(path, OpenOptions::new().read(true))?);
        match file.fill_buf()?.starts_with(&GZIP) {
            true => MultiGzDecoder::new(file).take(LIMIT + 1).read_to_end(bytes),
            false => file.take(LIMIT + 1).read_to_end(bytes),
        }
    };
    read(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > LIMIT {
        return Err(Failure::usage(format!("{} is larger than 1 GiB: split it", path.display())));
    }
    if !bytes.starts_with(PAGE.as_bytes()) {
        return Ok(bytes);
    }
    let record = str::from_utf8(&bytes).ok().and_then(|page| record_of_page(page, LIMIT as usize));
    record.ok_or_else(|| Failure::usage(format!("{} is a page without a record", path.display())))
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
    /// Whether the output is a file.
    pub(super) fn is_file(&self) -> bool {
        self.output.is_some()
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
            return OutFile::create(path)?.write(|mut file| file.write_all(bytes));
        }
        File::create_new(path).and_then(|mut file| file.write_all(bytes)).map_err(|error| {
            match error.kind() {
                io::ErrorKind::AlreadyExists => Failure::usage(format!(
                    "{}: {error}: name a new file, or overwrite it with --force",
                    path.display()
                )),
                _ => not_written(path, &error),
            }
        })
    }
}

/// An output file, opened before a run so that an error is reported at once.
pub(super) struct OutFile {
    file: File,
    path: PathBuf,
}

impl OutFile {
    /// Creates or truncates the file.
    pub(super) fn create(path: &Path) -> Result<OutFile, Failure> {
        OutFile::open(OpenOptions::new().write(true).truncate(true), path)
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
        Ok(OutFile { file, path: path.to_owned() })
    }

    /// Writes the contents.
    pub(super) fn write(self, write: impl FnOnce(File) -> io::Result<()>) -> Result<(), Failure> {
        write(self.file).map_err(|error| not_written(&self.path, &error))
    }
}
