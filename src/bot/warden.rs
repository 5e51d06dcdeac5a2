//! Watching that no bot keeps the referee waiting at a pipe.
//!
//! On Linux, who splices into a pipe or out of it holds the pipe's lock while it waits for the other side. A read or
//! write of the referee, or its closing of the pipe, then waits for as long as the bot likes, though the descriptor is
//! non-blocking, and with it all matches of the lane.

use std::collections::HashSet;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::bot::orphans::children;
use crate::transport::Mark;

/// How often it looks.
const LOOK: Duration = Duration::from_millis(50);
/// After how many further looks at the same operation it acts: 100 ms at least.
const LOOKS: u32 = 2;

/// Kills bots that keep the referee waiting at their pipes. To be made before the first bot is started.
pub struct Warden {
    watched: Arc<Mutex<Vec<Watched>>>,
    /// Dropped, it ends the thread that looks.
    _work: mpsc::Sender<()>,
}

/// The pipes of a bot.
struct Watched {
    group: Pid,
    /// Gone when the process and its pipes are.
    mark: Weak<Mark>,
    operation: Option<u32>,
    /// How often this operation was seen before.
    looks: u32,
}

impl Warden {
    /// Starts to watch.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn open() -> io::Result<Warden> {
        let watched = Arc::<Mutex<Vec<Watched>>>::default();
        let (work, is_over) = mpsc::channel();
        let inherited = children().collect();
        let watch = {
            let watched = watched.clone();
            move || {
                while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                    look(&mut watched.lock().unwrap_or_else(PoisonError::into_inner), &inherited);
                }
            }
        };
        thread::Builder::new().name("warden".to_owned()).spawn(watch)?;
        Ok(Warden { watched, _work: work })
    }

    /// Watches the pipes of a bot, the leader of a process group, from its start.
    pub(super) fn start<T>(
        &self,
        mark: &Arc<Mark>,
        start: impl FnOnce() -> io::Result<(T, Pid)>,
    ) -> io::Result<(T, Pid)> {
        // A bot that has just been started must not be taken for something that an ended one has left behind.
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let (started, group) = start()?;
        watched.push(Watched { group, mark: Arc::downgrade(mark), operation: None, looks: 0 });
        Ok((started, group))
    }
}

fn look(watched: &mut Vec<Watched>, inherited: &HashSet<Pid>) {
    watched.retain(|watched| watched.mark.strong_count() > 0);
    let mut is_held_by_others = false;
    for watched in watched.iter_mut() {
        let Some(mark) = watched.mark.upgrade() else { continue };
        let operation = mark.operation();
        let number = operation.map(|(number, _)| number);
        if number.is_none() || number != watched.operation {
            watched.operation = number;
            watched.looks = 0;
            continue;
        }
        watched.looks += 1;
        // On a machine that is busy the thread may wait for its turn, and that is nobody's fault.
        if watched.looks < LOOKS || !operation.is_some_and(|(_, thread)| waits(thread)) {
            continue;
        }
        tracing::debug!(group = %watched.group, "the bot holds its pipe");
        mark.note_held();
        // It may have ended already.
        let _ = kill_process_group(watched.group, Signal::KILL);
        is_held_by_others |= watched.looks > LOOKS;
    }
    if is_held_by_others {
        // What has left the group of a bot that has ended is a child of ours now, where the system allows it.
        let is_bot = |child: &Pid| watched.iter().any(|watched| watched.group == *child);
        for orphan in children().filter(|child| !inherited.contains(child) && !is_bot(child)) {
            tracing::debug!(%orphan, "left behind by a bot, and may hold its pipe");
            let _ = kill_process(orphan, Signal::KILL);
        }
    }
}

/// Whether a thread of this process waits where nothing can disturb it, as for a lock of the system.
fn waits(thread: Pid) -> bool {
    // The state follows the name, which stands in brackets: proc_pid_stat(5).
    std::fs::read_to_string(format!("/proc/self/task/{thread}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('D')))
}
