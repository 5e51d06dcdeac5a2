//! The build of a bot, in its sandbox.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use referee_bots::sandbox::Sandbox;
use referee_bots::{Command, Launch, Launcher};
use referee_game::Wrong;
use referee_match::Detail;
use referee_workers::archive::{ArchiveId, ArchiveLimits, check, unpack};
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::builder::{BUILDER, BuildOrder, ORDER};
use super::trial::not_built;
use super::trial::{UNPACK_TIME, read_in_time};
use super::{BotFile, SubmissionLog};
use crate::RunError;

/// The size of the buffers for archives, in bytes.
const BUFFER: usize = 64 << 10;
/// The time that the rest of the result may take after the build has ended.
const REST: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltBot {
    /// The archive of the result.
    pub id: ArchiveId,
    /// The size, in bytes.
    pub size: u64,
}

/// The build of a bot, as its `bot.toml` says.
#[derive(Debug)]
pub struct Build<'a> {
    pub sandbox: &'a Sandbox,
    pub launch: &'a Launch,
    /// The archive that was unpacked.
    pub archive: &'a File,
    pub id: ArchiveId,
    pub limits: ArchiveLimits,
    pub result: ArchiveLimits,
    pub most_time: Duration,
    /// The directory of the files of the archive, which is gone afterwards.
    pub source: &'a Path,
    /// The directory of the built bot, which is made.
    pub bot: &'a Path,
}

/// Builds a bot. Without a `build` it is the files of its archive; otherwise the archive of the result is in
/// the file that `out` makes. The output of the build goes to the log.
///
/// # Errors
/// If the build fails, takes too long, or its result is too large or refused; I/O errors.
pub async fn build(
    file: &BotFile,
    build: Build<'_>,
    out: impl FnOnce() -> io::Result<File>,
    log: &mut SubmissionLog,
) -> Result<Option<(BuiltBot, File)>, RunError> {
    let Build { sandbox, launch, archive, id, limits, result, most_time, source, bot } = build;
    let Some(Command { argv, .. }) = file.build()? else {
        fs::rename(source, bot)?;
        return Ok(None);
    };
    // The build has files of its own.
    fs::remove_dir_all(source)?;
    fs::create_dir(bot)?;
    let mut out = out()?;
    let order = BuildOrder { archive: id, limits, argv, result };
    let command = Command {
        argv: vec![BUILDER.to_owned()],
        directory: Some(Path::new("/").to_owned()),
        env: [(ORDER.to_owned(), serde_json::to_string(&order).map_err(io::Error::from)?)].into(),
        sandbox: sandbox.clone(),
        ..Command::default()
    };
    let (input, feeder) = io::pipe()?;
    let feeder = Sender::from_owned_fd(feeder.into())?;
    let (reader, writer) = io::pipe()?;
    let mut reader = Receiver::from_owned_fd(reader.into())?;
    let (exited, exit) = oneshot::channel();
    let launcher = Launcher::open(launch.clone(), 1)?;
    let started = launcher.start(move |starter| {
        let on_exit = move |how| drop(exited.send(how));
        starter.run(&command, input.into(), writer.into(), on_exit).map(|process| (process, ()))
    });
    let (process, ()) = started.await?;
    let most_bytes = result.most_bytes();
    let ended = timeout(most_time, async {
        let mut fed = Box::pin(feed(archive, feeder));
        let mut is_fed = false;
        let mut written = Box::pin(copy(&mut reader, &mut out, most_bytes));
        let mut exit = Box::pin(exit);
        let mut copied = None;
        // A build that writes too much is not waited for.
        let how = loop {
            tokio::select! {
                read = &mut fed, if !is_fed => {
                    read?;
                    is_fed = true;
                }
                how = &mut exit => break how.unwrap_or_else(|_| Detail::other("its end was not seen")),
                size = &mut written, if copied.is_none() => match size? {
                    None => return Ok::<_, io::Error>((None, None)),
                    size => copied = Some(size),
                },
            }
        };
        let size = match copied {
            Some(size) => size,
            None => timeout(REST, written).await.unwrap_or(Ok(Some(0)))?,
        };
        Ok((Some(how), size))
    });
    let ended = ended.await;
    process.signal(Signal::KILL);
    let (first, lost, last) = process.stderr().cut().wait().into_parts();
    log.part(&first, lost, &last);
    process.end().await;
    let (how, size) = match ended {
        Err(_) => {
            let limit = humantime::format_duration(most_time);
            return Err(format!("the build failed: it took longer than {limit}, the limit").into());
        }
        Ok(ended) => ended?,
    };
    let Some(how) = how else {
        let what = format!("what was built has more than {most_bytes} bytes, the limit with its headers");
        return Err(Wrong::at("the build failed", Wrong::from(what)).into());
    };
    if how != Detail::LEFT {
        return Err(format!("the build failed: {how}").into());
    }
    let place = bot.to_owned();
    let unpacked = read_in_time(&out, UNPACK_TIME, move |mut archive| {
        let id = check(&mut archive, result)?;
        archive.rewind()?;
        unpack(archive, &id, &place, result).map(|()| id)
    });
    let id = unpacked.await?.map_err(not_built)?;
    Ok(Some((BuiltBot { id, size: size.unwrap_or_default() }, out)))
}

/// Writes an archive to a pipe, until its reader ends.
async fn feed(mut archive: &File, mut to: Sender) -> io::Result<()> {
    archive.rewind()?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = archive.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        match to.write_all(&buffer[..read]).await {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
}

/// Copies the output of a build to a file. Returns the number of bytes; none if there are too many.
async fn copy(from: &mut Receiver, to: &mut File, most: u64) -> io::Result<Option<u64>> {
    let mut to = BufWriter::new(to);
    let (mut buffer, mut size) = (vec![0; BUFFER], 0);
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            to.flush()?;
            return Ok(Some(size));
        }
        size += read as u64;
        if size > most {
            return Ok(None);
        }
        to.write_all(&buffer[..read])?;
    }
}
