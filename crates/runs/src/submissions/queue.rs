//! Works on the submissions of a league.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use referee_bots::sandbox::Sandbox;
use referee_bots::{Command, Launch};
use referee_store::{League, StoreError, Submission, SubmissionError, SubmissionState, SubmittedBot};
use referee_workers::archive::{ArchiveError, ArchiveId, unpack};
use referee_workers::trial::BuiltArchive;
use tokio::time::{Instant, sleep};

use super::desk::remove;
use super::on_workers::{WorkerRefusal, WorkerVerdict};
use super::{
    BotFile, Build, BuildFailure, BuildWorkers, CheckedLadder, SubmissionDesk, SubmissionLog, TrialError,
    Unfit, build, check_all, open_archive,
};

/// After so many attempts that ended with the server, a submission fails.
const MOST_ATTEMPTS: u32 = 5;
/// How long the files of submissions that are retired or were rejected are kept: a match may still use them.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How often the files that are not needed any more are removed.
const TIDY_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// How often the queue is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How long the queue rests after an error of the machine, such as a full disk.
const REST: Duration = Duration::from_secs(10);

/// Where submissions are built and checked.
#[derive(Debug)]
pub enum BuildPlace {
    /// On this machine.
    Here {
        /// The sandbox of a build.
        build_sandbox: Sandbox,
        /// That of a bot that is checked.
        bot_sandbox: Sandbox,
        /// How both are started.
        launch: Launch,
    },
    /// On workers.
    Workers(BuildWorkers),
}

/// The submissions of a league, which are worked on one at a time.
#[derive(Debug)]
pub struct SubmissionQueue {
    desk: SubmissionDesk,
    league: League,
    /// The directory of the league.
    folder: PathBuf,
    ladders: Vec<CheckedLadder>,
    place: BuildPlace,
    clock: fn() -> SystemTime,
}

/// Why a submission has failed.
#[derive(Debug, thiserror::Error)]
enum SubmissionRefusal {
    #[error(transparent)]
    Trial(#[from] TrialError),
    #[error(transparent)]
    League(#[from] SubmissionError),
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error(transparent)]
    Worker(WorkerRefusal),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the server was stopped {0} times while it worked on this submission")]
    Attempts(u32),
    #[error("the archive is not on the server any more: hand it in again")]
    Lost,
}

impl From<io::Error> for SubmissionRefusal {
    fn from(error: io::Error) -> SubmissionRefusal {
        SubmissionRefusal::Trial(TrialError::Machine(error))
    }
}

impl SubmissionRefusal {
    /// Whether the machine has failed, not the submission.
    fn is_of_machine(&self) -> bool {
        matches!(
            self,
            SubmissionRefusal::Trial(TrialError::Machine(_) | TrialError::NotStarted(_))
                | SubmissionRefusal::League(SubmissionError::Store(_))
                | SubmissionRefusal::Store(_)
        )
    }
}

/// Where a submission is worked on.
struct WorkPlace<'a> {
    /// Its number.
    id: u32,
    /// As it was handed in.
    archive: &'a File,
    digest: ArchiveId,
    /// The directory with the files of the archive.
    source: &'a Path,
    /// The directory of the bot that is made of them.
    bot: &'a Path,
}

impl SubmissionQueue {
    /// Opens the queue of the league in this directory, and removes what an earlier server left behind. The build and the
    /// check of a bot have these sandboxes. `clock` is the time of day.
    ///
    /// # Errors
    /// I/O errors.
    pub fn open(
        desk: SubmissionDesk,
        league: League,
        folder: &Path,
        ladders: Vec<CheckedLadder>,
        place: BuildPlace,
        clock: fn() -> SystemTime,
    ) -> io::Result<SubmissionQueue> {
        desk.clean()?;
        let folder = folder.to_owned();
        Ok(SubmissionQueue { desk, league, folder, ladders, place, clock })
    }

    /// Works on the submissions, as they come, without an end. If the future is dropped, the work on the one in progress begins
    /// anew next time.
    pub async fn run(mut self) {
        let (mut seen, mut tidies_at) = (None, Instant::now());
        loop {
            match self.turn(&mut seen, &mut tidies_at).await {
                Ok(true) => {}
                Ok(false) => sleep(POLL_INTERVAL).await,
                Err(error) => {
                    tracing::warn!("submissions wait, because the server cannot work on them: {error}");
                    seen = None;
                    sleep(REST).await;
                }
            }
        }
    }

    /// Does what is due. Returns whether there may be more. `seen` is the version of the database without work.
    async fn turn(
        &mut self,
        seen: &mut Option<i64>,
        tidies_at: &mut Instant,
    ) -> Result<bool, SubmissionRefusal> {
        if Instant::now() >= *tidies_at {
            *tidies_at = Instant::now() + TIDY_INTERVAL;
            let since = (self.clock)().checked_sub(KEPT).unwrap_or(SystemTime::UNIX_EPOCH);
            self.desk.tidy(&self.league, since)?;
        }
        let version = self.league.data_version()?;
        if *seen == Some(version) {
            return Ok(false);
        }
        let worked = self.work().await?;
        *seen = (!worked).then_some(version);
        Ok(worked)
    }

    /// Works on the next submission. Returns whether there was one.
    ///
    /// # Errors
    /// If the machine cannot do what is needed: the submission stays in the queue.
    async fn work(&mut self) -> Result<bool, SubmissionRefusal> {
        let Some(next) = self.league.next_submission()? else { return Ok(false) };
        let id = next.id;
        let mut log = SubmissionLog::new(&self.folder);
        let done = match next.state {
            SubmissionState::Waiting => self.install(&next),
            _ => self.examine(&next, &mut log).await,
        };
        let now = (self.clock)();
        let refusal = match done {
            Ok(()) => return Ok(true),
            Err(refusal) => refusal,
        };
        if refusal.is_of_machine() {
            self.league.put_back_submission(id, now)?;
            return Err(refusal);
        }
        log.line(&refusal);
        tracing::info!("submission {id} of {}: failed: {refusal}", next.owner);
        let log = if next.state == SubmissionState::Waiting {
            format!("{}{}", next.log, log.text())
        } else {
            log.text()
        };
        self.league.fail_submission(id, &log, now)?;
        self.desk.discard(id)?;
        Ok(true)
    }

    /// Unpacks, builds and checks a submission.
    async fn examine(&mut self, next: &Submission, log: &mut SubmissionLog) -> Result<(), SubmissionRefusal> {
        let (id, now) = (next.id, self.clock);
        let attempts = self.league.begin_submission(id, now())?;
        if attempts > MOST_ATTEMPTS {
            return Err(SubmissionRefusal::Attempts(attempts - 1));
        }
        let work = self.desk.work(id)?;
        let (source, bot) = (work.join("source"), work.join("bot"));
        fs::create_dir(&source)?;
        let archive = match File::open(self.desk.archive(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(SubmissionRefusal::Lost),
            opened => opened?,
        };
        let digest: ArchiveId = next.archive.parse().map_err(|_| SubmissionRefusal::Lost)?;
        let terms = self.desk.terms();
        let file = open_archive(&archive, &digest, &source, terms.archive)?;
        let place = WorkPlace { id, archive: &archive, digest, source: &source, bot: &bot };
        let BotFile { name, command, language, .. } = &file;
        let submitted = SubmittedBot { name, command, language: language.as_deref() };
        let version = self.league.name_submission(id, submitted, terms.quota)?;
        tracing::info!("submission {id} of {}: {name}@{version}", next.owner);
        log.line(format_args!("{name}@{version}"));
        let ladders = match &self.place {
            BuildPlace::Here { .. } => {
                let built = self.build(&file, &place, log).await?;
                self.league.check_submission(id, &built.to_string(), &log.text(), now())?;
                self.check(&file, &bot, log).await?
            }
            BuildPlace::Workers(workers) => {
                let path = self.desk.archive(id);
                let tried = workers.try_out(&path, digest, &terms, &self.ladders, log).await?;
                let (ladders, built) = match tried {
                    WorkerVerdict::Passed(ladders, built) => (ladders, built),
                    WorkerVerdict::Failed(why) => return Err(SubmissionRefusal::Worker(why)),
                };
                let built = self.take_in(&file, &place, built)?;
                self.league.check_submission(id, &built.to_string(), &log.text(), now())?;
                ladders
            }
        };
        let is_approved = !terms.needs_approval;
        // What has passed is where it plays from before the league knows that it has.
        let place = self.desk.bot(id);
        remove(&place)?;
        fs::rename(&bot, &place)?;
        remove(&work)?;
        if !is_approved {
            log.line("it has passed, and waits for the approval of the organiser");
        }
        self.league.pass_submission(id, &ladders, is_approved, &log.text(), now())?;
        if is_approved { self.install(next) } else { Ok(()) }
    }

    /// Builds a submission on this machine, if it has a build. Returns the id of the archive of the result.
    async fn build(
        &self,
        file: &BotFile,
        &WorkPlace { id, archive, digest, source, bot }: &WorkPlace<'_>,
        log: &mut SubmissionLog,
    ) -> Result<ArchiveId, SubmissionRefusal> {
        let Some(Command { argv, .. }) = file.build().map_err(TrialError::from)? else {
            fs::rename(source, bot)?;
            log.line("bot.toml has no `build`: nothing is built");
            return Ok(digest);
        };
        let BuildPlace::Here { build_sandbox, launch, .. } = &self.place else { return Ok(digest) };
        // The build has files of its own.
        remove(source)?;
        fs::create_dir(bot)?;
        log.line(format_args!("build: {}", file.build.as_deref().unwrap_or_default()));
        let terms = self.desk.terms();
        let mut out = self.new_built(id)?;
        let order = Build {
            argv: &argv,
            sandbox: build_sandbox,
            launch,
            archive,
            id: digest,
            limits: terms.archive,
            result: terms.result,
            most_time: terms.build_time,
        };
        let built = build(order, &mut out, bot, log).await?;
        out.sync_all()?;
        log.line(format_args!("built: {} bytes", built.size));
        Ok(built.id)
    }

    /// A new file for the archive of what is built.
    fn new_built(&self, id: u32) -> io::Result<File> {
        let path = self.desk.built(id);
        remove(&path)?;
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)
    }

    /// Takes in what a worker has built, with the limits and checks of an archive that is built here. Returns its id.
    fn take_in(
        &self,
        file: &BotFile,
        &WorkPlace { id, digest, source, bot, .. }: &WorkPlace<'_>,
        built: Option<(ArchiveId, BuiltArchive)>,
    ) -> Result<ArchiveId, SubmissionRefusal> {
        match (file.build.is_some(), built) {
            (false, None) => {
                fs::rename(source, bot)?;
                Ok(digest)
            }
            (true, Some((built, archive))) => {
                remove(source)?;
                fs::create_dir(bot)?;
                let mut out = self.new_built(id)?;
                out.write_all(&archive.bytes)?;
                out.sync_all()?;
                out.rewind()?;
                let refused = |error: ArchiveError| match error {
                    ArchiveError::Io(error) => TrialError::Machine(error),
                    error => BuildFailure::Result(error).into(),
                };
                unpack(&out, &built, bot, self.desk.terms().result).map_err(refused)?;
                Ok(built)
            }
            (true, None) | (false, Some(_)) => Err(SubmissionRefusal::Worker(WorkerRefusal::Invalid)),
        }
    }

    /// Checks a bot on all ladders whose games it plays, on this machine. Returns their names.
    async fn check(
        &self,
        file: &BotFile,
        directory: &Path,
        log: &mut SubmissionLog,
    ) -> Result<BTreeSet<String>, SubmissionRefusal> {
        let BuildPlace::Here { bot_sandbox, launch, .. } = &self.place else { return Ok(BTreeSet::new()) };
        let command = Command {
            directory: Some(directory.to_owned()),
            files: Some(directory.to_owned()),
            sandbox: bot_sandbox.clone(),
            ..file.command().map_err(TrialError::from)?
        };
        Ok(check_all(&command, launch, &self.ladders, self.desk.terms().check_time, log).await?)
    }

    /// Makes the bot of a submission that has passed take part.
    fn install(&mut self, next: &Submission) -> Result<(), SubmissionRefusal> {
        let id = next.id;
        if !self.desk.bot(id).is_dir() {
            return Err(SubmissionRefusal::Lost);
        }
        let directory = SubmissionDesk::bot_in_league(id);
        let installed = self.league.install_submission(id, &directory, (self.clock)())?;
        tracing::info!("submission {id} of {}: playing", installed.owner);
        Ok(())
    }
}
