//! Writes the pages of a tournament.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::cli::files::read;
use crate::cli::{Exit, Failure, progress, screen};
use crate::files::Folder;
use crate::game::{Catalog, Chain, json};
use crate::record::{Difference, Playback, PublicRecord, PublishedInfo, public};
use crate::report::page::{PublicUrl, is_own};
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

    /// Writes a file at its path in the site.
    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        match path.split_once('/') {
            Some(("matches", name)) => self.matches.replace(name, bytes),
            Some(("entrants", name)) => self.entrants.replace(name, bytes),
            _ => self.site.replace(path, bytes),
        }
    }
}

/// Writes the site once. Records that are invalid are reported and not published.
pub(super) fn write(
    site: &Path,
    url: Option<&PublicUrl>,
    info: PublishedInfo,
    folder: &Path,
    report: &TournamentReport,
    catalog: &Catalog,
) -> Result<Exit, Failure> {
    let writer = SiteWriter::new(site, url.cloned(), info)?;
    let progress = progress::bar(report.attempts.len() as u64, "{bar:30} {pos}/{len} matches, {eta} left");
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let written = writer.write(folder, report, catalog, threads, |count| progress.inc(count));
    progress.finish_and_clear();
    written?;
    Ok(if writer.has_invalid_record() { Exit::No } else { Exit::Done })
}

/// A match page that was written.
struct WrittenPage {
    /// The hash of what it was made of.
    source: u64,
    is_invalid: bool,
}

/// Writes a site, and again when results have been added. Pages of matches that are as before are left as they are.
pub(super) struct SiteWriter {
    folders: SiteFolders,
    /// Where it is published, if that is known.
    url: Option<PublicUrl>,
    /// Whether what bots say of their search is shown.
    info: PublishedInfo,
    /// By match id.
    written: Mutex<BTreeMap<String, WrittenPage>>,
}

impl SiteWriter {
    /// Opens the directory of the site, created if missing. `url` is where it is published, `info` whether what bots say of their
    /// search is shown.
    pub(super) fn new(
        site: &Path,
        url: Option<PublicUrl>,
        info: PublishedInfo,
    ) -> Result<SiteWriter, Failure> {
        let index = site.join("index.html");
        // A link or a FIFO is not opened: writing the page refuses it.
        let is_file = fs::symlink_metadata(&index).is_ok_and(|index| index.is_file());
        if is_file && fs::read(&index).is_ok_and(|page| !is_own(&page)) {
            let index = index.display();
            let what = "is no page of a tournament: name another directory, or remove it";
            return Err(Failure::usage(format!("--site {}: {index} {what}", site.display())));
        }
        let folders = SiteFolders::make(site).map_err(Failure::cannot_run)?;
        Ok(SiteWriter { folders, url, info, written: Mutex::default() })
    }

    fn written(&self) -> MutexGuard<'_, BTreeMap<String, WrittenPage>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the record of a match was invalid, so that its page has no replay.
    fn has_invalid_record(&self) -> bool {
        self.written().values().any(|page| page.is_invalid)
    }

    fn write_file(&self, path: &str, bytes: &[u8]) -> Result<(), Failure> {
        self.folders.write(path, bytes).map_err(Failure::cannot_run)
    }

    /// Writes all pages, those of matches on so many threads and before those that link to them. Each file is replaced as a
    /// whole. `tick` gets the number of matches that are done.
    pub(super) fn write(
        &self,
        folder: &Path,
        report: &TournamentReport,
        catalog: &Catalog,
        threads: usize,
        tick: impl Fn(u64) + Sync,
    ) -> Result<(), Failure> {
        let pages = Site::of(report, self.url.as_ref());
        for (path, text) in pages.assets() {
            self.write_file(path, text.as_bytes())?;
        }
        if let Some((path, picture)) = pages.picture() {
            self.write_file(path, &picture)?;
        }
        let next = AtomicUsize::new(0);
        let write_some = || -> Result<(), Failure> {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= report.attempts.len() {
                    return Ok(());
                }
                self.write_match(folder, &pages, report, index, catalog)?;
                tick(1);
            }
        };
        let outcomes: Vec<Result<(), Failure>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(write_some)).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        outcomes.into_iter().collect::<Result<(), Failure>>()?;
        pages.pages().try_for_each(|(path, text)| self.write_file(&path, text.as_bytes()))
    }

    /// Writes the page of a match, an index into the attempts, unless it is as before.
    fn write_match(
        &self,
        folder: &Path,
        pages: &Site<'_>,
        report: &TournamentReport,
        index: usize,
        catalog: &Catalog,
    ) -> Result<(), Failure> {
        let listed = &report.attempts[index];
        let source = source_of(folder, report, index);
        if self.written().get(&listed.id).is_some_and(|page| page.source == source) {
            return Ok(());
        }
        let replay = replayed(folder, report, listed, self.info, catalog)?;
        let is_invalid = replay.as_ref().is_err_and(|&why| why == Unshown::Invalid);
        let (path, text) = pages.match_page(index, replay.as_ref().map_err(|&why| why));
        if let Some((path, picture)) = pages.match_picture(index) {
            self.write_file(&path, &picture)?;
        }
        self.write_file(&path, text.as_bytes())?;
        self.written().insert(listed.id.clone(), WrittenPage { source, is_invalid });
        Ok(())
    }
}

/// A hash of all that the page of a match shows: the match, its neighbours, the names of the entrants, and the state of its
/// record.
fn source_of(folder: &Path, report: &TournamentReport, index: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    let listed = &report.attempts[index];
    json::text(listed).hash(&mut hasher);
    let neighbours = [index.checked_sub(1), Some(index + 1)];
    for neighbour in neighbours.map(|at| at.and_then(|at| report.attempts.get(at))) {
        neighbour.map(|listed| &listed.id).hash(&mut hasher);
    }
    for (standing, details) in report.entrants().filter(|(row, _)| listed.seats.contains(&row.name)) {
        (details.number, standing.shown()).hash(&mut hasher);
    }
    let record = listed.record.as_ref().map(|name| fs::metadata(folder.join("records").join(name)));
    let record = record.and_then(Result::ok).map(|found| (found.len(), found.modified().ok()));
    record.hash(&mut hasher);
    hasher.finish()
}

/// The replay of a match, if its record is sealed and valid.
fn replayed(
    folder: &Path,
    report: &TournamentReport,
    listed: &ListedMatch,
    info: PublishedInfo,
    catalog: &Catalog,
) -> Result<Result<MatchReplay, Unshown>, Failure> {
    let Some(name) = &listed.record else { return Ok(Err(Unshown::None)) };
    let path = folder.join("records").join(name);
    // Records of sets that are not complete are not sealed yet, and must not be shown.
    if !path.exists() {
        return Ok(Err(Unshown::Unsealed));
    }
    let record = read(&path)?;
    let names = report.display_names(listed);
    let draw = || {
        let PublicRecord { record, .. } = public(&record, info)?;
        let replay = MatchReplay::shown_as(Playback::verified(&record, catalog)?, &names)?;
        Ok::<_, Difference>(replay.with_record(&record))
    };
    // A defect that one match shows costs no other page.
    Ok(match panic::catch_unwind(AssertUnwindSafe(draw)) {
        Ok(Ok(replay)) => Ok(replay),
        Ok(Err(difference)) => {
            screen::stderr_line(format_args!("{}: {}", path.display(), Chain(&difference)));
            Err(if difference.rules_failed { Unshown::Undrawn } else { Unshown::Invalid })
        }
        Err(_) => {
            screen::stderr_line(format_args!("{}: its replay cannot be drawn", path.display()));
            Err(Unshown::Undrawn)
        }
    })
}
