//! The clock of matches, which stops while the referee does not run.
//!
//! A process can be stopped by a signal, frozen with its container or suspended with its machine, and a virtual
//! machine can lose its CPUs to others. Nothing can be read in this time, so no limit may pass. A thread, the
//! watchdog, sleeps for [`PERIOD`] and measures how late it wakes up. The difference is the referee's *absence*,
//! which the clock does not count.
//!
//! Waiting for a CPU is not an absence: a bot can cause it with busy threads. The operating system accounts for this
//! time per thread, and it is subtracted. Its effect on a lane is lag.

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The sleep time of the watchdog.
const PERIOD: Duration = Duration::from_millis(5);
/// The length below which a gap is no absence, in microseconds: a period of sleep and the usual margin of a limit.
const SHORTEST: u64 = 25_000;
/// The length below which lanes do not measure a wait, in microseconds: reading the time of a thread costs about one.
pub(super) const SHORTEST_WAIT: u64 = 1_000;
/// The time for which a lane waits for an overdue watchdog, in milliseconds. After an absence both wake up at
/// once.
const WAKE_ATTEMPTS: u32 = 50;

/// The length of absences that are logged as warnings, in milliseconds. A busy virtual machine loses some tens of
/// milliseconds now and then, which records and results show.
const WARNED_MS: u64 = 250;

/// The state of the watchdog. Times are in microseconds.
#[derive(Debug)]
pub(crate) struct Watchdog {
    start: Instant,
    /// The last wake-up, since `start`; `u64::MAX` if the watchdog does not run.
    woke: AtomicU64,
    /// The accumulated absences that the monotonic clock counts.
    absent: AtomicU64,
    /// The time for which the machine was suspended, which the monotonic clock does not count.
    suspended: AtomicU64,
}

static OF_PROCESS: Mutex<Weak<Watchdog>> = Mutex::new(Weak::new());

impl Watchdog {
    /// Returns the watchdog of this process; starts it if there is none. It runs while there are references to it,
    /// with the CPU affinity of the thread that started it.
    pub(crate) fn of_process() -> Arc<Watchdog> {
        let mut of_process = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = of_process.upgrade() {
            return running;
        }
        let started = Arc::new(Watchdog::new());
        let watched = Arc::downgrade(&started);
        let thread = thread::Builder::new().name("watchdog".to_owned());
        if let Err(error) = thread.spawn(move || watch(&watched)) {
            tracing::warn!(%error, "pauses of the referee are not measured");
            started.woke.store(u64::MAX, Ordering::Release);
        }
        *of_process = Arc::downgrade(&started);
        started
    }

    fn new() -> Watchdog {
        Watchdog {
            start: monotonic(),
            woke: AtomicU64::new(0),
            absent: AtomicU64::new(0),
            suspended: AtomicU64::new(0),
        }
    }

    /// The accumulated time during which the referee did not run.
    fn paused(&self) -> u64 {
        self.absent.load(Ordering::Relaxed) + self.suspended.load(Ordering::Relaxed)
    }

    /// The time since the start, including absences.
    fn elapsed(&self) -> u64 {
        monotonic().duration_since(self.start).as_micros() as u64
    }

    /// Records a wake-up. `last` is the previous one; the thread has waited for a CPU for `waited` since.
    fn wake(&self, last: u64, waited: u64) -> u64 {
        let now = self.elapsed();
        let absent = absence(now - last, waited);
        if absent > 0 {
            self.absent.fetch_add(absent, Ordering::Relaxed);
            let ms = absent / 1000;
            if ms < WARNED_MS {
                tracing::info!(ms, "the referee did not run");
            } else {
                tracing::warn!(
                    ms,
                    "the referee did not run: it was stopped, or the machine suspended or overloaded"
                );
            }
        }
        // Release: a thread that sees the wake-up also sees the absence.
        self.woke.store(now, Ordering::Release);
        now
    }
}

/// The part of `gap` in which the process did not run, if its thread should have slept for a period and
/// waited for a CPU for `waited`. The absence began within the period; the period is counted in favour of the
/// bots.
fn absence(gap: u64, waited: u64) -> u64 {
    Some(gap.saturating_sub(waited)).filter(|&missing| missing > SHORTEST).unwrap_or(0)
}

fn watch(watched: &Weak<Watchdog>) {
    let time = ThreadTime::of_thread();
    let ([_, mut waited], mut suspended_before) = (time.so_far(), suspended());
    let Some(mut last) = watched.upgrade().map(|watchdog| watchdog.elapsed()) else { return };
    while let Some(watchdog) = watched.upgrade() {
        let (waited_before, suspended_now) = (waited, suspended());
        if suspended_now > suspended_before + SHORTEST {
            watchdog.suspended.fetch_add(suspended_now - suspended_before, Ordering::Relaxed);
            suspended_before = suspended_now;
        }
        [_, waited] = time.so_far();
        last = watchdog.wake(last, waited.saturating_sub(waited_before));
        drop(watchdog);
        thread::sleep(PERIOD);
    }
}

/// The time that a thread has had, as accounted for by the operating system.
struct ThreadTime(Option<File>);

thread_local! {
    static OF_THIS_THREAD: ThreadTime = ThreadTime::of_thread();
}

impl ThreadTime {
    fn of_thread() -> ThreadTime {
        ThreadTime(File::open("/proc/thread-self/schedstat").ok())
    }

    /// The time that the thread was on a CPU, and the time that it was runnable without one, in microseconds;
    /// 0 if not available.
    fn so_far(&self) -> [u64; 2] {
        let mut text = [0; 64];
        let read = self.0.as_ref().and_then(|file| file.read_at(&mut text, 0).ok());
        let text = read.and_then(|len| std::str::from_utf8(&text[..len]).ok()).unwrap_or_default();
        // Then the number of time slices. In nanoseconds.
        let mut fields = text.split_ascii_whitespace().map(|ns| ns.parse::<u64>().unwrap_or(0) / 1000);
        [(); 2].map(|()| fields.next().unwrap_or(0))
    }
}

/// The time for which this thread was not asleep, in microseconds; 0 if not available.
fn awake() -> u64 {
    OF_THIS_THREAD.with(|time| time.so_far().iter().sum())
}

/// The time for which the machine has been suspended since boot, in microseconds.
#[cfg(target_os = "linux")]
fn suspended() -> u64 {
    use rustix::time::{ClockId, clock_gettime};
    // Two clocks are compared, and the thread may be preempted between the calls.
    for _ in 0..10 {
        let [before, boot, after] =
            [ClockId::Monotonic, ClockId::Boottime, ClockId::Monotonic].map(|clock| {
                let time = clock_gettime(clock);
                time.tv_sec.cast_unsigned() * 1_000_000 + time.tv_nsec.cast_unsigned() / 1000
            });
        if after < before + 1000 {
            return boot.saturating_sub(before);
        }
    }
    0
}

#[cfg(not(target_os = "linux"))]
fn suspended() -> u64 {
    0
}

/// The clock of a lane, in microseconds. It is monotonic, and stops while the referee is absent.
#[derive(Debug)]
pub struct LaneClock {
    watchdog: Arc<Watchdog>,
    latest: Cell<u64>,
    /// The last wake-up of the watchdog when it was waited for without success.
    missed: Cell<Option<u64>>,
    /// Time spent waiting for the watchdog since the last [`LaneClock::wake`].
    waited: Cell<u64>,
    /// The time at which the time of the thread was last read, and the value.
    awake: Cell<(u64, u64)>,
}

impl LaneClock {
    /// The clock of this process, for one lane.
    pub(crate) fn new() -> LaneClock {
        LaneClock::of(Watchdog::of_process())
    }

    fn of(watchdog: Arc<Watchdog>) -> LaneClock {
        LaneClock {
            watchdog,
            latest: Cell::new(0),
            missed: Cell::new(None),
            waited: Cell::new(0),
            awake: Cell::new((0, awake())),
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.checked(self.watchdog.elapsed())
    }

    /// The current time, if it is `at` without absences: waits until a possible absence has been measured.
    fn checked(&self, mut at: u64) -> u64 {
        let woke = self.watchdog.woke.load(Ordering::Acquire);
        if at > woke.saturating_add(SHORTEST) && self.missed.get() != Some(woke) {
            at = self.wait(woke, at);
        }
        let now = at.saturating_sub(self.watchdog.absent.load(Ordering::Relaxed)).max(self.latest.get());
        self.latest.set(now);
        now
    }

    /// Waits until the watchdog has measured a possible absence. If it does not wake up, it is waiting for a CPU, as
    /// the lane was.
    #[cold]
    fn wait(&self, woke: u64, since: u64) -> u64 {
        let is_awake = (0..WAKE_ATTEMPTS).any(|_| {
            thread::sleep(Duration::from_millis(1));
            self.watchdog.woke.load(Ordering::Acquire) != woke
        });
        self.missed.set(Some(woke).filter(|_| !is_awake));
        let now = self.watchdog.elapsed();
        self.waited.set(self.waited.get() + (now - since));
        now
    }

    /// The thread will sleep until something happens. `now` is the current time.
    pub(crate) fn sleep(&self, now: u64) {
        // Not before each of many short waits.
        if now >= self.awake.get().0 + SHORTEST_WAIT {
            self.awake.set((now, awake()));
        }
    }

    /// The current time after a sleep since `asleep`, and for how much of the sleep the thread was awake or waited for a
    /// CPU: an input that woke it up has waited for at most this time. 0 if the sleep was short.
    pub(crate) fn wake(&self, asleep: u64) -> (u64, u64) {
        let at = self.watchdog.elapsed();
        let is_short = at < asleep + self.watchdog.absent.load(Ordering::Relaxed) + SHORTEST_WAIT;
        let awake = if is_short { 0 } else { awake().saturating_sub(self.awake.get().1) };
        let now = self.checked(at);
        (now, (awake + self.waited.take()).min(now - asleep))
    }

    /// The accumulated time during which the referee did not run.
    pub(crate) fn paused(&self) -> u64 {
        self.watchdog.paused()
    }

    /// The instant of a time of this clock, if the referee runs until then.
    pub(crate) fn instant(&self, at: u64) -> Instant {
        let absent = self.watchdog.absent.load(Ordering::Relaxed);
        self.watchdog.start + Duration::from_micros(at.saturating_add(absent))
    }
}

/// The only clock of the shell.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock for matches")]
fn monotonic() -> Instant {
    Instant::now()
}

#[cfg(any(test, feature = "fuzzing"))]
impl LaneClock {
    /// A clock without a watchdog, and a function that pauses the referee.
    pub fn unwatched() -> (LaneClock, impl Fn(Duration)) {
        let watchdog = Arc::new(Watchdog::new());
        watchdog.woke.store(u64::MAX, Ordering::Release);
        let clock = LaneClock::of(watchdog.clone());
        (clock, move |pause: Duration| {
            watchdog.absent.fetch_add(pause.as_micros() as u64, Ordering::Relaxed);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1000;

    #[test]
    fn oversleeping_is_absence_and_waiting_for_cpu_is_not() {
        assert_eq!(absence(2000 * MS, 0), 2000 * MS);
        assert_eq!(absence(25 * MS, 0), 0);
        assert_eq!(absence(2000 * MS, 1990 * MS), 0);
        assert_eq!(absence(2000 * MS, 500 * MS), 1500 * MS);
        assert_eq!(absence(5 * MS, 7 * MS), 0);
    }

    #[test]
    fn the_clock_stops_during_an_absence_and_is_monotonic() {
        let (clock, pause) = LaneClock::unwatched();
        thread::sleep(Duration::from_millis(10));
        let before = clock.now();
        assert!(before >= 10 * MS);
        // The absence began before the last reading of the clock.
        pause(Duration::from_millis(8));
        assert_eq!(clock.now(), before);
        thread::sleep(Duration::from_millis(20));
        assert!(clock.now() > before);
        assert_eq!(clock.paused(), 8 * MS);
    }

    #[test]
    fn the_watchdog_wakes_up_every_few_milliseconds() {
        let watchdog = Watchdog::of_process();
        for _ in 0..3 {
            let woke = watchdog.woke.load(Ordering::Acquire);
            let is_awake = (0..5000).any(|_| {
                thread::sleep(Duration::from_millis(1));
                watchdog.woke.load(Ordering::Acquire) != woke
            });
            assert!(is_awake);
        }
    }

    /// Checks that threads which use all the CPU time that they get are not taken for absent.
    #[test]
    fn busy_threads_cause_no_absence() {
        let clock = LaneClock::new();
        let before = (clock.now(), clock.paused());
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let begun = monotonic();
                    while monotonic().duration_since(begun) < Duration::from_millis(600) {
                        std::hint::spin_loop();
                    }
                });
            }
        });
        let (took, paused) = (clock.now() - before.0, clock.paused() - before.1);
        assert!(paused < took / 4, "{paused} of {took}");
    }
}
