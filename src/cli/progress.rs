//! The progress of a run on standard error: a bar on a terminal, otherwise a line now and then.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use crate::game::printable::{printable, printable_lines};

const REDRAW: Duration = Duration::from_millis(200);
/// The minimum interval between queries of the progress. Queries also take at most a tenth of the time.
const QUERY_INTERVAL: Duration = Duration::from_millis(500);
/// The minimum time between two lines after matches have ended, without a terminal.
const LINE_APART: Duration = Duration::from_secs(5);
/// The maximum time between two lines, without a terminal.
const STILL_ALIVE: Duration = Duration::from_secs(60);
/// The time to wait at the end for a terminal that blocks.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A bar with this template, drawn when it is updated.
pub(super) fn bar(length: u64, template: &str) -> ProgressBar {
    let progress = still(length, template);
    progress.enable_steady_tick(REDRAW);
    progress
}

/// Shows the progress of work on records, which tells their number before the first one and after each.
#[cfg(feature = "http")]
pub(super) fn of_records<T>(work: impl FnOnce(&mut dyn FnMut(usize)) -> T) -> T {
    let mut shown = None;
    let done = work(&mut |records| match &shown {
        None => shown = Some(bar(records as u64, "{bar:30} {pos}/{len} records, {eta} left")),
        Some(bar) => bar.inc(1),
    });
    if let Some(bar) = shown {
        bar.finish_and_clear();
    }
    done
}

/// A bar that is not drawn yet.
fn still(length: u64, template: &str) -> ProgressBar {
    let progress = ProgressBar::new(length);
    if let Some(style) = style(template) {
        progress.set_style(style);
    }
    progress
}

/// The style of a template. Its keys `left` and `left_at_least` are empty until there is an estimate.
fn style(template: &str) -> Option<ProgressStyle> {
    fn left(state: &ProgressState, out: &mut dyn fmt::Write, words: &str) {
        let left = state.eta();
        if left.as_secs() > 0 {
            // A bar that cannot be drawn is not an error.
            let _ = write!(out, ", {words}{:#} left", HumanDuration(left));
        }
    }
    let style = ProgressStyle::with_template(template).ok()?;
    let style =
        style.with_key("left", |state: &ProgressState, out: &mut dyn fmt::Write| left(state, out, ""));
    Some(style.with_key("left_at_least", |state: &ProgressState, out: &mut dyn fmt::Write| {
        left(state, out, "at least ");
    }))
}

/// The progress of a run whose number of matches may change.
pub(super) struct RunProgress {
    /// The number of matches that have ended.
    pub(super) position: u64,
    /// The number of matches known so far.
    pub(super) length: u64,
    /// Whether the number is final.
    pub(super) is_certain: bool,
    pub(super) message: String,
}

/// The progress of a run, and lines for people. A thread of its own writes them: nothing here blocks on the terminal,
/// except [`Progress::finish`], for at most a second.
pub(super) struct Progress(Arc<SharedProgress>);

#[derive(Default)]
struct SharedProgress {
    position: AtomicU64,
    news: Mutex<News>,
    changed: Condvar,
}

#[derive(Default)]
struct News {
    lines: Vec<String>,
    message: Option<String>,
    is_over: bool,
    is_removed: bool,
}

impl SharedProgress {
    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Queries the current progress.
type ProgressQuery = Box<dyn FnMut() -> RunProgress + Send>;

impl Progress {
    /// A run of this number of matches.
    pub(super) fn of_matches(length: u64) -> Progress {
        Progress::new(length, MATCHES)
    }

    /// A run whose number of matches may change.
    pub(super) fn of_changing(query: impl FnMut() -> RunProgress + Send + 'static) -> Progress {
        Progress::start(|| Display::of(0, MATCHES), Some(Box::new(query)))
    }

    /// A single match: only lines.
    pub(super) fn hidden() -> Progress {
        Progress::start(|| Display { bar: ProgressBar::hidden(), lines: None }, None)
    }

    pub(super) fn new(length: u64, words: Words) -> Progress {
        Progress::start(move || Display::of(length, words), None)
    }

    fn start(display: impl FnOnce() -> Display + Send + 'static, query: Option<ProgressQuery>) -> Progress {
        let shared = Arc::<SharedProgress>::default();
        let draw = {
            let shared = shared.clone();
            move || draw(&shared, display(), query)
        };
        // Without a thread nothing is displayed.
        if let Err(error) = thread::Builder::new().name("progress".to_owned()).spawn(draw) {
            tracing::warn!(%error, "progress is not shown");
            shared.news().is_removed = true;
        }
        Progress(shared)
    }

    pub(super) fn inc(&self, by: u64) {
        self.0.position.fetch_add(by, Ordering::Relaxed);
    }

    /// Sets the text after the position.
    pub(super) fn set_message(&self, message: String) {
        self.0.news().message = Some(printable(&message).into_owned());
    }

    /// Writes a line to standard error.
    pub(super) fn line(&self, line: String) {
        self.0.news().lines.push(printable_lines(&line).into_owned());
        self.0.changed.notify_all();
    }

    /// Removes the bar after all lines have been written.
    pub(super) fn finish(&self) {
        let mut news = self.0.news();
        news.is_over = true;
        self.0.changed.notify_all();
        drop(self.0.changed.wait_timeout_while(news, TIMEOUT, |news| !news.is_removed));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The texts of the progress.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// The template of the bar on a terminal.
    pub(super) template: &'static str,
    /// The text between position and length in a line.
    pub(super) of: &'static str,
    /// The counted items.
    pub(super) what: &'static str,
}

const MATCHES: Words =
    Words { template: "{bar:30} {pos}/{len} matches, {per_sec}{left} {msg}", of: "/", what: "matches" };
/// The words for a number that may grow.
const AT_LEAST: Words = Words {
    template: "{bar:30} {pos} of at least {len} matches, {per_sec}{left_at_least} {msg}",
    of: " of at least ",
    what: "matches",
};

struct Display {
    bar: ProgressBar,
    /// Set if standard error is not a terminal.
    lines: Option<ProgressLines>,
}

impl Display {
    fn of(length: u64, words: Words) -> Display {
        let bar = still(length, words.template);
        let lines = bar.is_hidden().then(|| ProgressLines::new(words, now()));
        Display { bar, lines }
    }

    /// Displays the progress. Position and length were read together, so that they are consistent.
    fn show(&mut self, shown: RunProgress) {
        let RunProgress { position, length, is_certain, message } = shown;
        let words = if is_certain { MATCHES } else { AT_LEAST };
        if let Some(style) = style(words.template) {
            self.bar.set_style(style);
        }
        if let Some(lines) = &mut self.lines {
            lines.words = words;
        }
        self.bar.set_length(length);
        self.bar.set_position(position);
        self.bar.set_message(message);
    }

    /// Writes a line if one is due.
    fn write_line(&mut self) {
        let (bar, now) = (&self.bar, now());
        if let Some(lines) = self.lines.as_mut().filter(|lines| lines.is_due(bar.position(), now)) {
            let line = lines.line((bar.position(), bar.length().unwrap_or_default()), &bar.message(), now);
            // An error means that standard error is closed.
            writeln!(io::stderr(), "{}", printable(&line)).ok();
        }
    }
}

/// Decides when to write progress lines: for each match if they are slow, otherwise every few seconds.
struct ProgressLines {
    words: Words,
    began: Instant,
    /// The time and the position of the last line.
    last: (Instant, u64),
}

impl ProgressLines {
    fn new(words: Words, now: Instant) -> ProgressLines {
        ProgressLines { words, began: now, last: (now, 0) }
    }

    fn is_due(&self, position: u64, now: Instant) -> bool {
        let (at, shown) = self.last;
        let since = now - at;
        since >= STILL_ALIVE || (position != shown && since >= LINE_APART)
    }

    fn line(&mut self, (position, length): (u64, u64), message: &str, now: Instant) -> String {
        self.last = (now, position);
        let Words { of, what, .. } = self.words;
        let so_far = humantime::format_duration(Duration::from_secs((now - self.began).as_secs()));
        let line = format!("{position}{of}{length} {what} after {so_far}");
        match message.trim_start_matches(", ") {
            "" => line,
            message => format!("{line}: {message}"),
        }
    }
}

fn draw(shared: &SharedProgress, mut display: Display, mut query: Option<ProgressQuery>) {
    if let Some(query) = &mut query {
        display.show(query());
    }
    display.bar.reset_eta();
    if !display.bar.is_hidden() {
        display.bar.enable_steady_tick(REDRAW);
    }
    if let Some(lines) = &mut display.lines {
        lines.last.1 = display.bar.position();
    }
    let mut next_look = now() + QUERY_INTERVAL;
    loop {
        let is_quiet = |news: &mut News| news.lines.is_empty() && !news.is_over;
        let waited = shared.changed.wait_timeout_while(shared.news(), REDRAW, is_quiet);
        let (mut news, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (lines, message) = (std::mem::take(&mut news.lines), news.message.take());
        let is_over = news.is_over;
        drop(news);
        let bar = &display.bar;
        if !lines.is_empty() {
            // An error means that standard error is closed.
            bar.suspend(|| lines.iter().try_for_each(|line| writeln!(io::stderr(), "{line}"))).ok();
        }
        if is_over {
            bar.finish_and_clear();
            shared.news().is_removed = true;
            return shared.changed.notify_all();
        }
        if bar.is_hidden() && display.lines.is_none() {
            continue;
        }
        if let Some(message) = message {
            bar.set_message(message);
        }
        match &mut query {
            None => bar.set_position(shared.position.load(Ordering::Relaxed)),
            Some(query) if now() >= next_look => {
                let began = now();
                display.show(query());
                next_look = now() + QUERY_INTERVAL.max(9 * began.elapsed());
            }
            Some(_) => {}
        }
        display.write_line();
    }
}

#[expect(clippy::disallowed_methods, reason = "for display only")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_follows_each_slow_match_or_a_few_seconds() {
        let began = now();
        let mut lines = ProgressLines::new(MATCHES, began);
        // The position at each second, and the lines that are due.
        let mut lines_of = |positions: &[u64]| -> Vec<String> {
            let mut printed = Vec::new();
            for (second, &position) in positions.iter().enumerate() {
                let now = began + Duration::from_secs(second as u64);
                if lines.is_due(position, now) {
                    printed.push(lines.line((position, 99), ", a 1", now));
                }
            }
            printed
        };
        let fast: Vec<u64> = (0..12).collect();
        assert_eq!(lines_of(&fast), ["5/99 matches after 5s: a 1", "10/99 matches after 10s: a 1"]);
        let mut slow = vec![10; 80];
        slow[18..].fill(11);
        assert_eq!(lines_of(&slow), ["11/99 matches after 18s: a 1", "11/99 matches after 1m 18s: a 1"]);
    }
}
