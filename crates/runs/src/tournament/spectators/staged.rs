//! A tournament as far as a stage has shown it.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use referee_game::Wrong;
use referee_stats::schedule::{MatchId, Schedule};
use referee_store::{Results, RuledMatch, RulingAct, RulingRow};
use referee_web::{Stage, StandingsView};

use crate::RunError;
use crate::config::KnownGames;
use crate::tournament::ruling::disqualified;
use crate::tournament::spectators::standings::LiveStandings;
use crate::tournament::spectators::was_cut_off;
use crate::tournament::stored::on_matches;
use crate::tournament::{StoredTournament, open_results};

/// The schedule with the results of the matches that spectators have seen to their ends and the rulings on them, read anew from
/// the database: also after the tournament was resumed or changed nothing tells of the others.
pub(super) struct StagedSchedule {
    directory: PathBuf,
    games: KnownGames,
    results: Results,
    stage: Arc<Stage>,
    shown: Shown,
    /// The state from which it was made: the number of matches that were shown, and the version of the
    /// database.
    state: (usize, i64),
}

impl StagedSchedule {
    pub(super) fn open(
        directory: &Path,
        games: &KnownGames,
        stage: Arc<Stage>,
    ) -> Result<StagedSchedule, RunError> {
        let results = open_results(directory)?;
        let state = (stage.count_shown(), results.data_version()?);
        let shown = read(directory, games, &results, &stage)?;
        let (directory, games) = (directory.to_owned(), games.clone());
        Ok(StagedSchedule { directory, games, results, stage, shown, state })
    }

    /// Returns the data of the page.
    pub(super) fn view(&mut self, standings: &mut LiveStandings) -> StandingsView {
        let StagedSchedule { directory, games, results, stage, shown, state } = self;
        let found = results.data_version().map(|version| (stage.count_shown(), version));
        // While the database cannot be read, everything stays as it is.
        if let Ok(found) = found
            && found != *state
            && let Ok(read) = read(directory, games, results, stage)
        {
            (*shown, *state) = (read, found);
        }
        StandingsView { rulings: shown.rulings.clone(), ..standings.view(&shown.schedule) }
    }
}

/// The part of a tournament that spectators may see.
struct Shown {
    schedule: Schedule,
    /// The rulings that concern no match which waits, in the order in which they were made.
    rulings: Arc<Vec<RulingRow>>,
}

fn read(directory: &Path, games: &KnownGames, results: &Results, stage: &Stage) -> Result<Shown, RunError> {
    let (attempts, seating) = (results.attempts()?, results.about()?.seating);
    let is_shown = |number: u32| {
        attempts.get(&number).is_some_and(|&attempt| stage.has_shown(&MatchId { number, attempt }))
    };
    let (mut played, mut voids) = (results.results(seating)?, results.void_matches(seating)?);
    played.retain(|&(number, _)| is_shown(number));
    voids.retain(|&(number, _)| is_shown(number));
    let (stored, _) = StoredTournament::with_results(directory, results, games, Vec::new())?;
    let (mut waiting, mut over) = (BTreeSet::new(), BTreeSet::new());
    results.for_each_match(|row| {
        let of = if was_cut_off(&row) || stage.has_shown(&row.id) { &mut over } else { &mut waiting };
        of.insert(row.id);
        Ok(())
    })?;
    let concerns_waiting = |act: RulingAct, ruled: &RuledMatch| {
        // Unless it is to be replayed, the match may have been in progress when it was ruled on.
        let last = ruled.attempt + u32::from(act != RulingAct::Replay);
        let mut ids = (1..=last).map(|attempt| MatchId { number: ruled.number, attempt });
        ids.any(|id| waiting.contains(&id) || stage.is_waiting(&id))
    };
    let mut rulings = stored.rulings;
    rulings.retain(|row| !row.matches.iter().any(|ruled| concerns_waiting(row.act, ruled)));
    let mut plan = stored.schedule.plan().clone();
    plan.rulings = rulings.iter().flat_map(|row| on_matches(row, &stored.entrants)).collect();
    for (entry, row) in plan.entrants.iter_mut().zip(&stored.entrants) {
        *entry = disqualified(mem::take(entry), &row.name, &rulings);
    }
    // A match may be shown to its end before one on which its round depends: it counts when that one does.
    let (mut schedule, _) = Schedule::resume(plan, played, voids).map_err(|why| Wrong::at("format", why))?;
    let mut attempts: BTreeMap<u32, u32> = BTreeMap::new();
    for MatchId { number, attempt } in over {
        let before = attempts.entry(number).or_default();
        // After an attempt that waits, the next one would tell that it has ended.
        if attempt == *before + 1 {
            *before = attempt;
            schedule.cut_off(number);
        }
    }
    // A ruling on a match of a later round tells who plays it.
    rulings.retain(|row| row.matches.iter().all(|ruled| schedule.lineup(ruled.number).is_some()));
    Ok(Shown { schedule, rulings: Arc::new(rulings) })
}
