//! Finds the process that holds the lock of a pipe.
//!
//! The kernel does not show the holder of a lock, but it shows the function in which each thread sleeps (`wchan`). A
//! thread of the referee that waits for the lock sleeps uninterruptibly inside the pipe code. A thread that holds the
//! lock deliberately is in a system call that moves data between this pipe and another file, and sleeps interruptibly
//! outside the pipe code, waiting for that file. Swapping, throttling and a busy CPU look different: the thread sleeps
//! in other code, or is runnable.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use rustix::process::{Pid, getpid};

use super::lineage::Lineage;

/// The number of a system call.
type Number = nix::libc::c_long;

/// The system calls that keep the lock of a pipe while they wait for another file.
#[cfg(target_os = "linux")]
const MOVES: &[Number] =
    &[nix::libc::SYS_splice, nix::libc::SYS_tee, nix::libc::SYS_vmsplice, nix::libc::SYS_sendfile];
/// No calls: other systems do not have them.
#[cfg(not(target_os = "linux"))]
const MOVES: &[Number] = &[];

/// The state of a thread in the kernel.
#[derive(Debug, PartialEq, Eq)]
struct Thread {
    /// The state in `/proc`: `R`, `S`, `D`, ...
    state: u8,
    /// The function that it sleeps in; `0` if it does not sleep or the kernel hides it.
    place: String,
    /// The system call that it is in: number and arguments.
    call: Option<(Number, Vec<u64>)>,
}

impl Thread {
    /// Reads the thread's folder below `/proc`.
    fn read(folder: &Path) -> Option<Thread> {
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        let place = fs::read_to_string(folder.join("wchan")).ok()?;
        // A process that is not dumpable cannot read this, even for its own threads.
        let call = fs::read_to_string(folder.join("syscall")).unwrap_or_default();
        Some(Thread { state: state(&stat)?, place, call: parse_call(&call) })
    }

    /// Returns whether the thread waits for the lock of a pipe.
    fn waits_for_a_pipe(&self) -> bool {
        self.state == b'D' && self.place.contains("pipe")
    }

    /// The descriptors between which the thread moves data, if it waits for one that is not a pipe.
    fn moves_and_waits(&self) -> Option<impl Iterator<Item = u64>> {
        let (number, args) = self.call.as_ref()?;
        let waits_elsewhere = self.state == b'S' && self.place != "0" && !self.place.contains("pipe");
        // Arguments 1 and 3 of splice, 1 and 2 of sendfile and tee, 1 of vmsplice.
        (MOVES.contains(number) && waits_elsewhere).then(|| args.iter().take(3).copied())
    }
}

/// The state follows the name, which is in parentheses: proc_pid_stat(5).
fn state(stat: &str) -> Option<u8> {
    stat.rsplit_once(") ")?.1.bytes().next()
}

/// Parses a line with a decimal number and hexadecimal arguments; `running` or `-1` outside a system call.
fn parse_call(line: &str) -> Option<(Number, Vec<u64>)> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok().filter(|&number| number >= 0)?;
    let args = words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16));
    Some((number, args.collect::<Result<_, _>>().ok()?))
}

/// Returns whether a thread of this process waits for the lock of a pipe.
pub(super) fn waits_for_a_pipe(thread: Pid) -> bool {
    Thread::read(Path::new(&format!("/proc/self/task/{thread}")))
        .is_some_and(|thread| thread.waits_for_a_pipe())
}

/// Returns whether the kernel shows where a thread sleeps. Some kernels are built without this, and some
/// containers hide it.
#[cfg(target_os = "linux")]
pub(super) fn are_visible() -> bool {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    let ((sender, receiver), (wake, sleep)) = (channel(), channel::<()>());
    let sleeper = move || {
        // The channel is closed after a timeout.
        let _ = sender.send(rustix::thread::gettid());
        let _ = sleep.recv();
    };
    let Ok(thread) = std::thread::Builder::new().spawn(sleeper) else { return false };
    let is_visible = receiver.recv().is_ok_and(|id| {
        let folder = format!("/proc/self/task/{id}");
        (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            Thread::read(Path::new(&folder)).is_some_and(|thread| thread.state == b'S' && thread.place != "0")
        })
    });
    drop(wake);
    is_visible && thread.join().is_ok()
}

/// Returns true: on other systems no process can hold a pipe.
#[cfg(not(target_os = "linux"))]
pub(super) fn are_visible() -> bool {
    true
}

/// The bot that a process belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The bot with this process ID, or a descendant of it.
    Bot(Pid),
    /// An orphan of a bot that has exited: now a child of this process.
    Gone,
}

pub(super) struct Processes {
    all: HashMap<Pid, Lineage>,
    this: Pid,
}

impl Processes {
    pub(super) fn read() -> Processes {
        let entries = fs::read_dir("/proc").into_iter().flatten();
        let all = entries.filter_map(|entry| {
            let process = Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?)?;
            Some((process, Lineage::of(process)?))
        });
        Processes { all: all.collect(), this: getpid() }
    }

    /// The bot that a process belongs to, if it is one of these bots or a descendant of one.
    fn owner(&self, process: Pid, bots: &[Pid]) -> Option<Owner> {
        let our_session = self.all.get(&self.this)?.session;
        let mut one = process;
        // Parents may change while they are read: the loop is bounded.
        for _ in 0..self.all.len() {
            let &Lineage { parent, session } = self.all.get(&one)?;
            if let Some(bot) = bots.iter().find(|&&bot| bot == one || bot.as_raw_pid() == session) {
                return Some(Owner::Bot(*bot));
            }
            if parent == Some(self.this) {
                // Bots are not in the referee's session; other children of this program are.
                return (session != our_session).then_some(Owner::Gone);
            }
            one = parent?;
        }
        None
    }

    /// The processes of these bots that hold the lock of one of these pipes, given by their inodes, while they wait for
    /// another file.
    pub(super) fn holders(&self, pipes: &[u64], bots: &[Pid]) -> Vec<(Pid, Owner)> {
        self.of_bots(bots).filter(|(process, _)| holds(*process, pipes)).collect()
    }

    /// The processes of these bots that have one of these pipes open, or hide their open files.
    pub(super) fn suspects(&self, pipes: &[u64], bots: &[Pid]) -> Vec<(Pid, Owner)> {
        // A process that is not dumpable hides its descriptors from those without CAP_SYS_PTRACE.
        let hides = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        let may_hold = |process: Pid| {
            fs::read_dir(format!("/proc/{process}/fd")).map_or_else(hides, |fds| {
                fds.flatten()
                    .any(|fd| fs::read_link(fd.path()).map_or_else(hides, |target| is_pipe(&target, pipes)))
            })
        };
        self.of_bots(bots).filter(|(process, _)| may_hold(*process)).collect()
    }

    fn of_bots(&self, bots: &[Pid]) -> impl Iterator<Item = (Pid, Owner)> {
        let mut all: Vec<(Pid, Owner)> =
            self.all.keys().filter_map(|&process| Some((process, self.owner(process, bots)?))).collect();
        all.sort_by_key(|(process, _)| process.as_raw_pid());
        all.into_iter()
    }
}

/// Returns whether a process holds the lock of one of these pipes while it waits for another file.
fn holds(process: Pid, pipes: &[u64]) -> bool {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let mut threads = threads.filter_map(|thread| Thread::read(&thread.path()));
    let is_ours = |fd: u64| {
        fs::read_link(format!("/proc/{process}/fd/{fd}")).is_ok_and(|target| is_pipe(&target, pipes))
    };
    threads.any(|thread| thread.moves_and_waits().is_some_and(|mut fds| fds.any(is_ours)))
}

/// Returns whether the target of a descriptor below `/proc` is one of these pipes.
pub(super) fn is_pipe(target: &Path, pipes: &[u64]) -> bool {
    pipes.iter().any(|pipe| target.as_os_str() == format!("pipe:[{pipe}]").as_str())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn thread(state: u8, place: &str, call: &str) -> Thread {
        Thread { state, place: place.to_owned(), call: parse_call(call) }
    }

    fn splice() -> String {
        format!("{} 0x3 0x0 0x6 0x0 0x10000 0x0 0x7ffc 0x7fee", MOVES[0])
    }

    #[test]
    fn only_thread_asleep_in_pipe_waits_for_its_lock() {
        for place in ["anon_pipe_write", "anon_pipe_read", "pipe_read", "pipe_write", "pipe_release"] {
            assert!(thread(b'D', place, "").waits_for_a_pipe(), "{place}");
        }
        // Swapping, reclaiming memory, being throttled or stopped, waiting for a turn, and a kernel that reports nothing.
        for (state, place) in [
            (b'D', "folio_wait_bit_common"),
            (b'D', "throttle_direct_reclaim"),
            (b'D', "0"),
            (b'R', "0"),
            (b'R', "anon_pipe_read"),
            (b'T', "do_signal_stop"),
            (b'S', "anon_pipe_read"),
        ] {
            assert!(!thread(state, place, "").waits_for_a_pipe(), "{place}");
        }
    }

    #[test]
    fn only_thread_waiting_elsewhere_in_move_holds_pipe() {
        let holds = |thread: Thread| thread.moves_and_waits().map(Iterator::collect::<Vec<_>>);
        assert_eq!(holds(thread(b'S', "sock_alloc_send_pskb", &splice())), Some(vec![3, 0, 6]));
        // An honest bridge that waits for the pipe has let go of its lock.
        assert_eq!(holds(thread(b'S', "pipe_wait_readable", &splice())), None);
        // A bot that swaps, is throttled, reads or computes.
        assert_eq!(holds(thread(b'D', "folio_wait_bit_common", &splice())), None);
        assert_eq!(holds(thread(b'R', "0", &splice())), None);
        assert_eq!(
            holds(thread(b'S', "anon_pipe_read", "0 0x0 0x7ffc 0x2000 0x0 0x0 0x0 0x7ffc 0x7f7d")),
            None
        );
        assert_eq!(holds(thread(b'R', "0", "running")), None);
        assert_eq!(holds(thread(b'S', "futex_do_wait", "-1 0x0 0x0")), None);
    }

    #[test]
    fn processes_belong_to_bots_by_their_sessions_or_their_parents() {
        let pid = |id| Pid::from_raw(id).expect("an id");
        let of = |parent, session| Lineage { parent: Some(pid(parent)), session };
        let all = [
            (10, of(1, 5)),   // this program
            (20, of(10, 20)), // a bot
            (21, of(20, 20)), // the child of the bot
            (22, of(21, 22)), // the grandchild of the bot, in a session of its own
            (23, of(1, 20)),  // its daemon, in its session
            (30, of(10, 5)),  // a child of the program that embeds the library
            (31, of(30, 5)),
            (40, of(10, 40)), // left behind
            (50, of(1, 50)),  // a stranger
        ];
        let all = all.into_iter().map(|(id, of)| (pid(id), of)).collect();
        let processes = Processes { all, this: pid(10) };
        let owner = |id| processes.owner(pid(id), &[pid(20)]);
        for id in 20..=23 {
            assert_eq!(owner(id), Some(Owner::Bot(pid(20))), "{id}");
        }
        assert_eq!(owner(40), Some(Owner::Gone));
        for id in [10, 30, 31, 50, 60] {
            assert_eq!(owner(id), None, "{id}");
        }
    }
}
