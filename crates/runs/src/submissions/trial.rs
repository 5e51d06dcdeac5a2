//! The first step: an archive is unpacked.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use referee_bots::Command;
use referee_game::{Chain, Wrong};
use referee_workers::archive::{ArchiveError, ArchiveId, ArchiveLimits, unpack};
use rustix::time::{ClockId, clock_gettime};

use super::BotFile;
use crate::RunError;

/// The defect of an archive that was handed in.
pub(super) fn refused(error: ArchiveError) -> RunError {
    match error {
        ArchiveError::Io(error) => error.into(),
        error => format!(
            "the archive is refused: {}; `referee submit DIR` packs and sends a directory with `bot.toml` at its top, and `referee \
             submit --save FILE DIR` writes the archive; a zip file or a tar.gz of the directory is taken, too",
            Chain(&error)
        )
        .into(),
    }
}

/// The defect of an archive that a build has made.
pub(super) fn not_built(error: ArchiveError) -> RunError {
    match error {
        ArchiveError::Io(error) => error.into(),
        error => Wrong::at("the build failed", Wrong::at("what was built is refused", error)).into(),
    }
}

/// The processor time in which an archive must be checked and unpacked. The duration on the clock depends on the matches that the
/// machine plays, which have priority.
pub(super) const UNPACK_TIME: Duration = Duration::from_secs(60);

/// Unpacks the archive of a bot into an empty directory, and reads its `bot.toml`. Dropping the future ends that.
///
/// # Errors
/// If the archive or `bot.toml` is refused; I/O errors.
pub async fn open_archive(
    archive: &File,
    id: &ArchiveId,
    directory: &Path,
    limits: ArchiveLimits,
) -> Result<BotFile, RunError> {
    let (id, place) = (*id, directory.to_owned());
    read_in_time(archive, UNPACK_TIME, move |archive| unpack(archive, &id, &place, limits))
        .await?
        .map_err(refused)?;
    let file = BotFile::read(directory)?;
    if let Some(build) = file.build()? {
        let build = Command { directory: Some(directory.to_owned()), ..build };
        // Only this defect is the same on each machine.
        build.check_line_ending().map_err(|why| Wrong::at("bot.toml: build", why))?;
    }
    Ok(file)
}

/// Reads an archive on a thread of its own. Its reads fail after this processor time, and once the future is dropped.
///
/// # Errors
/// If it takes longer; I/O errors.
pub(super) async fn read_in_time<T: Send + 'static>(
    archive: &File,
    most_time: Duration,
    work: impl FnOnce(StoppableFile) -> T + Send + 'static,
) -> Result<T, RunError> {
    let stop = StopOnDrop::default();
    let mut file = archive.try_clone()?;
    file.rewind()?;
    let is_stopped = stop.0.clone();
    let working = tokio::task::spawn_blocking(move || {
        work(StoppableFile { file, is_stopped, stops_at: thread_time() + most_time })
    });
    let done = working.await.map_err(io::Error::from)?;
    // A read of the file sets the flag.
    if stop.0.load(Ordering::Relaxed) {
        let limit = humantime::format_duration(most_time);
        return Err(format!("the archive is not unpacked within {limit}, the limit").into());
    }
    Ok(done)
}

/// The processor time of this thread.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Stops the reads of a [`StoppableFile`] when it is dropped.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file whose reads fail once it is stopped.
pub(super) struct StoppableFile {
    file: File,
    is_stopped: Arc<AtomicBool>,
    /// The processor time of the reading thread after which it stops itself.
    stops_at: Duration,
}

impl Read for StoppableFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if thread_time() > self.stops_at {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        if self.is_stopped.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read(buffer)
    }
}

impl Seek for StoppableFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    /// An endless file, which is read until that fails.
    fn read_all(mut file: StoppableFile) -> io::ErrorKind {
        let mut buffer = [0; 1024];
        loop {
            if let Err(error) = file.read(&mut buffer) {
                return error.kind();
            }
        }
    }

    #[test]
    fn slow_archive_is_error_and_abandoned_one_is_not_read() {
        let endless = File::open("/dev/zero").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let late = runtime.block_on(read_in_time(&endless, Duration::from_millis(20), read_all));
        let late = Chain(&late.unwrap_err()).to_string();
        assert_eq!(late, "the archive is not unpacked within 20ms, the limit");
        // Matches that take the processors from it do not count.
        let delayed = read_in_time(&endless, Duration::from_millis(20), |mut file| {
            std::thread::sleep(Duration::from_millis(50));
            file.read(&mut [0])
        });
        assert_eq!(runtime.block_on(delayed).unwrap().unwrap(), 1);
        runtime.block_on(async {
            let reading = read_in_time(&endless, UNPACK_TIME, read_all);
            assert!(timeout(Duration::from_millis(20), reading).await.is_err());
        });
        // Dropping the runtime waits for its threads.
        drop(runtime);
    }
}
