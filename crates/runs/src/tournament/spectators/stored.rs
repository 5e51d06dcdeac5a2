//! The pages of a tournament that another process plays, or that has ended.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use referee_engine::runner::Unsealed;
use referee_files::{read_regular, unsealed};
use referee_game::chance::Seed;
use referee_stats::schedule::{MatchId, Plan};
use referee_store::{MatchRow, Results};
use referee_web::WatchServer;

use crate::RunError;
use crate::config::KnownGames;
use crate::tournament::spectators::standings::LiveStandings;
use crate::tournament::spectators::{ShownTournament, was_cut_off};
use crate::tournament::{StoredTournament, open_results, reveal};

/// A tournament whose directory is only read: spectators see what other processes store there.
#[derive(Debug)]
pub struct FollowedTournament {
    directory: PathBuf,
    games: KnownGames,
    results: Results,
    /// The version of the database that is shown.
    version: i64,
    /// The matches that the server lists, with a hash of the row of each.
    rows: BTreeMap<MatchId, u64>,
    /// The matches whose deals are incomplete: the path of the record of each, and its deal.
    unsealed: Vec<(PathBuf, String)>,
}

impl FollowedTournament {
    /// Opens the tournament in a directory, and reads what is stored there, to be shown first.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(
        directory: &Path,
        games: &KnownGames,
    ) -> Result<(FollowedTournament, StoredTournament), RunError> {
        let results = open_results(directory)?;
        let version = results.data_version()?;
        let stored = StoredTournament::read(directory, &results, games)?;
        let followed = FollowedTournament {
            directory: directory.to_owned(),
            games: games.clone(),
            results,
            version,
            rows: BTreeMap::new(),
            unsealed: Vec::new(),
        };
        Ok((followed, stored))
    }

    /// Shows the changes of other processes since the last time. A process that writes in between may make
    /// this fail; the next call tries again.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn show_changes(&mut self, server: &WatchServer) -> Result<(), RunError> {
        self.results.check_in_place()?;
        let found = self.results.data_version()?;
        if found != self.version {
            self.show(StoredTournament::read(&self.directory, &self.results, &self.games)?, server)?;
            self.version = found;
        }
        // The deals of matches whose records are sealed by now are complete.
        for (_, deal) in self.unsealed.extract_if(.., |(path, _)| path.exists()) {
            server.complete_deal(&deal);
        }
        Ok(())
    }

    /// Shows the matches that are new, and the standings. When a row has changed that is listed, such as that of a match that was
    /// taken back with its worker, all are listed anew.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn show(&mut self, stored: StoredTournament, server: &WatchServer) -> Result<(), RunError> {
        let FollowedTournament { directory, results, rows, unsealed, .. } = self;
        let seed = stored.seed()?;
        let StoredTournament { about, config, schedule, .. } = stored;
        let shown = ShownTournament::of(&about.name, &config, about.seating, server);
        let records = directory.join("records");
        let mut has_changed = false;
        results.for_each_match(|row| {
            has_changed |= rows.get(&row.id).is_some_and(|listed| *listed != hash_of(&row));
            Ok(())
        })?;
        if has_changed {
            rows.clear();
            unsealed.clear();
            server.forget_matches();
        }
        results.for_each_match(|row| {
            if !was_cut_off(&row) && rows.insert(row.id, hash_of(&row)).is_none() {
                let record = row.record.as_ref().map(|name| records.join(name));
                let aside = record.as_deref().and_then(|path| set_aside(path, &row, &seed, schedule.plan()));
                if let (Some(path), Some(Unsealed { deal, .. })) = (&record, &aside) {
                    unsealed.push((path.clone(), deal.clone()));
                }
                let began_at = row.began_at;
                server.add_earlier(shown.earlier(row, record), began_at, aside);
            }
            Ok(())
        })?;
        let mut standings = LiveStandings::open(directory, &config)?;
        server.set_standings(Box::new(move || standings.view(&schedule)));
        Ok(())
    }
}

/// A hash of everything that a row says.
fn hash_of(row: &MatchRow) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{row:?}").hash(&mut hasher);
    hasher.finish()
}

/// The record of a match whose deal is incomplete.
fn set_aside(sealed: &Path, row: &MatchRow, seed: &Seed, plan: &Plan) -> Option<Unsealed> {
    if sealed.exists() {
        return None;
    }
    // If there is none, it has been sealed in between, or it is missing.
    let record = read_regular(&unsealed(sealed)).ok()?;
    let (match_id, deal) = (row.id.to_string(), plan.deal(row.id));
    let reveal = reveal(seed, &match_id, &deal, plan.seating.seats());
    Some(Unsealed { deal, match_id, record, reveal })
}
