//! Tournaments on the pages for spectators.

mod staged;
mod standings;
mod stored;

pub use stored::FollowedTournament;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use referee_engine::runner::LiveSchedule;
use referee_game::Seating;
use referee_results::{FinishedMatch, Roster};
use referee_store::MatchRow;
use referee_web::WatchServer;

use crate::RunError;
use crate::config::KnownGames;
use crate::tournament::spectators::staged::StagedSchedule;
use crate::tournament::spectators::standings::LiveStandings;
use crate::tournament::{Tournament, TournamentConfig};

impl Tournament {
    /// Shows spectators its name, its entrants, and the matches that were played before.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn show(&self, server: &WatchServer) -> Result<(), RunError> {
        let shown = ShownTournament::of(
            &self.folder.results.about()?.name,
            &self.config,
            self.schedule.plan().seating,
            server,
        );
        let mut unsealed = self.unsealed()?;
        self.folder.results.for_each_match(|row| {
            let id = row.id.to_string();
            let record = row.record.is_some().then(|| self.folder.records.path(&id));
            let at = unsealed.iter().position(|other| other.match_id == id);
            let unsealed = at.map(|at| unsealed.swap_remove(at));
            if !was_cut_off(&row) {
                let began_at = row.began_at;
                server.add_earlier(shown.earlier(row, record), began_at, unsealed);
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Shows spectators the standings of the tournament in this directory as results come in, or as a stage shows them.
///
/// # Errors
/// If its database cannot be read.
pub fn show_standings(
    directory: &Path,
    config: &TournamentConfig,
    games: &KnownGames,
    schedule: LiveSchedule,
    server: &WatchServer,
) -> Result<(), RunError> {
    let mut standings = LiveStandings::open(directory, config)?;
    match server.stage() {
        None => server.set_standings(Box::new(move || standings.view(&schedule.look()))),
        Some(stage) => {
            let mut staged = StagedSchedule::open(directory, games, stage.clone())?;
            server.set_standings(Box::new(move || staged.view(&mut standings)));
        }
    }
    Ok(())
}

/// Returns whether a row is an attempt that was cut off, of which spectators see nothing.
fn was_cut_off(row: &MatchRow) -> bool {
    row.ended_by == "cut_off"
}

/// The bots of a tournament, which name the seats of its matches.
struct ShownTournament {
    bots: Vec<String>,
    roster: Roster,
    seating: Seating,
}

impl ShownTournament {
    /// Shows spectators the names of the tournament, and of the entrants to which the bots of teams belong.
    fn of(name: &str, config: &TournamentConfig, seating: Seating, server: &WatchServer) -> ShownTournament {
        server.set_name(name);
        let teams = config.names().into_iter().zip(config.bot_names());
        let of_team =
            |(entrant, bots): (String, Vec<String>)| bots.into_iter().map(move |bot| (bot, entrant.clone()));
        server.set_entrants(teams.flat_map(of_team).collect::<BTreeMap<_, _>>());
        ShownTournament { bots: config.bot_names().concat(), roster: config.roster(), seating }
    }

    /// A match that was played before, from its row and the path of its record.
    fn earlier(&self, row: MatchRow, record: Option<PathBuf>) -> FinishedMatch {
        let seated = self.roster.seated_at(self.seating, &row.lineup);
        let name = |at: usize| self.bots.get(at).cloned().unwrap_or_default();
        row.finished(self.seating, seated.into_iter().map(name).collect(), record)
    }
}
