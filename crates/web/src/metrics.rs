//! Figures in the text format of Prometheus, version 0.0.4.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use referee_game::Chain;
use referee_protocol::words::FaultCode;
use referee_results::FinishedMatch;

use referee_engine::runner::EndedMatch;
use referee_match::record;

/// Upper bounds of the buckets of a histogram, in microseconds.
const BOUNDS_US: [u64; 13] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 1_000_000, 10_000_000];

#[derive(Debug, Default)]
struct Histogram {
    /// The numbers of values up to each bound and above the one before it; the last: above all bounds.
    counts: [AtomicU64; BOUNDS_US.len() + 1],
    sum_us: AtomicU64,
}

impl Histogram {
    fn add(&self, us: u64) {
        self.counts[BOUNDS_US.partition_point(|&bound| bound < us)].fetch_add(1, Relaxed);
        self.sum_us.fetch_add(us, Relaxed);
    }

    fn write(&self, out: &mut String, name: &str, help: &str) {
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} histogram");
        let mut sum = 0;
        for (count, bound) in self.counts.iter().zip(BOUNDS_US) {
            sum += count.load(Relaxed);
            let _ = writeln!(out, "{name}_bucket{{le=\"{}\"}} {sum}", seconds(bound));
        }
        sum += self.counts[BOUNDS_US.len()].load(Relaxed);
        let _ = writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {sum}");
        let _ = writeln!(out, "{name}_sum {}\n{name}_count {sum}", seconds(self.sum_us.load(Relaxed)));
    }
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

/// The number of things that exist now.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenCount(Arc<AtomicU64>);

/// A thing that an [`OpenCount`] counts until this is dropped.
#[derive(Debug)]
pub(super) struct Gauge(Arc<AtomicU64>);

impl OpenCount {
    pub(super) fn enter(&self) -> Gauge {
        self.0.fetch_add(1, Relaxed);
        Gauge(self.0.clone())
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// The figures of a match. Its times and faults depend on the secrets of its deal.
#[derive(Debug)]
pub(super) struct MatchFigures {
    decisions: u32,
    faults: Vec<(FaultCode, u32)>,
    answers_us: Vec<u64>,
    lag_us: u64,
}

impl MatchFigures {
    /// The figures of a match that has ended. It has no answers if its record was left out.
    pub(super) fn of(EndedMatch { finished, record, .. }: &EndedMatch) -> MatchFigures {
        let times = (!record.is_empty()).then(|| record::times(record));
        let answers_us = match times {
            Some(Ok(times)) => times.answers.iter().map(|answer| answer.took_us).collect(),
            Some(Err(error)) => {
                tracing::error!(
                    "the record of {}: {}: /metrics lacks its answers",
                    finished.id,
                    Chain(&error)
                );
                Vec::new()
            }
            None => Vec::new(),
        };
        MatchFigures {
            decisions: finished.decisions,
            faults: finished.faults.iter().flat_map(|faults| faults.iter()).collect(),
            answers_us,
            lag_us: finished.lag_ms * 1000,
        }
    }
}

/// The figures on `/metrics`.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    pub(super) connections: OpenCount,
    pub(super) streams: OpenCount,
    /// HTTP connections closed because there were too many.
    pub(super) refused: Arc<AtomicU64>,
    ended: AtomicU64,
    aborted: AtomicU64,
    decisions: AtomicU64,
    faults: [AtomicU64; FaultCode::ALL.len()],
    answers: Histogram,
    lag: Histogram,
}

impl Metrics {
    /// Counts a match that has ended.
    pub(super) fn count(&self, finished: &FinishedMatch) {
        let which = if finished.ending.ranks.is_some() { &self.ended } else { &self.aborted };
        which.fetch_add(1, Relaxed);
    }

    /// Adds the events of a match.
    pub(super) fn add(&self, figures: &MatchFigures) {
        self.decisions.fetch_add(figures.decisions.into(), Relaxed);
        for &(code, count) in &figures.faults {
            self.faults[code as usize].fetch_add(count.into(), Relaxed);
        }
        figures.answers_us.iter().for_each(|&us| self.answers.add(us));
        self.lag.add(figures.lag_us);
    }

    /// Writes the text for Prometheus.
    pub(super) fn text(&self, running: usize) -> String {
        let mut out = String::new();
        let mut family = |name: &str, kind: &str, help: &str, values: &[(&str, u64)]| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(out, "{name}{labels} {value}");
            }
        };
        let get = |of: &AtomicU64| of.load(Relaxed);
        family("referee_matches_running", "gauge", "Matches in progress.", &[("", running as u64)]);
        let ended = [("{result=\"yes\"}", get(&self.ended)), ("{result=\"no\"}", get(&self.aborted))];
        family(
            "referee_matches_total",
            "counter",
            "Matches that have ended, with or without a result.",
            &ended,
        );
        family(
            "referee_decisions_total",
            "counter",
            "Moves in matches that have ended.",
            &[("", get(&self.decisions))],
        );
        let codes: Vec<(String, u64)> = FaultCode::ALL
            .iter()
            .map(|&code| (format!("{{code=\"{}\"}}", code.as_str()), get(&self.faults[code as usize])))
            .collect();
        let codes: Vec<(&str, u64)> = codes.iter().map(|(code, count)| (&**code, *count)).collect();
        family("referee_faults_total", "counter", "Faults in matches that have ended.", &codes);
        family(
            "referee_watch_connections",
            "gauge",
            "HTTP connections of spectators.",
            &[("", self.connections.get())],
        );
        family("referee_watch_streams", "gauge", "Live streams of spectators.", &[("", self.streams.get())]);
        family(
            "referee_watch_refused_total",
            "counter",
            "HTTP connections closed because there were too many.",
            &[("", get(&self.refused))],
        );
        let answers = "Time that answers took in matches that have ended.";
        self.answers.write(&mut out, "referee_answer_seconds", answers);
        let lag = "The longest delay of an answer by the referee itself, per match.";
        self.lag.write(&mut out, "referee_lag_seconds", lag);
        out
    }
}
