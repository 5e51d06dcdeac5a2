//! `--site`: the pages of a tournament in a directory.

use std::path::Path;
use std::thread;

use crate::cli::exit::{Exit, Failure};
use crate::cli::progress;
use crate::cli::screen::stderr_line;
use crate::game::Catalog;
use crate::record::PublishedInfo;
use crate::report::page::PublicUrl;
use crate::report::site::{SiteError, SiteWriter};
use crate::report::tournament::TournamentReport;

/// Opens the directory of the pages.
pub(super) fn open(site: &Path, url: Option<&PublicUrl>, info: PublishedInfo) -> Result<SiteWriter, Failure> {
    SiteWriter::new(site, url.cloned(), info, stderr_line).map_err(|error| match error {
        SiteError::Foreign(_) => Failure::usage(format!("--site {}: {error}", site.display())),
        error => error.into(),
    })
}

/// Writes the pages once. Records that are invalid are reported and not published.
pub(super) fn write(
    writer: &SiteWriter,
    folder: &Path,
    report: &TournamentReport,
    catalog: &Catalog,
) -> Result<Exit, Failure> {
    let progress = progress::bar(report.attempts.len() as u64, "{bar:30} {pos}/{len} matches, {eta} left");
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let written = writer.write(folder, report, catalog, threads, || progress.inc(1));
    progress.finish_and_clear();
    written?;
    Ok(if writer.has_invalid_record() { Exit::No } else { Exit::Done })
}
