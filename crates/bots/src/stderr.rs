//! The standard error of a bot: always drained; the end of it is kept.
//!
//! Each pipe has its own thread: if a bot holds the lock of the pipe, only that thread blocks.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use referee_protocol::limits;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The drain reads at most this many bytes at once, as many as a pipe holds.
const READ: usize = 64 * 1024;
/// The drain pauses after each read, so that neither a flood nor a bot that writes single bytes takes CPU time from the
/// lanes. The bot waits only if it writes more than a pipe holds meanwhile.
const REST: Duration = Duration::from_millis(5);
/// The timeout of [`StderrCut::wait`]. No lane waits; on a busy machine the drain may get a processor late.
const TIMEOUT: Duration = Duration::from_millis(500);
const STACK: usize = 64 * 1024;

/// The standard error of a process. It can be read after the process has exited.
#[derive(Debug, Clone)]
pub struct Stderr(Arc<StderrPipe>);

#[derive(Debug)]
struct StderrPipe {
    pipe: OwnedFd,
    drained: Mutex<Drained>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Drained {
    kept: StderrText,
    /// The number of bytes read.
    bytes: usize,
    is_reading: bool,
    /// Cuts that are pending until the pipe is empty, the oldest first.
    cuts: VecDeque<PendingCut>,
    /// Whether a cut timed out since the last read.
    is_stuck: bool,
}

#[derive(Debug)]
struct PendingCut {
    said: SyncSender<StderrText>,
    /// The number of bytes after which the cut is made at the latest.
    enough: usize,
}

/// The text up to some moment, part of which may not have been read yet.
#[derive(Debug)]
pub struct StderrCut(CutState);

#[derive(Debug)]
enum CutState {
    Now(StderrText),
    Later(Stderr, Receiver<StderrText>),
}

/// The bytes kept of the beginning of a text, beside its end.
const START: usize = 8 * 1024;

/// The text, or its beginning and its end.
#[derive(Debug, Default)]
pub struct StderrText {
    /// The first of the bytes that were dropped from the end.
    start: Vec<u8>,
    end: VecDeque<u8>,
    dropped: u64,
}

impl StderrText {
    fn add(&mut self, bytes: &[u8]) {
        self.end.extend(bytes);
        self.drop_first(self.end.len().saturating_sub(limits::STDERR));
    }

    /// Drops bytes at the beginning of the kept end.
    fn drop_first(&mut self, count: usize) {
        // After a gap nothing belongs to the beginning.
        let room = if self.start.len() as u64 == self.dropped { START - self.start.len() } else { 0 };
        let first = self.end.drain(..count).take(room);
        self.start.extend(first);
        self.dropped += count as u64;
    }

    pub fn append(&mut self, mut later: StderrText) {
        if later.dropped > 0 {
            self.end.extend(&later.start);
            self.drop_first(self.end.len());
            self.dropped += later.dropped - later.start.len() as u64;
        }
        self.add(later.end.make_contiguous());
    }

    /// The beginning of the text, the number of bytes after it that were dropped, and the end.
    pub fn into_parts(self) -> (String, u64, String) {
        let (start, dropped) = (String::from_utf8_lossy(&self.start).into_owned(), self.dropped);
        let gap = dropped - self.start.len() as u64;
        (start, gap, self.into_text().0)
    }

    /// The end of the text, and the number of bytes before it that were dropped.
    pub fn into_text(mut self) -> (String, u64) {
        (String::from_utf8_lossy(self.end.make_contiguous()).into_owned(), self.dropped)
    }
}

impl Stderr {
    pub(super) fn new(pipe: OwnedFd) -> io::Result<Stderr> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Stderr(Arc::new(StderrPipe { pipe, drained: Mutex::default(), changed: Condvar::new() })))
    }

    /// The first line of the text of a process that has ended before it was drained.
    pub(super) fn first_line(&self) -> Option<String> {
        let mut buffer = [0; 1024];
        let read = rustix::io::read(&self.0.pipe, &mut buffer).unwrap_or(0);
        let text = String::from_utf8_lossy(&buffer[..read]);
        text.lines().next().map(str::to_owned)
    }

    fn drained(&self) -> MutexGuard<'_, Drained> {
        self.0.drained.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread that drains it until end-of-file. The thread also closes `ends`, the bot's ends of its pipes,
    /// because closing a pipe takes its lock, too.
    pub(super) fn drain(&self, ends: impl Send + 'static) -> io::Result<()> {
        let stderr = self.clone();
        let work = move || {
            drop(ends);
            stderr.read_all();
        };
        thread::Builder::new().name("stderr".to_owned()).stack_size(STACK).spawn(work).map(drop)
    }

    fn read_all(&self) {
        let mut buffer = Vec::with_capacity(READ);
        // Polls first: unlike a read, that does not take the lock of the pipe.
        while self.ready(None).is_some() {
            self.drained().is_reading = true;
            buffer.clear();
            let read = rustix::io::read(&self.0.pipe, spare_capacity(&mut buffer));
            let mut drained = self.drained();
            drained.kept.add(&buffer);
            drained.bytes += buffer.len();
            drained.is_reading = false;
            drained.is_stuck = false;
            let has_ended = !matches!(read, Ok(1..) | Err(Errno::AGAIN | Errno::INTR));
            self.make_cuts(&mut drained);
            if has_ended {
                return;
            }
            drop(self.0.changed.wait_timeout_while(drained, REST, |drained| drained.cuts.is_empty()));
        }
    }

    /// Makes the cuts that are due; if the pipe is empty, all of them.
    fn make_cuts(&self, drained: &mut Drained) {
        while let Some(cut) = drained.cuts.front() {
            if drained.bytes < cut.enough && self.has_data() {
                return;
            }
            let said = std::mem::take(&mut drained.kept);
            if let Some(cut) = drained.cuts.pop_front() {
                // The channel has room for one value, and may be closed.
                let _ = cut.said.try_send(said);
            }
        }
    }

    /// Polls for readability: data, end-of-file, or both. None on timeout.
    fn ready(&self, timeout: Option<&Timespec>) -> Option<PollFlags> {
        let mut fds = [PollFd::new(&self.0.pipe, PollFlags::IN)];
        let ready = rustix::io::retry_on_intr(|| poll(&mut fds, timeout)).is_ok_and(|ready| ready > 0);
        ready.then(|| fds[0].revents())
    }

    /// Returns whether the pipe has unread data.
    fn has_data(&self) -> bool {
        self.ready(Some(&Timespec::default())).is_some_and(|ready| ready.contains(PollFlags::IN))
    }

    /// Takes the text since the last cut, including unread data in the pipe. Does not block; [`StderrCut::wait`] may.
    pub fn cut(&self) -> StderrCut {
        let mut drained = self.drained();
        if drained.cuts.is_empty() && !drained.is_reading && !self.has_data() {
            return StderrCut(CutState::Now(std::mem::take(&mut drained.kept)));
        }
        let (said, made) = sync_channel(1);
        // A bot that keeps writing does not delay the cut.
        let enough = drained.bytes + 2 * READ;
        drained.cuts.push_back(PendingCut { said, enough });
        self.0.changed.notify_all();
        StderrCut(CutState::Later(self.clone(), made))
    }
}

impl StderrCut {
    /// The text up to the cut. Wait for the cuts of a process in their order.
    pub fn wait(self) -> StderrText {
        let (stderr, made) = match self.0 {
            CutState::Now(said) => return said,
            CutState::Later(stderr, made) => (stderr, made),
        };
        let timeout = if stderr.drained().is_stuck { Duration::ZERO } else { TIMEOUT };
        if let Ok(said) = made.recv_timeout(timeout) {
            return said;
        }
        let mut drained = stderr.drained();
        made.try_recv().unwrap_or_else(|_| {
            drained.is_stuck = true;
            drained.cuts.pop_front();
            std::mem::take(&mut drained.kept)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> StderrText {
        let mut said = StderrText::default();
        said.add(bytes);
        said
    }

    #[test]
    fn the_end_is_kept_and_what_came_before_is_counted() {
        let mut long = vec![b'a'; limits::STDERR];
        long.extend(b"end");
        let (text, dropped) = said(&long).into_text();
        assert_eq!((text.len(), dropped), (limits::STDERR, 3));
        assert!(text.ends_with("aend"));
    }

    #[test]
    fn the_beginning_is_kept_too() {
        let of = |bytes: usize| said(&[b"first".to_vec(), vec![b'a'; bytes]].concat());
        let (start, gap, end) = of(limits::STDERR - 5).into_parts();
        assert_eq!((&*start, gap, end.len()), ("", 0, limits::STDERR));
        let (start, gap, end) = of(limits::STDERR - 3).into_parts();
        assert_eq!((&*start, gap, end.len()), ("fi", 0, limits::STDERR));
        let mut long = said(b"very ");
        long.append(of(limits::STDERR + 2 * START));
        let (start, gap, end) = long.into_parts();
        assert!(start.starts_with("very firsta") && start.len() == START);
        assert_eq!((gap, end.len()), (10 + START as u64, limits::STDERR));
    }

    #[test]
    fn what_was_said_later_comes_after() {
        let mut first = said(b"one ");
        first.append(said(b"two"));
        assert_eq!(first.into_text(), ("one two".to_owned(), 0));
    }

    #[test]
    fn nothing_is_kept_from_before_a_gap() {
        let mut first = said(b"one");
        let mut long = vec![b'a'; limits::STDERR];
        long.push(b'b');
        let mut later = said(&long);
        later.end.truncate(2);
        first.append(later);
        assert_eq!(first.into_text(), ("aa".to_owned(), 4));
    }

    /// The number of times that a thread of this process gave up its processor: proc_pid_status(5).
    #[cfg(target_os = "linux")]
    fn switches(thread: &str) -> u64 {
        let mut tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
        let is_it = |task: &std::path::PathBuf| {
            std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim_end() == thread)
        };
        let status = std::fs::read_to_string(tasks.find(is_it).unwrap().join("status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
        line.trim().parse().unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "no clock of a match: the time that a test takes")]
    fn single_bytes_do_not_wake_the_drain_one_by_one() {
        use std::io::Write;
        use std::time::Instant;
        const BYTES: usize = 50_000;
        let (ours, mut its) = io::pipe().unwrap();
        let stderr = Stderr::new(ours.into()).unwrap();
        // A name of its own: other tests drain, too.
        let drain = stderr.clone();
        let thread =
            thread::Builder::new().name("single-bytes".to_owned()).spawn(move || drain.read_all()).unwrap();
        let start = Instant::now();
        for _ in 0..BYTES {
            its.write_all(b"x").unwrap();
            // The drain has the time to read each of them.
            thread::yield_now();
        }
        let switches = u128::from(switches("single-bytes"));
        // A rest, a wait for the next byte and one for the lock of the pipe, however long the bytes take on a busy machine.
        let expected = 3 * (start.elapsed().as_millis() / REST.as_millis() + 1);
        assert!(switches <= expected, "{switches} for {BYTES} bytes, not {expected}");
        drop(its);
        thread.join().unwrap();
        assert_eq!(stderr.drained().bytes, BYTES);
    }
}
