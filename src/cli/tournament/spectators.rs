//! What spectators see of the matches of a tournament that were played before.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::game::Seating;
use crate::results::FinishedMatch;
use crate::runner::Roster;
use crate::runs::tournament::TournamentConfig;
use crate::store::MatchRow;

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
    pub(super) fn earlier(&self, row: MatchRow, record: Option<PathBuf>) -> FinishedMatch {
        let bots = self.roster.seated_at(self.seating, &row.lineup);
        let name = |at: usize| self.names.get(at).cloned().unwrap_or_default();
        row.finished(self.seating, bots.into_iter().map(name).collect(), record)
    }
}
