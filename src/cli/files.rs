//! Which files a command line means.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::cli::{Failure, screen};
use crate::store::open_regular;

/// A file that cannot be read.
fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let what = format!("{}: {error}", path.display());
    if error.kind() == io::ErrorKind::NotFound { Failure::usage(what) } else { Failure::cannot_run(what) }
}

/// A file that cannot be written.
fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::cannot_run(format!("{}: {error}", path.display()))
}

/// Whether the name of a file ends with `.` and this.
pub(super) fn ends_with(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

/// The files, and those of the folders that have one of the endings, by name.
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
            let what = format!("{} holds no records ({})", path.display(), wanted.join(", "));
            return Err(Failure::usage(what));
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

/// The bytes of a file at most, for it is read whole.
const LIMIT: u64 = 1 << 30;

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    open_regular(path, OpenOptions::new().read(true))
        .and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > LIMIT {
        return Err(Failure::usage(format!("{} is larger than 1 GiB: split it", path.display())));
    }
    Ok(bytes)
}

/// Where what is asked for is written to.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct OutputOptions {
    /// A new file to write to instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file of -o if there is one
    #[arg(long, requires = "output")]
    force: bool,
}

impl OutputOptions {
    /// Whether it is a file.
    pub(super) fn is_file(&self) -> bool {
        self.output.is_some()
    }

    /// Writes all of it.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(path) = &self.output else {
            let mut out = screen::stdout();
            out.write_all(bytes)?;
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

/// A file that is opened before a run, which fails at once where it could not be written after it.
pub(super) struct OutFile {
    file: File,
    path: PathBuf,
}

impl OutFile {
    /// Makes it anew.
    pub(super) fn create(path: &Path) -> Result<OutFile, Failure> {
        OutFile::open(OpenOptions::new().write(true).truncate(true), path)
    }

    /// What GitHub shows as the summary of a job.
    pub(super) fn job_summary() -> Result<OutFile, Failure> {
        let path = env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).ok_or_else(|| {
            Failure::usage("--github: $GITHUB_STEP_SUMMARY is not set; is this a step of a job on GitHub?")
        })?;
        OutFile::open(OpenOptions::new().append(true), Path::new(&path))
    }

    fn open(how: &mut OpenOptions, path: &Path) -> Result<OutFile, Failure> {
        let file = open_regular(path, how.create(true)).map_err(|error| not_written(path, &error))?;
        Ok(OutFile { file, path: path.to_owned() })
    }

    /// Writes it.
    pub(super) fn write(self, write: impl FnOnce(File) -> io::Result<()>) -> Result<(), Failure> {
        write(self.file).map_err(|error| not_written(&self.path, &error))
    }
}
