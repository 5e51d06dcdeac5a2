//! What spectators see of a tournament.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use tokio::signal::unix::SignalKind;

use crate::cli::exit::Failure;
use crate::cli::screen::stderr_line;
use crate::cli::signals::on_each;
use crate::cli::tournament::live_standings::LiveStandings;
use crate::cli::watch::announce_operator;
use crate::game::Seating;
use crate::results::{FinishedMatch, Roster};
use crate::runner::LiveSchedule;
use crate::runs::tournament::{Tournament, TournamentConfig};
use crate::store::MatchRow;
use crate::web::WatchServer;

/// Shows spectators a tournament, with the matches that were played before.
pub(super) fn show(tournament: &Tournament, server: &WatchServer) -> Result<(), Failure> {
    server.set_name(&tournament.folder.results.about().map_err(Failure::cannot_run)?.name);
    server.set_entrants(entrants_of_bots(&tournament.config));
    list_earlier(tournament, server)
}

/// Shows them the standings as results come in.
pub(super) fn show_standings(
    directory: &Path,
    config: &TournamentConfig,
    schedule: LiveSchedule,
    server: &WatchServer,
) -> Result<(), Failure> {
    let mut standings = LiveStandings::open(directory, config)?;
    let stage = server.stage().cloned();
    server.set_standings(Box::new(move || match &stage {
        None => standings.view(&schedule.look()),
        Some(stage) => standings.view(&schedule.look_at(|number| stage.count_shown(number))),
    }));
    Ok(())
}

/// Prints where the operator reveals matches, if somebody does.
pub(super) fn announce_stage(server: &WatchServer, is_json: bool) -> Result<(), Failure> {
    let path = server.stage().and_then(|stage| stage.operator_path());
    path.map_or(Ok(()), |path| announce_operator(&format!("{}{path}", server.url()), is_json))
}

/// Waits for a signal, if matches are shown later than they are played.
pub(super) fn stay_on_stage(server: &WatchServer) {
    if server.stage().is_none() {
        return;
    }
    let (sender, stopped) = channel();
    on_each([SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()], move |_| {
        // Only the first one counts.
        let _ = sender.send(());
    });
    stderr_line("the tournament has ended; the pages stay until Ctrl-C");
    let _ = stopped.recv();
}

/// Lists the matches that were played before, for spectators.
fn list_earlier(tournament: &Tournament, server: &WatchServer) -> Result<(), Failure> {
    let bots = SeatedBots::of(&tournament.config, tournament.schedule.plan().seating);
    let mut unsealed = tournament.unsealed()?;
    let read = tournament.folder.results.for_each_match(|row| {
        let id = row.id.to_string();
        let record = row.record.is_some().then(|| tournament.folder.records.path(&id));
        let at = unsealed.iter().position(|other| other.match_id == id);
        let unsealed = at.map(|at| unsealed.swap_remove(at));
        if !was_cut_off(&row) {
            server.add_earlier(bots.earlier(row, record), unsealed);
        }
        Ok(())
    });
    read.map_err(Failure::cannot_run)
}

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
