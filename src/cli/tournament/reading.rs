//! A tournament as stored in its database.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::cli::Failure;
use crate::cli::tournament::config::Config;
use crate::cli::tournament::requested_ruling::{disqualified, of_match};
use crate::game::Catalog;
use crate::game::chance::Seed;
use crate::game::erased::Rules;
use crate::game::hex;
use crate::report::tournament::Settings;
use crate::stats::schedule::{MatchId, Participation, Ruling, Schedule, ScheduleError};
use crate::stats::{Entrant, MatchResult};
use crate::store::{About, EntrantRow, Results, RulingRow};

/// A tournament as stored in its database; the bots need not exist.
pub(super) struct Reading {
    pub(super) about: About,
    pub(super) rules: &'static dyn Rules,
    /// With the game of the tournament.
    pub(super) catalog: Catalog,
    pub(super) entrants: Vec<EntrantRow>,
    pub(super) config: Config,
    pub(super) schedule: Schedule,
    /// In the order in which they were made.
    pub(super) rulings: Vec<RulingRow>,
    /// By match: the number of attempts so far. Empty if the results are not those of the database.
    pub(super) attempts: BTreeMap<u32, u32>,
    /// Matches whose results do not belong to the schedule, because results that they depend on were not stored.
    pub(super) refused: Vec<u32>,
}

impl Reading {
    /// The settings that reports state.
    pub(super) fn settings(&self) -> Settings {
        self.config.settings(self.rules, &self.about.seed, self.schedule.plan().seating)
    }

    /// The run seed.
    pub(super) fn seed(&self) -> Result<Seed, Failure> {
        let seed = hex::decode32(&self.about.seed).map(Seed);
        seed.ok_or_else(|| Failure::cannot_run("results: the seed cannot be read"))
    }
}

/// Reads the tournament in a directory from its database. Relative paths are resolved against the directory.
pub(super) fn read(path: &Path, results: &Results, catalog: &Catalog) -> Result<Reading, Failure> {
    let seating = results.about().map_err(Failure::cannot_run)?.seating;
    let (mut reading, refused) =
        read_with(path, results, catalog, results.results(seating).map_err(Failure::cannot_run)?)?;
    for refused in &refused {
        tracing::warn!("{refused}");
    }
    let cut_offs = results.cut_offs().map_err(Failure::cannot_run)?;
    for number in cut_offs.into_iter().chain(results.voids().map_err(Failure::cannot_run)?) {
        reading.schedule.cut_off(number);
    }
    reading.attempts = results.attempts().map_err(Failure::cannot_run)?;
    for (number, attempts) in results.replaced().map_err(Failure::cannot_run)? {
        (0..attempts).for_each(|_| reading.schedule.cut_off(number));
    }
    reading.refused = refused.into_iter().map(ScheduleError::number).collect();
    Ok(reading)
}

/// The tournament with these results instead of those of the database, and the results that do not fit the schedule.
pub(super) fn read_with(
    path: &Path,
    results: &Results,
    catalog: &Catalog,
    played: Vec<(u32, MatchResult)>,
) -> Result<(Reading, Vec<ScheduleError>), Failure> {
    let about = results.about().map_err(Failure::cannot_run)?;
    let entrants = results.entrants().map_err(Failure::cannot_run)?;
    let wrong = |what: String| Failure::cannot_run(format!("results: {what}"));
    let config = Config::parse(&about.config).map_err(|what| wrong(format!("config: {what}")))?;
    let unreadable = |error: io::Error| Failure::cannot_run(format!("{}: {error}", path.display()));
    let config = config.with_base(&path.canonicalize().map_err(unreadable)?);
    let (rules, catalog) = config.find_game(catalog)?;
    if rules.meta().id != about.game {
        let configured = rules.meta().id;
        return Err(wrong(format!("the game is {}, but {configured} in the configuration", about.game)));
    }
    let names: Vec<&str> = entrants.iter().map(|entrant| entrant.name.as_str()).collect();
    let configured: Vec<&str> =
        config.entrants.iter().map(|entrant| entrant.name.as_deref().unwrap_or_default()).collect();
    if names != configured {
        return Err(wrong(format!(
            "the entrants are {}, but {} in the configuration",
            names.join(", "),
            configured.join(", ")
        )));
    }
    let rulings = results.rulings().map_err(Failure::cannot_run)?;
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
        return Err(wrong("the seats are not those of the configuration".to_owned()));
    }
    let voids = results.void_matches(about.seating).map_err(Failure::cannot_run)?;
    let (schedule, refused) = Schedule::resume(plan, played, voids).map_err(Failure::cannot_run)?;
    let reading = Reading {
        about,
        rules,
        catalog,
        entrants,
        config,
        schedule,
        rulings,
        attempts: BTreeMap::new(),
        refused: Vec::new(),
    };
    Ok((reading, refused))
}

/// What a ruling decides on matches.
pub(super) fn on_matches(row: &RulingRow, entrants: &[EntrantRow]) -> impl Iterator<Item = Ruling> {
    let find = |name: &str| entrants.iter().position(|entrant| entrant.name == name);
    row.matches.iter().filter_map(move |ruled| {
        let winner = ruled.winner.as_deref().and_then(find).map(|index| Entrant(index as u16));
        let id = MatchId { number: ruled.number, attempt: ruled.attempt };
        let decides = of_match(row.act, winner)?;
        Some(Ruling { decides, id, since: row.since, until: row.until })
    })
}
