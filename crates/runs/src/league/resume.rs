//! Matches that go on after their server was killed.

use std::error::Error;

use referee_engine::runner::{DueSet, ResumedMatch};
use referee_files::RunningMatches;
use referee_game::chance::Seed;
use referee_game::{Chain, Viewer};
use referee_league::League;
use referee_store::{Leases, StoreError, parse_match_id};
use referee_workers::JobBots;
use referee_workers::unit::{UnitMatch, WorkUnit};

use crate::league::config::LadderGame;

/// Reads the journals of the matches of a ladder that had no result. A match whose journal is damaged is cut off.
///
/// # Errors
/// I/O errors of the directory or the database.
pub(super) fn resume(
    running: &RunningMatches,
    league: &League,
    ladder: &str,
    game: &LadderGame,
    seed: &Seed,
    watched: Option<Viewer>,
) -> Result<Vec<ResumedMatch>, StoreError> {
    let mut resumed = Vec::new();
    for id in running.ids()? {
        let number = parse_match_id(&id).map(|(number, _)| number);
        if let Some(number) = number
            && league.has_match(ladder, number)?
        {
            running.remove(&id)?;
            continue;
        }
        let read = || -> Result<Option<ResumedMatch>, Box<dyn Error>> {
            let (journal, lines, paused_us) = running.resume(&id)?;
            let found = ResumedMatch::read(&id, journal, &lines, paused_us, seed, watched, &game.catalog)?;
            match &found {
                Some(found) if !found.is_of(game.rules, game.seating) => {
                    Err("the ladder plays another game now".into())
                }
                _ => Ok(found),
            }
        };
        match read() {
            Ok(Some(found)) => resumed.push(found),
            Ok(None) => running.remove(&id)?,
            Err(why) => {
                let kept = running.set_aside(&id)?;
                tracing::warn!("{ladder}: {id} is cut off: its journal, kept as {kept}: {}", Chain(&*why));
            }
        }
    }
    Ok(resumed)
}

/// A set that a worker has, or would get next.
pub(super) struct ResumedSet {
    pub(super) due: DueSet,
    /// The players of each of its matches, by seat.
    pub(super) players: Vec<Vec<String>>,
}

/// Reads the sets that workers have, or would get next, and that have no result. Their bots
/// are added to `bots`. Without workers they do not go on.
///
/// # Errors
/// I/O errors of the databases.
pub(super) fn resume_on_workers(
    leases: &Leases,
    league: &League,
    ladder: &str,
    game: &LadderGame,
    bots: &JobBots,
    has_workers: bool,
) -> Result<Vec<ResumedSet>, StoreError> {
    let mut resumed = Vec::new();
    for lease in leases.open_sets()? {
        let number = lease.set;
        let unit = serde_json::from_str(&lease.unit).ok().filter(|unit: &WorkUnit| {
            unit.game == game.rules.meta().id && usize::from(unit.seats) == game.seating.seats()
        });
        let has_result = league.has_match(ladder, number)?;
        let Some(unit) = unit.filter(|_| !has_result && has_workers) else {
            if !has_result {
                tracing::warn!("{ladder}: match {number}, which was on a worker, does not count");
            }
            // The number of the match is not used again.
            leases.retire(number)?;
            continue;
        };
        let names = |of: &UnitMatch| of.bots.iter().map(|&bot| unit.bots[bot].name.clone()).collect();
        let players = unit.matches.iter().map(names).collect();
        let added: Vec<usize> = unit.bots.iter().map(|bot| bots.add(bot.clone())).collect();
        resumed.push(ResumedSet { due: DueSet { number, fixtures: unit.fixtures(&added) }, players });
    }
    Ok(resumed)
}
