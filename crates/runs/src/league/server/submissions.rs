//! Takes in the programs that owners hand in, and works on them while the league is played.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use referee_bots::Launch;
use referee_bots::sandbox::Unavailable;
use referee_engine::runner::signalled;
use referee_files::{Folder, StorageWait};
use referee_game::{Chain, Wrong};
use referee_league::{League, SubmissionFiles};
use referee_store::now;
use referee_web::SubmissionIntake;
use referee_workers::packing::{ARCHIVES, pack_game};
use referee_workers::trial::TrialQueue;
use tokio::sync::oneshot;

use super::LeagueNotice;
use super::open::OpenedLadder;
use super::stop::{LeagueStop, StopSignals};
use crate::RunError;
use crate::league::config::LeagueConfig;
use crate::submissions::{
    BuildPlace, BuildWorkers, BuildsOn, CheckedLadder, SharedTerms, SubmissionQueue, submitted_sandbox,
};

/// The limit of a decision in a check on a ladder without a clock.
const NO_CLOCK: Duration = Duration::from_secs(60);
/// The amount by which the priority of builds and checks is below that of matches: see nice(2).
const NICE: i32 = 10;

/// The queue of submissions and its workers.
pub(super) struct OpenedSubmissions {
    pub(super) intake: Arc<SubmissionIntake>,
    /// `None` on a machine that cannot confine submissions.
    pub(super) queue: Option<SubmissionQueue>,
    pub(super) terms: SharedTerms,
}

/// Opens the submissions of a league, if it takes any. `workers`: the directory for what workers need.
pub(super) fn open(
    config: &LeagueConfig,
    ladders: &[OpenedLadder],
    folder: &Folder,
    workers: PathBuf,
    trials_of_workers: Option<TrialQueue>,
    launch: &Launch,
    notices: &mut Vec<LeagueNotice>,
) -> Result<Option<OpenedSubmissions>, RunError> {
    let Some(rules) = config.submissions()? else { return Ok(None) };
    let terms = SharedTerms::new(rules.clone());
    let files = || SubmissionFiles::open(folder);
    let limits = config.limits_of_programs();
    let mut build = rules.build;
    build.read.clone_from(&limits.read);
    let checked: Vec<CheckedLadder> = ladders.iter().map(checked).collect();
    let here = submitted_sandbox(build).and_then(|build| Ok((build, submitted_sandbox(limits.clone())?)));
    let lacking = here.as_ref().err().map(missing_layers);
    let (place, why) = match (here, trials_of_workers, config.builds_on()) {
        (Err(Unavailable::Limit(what)), ..) => return Err(Wrong::at("[sandbox] limits", what).into()),
        (_, None, Some(BuildsOn::Workers)) => {
            return Err("[submissions] on = \"workers\" needs workers, such as those of [workers]".into());
        }
        (Ok((build_sandbox, bot_sandbox)), _, None | Some(BuildsOn::Server)) => {
            (Some(BuildPlace::Here { build_sandbox, bot_sandbox, launch: launch.clone() }), None)
        }
        (Ok(_), Some(desk), Some(BuildsOn::Workers))
        | (Err(_), Some(desk), None | Some(BuildsOn::Workers)) => {
            notices.extend(lacking.map(|missing| LeagueNotice::BuiltOnWorkers { missing }));
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
    let of_intake = terms.clone();
    let limits = Box::new(move || of_intake.get().intake());
    let intake = Arc::new(SubmissionIntake::new(files()?, League::open(folder)?, limits, why));
    let queue = match place {
        Some(place) => {
            let (files, league) = (files()?, League::open(folder)?);
            Some(SubmissionQueue::open(files, terms.clone(), league, folder.path(), checked, place, now)?)
        }
        None => None,
    };
    Ok(Some(OpenedSubmissions { intake, queue, terms }))
}

/// The message for owners where programs cannot be confined.
fn refusal(why: &Unavailable) -> String {
    format!(
        "this server takes no programs: its machine lacks {} of the sandbox `strict`. `referee sandbox check` tells the \
         organiser what to install",
        missing_layers(why)
    )
}

fn missing_layers(why: &Unavailable) -> String {
    match why {
        Unavailable::Layers(_, missing) => {
            missing.keys().map(|layer| layer.as_str()).collect::<Vec<_>>().join(", ")
        }
        Unavailable::Limit(what) => Chain(what).to_string(),
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

/// Works on the queue, at a low priority, until the server stops or `ended` resolves. Work in progress then
/// begins anew with the next server.
pub(super) fn work(
    queue: SubmissionQueue,
    stop: &LeagueStop,
    ended: oneshot::Receiver<()>,
) -> Result<(), RunError> {
    // The priority is that of this thread, and of the processes that it starts.
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
