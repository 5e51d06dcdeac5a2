//! Matches, bots and standings as the API lists them.

use std::collections::BTreeMap;

use referee_protocol::words::EndedBy;
use serde::Serialize;

use referee_engine::runner::MatchReport;
use referee_game::Meta;
use referee_match::Faults;
use referee_report::story::Story;
use referee_report::{ToldMatch, ending_in_words};
use referee_stats::rating::Estimate;

/// A seat in lists of matches.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SeatEntry {
    name: String,
    team: u8,
    /// The entrant to which the bot belongs, if that has a name of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    entrant: Option<String>,
}

/// The names of entrants by the names of their bots.
pub(super) type EntrantNames = BTreeMap<String, String>;

/// Whether there is a board to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BoardAccess {
    /// The match is in progress, and its board is shown.
    Live,
    /// Nothing is shown until the other matches of its deal have ended.
    Held,
    /// The match has ended, and its replay is available.
    Replay,
    /// Too many matches are in progress, or the record has not been kept.
    None,
}

/// How a match ended.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ResultEntry {
    ranks: Option<Vec<u8>>,
    scores: Option<Vec<f64>>,
    ended_by: EndedBy,
    reason: String,
    /// The result in words.
    pub(super) text: String,
}

/// A match in lists.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MatchEntry {
    pub(super) id: String,
    /// The number of the match among those that have ended, from 1; `None` while it is in progress, and for a match of an
    /// earlier run of a ladder.
    pub(super) number: Option<u64>,
    pub(super) seats: Vec<SeatEntry>,
    pub(super) board: BoardAccess,
    /// The number of moves that are shown; `None` if its board is not shown.
    pub(super) moves: Option<u32>,
    pub(super) result: Option<ResultEntry>,
    /// By seat: code -> count; `None` while it is in progress or held.
    pub(super) faults: Option<Vec<Faults>>,
}

/// Results among the latest matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecentResults {
    /// How many matches, at most 50.
    pub matches: u32,
    /// Those that were won.
    pub wins: u32,
    /// Those that were drawn.
    pub draws: u32,
    /// Those that were lost.
    pub losses: u32,
}

/// The standings, and what is to be said of them.
#[derive(Clone, Debug, Default)]
pub struct StandingsView {
    /// The best first.
    pub rows: Vec<StandingsRow>,
    /// Who leads and why; `None`: it is told from the rows.
    pub story: Option<Story>,
    /// What is played next.
    pub next: Vec<NextMatch>,
}

/// A match that is waiting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextMatch {
    /// The id of the match, if it is known.
    pub id: Option<String>,
    /// Who plays, by side.
    pub sides: Vec<String>,
    /// Why: a few words.
    pub why: String,
}

/// A row of the standings.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StandingsRow {
    /// The place, from 1; those with equal results share one. Anchors of a ladder have none.
    pub place: Option<usize>,
    /// The bot or the entrant.
    pub name: String,
    /// Matches with a result.
    pub matches: u32,
    /// Ranked first alone.
    pub wins: u32,
    /// Ranked first with another side.
    pub draws: u32,
    /// Another side was ranked ahead.
    pub losses: u32,
    /// Matches in which it made a fault.
    pub faulted: u32,
    /// The last five results, the newest first: `W`, `D` and `L`.
    pub form: String,
    /// The results of the last 50 matches.
    pub recent: RecentResults,
    /// On a ladder: the place a week ago.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place_a_week_ago: Option<usize>,
    /// The sum of the scores, or the points of the tournament; on a ladder the rating.
    pub points: f64,
    /// On a ladder: Elo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<Estimate>,
    /// On a ladder: whether it is connected, or a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub online: Option<bool>,
    /// On a ladder: why it is not paired now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// On a ladder: whether its difference to the field is uncertain.
    #[serde(rename = "provisional", skip_serializing_if = "Option::is_none")]
    pub is_provisional: Option<bool>,
}

/// A bot with its matches.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct BotEntry {
    pub(super) name: String,
    /// The ids of its matches in progress.
    pub(super) playing: Vec<String>,
    pub(super) matches: u32,
    pub(super) wins: u32,
    pub(super) draws: u32,
    pub(super) losses: u32,
    pub(super) score: f64,
    /// Matches in which it made a fault.
    #[serde(skip)]
    pub(super) faulted: u32,
    pub(super) faults: Faults,
}

impl BotEntry {
    pub(super) fn new(name: &str) -> BotEntry {
        BotEntry { name: name.to_owned(), ..BotEntry::default() }
    }

    /// The mean of its scores.
    pub(super) fn mean(&self) -> f64 {
        self.score / f64::from(self.matches.max(1))
    }
}

/// A seat.
fn seat_entry(name: &str, team: u8, names: &EntrantNames) -> SeatEntry {
    let entrant = names.get(name).filter(|entrant| *entrant != name).cloned();
    SeatEntry { name: name.to_owned(), team, entrant }
}

/// The seats, given their names and sides.
pub(super) fn seat_entries(seats: &[(String, u8)], names: &EntrantNames) -> Vec<SeatEntry> {
    seats.iter().map(|(name, team)| seat_entry(name, *team, names)).collect()
}

impl MatchEntry {
    /// What may be known before the other matches of the deal have ended.
    pub(super) fn withheld(self) -> MatchEntry {
        MatchEntry { board: BoardAccess::Held, moves: None, faults: None, ..self }
    }
}

/// The entry of a match that has ended, with its number among those of the run.
pub(super) fn ended(
    report: &MatchReport,
    seats: &[(String, u8)],
    number: Option<u64>,
    (game, entrants): (&Meta, &EntrantNames),
) -> MatchEntry {
    let of_entrant = |name: &String| entrants.get(name).unwrap_or(name).clone();
    let names: Vec<String> = report.seats.iter().map(of_entrant).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ended_by = report.ended_by.to_string();
    let told = ToldMatch {
        game: Some(game),
        names: &names,
        ranks: report.ranks.as_deref(),
        ended_by: &ended_by,
        reason: &report.reason,
        forfeited: &[],
        moves: report.decisions,
    };
    let teams = (0..).map(|seat: usize| seats.get(seat).map_or(seat as u8, |(_, team)| *team));
    let result = ResultEntry {
        ranks: report.ranks.clone(),
        scores: report.scores.clone(),
        ended_by: report.ended_by,
        reason: report.reason.clone(),
        text: match (&report.ranks, ending_in_words(Some(game), &ended_by, &report.reason)) {
            (Some(_), why) => format!("{}: {why}", told.result()),
            (None, why) => why,
        },
    };
    MatchEntry {
        id: report.id.clone(),
        number,
        seats: report.seats.iter().zip(teams).map(|(name, team)| seat_entry(name, team, entrants)).collect(),
        board: BoardAccess::Replay,
        moves: Some(report.decisions),
        result: Some(result),
        faults: Some(report.faults.clone()),
    }
}
