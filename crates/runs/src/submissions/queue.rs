//! Works on the submissions of a league.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::RunError;
use crate::submissions::trial::not_built;
use referee_bots::Launch;
use referee_bots::sandbox::Sandbox;
use referee_files::is_temporary;
use referee_game::{Chain, Wrong};
use referee_league::{League, Submission, SubmissionFiles, SubmissionState, SubmittedBot};
use referee_workers::archive::{ArchiveId, unpack};
use referee_workers::trial::BuiltArchive;
use tokio::time::{Instant, sleep};

use super::on_workers::{INVALID, WorkerVerdict};
use super::pack::repack;
use super::trial::{UNPACK_TIME, read_in_time};
use super::{
    BotFile, Build, BuildWorkers, CheckedLadder, PackedBot, SharedTerms, SubmissionLog, build, check_all,
    open_archive,
};

/// The number of attempts that end with the server, or with an error of the machine, after which a submission fails.
const MOST_ATTEMPTS: u32 = 5;
/// The interval of removing files that are not needed any more.
const TIDY_INTERVAL: Duration = Duration::from_secs(60 * 60);
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The number of omitted files that are named.
const MOST_NAMED: usize = 10;
/// The pause of a submission after an error of the machine, and of the whole queue while the disk is full.
const REST: Duration = Duration::from_secs(10);

/// The place where submissions are built and checked.
#[derive(Debug)]
pub enum BuildPlace {
    /// On this machine.
    Here {
        build_sandbox: Sandbox,
        /// The sandbox of a bot that is checked.
        bot_sandbox: Sandbox,
        launch: Launch,
    },
    Workers(BuildWorkers),
}

/// The submissions of a league, which are worked on one at a time.
#[derive(Debug)]
pub struct SubmissionQueue {
    files: SubmissionFiles,
    terms: SharedTerms,
    league: League,
    /// The directory of the league.
    folder: PathBuf,
    ladders: Vec<CheckedLadder>,
    place: BuildPlace,
    clock: fn() -> SystemTime,
    /// Submissions that were put back, and until when they rest.
    resting: BTreeMap<u32, Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// The queue has worked; it may have more to do.
    Worked,
    /// The remaining submissions all rest.
    Resting,
    /// The queue was empty.
    Idle,
}

const LOST: Wrong = Wrong::new("the archive is not on the server any more: hand it in again");

/// The place where a submission is worked on.
struct WorkPlace<'a> {
    id: u32,
    archive: &'a File,
    digest: ArchiveId,
    /// The directory with the files of the archive.
    source: &'a Path,
    /// The directory of the bot that is made of them.
    bot: &'a Path,
}

impl SubmissionQueue {
    /// Opens the queue of the league in this directory, and removes the remains of an earlier server. The
    /// build and the check of a bot have these sandboxes. `clock` is the time of day.
    ///
    /// # Errors
    /// I/O errors.
    pub fn open(
        files: SubmissionFiles,
        terms: SharedTerms,
        league: League,
        folder: &Path,
        ladders: Vec<CheckedLadder>,
        place: BuildPlace,
        clock: fn() -> SystemTime,
    ) -> io::Result<SubmissionQueue> {
        files.clean()?;
        let folder = folder.to_owned();
        Ok(SubmissionQueue { files, terms, league, folder, ladders, place, clock, resting: BTreeMap::new() })
    }

    /// Works on the submissions, as they come, without an end. If the future is dropped, the work on the one in progress begins
    /// anew next time.
    pub async fn run(mut self) {
        let (mut seen, mut tidies_at) = (None, Instant::now());
        loop {
            match self.turn(&mut seen, &mut tidies_at).await {
                Ok(Turn::Worked) => {}
                Ok(Turn::Resting | Turn::Idle) => sleep(POLL_INTERVAL).await,
                Err(error) => {
                    tracing::warn!(
                        "submissions wait, because the server cannot work on them: {}",
                        Chain(&error)
                    );
                    seen = None;
                    sleep(REST).await;
                }
            }
        }
    }

    /// Does what is due. `seen` is the version of the database without work.
    async fn turn(&mut self, seen: &mut Option<i64>, tidies_at: &mut Instant) -> Result<Turn, RunError> {
        if Instant::now() >= *tidies_at {
            *tidies_at = Instant::now() + TIDY_INTERVAL;
            self.files.tidy(&mut self.league, (self.clock)())?;
        }
        let version = self.league.data_version()?;
        if *seen == Some(version) {
            return Ok(Turn::Idle);
        }
        let turn = self.work().await?;
        *seen = (turn == Turn::Idle).then_some(version);
        Ok(turn)
    }

    /// Works on the next submission that does not rest. An error is a failure of that submission, also if it
    /// is one of the machine: it comes after all others then, and has [`MOST_ATTEMPTS`].
    ///
    /// # Errors
    /// If the disk is full or the database cannot be used: the submission stays in the queue, and so do all others.
    async fn work(&mut self) -> Result<Turn, RunError> {
        let due = self.league.submissions_due()?;
        let now = Instant::now();
        self.resting.retain(|_, until| *until > now);
        let Some(&id) = due.iter().find(|id| !self.resting.contains_key(id)) else {
            return Ok(if due.is_empty() { Turn::Idle } else { Turn::Resting });
        };
        let mut log = SubmissionLog::new(&self.folder);
        let Err(refusal) = self.advance(id, &mut log).await else { return Ok(Turn::Worked) };
        let now = (self.clock)();
        if let RunError::Machine(error) = &refusal {
            let is_full = is_temporary(error.kind());
            let attempts = self.league.put_back_submission(id, !is_full, now)?;
            if is_full {
                return Err(refusal);
            }
            if attempts.is_none_or(|attempts| attempts < MOST_ATTEMPTS) {
                tracing::warn!(
                    "submission {id} waits, because the server cannot work on it: {}",
                    Chain(&refusal)
                );
                self.resting.insert(id, Instant::now() + REST);
                return Ok(Turn::Worked);
            }
            log.line(format_args!("the server could not work on it in {MOST_ATTEMPTS} attempts:"));
        }
        log.line(Chain(&refusal));
        tracing::info!("submission {id} failed: {}", Chain(&refusal));
        self.league.fail_submission(id, &log.text(), now)?;
        if let Err(error) = self.files.discard(id) {
            tracing::warn!("submission {id}: its files stay: {error}");
        }
        Ok(Turn::Worked)
    }

    /// Does the next step of a submission, if there still is one: its bot takes part, or it is examined.
    async fn advance(&mut self, id: u32, log: &mut SubmissionLog) -> Result<(), RunError> {
        let Some(attempts) = self.league.begin_submission(id, (self.clock)())? else { return Ok(()) };
        if attempts > MOST_ATTEMPTS {
            let times = attempts - 1;
            return Err(Wrong::from(format!(
                "the server was stopped, or its machine failed, {times} times while it worked on this submission"
            ))
            .into());
        }
        match self.league.submission(id)? {
            Some(next) if next.state == SubmissionState::Waiting => self.install(&next),
            Some(next) => self.examine(&next, log).await,
            None => Ok(()),
        }
    }

    /// Unpacks, builds and checks a submission.
    async fn examine(&mut self, next: &Submission, log: &mut SubmissionLog) -> Result<(), RunError> {
        let (id, now) = (next.id, self.clock);
        let work = self.files.work(id)?;
        let (source, bot) = (work.join("source"), work.join("bot"));
        fs::create_dir(&source)?;
        let archive = match File::open(self.files.archive(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LOST.into());
            }
            opened => opened?,
        };
        let digest: ArchiveId = next.archive.parse().map_err(|_| LOST)?;
        let terms = self.terms.get();
        let repacked = self.repack(id, &archive, &work, log).await?;
        let is_repacked = repacked.is_some();
        let (path, archive, digest) = repacked.unwrap_or_else(|| (self.files.archive(id), archive, digest));
        let file = open_archive(&archive, &digest, &source, terms.archive).await?;
        let place = WorkPlace { id, archive: &archive, digest, source: &source, bot: &bot };
        let BotFile { name, command, language, .. } = &file;
        let submitted = SubmittedBot { name, command, language: language.as_deref() };
        let version = self.league.name_submission(id, submitted, terms.quota)?;
        tracing::info!("submission {id} of {}: {name}@{version}", next.owner);
        log.line(format_args!("{name}@{version}"));
        let ladders = match &self.place {
            BuildPlace::Here { .. } => {
                let built = self.build(&file, &place, log).await?;
                self.check_space(next)?;
                self.league.check_submission(id, &built.to_string(), &log.text(), now())?;
                self.check(&file, &bot, log).await?
            }
            BuildPlace::Workers(workers) => {
                let tried = workers.try_out(&path, digest, &terms, &self.ladders, log).await?;
                let (ladders, built) = match tried {
                    WorkerVerdict::Passed(ladders, built) => (ladders, built),
                    WorkerVerdict::Failed(why) => return Err(why.into()),
                };
                let built = self.take_in(&file, &place, built).await?;
                self.check_space(next)?;
                self.league.check_submission(id, &built.to_string(), &log.text(), now())?;
                ladders
            }
        };
        let is_approved = !terms.needs_approval;
        // A submission that passed plays from this place before the league knows that it has passed.
        let place = self.files.bot(id);
        SubmissionFiles::remove(&place)?;
        fs::rename(&bot, &place)?;
        if is_repacked && file.build.is_none() {
            // The repacked archive says how much space the files need.
            fs::rename(&path, self.files.built(id))?;
        }
        SubmissionFiles::remove(&work)?;
        if !is_approved {
            log.line("it has passed, and waits for the approval of the organiser");
        }
        self.league.pass_submission(id, &ladders, is_approved, &log.text(), now())?;
        if is_approved { self.install(next) } else { Ok(()) }
    }

    /// Packs a zip file or a tar.gz in the form of archives; `None` for what has that form. Returns the path, the file and its id.
    async fn repack(
        &self,
        id: u32,
        archive: &File,
        work: &Path,
        log: &mut SubmissionLog,
    ) -> Result<Option<(PathBuf, File, ArchiveId)>, RunError> {
        let (path, foreign, limits) = (work.join("packed"), work.join("foreign"), self.terms.get().archive);
        fs::create_dir(&foreign)?;
        let out = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        let (to, place) = (out.try_clone()?, foreign.clone());
        let packing = read_in_time(archive, UNPACK_TIME, move |archive| {
            repack(archive, &place, limits, BufWriter::new(to))
        });
        let packed = packing.await??;
        SubmissionFiles::remove(&foreign)?;
        let Some(PackedBot { archive, left_out, .. }) = packed else { return Ok(None) };
        tracing::debug!("submission {id}: packed anew");
        let named = left_out.iter().take(MOST_NAMED).map(|path| path.to_string_lossy());
        let named = named.collect::<Vec<_>>().join(", ");
        if !named.is_empty() {
            log.line(format_args!(
                "left out, such as: {named}; `files` in bot.toml names what the bot needs of them"
            ));
        }
        Ok(Some((path, out, archive.id)))
    }

    /// Checks that there is space for the bot, beside the archives that are there.
    fn check_space(&self, next: &Submission) -> Result<(), RunError> {
        let built = fs::metadata(self.files.built(next.id)).map_or(next.size, |built| built.len());
        Ok(self.files.check_space(&self.league, &next.owner, built, self.terms.get().space)?)
    }

    /// Builds a submission on this machine, if it has a build. Returns the id of the archive of the result.
    async fn build(
        &self,
        file: &BotFile,
        &WorkPlace { id, archive, digest, source, bot }: &WorkPlace<'_>,
        log: &mut SubmissionLog,
    ) -> Result<ArchiveId, RunError> {
        let BuildPlace::Here { build_sandbox, launch, .. } = &self.place else { return Ok(digest) };
        log.line(match &file.build {
            Some(command) => format!("build: {command}"),
            None => "bot.toml has no `build`: nothing is built".to_owned(),
        });
        let terms = self.terms.get();
        let order = Build {
            sandbox: build_sandbox,
            launch,
            archive,
            id: digest,
            limits: terms.archive,
            result: terms.result,
            most_time: terms.build_time,
            source,
            bot,
        };
        let Some((built, out)) = build(file, order, || self.new_built(id), log).await? else {
            return Ok(digest);
        };
        out.sync_all()?;
        log.line(format_args!("built: {} bytes", built.size));
        Ok(built.id)
    }

    /// A new file for the archive of the build.
    fn new_built(&self, id: u32) -> io::Result<File> {
        let path = self.files.built(id);
        SubmissionFiles::remove(&path)?;
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)
    }

    /// Takes in the build of a worker, with the limits and checks of an archive that is built here. Returns
    /// its id.
    async fn take_in(
        &self,
        file: &BotFile,
        &WorkPlace { id, digest, source, bot, .. }: &WorkPlace<'_>,
        built: Option<(ArchiveId, BuiltArchive)>,
    ) -> Result<ArchiveId, RunError> {
        match (file.build.is_some(), built) {
            (false, None) => {
                fs::rename(source, bot)?;
                Ok(digest)
            }
            (true, Some((built, archive))) => {
                SubmissionFiles::remove(source)?;
                fs::create_dir(bot)?;
                let mut out = self.new_built(id)?;
                out.write_all(&archive.bytes)?;
                out.sync_all()?;
                let (place, limits) = (bot.to_owned(), self.terms.get().result);
                let unpacked =
                    read_in_time(&out, UNPACK_TIME, move |out| unpack(out, &built, &place, limits));
                unpacked.await?.map_err(not_built)?;
                Ok(built)
            }
            (true, None) | (false, Some(_)) => Err(INVALID.into()),
        }
    }

    /// Checks a bot on all ladders whose games it plays, on this machine. Returns their names.
    async fn check(
        &self,
        file: &BotFile,
        directory: &Path,
        log: &mut SubmissionLog,
    ) -> Result<BTreeSet<String>, RunError> {
        let BuildPlace::Here { bot_sandbox, launch, .. } = &self.place else { return Ok(BTreeSet::new()) };
        let command = file.command_in(directory, bot_sandbox)?;
        Ok(check_all(&command, launch, &self.ladders, self.terms.get().check_time, log).await?)
    }

    /// Makes the bot of a submission that has passed take part.
    fn install(&mut self, next: &Submission) -> Result<(), RunError> {
        let id = next.id;
        if !self.files.bot(id).is_dir() {
            return Err(LOST.into());
        }
        let directory = SubmissionFiles::bot_in_league(id);
        let installed = self.league.install_submission(id, &directory, (self.clock)())?;
        tracing::info!("submission {id} of {}: playing", installed.owner);
        Ok(())
    }
}
