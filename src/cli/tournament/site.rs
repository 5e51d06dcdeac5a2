//! Writes the pages of a tournament.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::cli::files::{self, OutFile};
use crate::cli::{Exit, Failure, progress, screen};
use crate::core::Catalog;
use crate::record::Playback;
use crate::report::replay::MatchReplay;
use crate::report::site::{Site, Unshown};
use crate::report::tournament::{ListedMatch, TournamentReport};

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    OutFile::create(path)?.write(|mut file: File| file.write_all(bytes))
}

/// Writes the site. Records that are invalid are reported and not published.
pub(super) fn write(
    site: &Path,
    folder: &Path,
    report: &TournamentReport,
    catalog: &Catalog,
) -> Result<Exit, Failure> {
    for directory in ["matches", "entrants"].map(|name| site.join(name)) {
        fs::create_dir_all(&directory)
            .map_err(|error| Failure::cannot_run(format!("{}: {error}", directory.display())))?;
    }
    let pages = Site::of(report);
    for (path, text) in Site::assets() {
        write_bytes(&site.join(path), text.as_bytes())?;
    }
    for (path, text) in pages.pages() {
        write_bytes(&site.join(path), text.as_bytes())?;
    }
    let progress = progress::bar(report.attempts.len() as u64, "{bar:30} {pos}/{len} matches, {eta} left");
    let (next, is_invalid) = (AtomicUsize::new(0), AtomicBool::new(false));
    let write_some = || -> Result<(), Failure> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(listed) = report.attempts.get(index) else { return Ok(()) };
            let replay = replayed(folder, listed, catalog)?;
            if replay.as_ref().is_err_and(|&why| why == Unshown::Invalid) {
                is_invalid.store(true, Ordering::Relaxed);
            }
            let (path, text) = pages.match_page(index, replay.as_ref().map_err(|&why| why));
            write_bytes(&site.join(path), text.as_bytes())?;
            progress.inc(1);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let outcomes: Vec<Result<(), Failure>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(write_some)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|_| unreachable!());
        threads.into_iter().map(join).collect()
    });
    progress.finish_and_clear();
    outcomes.into_iter().collect::<Result<(), Failure>>()?;
    Ok(if is_invalid.into_inner() { Exit::No } else { Exit::Done })
}

/// The replay of a match, if its record is sealed and valid.
fn replayed(
    folder: &Path,
    listed: &ListedMatch,
    catalog: &Catalog,
) -> Result<Result<MatchReplay, Unshown>, Failure> {
    let Some(name) = &listed.record else { return Ok(Err(Unshown::None)) };
    let path = folder.join("records").join(name);
    // Records of sets that are not complete are not sealed yet, and must not be shown.
    if !path.exists() {
        return Ok(Err(Unshown::Unsealed));
    }
    let record = files::read(&path)?;
    Ok(match Playback::verified(&record, catalog).and_then(MatchReplay::of) {
        Ok(replay) => Ok(replay.with_record(&record)),
        Err(difference) => {
            screen::complain(format_args!("{}: {difference}", path.display()));
            Err(Unshown::Invalid)
        }
    })
}
