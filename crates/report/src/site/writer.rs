//! Writes the pages of a site to a directory.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use referee_files::{Folder, read_regular};
use referee_game::{Catalog, Chain, Wrong, json};
use referee_match::record::{Difference, Playback, PublicRecord, PublishedInfo, public};

use super::{Site, Unshown};
use crate::page::{PublicUrl, is_own};
use crate::replay::MatchReplay;
use crate::tournament::{ListedMatch, TournamentReport};

/// Reasons why a site cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    #[error("{} is no page of a tournament: name another directory, or remove it", .0.display())]
    Foreign(PathBuf),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The directories of a site.
#[derive(Debug)]
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

/// A match page that was written.
#[derive(Debug)]
struct WrittenPage {
    /// The hash of the sources of the page.
    source: u64,
    is_invalid: bool,
    /// The number of moves of its replay.
    moves: Option<u32>,
}

/// Writes a site, and again when results have been added. Pages of matches that are as before are left as they are.
#[derive(Debug)]
pub struct SiteWriter {
    folders: SiteFolders,
    /// The address at which it is published, if known.
    url: Option<PublicUrl>,
    /// Whether and when the `info` of bots is shown.
    info: PublishedInfo,
    /// Gets a line for each match whose replay is left out.
    warn: fn(String),
    /// By match id.
    written: Mutex<BTreeMap<String, WrittenPage>>,
}

impl SiteWriter {
    /// Opens the directory of the site, created if missing. `url` is where it is published, `info` whether
    /// the `info` of bots is shown. `warn` gets a line for each match whose replay is left out.
    ///
    /// # Errors
    /// If another page is in its place, or it cannot be created.
    pub fn new(
        site: &Path,
        url: Option<PublicUrl>,
        info: PublishedInfo,
        warn: fn(String),
    ) -> Result<SiteWriter, SiteError> {
        let index = site.join("index.html");
        // A link or a FIFO is not opened: writing the page refuses it.
        let is_file = fs::symlink_metadata(&index).is_ok_and(|index| index.is_file());
        if is_file && fs::read(&index).is_ok_and(|page| !is_own(&page)) {
            return Err(SiteError::Foreign(index));
        }
        Ok(SiteWriter { folders: SiteFolders::make(site)?, url, info, warn, written: Mutex::default() })
    }

    fn written(&self) -> MutexGuard<'_, BTreeMap<String, WrittenPage>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the record of a match was invalid, so that its page has no replay.
    pub fn has_invalid_record(&self) -> bool {
        self.written().values().any(|page| page.is_invalid)
    }

    fn write_file(&self, path: &str, bytes: &[u8]) -> Result<(), SiteError> {
        Ok(self.folders.write(path, bytes)?)
    }

    /// Writes all pages, those of matches on this number of threads and before those that link to them. Each file is replaced as a
    /// whole. `tick` is called after each match.
    ///
    /// # Errors
    /// If a record cannot be read, or a page cannot be written.
    pub fn write(
        &self,
        folder: &Path,
        report: &TournamentReport,
        catalog: &Catalog,
        threads: usize,
        tick: impl Fn() + Sync,
    ) -> Result<(), SiteError> {
        let mut pages = Site::of(report, self.url.as_ref());
        for (path, text) in pages.assets() {
            self.write_file(path, text.as_bytes())?;
        }
        if let Some((path, picture)) = pages.picture() {
            self.write_file(path, &picture)?;
        }
        let next = AtomicUsize::new(0);
        let write_some = || -> Result<(), SiteError> {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= report.attempts.len() {
                    return Ok(());
                }
                self.write_match(folder, &pages, report, index, catalog)?;
                tick();
            }
        };
        let outcomes: Vec<Result<(), SiteError>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(write_some)).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        outcomes.into_iter().collect::<Result<(), SiteError>>()?;
        let moves = |(id, page): (&String, &WrittenPage)| Some((id.clone(), page.moves?));
        pages.moves = self.written().iter().filter_map(moves).collect();
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
    ) -> Result<(), SiteError> {
        let listed = &report.attempts[index];
        let source = source_of(folder, report, index);
        if self.written().get(&listed.id).is_some_and(|page| page.source == source) {
            return Ok(());
        }
        let replay = self.replayed(folder, report, listed, catalog)?;
        let is_invalid = replay.as_ref().is_err_and(|&why| why == Unshown::Invalid);
        let moves = replay.as_ref().ok().map(MatchReplay::moves);
        let (path, text) = pages.match_page(index, replay.as_ref().map_err(|&why| why));
        if let Some((path, picture)) = pages.match_picture(index, replay.as_ref().ok()) {
            self.write_file(&path, &picture)?;
        }
        self.write_file(&path, text.as_bytes())?;
        self.written().insert(listed.id.clone(), WrittenPage { source, is_invalid, moves });
        Ok(())
    }

    /// The replay of a match, if its record is sealed and valid.
    fn replayed(
        &self,
        folder: &Path,
        report: &TournamentReport,
        listed: &ListedMatch,
        catalog: &Catalog,
    ) -> Result<Result<MatchReplay, Unshown>, SiteError> {
        let Some(name) = &listed.record else { return Ok(Err(Unshown::None)) };
        let path = folder.join("records").join(name);
        // Records of sets that are not complete are not sealed yet, and must not be shown.
        if !path.exists() {
            return Ok(Err(Unshown::Unsealed));
        }
        let record = read_regular(&path)
            .map_err(|why| io::Error::new(why.kind(), Wrong::at(path.display().to_string(), why)))?;
        let names = report.display_names(listed);
        let draw = || {
            let PublicRecord { record, .. } = public(&record, self.info)?;
            let replay = MatchReplay::shown_as(Playback::verified(&record, catalog)?, &names)?;
            Ok::<_, Difference>(replay.with_record(&record))
        };
        // A defect that one match shows costs no other page.
        Ok(match panic::catch_unwind(AssertUnwindSafe(draw)) {
            Ok(Ok(replay)) => Ok(replay),
            Ok(Err(difference)) => {
                (self.warn)(format!("{}: {}", path.display(), Chain(&difference)));
                Err(if difference.rules_failed { Unshown::Undrawn } else { Unshown::Invalid })
            }
            Err(_) => {
                (self.warn)(format!("{}: its replay cannot be drawn", path.display()));
                Err(Unshown::Undrawn)
            }
        })
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
