//! Writes the pages of a tournament.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::cli::files;
use crate::cli::{Exit, Failure, progress, screen};
use crate::files::Folder;
use crate::game::Catalog;
use crate::record::{Playback, PublicRecord, PublishedInfo, public};
use crate::report::replay::MatchReplay;
use crate::report::site::{Site, Unshown};
use crate::report::tournament::{ListedMatch, TournamentReport};

/// The directories of a site.
struct SiteFolders {
    site: Folder,
    matches: Folder,
    entrants: Folder,
}

impl SiteFolders {
    /// Opens the directories, created if missing.
    fn make(site: &Path) -> io::Result<SiteFolders> {
        let site = Folder::make_public(site)?;
        let (matches, entrants) = (site.make_within("matches")?, site.make_within("entrants")?);
        Ok(SiteFolders { site, matches, entrants })
    }

    /// Writes a page at its path in the site.
    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        match path.split_once('/') {
            Some(("matches", name)) => self.matches.replace(name, text.as_bytes()),
            Some(("entrants", name)) => self.entrants.replace(name, text.as_bytes()),
            _ => self.site.replace(path, text.as_bytes()),
        }
    }
}

/// Writes the site. Records that are invalid are reported and not published.
pub(super) fn write(
    site: &Path,
    folder: &Path,
    report: &TournamentReport,
    catalog: &Catalog,
) -> Result<Exit, Failure> {
    let folders = SiteFolders::make(site).map_err(Failure::cannot_run)?;
    let write = |path: &str, text: &str| folders.write(path, text).map_err(Failure::cannot_run);
    let pages = Site::of(report);
    for (path, text) in pages.assets() {
        write(path, &text)?;
    }
    for (path, text) in pages.pages() {
        write(&path, &text)?;
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
            write(&path, &text)?;
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
    let replayed = public(&record, PublishedInfo::After).and_then(|PublicRecord { record, .. }| {
        let replay = Playback::verified(&record, catalog).and_then(MatchReplay::of)?;
        Ok(replay.with_record(&record))
    });
    Ok(match replayed {
        Ok(replay) => Ok(replay),
        Err(difference) => {
            screen::stderr_line(format_args!("{}: {difference}", path.display()));
            Err(Unshown::Invalid)
        }
    })
}
