//! Detects bots that block the referee by holding the lock of a pipe.
//!
//! On Linux, a process that splices into or out of a pipe holds the pipe's lock while it waits for the other file. Until
//! then a read, write or close of that pipe blocks in the referee, even though the descriptor is non-blocking, and with
//! it every match of the lane.

use std::io;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use referee_transport::Mark;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

#[cfg(target_os = "linux")]
use crate::death_watch::DeathWatch;
use crate::holders::{self, Owner, Processes};

const INTERVAL: Duration = Duration::from_millis(50);
/// The number of further polls that find the same operation in progress before the search for the holder: at least 100 ms.
const POLLS: u32 = 2;
/// The number of such polls before the pipe's own bot is blamed, if the kernel does not show the holder: 10 s, as for a stream
/// that accepts no data.
const MOST_POLLS: u32 = 200;

/// Kills bots that hold the lock of a pipe of the referee.
#[derive(Debug)]
pub(super) struct PipeGuard {
    watched: Arc<Mutex<Vec<Watched>>>,
    #[cfg(target_os = "linux")]
    death_watch: Option<DeathWatch>,
    /// Dropping it ends the thread.
    _work: mpsc::Sender<()>,
}

#[derive(Debug)]
struct Watched {
    group: Pid,
    pipes: [u64; 2],
    /// Dangling once the process has exited and its pipes are closed.
    mark: Weak<Mark>,
    operation: Option<u32>,
    /// The number of earlier polls that found this operation in progress.
    polls: u32,
}

impl PipeGuard {
    /// Starts the thread, and a process of this program for the case that this one is killed.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(super) fn open(program: Option<&Path>) -> io::Result<PipeGuard> {
        let watched = Arc::<Mutex<Vec<Watched>>>::default();
        let (work, is_over) = mpsc::channel();
        let watch = {
            let watched = watched.clone();
            move || {
                while is_over.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    poll(&mut watched.lock().unwrap_or_else(PoisonError::into_inner));
                }
            }
        };
        thread::Builder::new().name("pipe-guard".to_owned()).spawn(watch)?;
        Ok(PipeGuard {
            watched,
            #[cfg(target_os = "linux")]
            death_watch: program.map(DeathWatch::open).transpose()?,
            _work: work,
        })
    }

    /// Adds the pipes of a bot, given by their inodes. The bot leads the process group `group`.
    pub(super) fn watch(&self, group: Pid, pipes: [u64; 2], mark: &Arc<Mark>) {
        let watched = Watched { group, pipes, mark: Arc::downgrade(mark), operation: None, polls: 0 };
        let mut all = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(watched);
        #[cfg(target_os = "linux")]
        if let Some(death_watch) = &self.death_watch {
            death_watch.tell(all.iter().flat_map(|watched| watched.pipes).collect());
        }
    }
}

fn poll(watched: &mut Vec<Watched>) {
    watched.retain(|watched| watched.mark.strong_count() > 0);
    let mut held = Vec::new();
    for watched in watched.iter_mut() {
        let Some(mark) = watched.mark.upgrade() else { continue };
        let operation = mark.operation();
        let number = operation.map(|(number, _)| number);
        if number.is_none() || number != watched.operation {
            watched.operation = number;
            watched.polls = 0;
            continue;
        }
        watched.polls += 1;
        if watched.polls >= POLLS && operation.is_some_and(|(_, thread)| holders::waits_for_a_pipe(thread)) {
            held.push((watched.group, watched.pipes, watched.polls >= MOST_POLLS));
        }
    }
    if held.is_empty() {
        return;
    }
    let bots: Vec<Pid> = watched.iter().map(|watched| watched.group).collect();
    let processes = Processes::read();
    for (group, pipes, is_too_long) in held {
        let mut holders = processes.holders(&pipes, &bots);
        if holders.is_empty() && is_too_long {
            holders = processes.suspects(&pipes, &bots);
            holders.retain(|(_, owner)| matches!(owner, Owner::Gone) || *owner == Owner::Bot(group));
            end(watched, group, group);
        }
        for (process, owner) in holders {
            // A process that a bot left behind usually holds a pipe of that bot.
            let bot = match owner {
                Owner::Bot(bot) => bot,
                Owner::Gone => group,
            };
            end(watched, bot, process);
        }
    }
}

/// Kills a bot and its process that holds the pipe, which may be outside the bot's process group.
fn end(watched: &[Watched], bot: Pid, holder: Pid) {
    tracing::debug!(%bot, %holder, "a bot holds a pipe");
    if let Some(mark) = watched.iter().find(|watched| watched.group == bot).and_then(|bot| bot.mark.upgrade())
    {
        mark.note_held();
    }
    // The bot or the holder may have exited already.
    let _ = kill_process_group(bot, Signal::KILL);
    let _ = kill_process(holder, Signal::KILL);
}
