//! Builds and checks submissions of a server, on the machine of a worker.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::time::Duration;

use crate::RunError;
use referee_bots::Launch;
use referee_bots::sandbox::{BotLimits, Layer, Mode, Sandbox, Unavailable};
use referee_files::is_temporary;
use referee_game::erased::Rules;
use referee_game::{Catalog, Chain};
use referee_workers::archive::ArchiveId;
use referee_workers::trial::{BUILT_BYTES, TrialJob, TrialMachine, TrialReply, TrialVerdict};

use super::{Build, CheckedLadder, SubmissionLog, build, check_all, open_archive};

/// The amount by which the priority of builds and checks is below that of matches: see nice(2).
const NICE: i32 = 10;

/// The trials of a worker: builds and checks run in the sandbox `strict`.
#[derive(Debug)]
pub struct WorkerTrials {
    launch: Launch,
    /// The layers that a machine for tests of this program may lack.
    left_out: BTreeSet<Layer>,
}

impl WorkerTrials {
    /// Trials on this machine.
    ///
    /// # Errors
    /// If the machine lacks a layer of `strict` that is not among these.
    pub fn open(launch: Launch, left_out: BTreeSet<Layer>) -> Result<WorkerTrials, Unavailable> {
        let trials = WorkerTrials { launch, left_out };
        trials.sandbox(BotLimits::default()).map(|_| trials)
    }

    fn sandbox(&self, limits: BotLimits) -> Result<Sandbox, Unavailable> {
        Sandbox::new(Mode::Strict, &self.left_out, BotLimits { network: Some(false), ..limits })
    }

    /// Builds and checks a program. Returns the ladders on which it plays, and the archive of the build.
    async fn work(
        &self,
        job: &TrialJob,
        archive: &File,
        rules: &[&'static dyn Rules],
        catalog: &Catalog,
        place: &std::path::Path,
        log: &mut SubmissionLog,
    ) -> Result<(BTreeSet<String>, Option<(ArchiveId, Vec<u8>)>), RunError> {
        let sandbox = |limits: &BotLimits| self.sandbox(limits.clone()).map_err(RunError::machine);
        let (build_sandbox, bot_sandbox) = (sandbox(&job.build)?, sandbox(&job.bot)?);
        let (source, bot) = (place.join("source"), place.join("bot"));
        fs::create_dir(&source)?;
        let file = open_archive(archive, &job.archive, &source, job.limits).await?;
        let order = Build {
            sandbox: &build_sandbox,
            launch: &self.launch,
            archive,
            id: job.archive,
            limits: job.limits,
            result: job.result,
            most_time: Duration::from_millis(job.build_ms),
            source: &source,
            bot: &bot,
        };
        let built = match build(&file, order, || tempfile::tempfile_in(place), log).await? {
            None => None,
            Some((built, mut out)) => {
                log.line(format_args!("built: {} bytes", built.size));
                if built.size > BUILT_BYTES as u64 {
                    return Err(RunError::from(format!(
                        "what was built has more than {} MiB, the limit on workers",
                        BUILT_BYTES >> 20
                    )));
                }
                let mut bytes = Vec::new();
                out.rewind()?;
                out.read_to_end(&mut bytes)?;
                Some((built.id, bytes))
            }
        };
        let command = file.command_in(&bot, &bot_sandbox)?;
        let ladders: Vec<CheckedLadder> = job
            .ladders
            .iter()
            .zip(rules)
            .map(|(ladder, rules)| {
                let mut catalog = catalog.clone();
                // The catalog has the game already if its rules are a part of this program.
                catalog.add(*rules);
                CheckedLadder {
                    name: ladder.name.clone(),
                    rules: *rules,
                    catalog,
                    move_limit: Duration::from_millis(ladder.move_ms),
                    hello_limit: Duration::from_millis(ladder.hello_ms),
                    ready_limit: Duration::from_millis(ladder.ready_ms),
                    later_ready_limit: Duration::from_millis(ladder.later_ready_ms),
                }
            })
            .collect();
        let most_time = Duration::from_millis(job.check_ms);
        Ok((check_all(&command, &self.launch, &ladders, most_time, log).await?, built))
    }
}

impl TrialMachine for WorkerTrials {
    fn run(
        &self,
        job: &TrialJob,
        archive: File,
        rules: &[&'static dyn Rules],
        catalog: &Catalog,
    ) -> (TrialReply, Vec<u8>) {
        // The priority is that of this thread, and of its children.
        if let Err(error) = rustix::process::nice(NICE) {
            tracing::warn!(%error, "programs are built at the priority of matches");
        }
        let unable = |error: io::Error| TrialReply {
            log: String::new(),
            verdict: TrialVerdict::Unable(error.to_string()),
        };
        let prepared = tempfile::tempdir().and_then(|place| {
            Ok((place, tokio::runtime::Builder::new_current_thread().enable_all().build()?))
        });
        let (place, runtime) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return (unable(error), Vec::new()),
        };
        let mut log = SubmissionLog::new(place.path());
        let work = self.work(job, &archive, rules, catalog, place.path(), &mut log);
        let (verdict, bytes) = match runtime.block_on(work) {
            Ok((ladders, built)) => {
                let (id, bytes) = built.map_or((None, Vec::new()), |(id, bytes)| (Some(id), bytes));
                (TrialVerdict::Passed { ladders, built: id }, bytes)
            }
            Err(RunError::Machine(why)) if is_temporary(why.kind()) => {
                (TrialVerdict::Full(Chain(&why).to_string()), Vec::new())
            }
            Err(why @ RunError::Machine(_)) => (TrialVerdict::Unable(Chain(&why).to_string()), Vec::new()),
            Err(why) => (TrialVerdict::Failed(Chain(&why).to_string()), Vec::new()),
        };
        (TrialReply { log: log.text(), verdict }, bytes)
    }
}
