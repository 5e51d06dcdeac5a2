//! A tournament as far as a stage has shown it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use referee_stats::schedule::{MatchId, Schedule};
use referee_store::Results;
use referee_web::{Stage, StandingsView};

use crate::config::KnownGames;
use crate::tournament::spectators::standings::LiveStandings;
use crate::tournament::{StoredTournament, TournamentError, open_results};

/// The schedule with the results of the matches that spectators have seen to their ends, read anew from the database: also after
/// the tournament was resumed or changed nothing tells of the others.
pub(super) struct StagedSchedule {
    directory: PathBuf,
    games: KnownGames,
    results: Results,
    stage: Arc<Stage>,
    schedule: Schedule,
    /// The state from which it was made: the number of matches that were shown, and the version of the
    /// database.
    state: (usize, i64),
}

impl StagedSchedule {
    pub(super) fn open(
        directory: &Path,
        games: &KnownGames,
        stage: Arc<Stage>,
    ) -> Result<StagedSchedule, TournamentError> {
        let results = open_results(directory)?;
        let state = (stage.count_shown(), results.data_version()?);
        let schedule = read(directory, games, &results, &stage)?;
        let (directory, games) = (directory.to_owned(), games.clone());
        Ok(StagedSchedule { directory, games, results, stage, schedule, state })
    }

    /// The page's data, without rulings on matches that were not shown.
    pub(super) fn view(&mut self, standings: &mut LiveStandings) -> StandingsView {
        let StagedSchedule { directory, games, results, stage, schedule, state } = self;
        let found = results.data_version().map(|version| (stage.count_shown(), version));
        // While the database cannot be read, the schedule stays as it is.
        if let Ok(found) = found
            && found != *state
            && let Ok(read) = read(directory, games, results, stage)
        {
            (*schedule, *state) = (read, found);
        }
        let mut view = standings.view(schedule);
        let shown = view.rulings.iter().filter(|ruling| {
            let mut ids = ruling.matches.iter().map(|of| MatchId { number: of.number, attempt: of.attempt });
            ids.all(|id| stage.has_shown(&id))
        });
        view.rulings = Arc::new(shown.cloned().collect());
        view
    }
}

fn read(
    directory: &Path,
    games: &KnownGames,
    results: &Results,
    stage: &Stage,
) -> Result<Schedule, TournamentError> {
    let attempts = results.attempts()?;
    let mut played = results.results(results.about()?.seating)?;
    played.retain(|&(number, _)| {
        attempts.get(&number).is_some_and(|&attempt| stage.has_shown(&MatchId { number, attempt }))
    });
    // A match may be shown to its end before one on which its round depends: it counts when that one does.
    let (stored, _) = StoredTournament::with_results(directory, results, games, played)?;
    Ok(stored.schedule)
}
