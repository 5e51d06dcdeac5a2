//! Starts the processes of bots for lanes, and retries failed starts.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use referee_bots::{Launcher, StartError, Starter};
use referee_game::Chain;
use referee_match::Detail;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::driver::{BotFault, SessionKey};
use crate::runner::bots::BotKey;
use crate::runner::cpu::Cpu;
use crate::runner::lane_messages::{BotArrival, LaneHandle, LaneOrder};
use crate::sources::{OnExit, Source};

/// The delays before the retries of a failed start. Until then a shortage of memory or descriptors may be over, and a
/// program that is being replaced may be complete.
const DELAYS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_millis(2000)];

type Orders = mpsc::UnboundedSender<LaneOrder>;

pub(super) struct Starts {
    launcher: Arc<Launcher>,
    running: JoinSet<Started>,
    /// Entrants whose last start failed for a reason other than a shortage: they are not retried, so that a program that
    /// is missing does not delay each match.
    cannot_start: HashSet<usize>,
    /// Whether no process is needed any more.
    is_over: watch::Sender<bool>,
}

struct Started {
    lane: usize,
    key: BotKey,
    spec: usize,
    result: Result<BotArrival, StartError>,
}

impl Starts {
    pub(super) fn new(launcher: Launcher) -> Starts {
        Starts {
            launcher: Arc::new(launcher),
            running: JoinSet::new(),
            cannot_start: HashSet::new(),
            is_over: watch::Sender::new(false),
        }
    }

    /// Starts a process for a lane, on the lane's processor. [`Starts::next`] returns the result.
    pub(super) fn start(
        &mut self,
        lane: LaneHandle,
        cpu: Option<Cpu>,
        key: BotKey,
        spec: usize,
        source: Arc<dyn Source>,
    ) {
        let launcher = self.launcher.clone();
        let delays = if self.cannot_start.contains(&spec) { &[][..] } else { &DELAYS };
        let mut is_over = self.is_over.subscribe();
        self.running.spawn(async move {
            let mut result = start(&launcher, &source, cpu, &lane.orders).await;
            for &delay in delays {
                let Err(error) = &result else { break };
                tracing::debug!(%source, error = %Chain(error), "not started; to be retried");
                if tokio::time::timeout(delay, is_over.wait_for(|&is_over| is_over)).await.is_ok() {
                    break;
                }
                result = start(&launcher, &source, cpu, &lane.orders).await;
            }
            Started { lane: lane.number, key, spec, result }
        });
    }

    /// Waits for the next result. Returns the lane and the order for it; `None` if no start is in progress.
    pub(super) async fn next(&mut self) -> Option<(usize, LaneOrder)> {
        loop {
            // A start that has panicked has no result.
            let Ok(Started { lane, key, spec, result }) = self.running.join_next().await? else {
                continue;
            };
            let come = match result {
                Ok(come) => {
                    self.cannot_start.remove(&spec);
                    Ok(come)
                }
                Err(error) => {
                    if !matches!(error, StartError::Exhausted { .. }) {
                        self.cannot_start.insert(spec);
                    }
                    Err(BotFault::no_start(Detail::NotStarted { error: Chain(&error).to_string() }))
                }
            };
            return Some((lane, LaneOrder::BotArrived(key, come)));
        }
    }

    /// Stops retrying: no process is needed any more.
    pub(super) fn give_up(&self) {
        self.is_over.send_replace(true);
    }
}

/// Starts a process once. Its exit is sent to the lane with these orders.
async fn start(
    launcher: &Launcher,
    source: &Arc<dyn Source>,
    cpu: Option<Cpu>,
    orders: &Orders,
) -> Result<BotArrival, StartError> {
    let turn = match source.command().and_then(|command| command.keep.as_ref()) {
        Some(keep) => keep.turn().await,
        None => None,
    };
    let (sender, receiver) = oneshot::channel::<SessionKey>();
    let (source, orders) = (source.clone(), orders.clone());
    // The process may exit before its session has a key.
    let on_exit: OnExit = Box::new(move |how| {
        tokio::spawn(async move {
            if let Ok(session) = receiver.await {
                // The lane may be done already.
                let _ = orders.send(LaneOrder::Exited(session, how));
            }
        });
    });
    let work = move |starter: &Starter| Cpu::run(cpu.as_ref(), || source.start(starter, on_exit));
    let (mut process, wire) = launcher.start(work).await?;
    process.keep_in_turn(turn);
    Ok(BotArrival::Process(process, wire, sender))
}
