//! Checks whether bots start: runs each one until its `hello`.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::time::Duration;

use referee_bots::{Launch, Launcher, Process, StderrText};
use referee_game::erased::Rules;
use referee_game::{Chain, Wrong};
use referee_match::Detail;
use referee_transport::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::driver::{BotHello, Lane, Notice, Role, SessionKey};
use crate::runner::lane_messages::OVER;
use crate::sources::{BotSpec, OnExit};

/// The number of bots that run at the same time.
const AT_ONCE: usize = 4;

/// The result of starting a bot.
#[derive(Debug)]
pub struct StartCheck {
    /// The index of the entrant.
    pub entrant: usize,
    /// The `hello`, or why it cannot play.
    pub hello: Result<BotHello, Wrong>,
    /// The end of its standard error.
    pub stderr: String,
}

/// A started bot whose `hello` has not arrived.
#[derive(Debug)]
struct PendingBot {
    entrant: usize,
    process: Process,
}

/// Starts each bot that has a command, waits for its `hello`, and ends it.
///
/// # Errors
/// If no process can be started at all.
pub async fn check_starts(
    entrants: &[BotSpec],
    rules: &dyn Rules,
    launch: Launch,
    hello_limit: Duration,
) -> io::Result<Vec<StartCheck>> {
    let launcher = Launcher::open(launch, AT_ONCE)?;
    let (exited, mut exits) = mpsc::unbounded_channel::<(usize, Detail)>();
    let mut waiting: VecDeque<usize> = (0..entrants.len()).collect();
    let (mut lane, mut pending) = (Lane::new(), HashMap::<SessionKey, PendingBot>::new());
    let (mut checks, mut ending) = (Vec::new(), JoinSet::new());
    loop {
        while pending.len() < AT_ONCE
            && let Some(entrant) = waiting.pop_front()
        {
            let source = entrants[entrant].source.clone();
            if !source.is_started() {
                continue;
            }
            let exited = exited.clone();
            // The channel may be closed after the `hello`.
            let on_exit: OnExit = Box::new(move |how| drop(exited.send((entrant, how))));
            let started = launcher.start(move |starter| source.start(starter, on_exit)).await;
            let watched = started.and_then(|(process, wire)| Ok((process, Stream::watch(wire)?)));
            match watched {
                Ok((process, stream)) => {
                    let session = lane.add(Role::Process, stream, hello_limit);
                    pending.insert(session, PendingBot { entrant, process });
                }
                Err(error) => {
                    let why =
                        Wrong::from(Detail::NotStarted { error: Chain(&error).to_string() }.to_string());
                    checks.push(StartCheck { entrant, hello: Err(why), stderr: String::new() });
                }
            }
        }
        if pending.is_empty() {
            break;
        }
        let (session, hello) = tokio::select! {
            notice = lane.next() => match notice {
                Notice::Greeted(session) => (session, greeted(&lane, session, rules)),
                Notice::Gone { session, code, detail, .. } => (session, Err(format!("{code}: {detail}").into())),
                _ => continue,
            },
            Some((entrant, how)) = exits.recv() => {
                if let Some((&session, _)) = pending.iter().find(|(_, pending)| pending.entrant == entrant) {
                    lane.exited(session, how);
                }
                continue;
            }
        };
        lane.dismiss(session, OVER);
        lane.forget(session);
        let Some(PendingBot { entrant, process }) = pending.remove(&session) else { continue };
        let mut said = StderrText::default();
        said.append(process.stderr().clone().cut().wait());
        checks.push(StartCheck { entrant, hello, stderr: said.into_text().0 });
        ending.spawn(process.end());
    }
    while ending.join_next().await.is_some() {}
    checks.sort_by_key(|roll| roll.entrant);
    Ok(checks)
}

fn greeted(lane: &Lane, session: SessionKey, rules: &dyn Rules) -> Result<BotHello, Wrong> {
    let hello = lane.hello(session).cloned().ok_or_else(|| Wrong::from(Detail::NotHere.to_string()))?;
    hello.check_game(rules.meta().id).map_err(|why| Wrong::from(why.to_string()))?;
    Ok(hello)
}
