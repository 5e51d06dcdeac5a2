//! Takes in the programs that owners hand in, and works on them while the league is played.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use referee_bots::Launch;
use referee_bots::sandbox::Unavailable;
use referee_engine::runner::signalled;
use referee_files::{Folder, StorageWait};
use referee_league::{IntakeError, League, OwnerCredential, SubmissionError};
use referee_store::{now, utc};
use referee_web::{ArrivingSubmission, SubmissionIntake};
use referee_workers::packing::{ARCHIVES, pack_game};
use referee_workers::trial::TrialDesk;
use tokio::sync::oneshot;

use super::open::OpenedLadder;
use super::stop::{LeagueStop, StopSignals};
use super::{LeagueError, LeagueNotice};
use crate::league::config::LeagueConfig;
use crate::submissions::{
    Arriving, BuildPlace, BuildWorkers, BuildsOn, CheckedLadder, SharedTerms, SubmissionFiles,
    SubmissionQueue, submitted_sandbox,
};

/// The limit of a decision in a check on a ladder without a clock.
const NO_CLOCK: Duration = Duration::from_secs(60);
/// By how much the priority of builds and checks is below that of matches: see nice(2).
const NICE: i32 = 10;

/// What takes programs in, and what works on them.
pub(super) struct OpenedSubmissions {
    pub(super) intake: Arc<dyn SubmissionIntake>,
    /// None on a machine that cannot confine them.
    pub(super) queue: Option<SubmissionQueue>,
    /// Their rules.
    pub(super) terms: SharedTerms,
}

/// Opens the submissions of a league, if it takes any. `workers`: the directory for what workers need.
pub(super) fn open(
    config: &LeagueConfig,
    ladders: &[OpenedLadder],
    folder: &Folder,
    workers: PathBuf,
    trials_of_workers: Option<TrialDesk>,
    launch: &Launch,
    notices: &mut Vec<LeagueNotice>,
) -> Result<Option<OpenedSubmissions>, LeagueError> {
    let Some(rules) = config.submissions()? else { return Ok(None) };
    let terms = SharedTerms::new(rules.clone());
    let files = || SubmissionFiles::open(folder, terms.clone());
    let limits = config.limits_of_programs();
    let mut build = rules.build;
    build.read.clone_from(&limits.read);
    let checked: Vec<CheckedLadder> = ladders.iter().map(checked).collect();
    let here = submitted_sandbox(build).and_then(|build| Ok((build, submitted_sandbox(limits.clone())?)));
    let lacking = here.as_ref().err().cloned();
    let (place, why) = match (here, trials_of_workers, config.builds_on()) {
        (Err(Unavailable::Limit(what)), ..) => return Err(LeagueError::Limits(what)),
        (_, None, Some(BuildsOn::Workers)) => return Err(LeagueError::NoWorkers),
        (Ok((build_sandbox, bot_sandbox)), _, None | Some(BuildsOn::Server)) => {
            (Some(BuildPlace::Here { build_sandbox, bot_sandbox, launch: launch.clone() }), None)
        }
        (Ok(_), Some(desk), Some(BuildsOn::Workers))
        | (Err(_), Some(desk), None | Some(BuildsOn::Workers)) => {
            notices.extend(lacking.map(LeagueNotice::BuiltOnWorkers));
            let packed = ladders.iter().map(|ladder| pack_game(ladder.prepared.game.rules, &workers));
            let game_files = packed.collect::<Result<_, _>>()?;
            let archives = workers.join(ARCHIVES);
            (Some(BuildPlace::Workers(BuildWorkers { desk, archives, bot: limits, game_files })), None)
        }
        (Err(why), None, _) | (Err(why), _, Some(BuildsOn::Server)) => {
            let refused = refusal(&why);
            notices.push(LeagueNotice::NoneTaken(why));
            (None, Some(refused))
        }
    };
    let intake = Arc::new(Intake {
        files: files()?,
        league: Arc::new(Mutex::new(League::open(folder)?)),
        why,
        failed: FailedUploads::default(),
    });
    let queue = match place {
        Some(place) => {
            let (files, league) = (files()?, League::open(folder)?);
            Some(SubmissionQueue::open(files, league, folder.path(), checked, place, now)?)
        }
        None => None,
    };
    Ok(Some(OpenedSubmissions { intake, queue, terms }))
}

/// What owners read where programs cannot be confined.
fn refusal(why: &Unavailable) -> String {
    format!(
        "this server takes no programs: its machine lacks {} of the sandbox `strict`. `referee sandbox check` tells the \
         organiser what to install",
        missing_layers(why)
    )
}

pub(super) fn missing_layers(why: &Unavailable) -> String {
    match why {
        Unavailable::Layers(_, missing) => {
            missing.keys().map(|layer| layer.as_str()).collect::<Vec<_>>().join(", ")
        }
        Unavailable::Limit(what) => what.to_string(),
    }
}

fn checked(ladder: &OpenedLadder) -> CheckedLadder {
    let terms = &ladder.prepared.terms;
    let clock = terms.clock.map(|clock| Duration::from_millis(clock.delay_ms.saturating_add(clock.bank_ms)));
    let game = &ladder.prepared.game;
    CheckedLadder {
        name: ladder.config.name.clone(),
        rules: game.rules,
        catalog: game.catalog.clone(),
        move_limit: clock.unwrap_or(NO_CLOCK).max(Duration::from_millis(1)),
        hello_limit: Duration::from_millis(terms.hello_ms),
        ready_limit: Duration::from_millis(terms.first_ready_ms),
        later_ready_limit: Duration::from_millis(terms.later_ready_ms),
    }
}

/// Works on the queue, at a low priority, until the server stops or `ended` resolves. What is in progress then begins anew
/// with the next server.
pub(super) fn work(
    queue: SubmissionQueue,
    stop: &LeagueStop,
    ended: oneshot::Receiver<()>,
) -> Result<(), LeagueError> {
    // It applies to this thread, and to what it starts.
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::warn!(%error, "programs that are handed in are built at the priority of matches");
    }
    let StopSignals { drained, interrupted: _interrupted } = stop.part(StorageWait::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime?.block_on(async {
        let (mut drained, mut ended) = (Some(drained), Some(ended));
        tokio::select! {
            () = queue.run() => {}
            () = signalled(&mut drained) => {}
            () = signalled(&mut ended) => {}
        }
    });
    Ok(())
}

/// The day, as in times of UTC, and the number of uploads of an owner on it that have failed.
type FailedUploads = Arc<Mutex<HashMap<String, (String, u32)>>>;

/// Takes in archives.
struct Intake {
    files: SubmissionFiles,
    league: Arc<Mutex<League>>,
    /// Why none is taken.
    why: Option<String>,
    /// By owner.
    failed: FailedUploads,
}

impl SubmissionIntake for Intake {
    fn begin(&self, owner: &str) -> Result<Box<dyn ArrivingSubmission>, IntakeError> {
        if let Some(why) = &self.why {
            return Err(IntakeError::Unavailable(why.clone()));
        }
        let league = self.league.lock().unwrap_or_else(PoisonError::into_inner);
        let owner_name = owner.to_owned();
        let mut failures = UploadFailures { failed: self.failed.clone(), owner: owner_name, counts: false };
        let most = self.files.uploads_per_day();
        if failures.add(0) >= most {
            return Err(SubmissionError::FailedUploads { most }.into());
        }
        let arriving = self.files.begin(&league, owner, now())?;
        failures.counts = true;
        Ok(Box::new(IntakeArrival { arriving, league: self.league.clone(), failures }))
    }
}

struct IntakeArrival {
    arriving: Arriving,
    league: Arc<Mutex<League>>,
    failures: UploadFailures,
}

/// The uploads of an owner that fail before they are in the queue. Dropping it counts one more, if it counts.
struct UploadFailures {
    failed: FailedUploads,
    owner: String,
    counts: bool,
}

impl UploadFailures {
    /// Adds to the number of today, and returns it.
    fn add(&self, more: u32) -> u32 {
        let today = utc(now())[..10].to_owned();
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.retain(|_, (day, _)| *day == today);
        if more == 0 {
            return failed.get(&self.owner).map_or(0, |(_, count)| *count);
        }
        let (_, count) = failed.entry(self.owner.clone()).or_insert((today, 0));
        *count += more;
        *count
    }
}

impl Drop for UploadFailures {
    fn drop(&mut self) {
        if self.counts {
            self.add(1);
        }
    }
}

impl ArrivingSubmission for IntakeArrival {
    fn write(&mut self, bytes: &[u8]) -> Result<(), IntakeError> {
        let written = self.arriving.write(bytes);
        // The disk of the server is full.
        self.failures.counts = !matches!(written, Err(IntakeError::Storage(_)));
        written
    }

    fn finish(self: Box<Self>, by: &OwnerCredential) -> Result<u32, IntakeError> {
        let IntakeArrival { arriving, league, mut failures } = *self;
        let finished = arriving.finish(&mut league.lock().unwrap_or_else(PoisonError::into_inner), by, now());
        failures.counts = matches!(finished, Err(IntakeError::Empty));
        finished
    }
}
