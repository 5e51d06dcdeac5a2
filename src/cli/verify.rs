//! `referee verify`: check records.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde::Serialize;

use crate::cli::{Exit, Failure};
use crate::record::{self, Difference};

/// Check records: seal, commitment, draws, legality, clocks, faults, result
///
/// Every record is replayed through the rules. What differs is told with match, turn and line; the exit code is 1 then.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee verify records
  referee verify records/m1.jsonl --json")]
pub(super) struct Args {
    /// Records, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// One JSON object a line: each record, then the summary
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "record")]
struct Verified<'a> {
    file: &'a Path,
    ok: bool,
    differences: &'a [Difference],
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "summary")]
struct Summary {
    records: usize,
    differing: usize,
}

/// A file that cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let what = format!("{}: {error}", path.display());
    if error.kind() == io::ErrorKind::NotFound { Failure::usage(what) } else { Failure::cannot_run(what) }
}

fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let read = std::fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
        let mut records: Vec<PathBuf> = read
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .collect();
        if records.is_empty() {
            return Err(Failure::usage(format!("{} holds no records (*.jsonl)", path.display())));
        }
        records.sort();
        files.extend(records);
    }
    Ok(files)
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let files = expand(&args.files)?;
    let mut out = io::stdout().lock();
    let mut differing = 0;
    for file in &files {
        let record = std::fs::read(file).map_err(|error| unreadable(file, &error))?;
        let differences = record::verify(&record);
        let ok = differences.is_empty();
        differing += usize::from(!ok);
        if args.json {
            let verified = Verified { file, ok, differences: &differences };
            writeln!(out, "{}", serde_json::to_string(&verified).map_err(io::Error::from)?)?;
        } else if ok {
            writeln!(out, "{}: ok", file.display())?;
        } else {
            for difference in &differences {
                writeln!(out, "{}: {difference}", file.display())?;
            }
        }
    }
    if args.json {
        let summary = Summary { records: files.len(), differing };
        writeln!(out, "{}", serde_json::to_string(&summary).map_err(io::Error::from)?)?;
    } else if files.len() > 1 {
        writeln!(out, "{} records, {differing} differ", files.len())?;
    }
    Ok(if differing == 0 { Exit::Done } else { Exit::No })
}
