//! The game of a tournament and its settings.

use std::time::{Duration, SystemTime};

use referee_game::{Meta, counted};
use referee_protocol::referee::Clock;
use referee_stats::Deals;
use referee_stats::grade::GradeTerms;
use referee_stats::race::RaceTerms;
use referee_stats::schedule::{Format, Plan};
use referee_store::MatchRow;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::clocks::{self, ClockPeriod, clock_in_words, clock_option};

/// The settings of the tournament file that reports state.
#[derive(Debug)]
pub struct Settings {
    pub game: &'static Meta,
    /// The names of each entrant's bots.
    pub bots: Vec<Vec<String>>,
    /// The clock of matches to come, as in the file.
    pub clock: String,
    /// The parsed clock; `None` without a clock.
    pub limits: Option<Clock>,
    /// The fault policy, as in the file.
    pub on_fault: String,
    /// The rules by which the referee ends matches, as options; empty without any.
    pub adjudication: String,
    /// The options of the game, with defaults filled in.
    pub options: Box<RawValue>,
    /// The openings of matches in words.
    pub openings: String,
    pub seed: String,
}

/// The conditions of a tournament.
#[derive(Clone, Debug, Serialize)]
pub struct Conditions {
    pub format: String,
    /// The matches per deal in words.
    pub deals: String,
    /// The clock of matches to come, as in the tournament file.
    pub clock: String,
    /// The clocks of the matches that have a record. Several if the clock was changed.
    pub clocks: Vec<ClockPeriod>,
    /// The clocks in words; `None` if no clock is known.
    #[serde(skip)]
    clocks_told: Option<String>,
    /// The fault policy, as in the tournament file.
    pub on_fault: String,
    /// The rules by which the referee ends matches, as options.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub adjudication: String,
    /// The options of the game, with defaults filled in.
    pub options: Box<RawValue>,
    /// The openings of matches in words.
    pub openings: String,
    /// The seed of the run; `None` while matches are missing, because it determines their deals.
    pub seed: Option<String>,
    /// The start of the first match, in UTC: 2026-11-22T18:30:05Z; `None` if not stored.
    pub began_at: Option<String>,
    /// The end of the last match, in UTC; `None` if not stored.
    pub ended_at: Option<String>,
}

/// The time from the first match to the last one.
#[derive(Clone, Copy, Default)]
pub(super) struct PlayedSpan(Option<(SystemTime, SystemTime)>);

impl PlayedSpan {
    pub(super) fn add(&mut self, row: &MatchRow) {
        let Some(began) = row.began_at else { return };
        let ended = began + Duration::from_micros(row.duration_us);
        let (first, last) = self.0.unwrap_or((began, ended));
        self.0 = Some((first.min(began), last.max(ended)));
    }
}

fn format(format: Format) -> String {
    let times = |count: u32, one: &str, many: &str| counted(count, one, many);
    match format {
        Format::RoundRobin { cycles } => format!("round robin, {}", times(cycles, "cycle", "cycles")),
        Format::Gauntlet { cycles } => format!("gauntlet, {}", times(cycles, "cycle", "cycles")),
        Format::Swiss { rounds, sets } => {
            let (rounds, sets) = (times(rounds, "round", "rounds"), times(sets, "set", "sets"));
            format!("Swiss, {rounds} of {sets} per pair")
        }
        Format::Knockout { best_of, tie_breaks } => {
            let further = times(tie_breaks, "set", "sets");
            format!("knockout, best of {best_of} per pair, at most {further} more to break a tie")
        }
        Format::Partners { cycles } => {
            format!("each entrant partners each other one, {}", times(cycles, "cycle", "cycles"))
        }
        Format::Race(RaceTerms { within, alpha, max_sets }) => format!(
            "race until one is within {within} Elo of the best with an error of at most {}%, {} at most",
            100.0 * alpha,
            times(max_sets, "set", "sets")
        ),
        Format::Grade(GradeTerms { within, max_sets, .. }) => format!(
            "the strength of the first entrant by those of the others, within {within:.0} Elo, {} at most",
            times(max_sets, "set", "sets")
        ),
        Format::Duel { sets } => format!("duel, {}", times(sets, "set", "sets")),
    }
}

fn deals(plan: &Plan) -> String {
    match (plan.deals, plan.deals.legs(plan.seating)) {
        (Deals::Single, _) => "each match has its own deal".to_owned(),
        (_, matches) => format!("{matches} matches per deal, with the entrants in other seats"),
    }
}

impl Conditions {
    /// The clock in words: `delay 5 s, bank 60 s`. If it was changed, with the matches that were played with each.
    pub(super) fn clock_in_words(&self) -> String {
        self.clocks_told.clone().unwrap_or_else(|| clock_in_words(&self.clock))
    }

    pub(super) fn of(
        plan: &Plan,
        settings: &Settings,
        span: PlayedSpan,
        clocks: Vec<ClockPeriod>,
        is_complete: bool,
    ) -> Conditions {
        let next = clock_option(settings.limits);
        let text = |at: SystemTime| humantime::format_rfc3339_seconds(at).to_string();
        Conditions {
            format: format(plan.format),
            deals: deals(plan),
            clock: settings.clock.clone(),
            clocks_told: clocks::told(&clocks, Some(&*next).filter(|_| !is_complete)),
            clocks,
            on_fault: settings.on_fault.clone(),
            adjudication: settings.adjudication.clone(),
            options: settings.options.clone(),
            openings: settings.openings.clone(),
            seed: is_complete.then(|| settings.seed.clone()),
            began_at: span.0.map(|(first, _)| text(first)),
            ended_at: span.0.map(|(_, last)| text(last)),
        }
    }
}

/// Options in words: `draw_plies 50, turn_limit 0`.
pub(crate) fn options_in_words(options: &RawValue) -> String {
    let options: Map<String, Value> = serde_json::from_str(options.get()).unwrap_or_default();
    let words = options.iter().map(|(key, value)| match value {
        Value::String(text) => format!("{key} {text}"),
        value => format!("{key} {value}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A time in UTC for readers: `2026-11-22 18:30`.
pub(crate) fn minute(at: &str) -> String {
    at.get(..16).unwrap_or(at).replace('T', " ")
}
