//! The results file of a regression, in JSON Lines: first the setup of the run, then one line per complete set. A
//! resumed run whose setup differs, in its programs or in `max_sets`, adds its setup.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use referee_files::{keep_private, open_regular, read_regular, unpack};
use referee_game::{Wrong, json};
use referee_match::InfoTotals;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::RunError;
use crate::regression::RegressionSetup;
use crate::regression::result_line::ResultLine;

#[derive(Serialize, Deserialize)]
struct TimedLine<L> {
    #[serde(flatten)]
    line: L,
    /// Identifies the versions of `new` and `base` that played: their commits, or hashes of their files.
    played_by: [String; 2],
    /// The duration of the run when it was written, in milliseconds, including its earlier parts.
    played_ms: u64,
    /// The totals of the `info` of `new` and `base` since the line before; omitted if that is nothing.
    #[serde(default, skip_serializing_if = "InfoTotals::are_empty")]
    totals: [InfoTotals; 2],
}

/// Reports after the last set of a run that was interrupted.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename = "rest")]
struct RestLine {
    totals: [InfoTotals; 2],
}

#[derive(Debug)]
pub struct ResultsContents {
    /// The setup of the last part of the run.
    pub setup: RegressionSetup,
    pub setups: Vec<RegressionSetup>,
    /// The lines of complete sets.
    pub kept: Vec<ResultLine>,
    /// By set: what identifies the versions of `new` and `base` that played it.
    pub played_by: BTreeMap<u32, [String; 2]>,
    /// The duration of the run up to the last line.
    pub played: Duration,
    /// The totals of the `info` of `new` and `base`.
    pub totals: [InfoTotals; 2],
    /// The size in bytes of the complete lines; a truncated line may follow.
    whole: u64,
}

impl ResultsContents {
    /// Reads a results file, which may be compressed.
    ///
    /// # Errors
    /// If it cannot be read, or is something else.
    pub fn read(path: &Path) -> Result<ResultsContents, RunError> {
        let place = path.display().to_string();
        let bytes = read_regular(path).and_then(unpack);
        let bytes = bytes.map_err(|why| RunError::unreadable(place.clone(), why))?;
        Ok(ResultsContents::parse(&bytes).map_err(|why| Wrong::at(place, why))?)
    }

    fn parse(bytes: &[u8]) -> Result<ResultsContents, Wrong> {
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let mut lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n');
        let setup = lines.next().and_then(|line| serde_json::from_slice(line).ok());
        let mut setup: RegressionSetup =
            setup.ok_or(Wrong::new("it is not a results file of `referee regress`"))?;
        if setup.format != RegressionSetup::FORMAT {
            let (format, own) = (setup.format, RegressionSetup::FORMAT);
            return Err(format!("it has format {format}, but this version reads format {own}").into());
        }
        let mut setups = vec![setup.clone()];
        let (mut kept, mut played) = (Vec::<ResultLine>::new(), Duration::ZERO);
        let (mut played_by, mut totals) = (BTreeMap::new(), <[InfoTotals; 2]>::default());
        for (line, number) in lines.zip(2..) {
            let wrong = |why| Wrong::at(format!("line {number}"), why);
            let kind = serde_json::from_slice::<Value>(line).map_err(wrong)?["type"].take();
            if kind == "rest" {
                merge(&mut totals, &serde_json::from_slice::<RestLine>(line).map_err(wrong)?.totals);
                continue;
            }
            if kind == "regress" {
                setup = serde_json::from_slice(line).map_err(wrong)?;
                setups.push(setup.clone());
                continue;
            }
            let timed: TimedLine<ResultLine> = serde_json::from_slice(line).map_err(wrong)?;
            merge(&mut totals, &timed.totals);
            if matches!(timed.line, ResultLine::Set { .. }) {
                played_by.insert(timed.line.set(), timed.played_by);
            }
            kept.push(timed.line);
            played = played.max(Duration::from_millis(timed.played_ms));
        }
        let mut sets: Vec<u32> =
            kept.iter().filter(|kept| matches!(kept, ResultLine::Set { .. })).map(ResultLine::set).collect();
        sets.sort_unstable();
        if let Some(twice) = sets.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("duplicate set {}", twice[0]).into());
        }
        Ok(ResultsContents { setup, setups, kept, played_by, played, totals, whole: whole as u64 })
    }
}

/// Adds the sums of `new` and of `base`.
fn merge(totals: &mut [InfoTotals; 2], more: &[InfoTotals; 2]) {
    totals.iter_mut().zip(more).for_each(|(totals, more)| totals.merge(more));
}

/// A results file that is being written.
#[derive(Debug)]
pub struct ResultsFile {
    file: File,
    path: PathBuf,
    played_by: [String; 2],
}

impl ResultsFile {
    /// Creates a new file.
    ///
    /// # Errors
    /// If there is one, or it cannot be written.
    pub fn create(path: &Path, setup: &RegressionSetup) -> Result<ResultsFile, RunError> {
        let mut results =
            ResultsFile::locked(path, setup, OpenOptions::new().append(true).create_new(true).mode(0o600))?;
        results.line(setup)?;
        Ok(results)
    }

    /// Continues a file; removes a truncated line at its end, and adds the setup if it differs from the last one.
    ///
    /// # Errors
    /// If it cannot be written, or another process writes to it.
    pub fn append(
        path: &Path,
        contents: &ResultsContents,
        setup: &RegressionSetup,
    ) -> Result<ResultsFile, RunError> {
        let mut results = ResultsFile::locked(path, setup, OpenOptions::new().append(true))?;
        results.file.set_len(contents.whole).map_err(|why| RunError::at(path, why))?;
        if *setup != contents.setup {
            results.line(setup)?;
        }
        Ok(results)
    }

    /// Opens and locks the file: only one process may write to it. The lock ends with the process.
    fn locked(
        path: &Path,
        setup: &RegressionSetup,
        options: &mut OpenOptions,
    ) -> Result<ResultsFile, RunError> {
        let file = open_regular(path, options).map_err(|why| RunError::at(path, why))?;
        // The file contains the seed.
        keep_private(path);
        match file.try_lock() {
            Ok(()) => Ok(ResultsFile { file, path: path.to_owned(), played_by: setup.played_by() }),
            Err(TryLockError::WouldBlock) => {
                Err(Wrong::at(path.display().to_string(), "another run is writing to it").into())
            }
            Err(TryLockError::Error(error)) => Err(RunError::at(path, error)),
        }
    }

    fn line(&mut self, line: &impl Serialize) -> Result<(), RunError> {
        let text = format!("{}\n", json::text(line));
        self.file.write_all(text.as_bytes()).map_err(|why| RunError::at(&self.path, why))
    }

    /// Appends a line. `played` is how long the run has taken, including its earlier parts; `totals` are the
    /// reports since the line before.
    pub(super) fn keep(
        &mut self,
        kept: &ResultLine,
        totals: [InfoTotals; 2],
        played: Duration,
    ) -> Result<(), RunError> {
        let played_by = self.played_by.clone();
        self.line(&TimedLine { line: kept, played_by, played_ms: played.as_millis() as u64, totals })
    }

    /// Appends what was reported after the last line, if that is anything.
    pub(super) fn keep_rest(&mut self, totals: [InfoTotals; 2]) -> Result<(), RunError> {
        if InfoTotals::are_empty(&totals) { Ok(()) } else { self.line(&RestLine { totals }) }
    }
}
