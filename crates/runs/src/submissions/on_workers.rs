//! Lets workers build and check submissions.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use referee_bots::sandbox::BotLimits;
use referee_game::Wrong;
use referee_workers::archive::ArchiveId;
use referee_workers::trial::{
    BuiltArchive, MOST_LOST, TrialEvent, TrialJob, TrialLadder, TrialQueue, TrialReply, TrialVerdict,
};
use tokio::time::timeout;

use super::{CheckedLadder, SubmissionLog, SubmissionTerms};

/// The time for which the archives may travel, beyond the limits of the build and the checks.
const TRAVEL: Duration = Duration::from_secs(10 * 60);

/// Resources with which workers build and check.
#[derive(Debug)]
pub struct BuildWorkers {
    pub desk: TrialQueue,
    /// The directory of the archives that workers get.
    pub archives: PathBuf,
    /// The limits of programs that are checked.
    pub bot: BotLimits,
    /// By ladder: the archive of its game, if its rules are a program.
    pub game_files: Vec<Option<ArchiveId>>,
}

pub(super) const INVALID: Wrong =
    Wrong::new("the worker reports what no build and check can have: hand it in again");

pub(super) enum WorkerVerdict {
    /// The ladders on which the bot plays and, with a build, the archive of the result.
    Passed(BTreeSet<String>, Option<(ArchiveId, BuiltArchive)>),
    Failed(Wrong),
}

/// The archive of a submission where workers get it. Dropping it removes it.
struct OfferedArchive(Option<PathBuf>);

impl OfferedArchive {
    fn new(archive: &Path, directory: &Path, id: &ArchiveId) -> io::Result<OfferedArchive> {
        fs::create_dir_all(directory)?;
        let place = directory.join(format!("{id}.tar"));
        if place.exists() {
            // The archive of a bot with the same files.
            return Ok(OfferedArchive(None));
        }
        if fs::hard_link(archive, &place).is_err() {
            fs::copy(archive, &place)?;
        }
        Ok(OfferedArchive(Some(place)))
    }
}

impl Drop for OfferedArchive {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.as_deref().map(fs::remove_file) {
            tracing::debug!(%error, "an archive stays where workers get it");
        }
    }
}

impl BuildWorkers {
    /// Lets a worker build and check the program of an archive; waits until one can.
    ///
    /// # Errors
    /// If the worker cannot do it, or no workers are served any more.
    pub(super) async fn try_out(
        &self,
        path: &Path,
        archive: ArchiveId,
        terms: &SubmissionTerms,
        ladders: &[CheckedLadder],
        log: &mut SubmissionLog,
    ) -> io::Result<WorkerVerdict> {
        let ended = || io::Error::new(io::ErrorKind::NotConnected, "no workers are served any more");
        let _offered = OfferedArchive::new(path, &self.archives, &archive)?;
        let job = TrialJob {
            id: TrialJob::new_id()?,
            archive,
            limits: terms.archive,
            result: terms.result,
            build_ms: millis(terms.build_time),
            check_ms: millis(terms.check_time),
            // A build has the sandbox of a bot.
            build: BotLimits { read: self.bot.read.clone(), ..terms.build.clone() },
            bot: self.bot.clone(),
            ladders: ladders
                .iter()
                .zip(&self.game_files)
                .map(|(ladder, files)| ladder_of(ladder, *files))
                .collect(),
        };
        let count = u32::try_from(ladders.len()).unwrap_or(u32::MAX);
        let most_time = terms.build_time + terms.check_time.saturating_mul(count) + TRAVEL;
        let mut events = self.desk.hand_out(job).ok_or_else(ended)?;
        let mut is_out = false;
        loop {
            let event = if is_out { timeout(most_time, events.recv()).await? } else { events.recv().await };
            match event.ok_or_else(ended)? {
                TrialEvent::Taken(worker) => {
                    is_out = true;
                    log.line(format_args!("on worker {worker}"));
                }
                TrialEvent::Lost(worker) => {
                    is_out = false;
                    log.line(format_args!("worker {worker} was lost: another one is tried"));
                }
                TrialEvent::GivenUp => {
                    return Ok(WorkerVerdict::Failed(
                        format!("{MOST_LOST} workers were lost while they built or checked it").into(),
                    ));
                }
                TrialEvent::Reported(worker, TrialReply { log: said, verdict }, built) => {
                    log.part("", 0, &said);
                    return verdict_of(worker, verdict, built, ladders);
                }
            }
        }
    }
}

/// The verdict of a worker, if it can be true.
fn verdict_of(
    worker: String,
    verdict: TrialVerdict,
    archive: BuiltArchive,
    ladders: &[CheckedLadder],
) -> io::Result<WorkerVerdict> {
    Ok(match verdict {
        TrialVerdict::Unable(why) => {
            return Err(io::Error::new(io::ErrorKind::Unsupported, format!("worker {worker}: {why}")));
        }
        TrialVerdict::Full(why) => {
            return Err(io::Error::new(io::ErrorKind::StorageFull, format!("worker {worker}: {why}")));
        }
        TrialVerdict::Failed(why) => {
            // The text comes from another machine.
            WorkerVerdict::Failed(why.chars().take(1000).collect::<String>().into())
        }
        TrialVerdict::Passed { ladders: passed, built } => {
            let is_known = |name: &String| ladders.iter().any(|ladder| ladder.name == *name);
            if passed.is_empty() || !passed.iter().all(is_known) {
                return Ok(WorkerVerdict::Failed(INVALID));
            }
            WorkerVerdict::Passed(passed, built.map(|id| (id, archive)))
        }
    })
}

fn ladder_of(ladder: &CheckedLadder, game_files: Option<ArchiveId>) -> TrialLadder {
    let game = ladder.rules.meta();
    TrialLadder {
        name: ladder.name.clone(),
        game: game.id.to_owned(),
        rules: game.rules_version,
        game_files,
        move_ms: millis(ladder.move_limit),
        hello_ms: millis(ladder.hello_limit),
        ready_ms: millis(ladder.ready_limit),
        later_ready_ms: millis(ladder.later_ready_limit),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
