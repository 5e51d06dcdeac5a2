//! Data that submitted programs keep between matches.

use std::fs::File;
use std::io::{self, BufWriter, Seek};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use referee_bots::sandbox::Size;
use referee_bots::{Keep, KeptStore};
use referee_game::Chain;
use referee_league::SubmissionFiles;
use referee_match::record::KeptData;
use referee_workers::archive::{ArchiveError, ArchiveLimits, check, pack_open, unpack_stream};

/// The maximum number of files and directories that a program keeps.
const MOST_FILES: usize = 1000;

/// The data that the program of a submission keeps on a ladder: an archive.
#[derive(Debug)]
struct KeptArchive {
    files: Arc<SubmissionFiles>,
    id: u32,
    ladder: String,
    limits: ArchiveLimits,
}

/// The directory of this size that outlives the matches of the program of a submission on a ladder.
pub(super) fn keep(files: Arc<SubmissionFiles>, id: u32, ladder: &str, size: Size) -> Keep {
    let limits = ArchiveLimits { bytes: size.bytes(), entries: MOST_FILES };
    Keep::new(size, Arc::new(KeptArchive { files, id, ladder: ladder.to_owned(), limits }))
}

impl KeptStore for KeptArchive {
    fn fill(&self, directory: BorrowedFd<'_>) -> io::Result<KeptData> {
        let mut archive = match File::open(self.files.kept_archive(self.id, &self.ladder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(KeptData::default()),
            opened => opened?,
        };
        let id = match check(&archive, self.limits) {
            Err(ArchiveError::Io(error)) => return Err(error),
            Err(why) => {
                // The limit may have been larger.
                let (ladder, id) = (&self.ladder, self.id);
                tracing::warn!("{ladder}: submission {id} begins with nothing: {}", Chain(&why));
                return Ok(KeptData::default());
            }
            Ok(id) => id,
        };
        archive.rewind()?;
        let place = Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string());
        unpack_stream(&archive, &id, &place, self.limits).map_err(io::Error::other)?;
        Ok(KeptData { bytes: archive.metadata()?.len(), sha256: Some(id.to_string()) })
    }

    fn store(&self, directory: BorrowedFd<'_>) {
        let write = |file: &File| pack_open(directory, self.limits, BufWriter::new(file)).map(drop);
        if let Err(why) = self.files.keep(self.id, &self.ladder, write) {
            let (ladder, id) = (&self.ladder, self.id);
            tracing::warn!("{ladder}: what submission {id} left is not kept: {}", Chain(&why));
        }
    }
}
