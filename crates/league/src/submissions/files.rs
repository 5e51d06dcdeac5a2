//! The files of submissions, and archives that arrive.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use referee_files::{Folder, keep_private};
use referee_game::{Chain, hex};
use referee_store::StoreError;
use serde::Serialize;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::SubmissionQuota;
use crate::{ActError, League, OwnerCredential, Refusal};

/// The directory of submissions in that of a league.
pub const SUBMISSIONS: &str = "submissions";
/// The directory of archives that are arriving.
const INCOMING: &str = "incoming";
/// The directory of archives.
const ARCHIVES: &str = "archives";
/// The ending of the archives of builds.
const BUILT: &str = ".built.tar";
/// The directory of bots that have passed.
const BOTS: &str = "bots";
/// The directory of work in progress.
const WORK: &str = "work";
/// The directory of kept data.
const KEPT_DATA: &str = "kept";
/// The endings of archives' names, and of files that say why there was no newer one.
const ARCHIVE: &str = ".tar";
const REFUSED: &str = ".refused";

/// The time for which files of retired and rejected submissions are kept: a match may still use them.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// The time for which the logs of submissions that have failed or were replaced are kept.
const LOGS_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The limits of the programs that are taken in.
#[derive(Clone, Copy, Debug)]
pub struct IntakeLimits {
    /// The maximum size of an archive, in bytes.
    pub most_bytes: u64,
    pub quota: SubmissionQuota,
    pub space: SubmissionSpace,
}

/// The space that the files of submissions may need, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmissionSpace {
    pub all: u64,
    pub owner: u64,
}

/// Data that a program keeps between its matches on a ladder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KeptOnLadder {
    pub ladder: String,
    pub bytes: u64,
    /// The reason why its last data were not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl KeptOnLadder {
    /// The data that a submission keeps, in its directory.
    fn within(directory: &Path) -> Vec<KeptOnLadder> {
        let mut found = BTreeMap::<String, KeptOnLadder>::new();
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_archive = name.ends_with(ARCHIVE);
            let ladder = name.strip_suffix(ARCHIVE).or_else(|| name.strip_suffix(REFUSED));
            let Some(ladder) = ladder else { continue };
            let of = found.entry(ladder.to_owned()).or_default();
            of.ladder = ladder.to_owned();
            match is_archive {
                true => of.bytes = entry.metadata().map_or(0, |about| about.len()),
                false => of.refused = std::fs::read_to_string(entry.path()).ok(),
            }
        }
        found.into_values().collect()
    }
}

/// The directories of submissions of a league. No bot sees them, but each its own files.
#[derive(Debug)]
pub struct SubmissionFiles {
    incoming: Folder,
    archives: Folder,
    bots: Folder,
    work: Folder,
    kept: Folder,
    /// The size of all archives that are arriving, in bytes.
    arriving: Arc<AtomicU64>,
}

impl SubmissionFiles {
    /// Opens the directory in that of a league; creates it with mode 0700 if it is missing.
    ///
    /// # Errors
    /// I/O errors.
    pub fn open(league: &Folder) -> io::Result<SubmissionFiles> {
        let folder = league.make_within(SUBMISSIONS)?;
        keep_private(folder.path());
        Ok(SubmissionFiles {
            incoming: folder.make_within(INCOMING)?,
            archives: folder.make_within(ARCHIVES)?,
            bots: folder.make_within(BOTS)?,
            work: folder.make_within(WORK)?,
            kept: folder.make_within(KEPT_DATA)?,
            arriving: Arc::default(),
        })
    }

    /// Removes the remains of a killed server. Only the server that plays the league does this.
    ///
    /// # Errors
    /// I/O errors.
    pub fn clean(&self) -> io::Result<()> {
        for folder in [&self.incoming, &self.work] {
            folder.names()?.into_iter().for_each(|name| try_to_remove(&folder.path().join(name)));
        }
        Ok(())
    }

    /// Removes the files of submissions that need them no longer, and erases old logs.
    ///
    /// # Errors
    /// Errors of the database, or if a directory cannot be read.
    pub fn tidy(&self, league: &mut League, now: SystemTime) -> Result<(), StoreError> {
        let before = |time| now.checked_sub(time).unwrap_or(SystemTime::UNIX_EPOCH);
        let (archives, bots, kept) = (self.archives.names()?, self.bots.names()?, self.kept.names()?);
        // Erasing waits for a submission that is being stored: afterwards the league knows those of all listed files.
        league.erase_submission_logs(before(LOGS_KEPT))?;
        let (needed, former) = (league.submissions_with_files(before(KEPT))?, league.former_submissions()?);
        for (folder, names) in [(&self.archives, archives), (&self.bots, bots)] {
            for name in names {
                let Some(id) = id_of(&name) else { continue };
                let is_former = former.contains(&id) && name == archive_name(id);
                if !needed.contains(&id) && !is_former {
                    try_to_remove(&folder.path().join(name));
                }
            }
        }
        let current = league.current_submissions(before(KEPT))?;
        for name in kept {
            if id_of(&name).is_some_and(|id| !current.contains(&id)) {
                try_to_remove(&self.kept.path().join(name));
            }
        }
        Ok(())
    }

    /// Checks that the files of submissions need no more space than they may, with this number of further bytes of the owner.
    ///
    /// # Errors
    /// [`Refusal::NoSpace`]; I/O errors.
    pub fn check_space(
        &self,
        league: &League,
        owner: &str,
        more: u64,
        space: SubmissionSpace,
    ) -> Result<(), ActError> {
        SpaceUse::measure(self.archives.path(), self.bots.path(), league, owner)?.check(space, more, more)
    }

    /// Begins to take in an archive.
    ///
    /// # Errors
    /// If the owner may hand in nothing now; I/O errors.
    pub fn begin(
        &self,
        league: &League,
        owner: &str,
        limits: IntakeLimits,
        now: SystemTime,
    ) -> Result<ArrivingArchive, ActError> {
        league.check_quota(owner, limits.quota, now)?;
        let used = SpaceUse::measure(self.archives.path(), self.bots.path(), league, owner)?;
        Ok(ArrivingArchive {
            file: NamedTempFile::new_in(self.incoming.path())?,
            archives: self.archives.path().to_owned(),
            bots: self.bots.path().to_owned(),
            used,
            arriving: ArrivingSize { all: self.arriving.clone(), own: 0 },
            owner: owner.to_owned(),
            hash: Sha256::new(),
            size: 0,
            limits,
        })
    }

    /// Returns the path of the archive.
    pub fn archive(&self, id: u32) -> PathBuf {
        archive(self.archives.path(), id)
    }

    /// The archive of the build.
    pub fn built(&self, id: u32) -> PathBuf {
        self.archives.path().join(format!("{id}{BUILT}"))
    }

    /// The files of the bot of a submission that has passed.
    pub fn bot(&self, id: u32) -> PathBuf {
        self.bots.path().join(id.to_string())
    }

    /// Returns the path of [`SubmissionFiles::bot`], relative to the directory of the league.
    pub fn bot_in_league(id: u32) -> PathBuf {
        Path::new(SUBMISSIONS).join(BOTS).join(id.to_string())
    }

    /// The directory of a submission's kept data.
    pub fn kept(&self, id: u32) -> PathBuf {
        self.kept.path().join(id.to_string())
    }

    /// The archive of its kept data on a ladder.
    pub fn kept_archive(&self, id: u32, ladder: &str) -> PathBuf {
        self.kept(id).join(format!("{ladder}{ARCHIVE}"))
    }

    /// Keeps a file written by `write` as that archive, instead of the one before. If it fails, that one
    /// stays, with the reason.
    ///
    /// # Errors
    /// Errors of `write`; I/O errors.
    pub fn keep<E: std::error::Error + From<io::Error>>(
        &self,
        id: u32,
        ladder: &str,
        write: impl FnOnce(&File) -> Result<(), E>,
    ) -> Result<(), E> {
        let refused = self.kept(id).join(format!("{ladder}{REFUSED}"));
        std::fs::create_dir_all(self.kept(id))?;
        let file = NamedTempFile::new_in(self.incoming.path())?;
        let written = write(file.as_file()).and_then(|()| {
            file.as_file().sync_all()?;
            file.persist(self.kept_archive(id, ladder)).map_err(|error| error.error)?;
            Ok(SubmissionFiles::remove(&refused)?)
        });
        if let Err(why) = &written {
            std::fs::write(&refused, Chain(why).to_string())?;
        }
        written
    }

    /// The data that the program of a submission keeps on ladders.
    pub fn kept_data(&self, id: u32) -> Vec<KeptOnLadder> {
        KeptOnLadder::within(&self.kept(id))
    }

    /// Reads the kept data as [`SubmissionFiles::kept_data`] does, given the directory of the league, in which nothing is
    /// created.
    pub fn kept_data_in_league(league: &Path, id: u32) -> Vec<KeptOnLadder> {
        KeptOnLadder::within(&league.join(SUBMISSIONS).join(KEPT_DATA).join(id.to_string()))
    }

    /// Removes the files of a submission that has failed. None of them was used in a match.
    pub fn discard(&self, id: u32) -> io::Result<()> {
        let work = self.work.path().join(id.to_string());
        [work, self.archive(id), self.built(id), self.bot(id)]
            .iter()
            .try_for_each(|path| SubmissionFiles::remove(path))
    }

    /// Removes a file or a directory, if it exists.
    pub fn remove(path: &Path) -> io::Result<()> {
        let removed = match path.symlink_metadata() {
            Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
            Ok(_) => std::fs::remove_file(path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// An empty directory for the work on a submission.
    pub fn work(&self, id: u32) -> io::Result<PathBuf> {
        let path = self.work.path().join(id.to_string());
        SubmissionFiles::remove(&path)?;
        std::fs::create_dir(&path)?;
        Ok(path)
    }
}

/// The archive of a submission in this directory.
fn archive(archives: &Path, id: u32) -> PathBuf {
    archives.join(archive_name(id))
}

/// The name of the archive of a submission.
fn archive_name(id: u32) -> String {
    format!("{id}.tar")
}

/// The submission to which a file or a directory with this name belongs.
fn id_of(name: &str) -> Option<u32> {
    name.split('.').next().and_then(|id| id.parse().ok())
}

/// The space that the files of submissions need, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct SpaceUse {
    all: u64,
    owner: u64,
}

impl SpaceUse {
    /// Measures archives and bots. A bot counts as much as the archive that it was unpacked from.
    fn measure(archives: &Path, bots: &Path, league: &League, owner: &str) -> Result<SpaceUse, StoreError> {
        let own: BTreeSet<u32> = league.submissions_of(owner)?.into_iter().collect();
        let (mut used, mut unpacked) = (SpaceUse::default(), BTreeMap::<u32, u64>::new());
        let mut add = |id: u32, size: u64| {
            used.all += size;
            used.owner += if own.contains(&id) { size } else { 0 };
        };
        for entry in std::fs::read_dir(archives)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // The file may have been removed meanwhile.
            let (Some(id), Ok(of)) = (id_of(&name), entry.metadata()) else { continue };
            add(id, of.len());
            let size = unpacked.entry(id).or_default();
            if name.ends_with(BUILT) || *size == 0 {
                *size = of.len();
            }
        }
        for entry in std::fs::read_dir(bots)? {
            if let Some(id) = id_of(&entry?.file_name().to_string_lossy()) {
                add(id, unpacked.get(&id).copied().unwrap_or_default());
            }
        }
        Ok(used)
    }

    /// Checks that there is space for this number of further bytes, of the owner and of all.
    fn check(self, space: SubmissionSpace, own: u64, all: u64) -> Result<(), ActError> {
        if self.owner.saturating_add(own) > space.owner {
            return Err(Refusal::NoSpace.because(format_args!(
                "with it your programs need more than {} MiB: retire a bot, or wait until versions that were replaced are \
                 deleted, a day later",
                space.owner >> 20
            )));
        }
        if self.all.saturating_add(all) > space.all {
            return Err(Refusal::NoSpace.because(format_args!(
                "with it the programs of this league need more than {} MiB: ask the organiser",
                space.all >> 20
            )));
        }
        Ok(())
    }
}

/// The size of an archive that is arriving, as a part of that of all of them.
#[derive(Debug)]
struct ArrivingSize {
    all: Arc<AtomicU64>,
    own: u64,
}

impl ArrivingSize {
    /// Adds bytes to both. Returns the size of all.
    fn add(&mut self, bytes: u64) -> u64 {
        self.own += bytes;
        self.all.fetch_add(bytes, Ordering::Relaxed) + bytes
    }
}

impl Drop for ArrivingSize {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::Relaxed);
    }
}

/// Removes a file or a directory, or logs why it stays: that is no reason to stop.
fn try_to_remove(path: &Path) {
    if let Err(error) = SubmissionFiles::remove(path) {
        tracing::warn!("{} stays: {error}", path.display());
    }
}

/// An archive that is arriving. Dropping it removes it.
#[derive(Debug)]
pub struct ArrivingArchive {
    file: NamedTempFile<File>,
    archives: PathBuf,
    /// The directory of bots that have passed.
    bots: PathBuf,
    /// The use of space when the archive began to arrive.
    used: SpaceUse,
    arriving: ArrivingSize,
    owner: String,
    hash: Sha256,
    size: u64,
    limits: IntakeLimits,
}

impl ArrivingArchive {
    /// Stores the next bytes of the archive.
    ///
    /// # Errors
    /// If it is too large; I/O errors.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ActError> {
        self.size += bytes.len() as u64;
        let IntakeLimits { most_bytes, space, .. } = self.limits;
        if self.size > most_bytes {
            let why = format_args!("the archive has more than {most_bytes} bytes, the limit");
            return Err(Refusal::TooLarge.because(why));
        }
        let all = self.arriving.add(bytes.len() as u64);
        self.used.check(space, self.size, all)?;
        self.hash.update(bytes);
        Ok(self.file.write_all(bytes)?)
    }

    /// Puts it into the queue, for the owner with this credential. Returns the number of the submission.
    ///
    /// # Errors
    /// If the owner may hand in nothing now; I/O errors.
    pub fn finish(self, league: &mut League, by: &OwnerCredential, now: SystemTime) -> Result<u32, ActError> {
        let ArrivingArchive { file, archives, bots, owner, hash, size, limits, arriving: _arriving, .. } =
            self;
        let IntakeLimits { quota, space, .. } = limits;
        if size == 0 {
            return Err(Refusal::Invalid
                .because("the request has no body: an archive is expected, as `referee submit` sends it"));
        }
        SpaceUse::measure(&archives, &bots, league, &owner)?.check(space, size, size)?;
        file.as_file().sync_all()?;
        let digest = hex::encode(&hash.finalize());
        let store = |id: u32| {
            file.persist(archive(&archives, id)).map_err(|error| error.error)?;
            File::open(&archives)?.sync_all()
        };
        league.submit(by, &digest, size, quota, now, store)
    }
}
