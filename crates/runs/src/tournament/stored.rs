//! A tournament as stored in its database.

use std::collections::BTreeMap;
use std::path::Path;

use referee_game::chance::Seed;
use referee_game::erased::Rules;
use referee_game::hex;
use referee_game::{Chain, Wrong};
use referee_match::record::{OtherRules, check_program};
use referee_report::tournament::Settings;
use referee_stats::schedule::{MatchId, Participation, Ruling, Schedule, ScheduleError};
use referee_stats::{Entrant, MatchResult};
use referee_store::{About, EntrantRow, Results, RulingRow};

use crate::RunError;
use crate::config::KnownGames;
use crate::tournament::config::TournamentConfig;
use crate::tournament::ruling::{disqualified, of_match};

/// The database in the directory of a tournament.
pub(super) const RESULTS: &str = "results.sqlite";

/// An error of a database that contradicts itself.
fn contradiction(why: impl Into<Wrong>) -> RunError {
    RunError::machine(Wrong::at("results", why.into()))
}

/// Opens the results in the directory of a tournament.
///
/// # Errors
/// If there are none, or they cannot be read.
pub fn open_results(directory: &Path) -> Result<Results, RunError> {
    let path = directory.join(RESULTS);
    if !path.exists() {
        let path = directory.display();
        return Err(format!("{path} is not the directory of a tournament: it has no results.sqlite").into());
    }
    Results::open(&path).map_err(|why| RunError::at(directory, why))
}

/// A tournament as stored in its database; the bots need not exist.
#[derive(Debug)]
pub struct StoredTournament {
    /// The game, seed and configuration.
    pub about: About,
    pub rules: &'static dyn Rules,
    /// The known games, with that of the tournament.
    pub games: KnownGames,
    pub entrants: Vec<EntrantRow>,
    /// The tournament file. Its paths are relative to the directory of the tournament.
    pub config: TournamentConfig,
    pub schedule: Schedule,
    /// In the order in which they were made.
    pub rulings: Vec<RulingRow>,
    /// By match: the number of attempts so far. Empty if the results are not those of the database.
    pub attempts: BTreeMap<u32, u32>,
    /// Matches whose results do not belong to the schedule, because results that they depend on were not stored.
    pub refused: Vec<u32>,
}

impl StoredTournament {
    /// The settings that reports state.
    pub fn settings(&self) -> Settings {
        self.config.settings(self.rules, &self.about.seed, self.schedule.plan().seating)
    }

    /// Says which files of the game have changed in the directory of its author since the tournament began.
    pub(super) fn warn_of_changed_game(&self) {
        let Some(program) = self.about.program.as_ref().filter(|_| self.rules.disguised().is_none()) else {
            return;
        };
        let (game, place) = (&self.about.game, self.config.resolve(Path::new(&self.config.game)));
        let what = match referee_program::load(&place, self.games.launch()) {
            Err(why) => Chain(&why).to_string(),
            Ok(rules) => match check_program(rules, Some(&**program)) {
                Ok(()) => return,
                Err(OtherRules::OtherFiles { files, .. }) => {
                    format!("{}: changed since the tournament began: {}", place.display(), files.join(", "))
                }
                Err(other) => other.to_string(),
            },
        };
        tracing::warn!(
            "{what}. All matches of {game} are played and verified with the copy in the directory of the tournament"
        );
    }

    /// The run seed.
    ///
    /// # Errors
    /// If the database has none.
    pub fn seed(&self) -> Result<Seed, RunError> {
        let seed = hex::decode32(&self.about.seed).map(Seed);
        seed.ok_or_else(|| contradiction("the seed cannot be read"))
    }

    /// Reads the tournament in a directory from its database. Relative paths are resolved against the directory.
    ///
    /// # Errors
    /// If it cannot be read, or contradicts itself.
    pub fn read(
        directory: &Path,
        results: &Results,
        games: &KnownGames,
    ) -> Result<StoredTournament, RunError> {
        let seating = results.about()?.seating;
        let (mut stored, refused) =
            StoredTournament::with_results(directory, results, games, results.results(seating)?)?;
        for refused in &refused {
            tracing::warn!("{refused}");
        }
        for number in results.cut_offs()?.into_iter().chain(results.voids()?) {
            stored.schedule.cut_off(number);
        }
        stored.attempts = results.attempts()?;
        for (number, attempts) in results.replaced()? {
            (0..attempts).for_each(|_| stored.schedule.cut_off(number));
        }
        stored.refused = refused.into_iter().map(ScheduleError::number).collect();
        Ok(stored)
    }

    /// The tournament with these results instead of those of the database, and the results that do not fit the schedule.
    pub(super) fn with_results(
        directory: &Path,
        results: &Results,
        games: &KnownGames,
        played: Vec<(u32, MatchResult)>,
    ) -> Result<(StoredTournament, Vec<ScheduleError>), RunError> {
        let about = results.about()?;
        let entrants = results.entrants()?;
        let config =
            TournamentConfig::parse(&about.config).map_err(|why| contradiction(Wrong::at("config", why)))?;
        let base = directory.canonicalize();
        let base = base.map_err(|why| RunError::at(directory, why))?;
        let config = config.with_base(&base);
        let mut games = games.clone();
        let rules = find_game(directory, &about, &config, &mut games)?;
        let configured = rules.meta().id;
        if configured != about.game {
            let what = format!("the game is {}, but {configured} in the configuration", about.game);
            return Err(contradiction(what));
        }
        let stored: Vec<String> = entrants.iter().map(|entrant| entrant.name.clone()).collect();
        let configured = config.names();
        if stored != configured {
            let [stored, configured] = [stored, configured].map(|names| names.join(", "));
            let what = format!("the entrants are {stored}, but {configured} in the configuration");
            return Err(contradiction(what));
        }
        let rulings = results.rulings()?;
        let entry = |row: &EntrantRow| {
            let entry = Participation {
                joins: row.joins,
                leaves: row.leaves,
                missed: row.missed.iter().map(|&(first, end)| first..end).collect(),
                ..Participation::default()
            };
            disqualified(entry, &row.name, &rulings)
        };
        let entries = entrants.iter().map(entry).collect();
        let mut plan = config.plan(rules, Some(entries))?;
        plan.rulings = rulings.iter().flat_map(|row| on_matches(row, &entrants)).collect();
        if plan.seating != about.seating {
            let what = "the seats are not those of the configuration";
            return Err(contradiction(what));
        }
        let voids = results.void_matches(about.seating)?;
        let (schedule, refused) =
            Schedule::resume(plan, played, voids).map_err(|why| Wrong::at("format", why))?;
        let stored = StoredTournament {
            about,
            rules,
            games,
            entrants,
            config,
            schedule,
            rulings,
            attempts: BTreeMap::new(),
            refused: Vec::new(),
        };
        Ok((stored, refused))
    }
}

/// Finds the game of a tournament: the copy that is kept in its directory, or the same files in that of its author.
fn find_game(
    directory: &Path,
    about: &About,
    config: &TournamentConfig,
    games: &mut KnownGames,
) -> Result<&'static dyn Rules, RunError> {
    if let Some(program) = &about.program {
        let known = games.catalog().find(&about.game).ok();
        if let Some(rules) = known.filter(|rules| check_program(*rules, Some(&**program)).is_ok()) {
            return Ok(rules);
        }
        let kept = referee_program::kept(directory, games.launch())?;
        let is_it = |rules: &&dyn Rules| rules.program().is_some_and(|kept| kept.get() == program.get());
        if let Some(rules) = kept.into_iter().find(is_it).filter(|rules| games.add_kept(*rules)) {
            return Ok(rules);
        }
    }
    let rules = config.find_game(games)?;
    check_program(rules, about.program.as_deref()).map_err(|why| {
        RunError::Changed(
            format!(
                "{why}; the tournament began with those of the record, so restore them, or their copy in its directory `games`"
            )
            .into(),
        )
    })?;
    Ok(rules)
}

/// The decisions of a ruling on matches.
pub(super) fn on_matches(row: &RulingRow, entrants: &[EntrantRow]) -> impl Iterator<Item = Ruling> {
    let find = |name: &str| entrants.iter().position(|entrant| entrant.name == name);
    row.matches.iter().filter_map(move |ruled| {
        let winner = ruled.winner.as_deref().and_then(find).map(|index| Entrant(index as u16));
        let id = MatchId { number: ruled.number, attempt: ruled.attempt };
        let decides = of_match(row.act, winner)?;
        Some(Ruling { decides, id, since: row.since, until: row.until })
    })
}
