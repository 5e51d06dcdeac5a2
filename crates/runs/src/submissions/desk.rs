//! Where archives arrive.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use referee_files::{Folder, keep_private};
use referee_game::hex;
use referee_store::{IntakeError, League, OwnerCredential, StoreError, SubmissionQuota};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::{SharedTerms, SubmissionTerms};

/// The directory of submissions in that of a league.
pub const SUBMISSIONS: &str = "submissions";
/// The directory of archives that are arriving.
const INCOMING: &str = "incoming";
/// The directory of archives.
const ARCHIVES: &str = "archives";
/// The directory of bots that have passed.
const BOTS: &str = "bots";
/// The directory of what is worked on.
const WORK: &str = "work";

/// The directories of submissions of a league. No bot sees them, but each its own files.
#[derive(Debug)]
pub struct SubmissionDesk {
    incoming: Folder,
    archives: Folder,
    bots: Folder,
    work: Folder,
    terms: SharedTerms,
}

impl SubmissionDesk {
    /// Opens the directory in that of a league; creates it with mode 0700 if it is missing.
    ///
    /// # Errors
    /// I/O errors.
    pub fn open(league: &Folder, terms: SharedTerms) -> io::Result<SubmissionDesk> {
        let folder = league.make_within(SUBMISSIONS)?;
        keep_private(folder.path());
        Ok(SubmissionDesk {
            incoming: folder.make_within(INCOMING)?,
            archives: folder.make_within(ARCHIVES)?,
            bots: folder.make_within(BOTS)?,
            work: folder.make_within(WORK)?,
            terms,
        })
    }

    /// Removes what a server that was killed left behind. Only the server that plays the league does this.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn clean(&self) -> io::Result<()> {
        for folder in [&self.incoming, &self.work] {
            for name in folder.names()? {
                remove(&folder.path().join(name))?;
            }
        }
        Ok(())
    }

    /// Removes the files of submissions that need them no longer.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn tidy(&self, league: &League, since: SystemTime) -> Result<(), StoreError> {
        let needed = league.submissions_with_files(since)?;
        for folder in [&self.archives, &self.bots] {
            for name in folder.names()? {
                let id = name.split('.').next().and_then(|id| id.parse().ok());
                if id.is_some_and(|id| !needed.contains(&id)) {
                    remove(&folder.path().join(name))?;
                }
            }
        }
        Ok(())
    }

    /// The rules as they are now.
    pub(super) fn terms(&self) -> SubmissionTerms {
        self.terms.get()
    }

    /// Begins to take in an archive.
    ///
    /// # Errors
    /// If the owner may hand in nothing now; I/O errors.
    pub fn begin(&self, league: &League, owner: &str, now: SystemTime) -> Result<Arriving, IntakeError> {
        let SubmissionTerms { archive, quota, .. } = self.terms();
        league.check_quota(owner, quota, now)?;
        Ok(Arriving {
            file: NamedTempFile::new_in(self.incoming.path())?,
            archives: self.archives.path().to_owned(),
            hash: Sha256::new(),
            size: 0,
            most_bytes: archive.most_bytes(),
            quota,
        })
    }

    /// The archive of a submission.
    pub(super) fn archive(&self, id: u32) -> PathBuf {
        archive(self.archives.path(), id)
    }

    /// The archive of what was built.
    pub(super) fn built(&self, id: u32) -> PathBuf {
        self.archives.path().join(format!("{id}.built.tar"))
    }

    /// The files of the bot of a submission that has passed.
    pub(super) fn bot(&self, id: u32) -> PathBuf {
        self.bots.path().join(id.to_string())
    }

    /// The same, relative to the directory of the league.
    pub(super) fn bot_in_league(id: u32) -> PathBuf {
        Path::new(SUBMISSIONS).join(BOTS).join(id.to_string())
    }

    /// Removes the files of a submission that has failed. None of them was used in a match.
    pub(super) fn discard(&self, id: u32) -> io::Result<()> {
        let work = self.work.path().join(id.to_string());
        [work, self.archive(id), self.built(id), self.bot(id)].iter().try_for_each(|path| remove(path))
    }

    /// An empty directory for the work on a submission.
    pub(super) fn work(&self, id: u32) -> io::Result<PathBuf> {
        let path = self.work.path().join(id.to_string());
        remove(&path)?;
        std::fs::create_dir(&path)?;
        Ok(path)
    }
}

/// The archive of a submission in this directory.
fn archive(archives: &Path, id: u32) -> PathBuf {
    archives.join(format!("{id}.tar"))
}

/// Removes a file or a directory, if it exists.
pub(super) fn remove(path: &Path) -> io::Result<()> {
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

/// An archive that is arriving. Dropping it removes it.
#[derive(Debug)]
pub struct Arriving {
    file: NamedTempFile<File>,
    /// The directory for it.
    archives: PathBuf,
    hash: Sha256,
    size: u64,
    most_bytes: u64,
    quota: SubmissionQuota,
}

impl Arriving {
    /// Stores the next bytes of the archive.
    ///
    /// # Errors
    /// If it is too large; I/O errors.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), IntakeError> {
        self.size += bytes.len() as u64;
        if self.size > self.most_bytes {
            return Err(IntakeError::TooLarge { most_bytes: self.most_bytes });
        }
        self.hash.update(bytes);
        Ok(self.file.write_all(bytes)?)
    }

    /// Puts it into the queue, for the owner with this credential. Returns the number of the submission.
    ///
    /// # Errors
    /// If the owner may hand in nothing now; I/O errors.
    pub fn finish(
        self,
        league: &mut League,
        by: &OwnerCredential,
        now: SystemTime,
    ) -> Result<u32, IntakeError> {
        let Arriving { file, archives, hash, size, quota, .. } = self;
        if size == 0 {
            return Err(IntakeError::Empty);
        }
        file.as_file().sync_all()?;
        let digest = hex::encode(&hash.finalize());
        let store = |id: u32| {
            file.persist(archive(&archives, id)).map_err(|error| error.error)?;
            File::open(&archives)?.sync_all()
        };
        Ok(league.submit(by, &digest, size, quota, now, store)?)
    }
}
