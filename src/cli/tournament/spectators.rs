//! What spectators see of a tournament: the matches that were played before, and the standings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::cli::tournament::config::Config;
use crate::game::Seating;
use crate::report::tournament::live_story;
use crate::runner::{MatchReport, Roster};
use crate::stats::schedule::{Due, Schedule};
use crate::stats::standings::TableRow;
use crate::store::{MatchRow, VOID};
use crate::web::{EarlierMatch, NextMatch, StandingsRow, StandingsView};

/// The entrants of the bots of teams.
pub(super) fn entrants_of_bots(config: &Config) -> BTreeMap<String, String> {
    let teams = config.names().into_iter().zip(config.bot_names());
    let of_team =
        |(entrant, bots): (String, Vec<String>)| bots.into_iter().map(move |bot| (bot, entrant.clone()));
    teams.flat_map(of_team).collect()
}

/// Whether a row is an attempt that was cut off, of which spectators see nothing.
pub(super) fn was_cut_off(row: &MatchRow) -> bool {
    row.ended_by == "cut_off"
}

/// The bots of a tournament, which name the seats of its matches.
pub(super) struct SeatedBots {
    names: Vec<String>,
    roster: Roster,
    seating: Seating,
}

impl SeatedBots {
    pub(super) fn of(config: &Config, seating: Seating) -> SeatedBots {
        SeatedBots { names: config.bot_names().concat(), roster: config.roster(), seating }
    }

    /// A match that was played before, for spectators, from its row and the path of its record.
    pub(super) fn earlier(&self, row: MatchRow, record: Option<PathBuf>) -> EarlierMatch {
        let bots = self.roster.seated_at(self.seating, &row.lineup);
        let name = |at: usize| self.names.get(at).cloned().unwrap_or_default();
        let names: Vec<String> = bots.into_iter().map(name).collect();
        let sides = self.seating.all().iter().map(|seat| self.seating.side(seat) as u8);
        let seats = names.iter().cloned().zip(sides).collect();
        let report = MatchReport {
            ranks: row.ranks,
            scores: row.scores,
            is_void: row.ended_by == VOID,
            decisions: row.decisions,
            duration_us: row.duration_us,
            record,
            ..MatchReport::stored(row.id.to_string(), names, &row.ended_by, row.reason, &row.faults)
        };
        EarlierMatch { report, seats, unsealed: None }
    }
}

/// The number of matches of which spectators may be told in advance; those in progress are among them.
const NEXT: usize = 100;

/// The standings for spectators.
pub(super) fn web_standings(name: &str, schedule: &Schedule, names: &[String]) -> StandingsView {
    let standings = schedule.standings();
    let standing = |row: &TableRow| StandingsRow {
        place: Some(row.place as usize),
        name: names[row.entrant.index()].clone(),
        matches: row.matches,
        wins: row.by_play.wins + row.by_fault.wins,
        draws: row.by_play.draws + row.by_fault.draws,
        losses: row.by_play.losses + row.by_fault.losses,
        points: row.points,
        faulted: row.faulted,
        ..StandingsRow::default()
    };
    let side = |due: &Due, side: usize| {
        let mut names: Vec<&str> =
            due.lineup.side(side).map(|entrant| names[entrant.index()].as_str()).collect();
        names.dedup();
        names.join(" + ")
    };
    let next = schedule.due().take(NEXT).map(|due| NextMatch {
        id: Some(due.id.to_string()),
        sides: (0..due.lineup.seating().sides()).map(|at| side(&due, at)).collect(),
        why: format!("match {}", due.id.number),
    });
    let entrants: Vec<&str> = names.iter().map(String::as_str).collect();
    StandingsView {
        rows: standings.rows.iter().map(standing).collect(),
        story: Some(live_story(name, &entrants, schedule, &standings)),
        next: next.collect(),
    }
}
