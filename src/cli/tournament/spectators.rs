//! What spectators see of the matches of a tournament that were played before.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::game::Seating;
use crate::runner::{MatchReport, Roster};
use crate::runs::tournament::TournamentConfig;
use crate::store::{MatchRow, VOID};
use crate::web::EarlierMatch;

/// The entrants of the bots of teams.
pub(super) fn entrants_of_bots(config: &TournamentConfig) -> BTreeMap<String, String> {
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
    pub(super) fn of(config: &TournamentConfig, seating: Seating) -> SeatedBots {
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
