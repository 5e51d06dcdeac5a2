//! The directory of a tournament.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use referee_protocol::referee::Reveal;
use sha2::{Digest, Sha256};

use crate::cli::tournament::audit::{AuditedMatch, Auditor, began_at};
use crate::cli::tournament::config::{Config, PreparedTournament};
use crate::cli::tournament::entrant_row::row;
use crate::cli::tournament::reading::{Reading, read};
use crate::cli::tournament::requested_change;
use crate::cli::{Failure, files};
use crate::files::{Folder, Journal, Records, unsealed};
use crate::game::Catalog;
use crate::game::chance::Seed;
use crate::game::hex;
use crate::record;
use crate::runner::Unsealed;
use crate::stats::schedule::{MatchId, Schedule};
use crate::store::{About, MatchRow, Results};

/// An open tournament directory.
pub(super) struct TournamentFolder {
    pub(super) path: PathBuf,
    pub(super) results: Results,
    pub(super) journal: Journal,
    pub(super) records: Records,
    pub(super) config: Config,
    pub(super) prepared: PreparedTournament,
    pub(super) schedule: Schedule,
    /// With the game of the tournament.
    pub(super) catalog: Catalog,
}

/// Opens the journal, whose lock gives the exclusive right to play or change the tournament.
fn journal(folder: &Folder) -> Result<Journal, Failure> {
    Journal::open(folder).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            let path = folder.path().display();
            Failure::cannot_run(format!("{path}: another process is playing this tournament"))
        }
        _ => Failure::cannot_run(error),
    })
}

/// SHA-256 of a file.
fn digest(path: &Path) -> Result<String, Failure> {
    Ok(hex::encode(&Sha256::digest(files::read(path)?)))
}

fn database(path: &Path) -> PathBuf {
    path.join("results.sqlite")
}

impl TournamentFolder {
    /// Creates the directory of a new tournament.
    pub(super) fn create(
        path: &Path,
        mut config: Config,
        seed: Seed,
        catalog: &Catalog,
        is_durable: bool,
    ) -> Result<TournamentFolder, Failure> {
        let wrong = |error: io::Error| Failure::cannot_run(format!("{}: {error}", path.display()));
        let (rules, catalog) = config.find_game(catalog)?;
        let plan = config.plan(rules, None)?;
        let prepared = config.prepare(rules, seed, &plan)?;
        let folder = Folder::make(path).map_err(Failure::cannot_run)?;
        let journal = journal(&folder)?;
        if folder.has_file("results.sqlite").map_err(Failure::cannot_run)? {
            return Err(Failure::usage(format!(
                "{} contains a tournament: `referee tournament resume {}` continues it, --dir selects another \
                 folder",
                path.display(),
                path.display()
            )));
        }
        config.keep_names(&prepared.entrants);
        let about = About {
            name: config.title(rules.meta().id).to_owned(),
            game: rules.meta().id.to_owned(),
            rules: rules.meta().rules_version,
            program: rules.program().map(ToOwned::to_owned),
            seating: plan.seating,
            config: config.moved_to(path, rules.program().is_some()).map_err(wrong)?.to_toml()?,
            openings: config.openings_file().as_deref().map(digest).transpose()?,
            seed: seed.to_hex(),
        };
        let rows = config.entrants.iter().enumerate();
        let rows = rows.map(|(index, entrant)| row(entrant, prepared.bots_of(index), 1));
        let rows = rows.collect::<Vec<_>>();
        let schedule = Schedule::new(plan).map_err(Failure::usage)?;
        let results = Results::create(&database(path), &about, &rows).map_err(wrong)?;
        results.set_durable(is_durable).map_err(wrong)?;
        let records = Records::reopen(&folder, is_durable).map_err(Failure::cannot_run)?;
        let path = path.to_owned();
        Ok(TournamentFolder { path, results, journal, records, config, prepared, schedule, catalog })
    }

    /// Opens and locks the directory of a tournament in progress. Applies changes that were requested from the
    /// process that played it, and records interrupted matches as cut off.
    pub(super) fn open(
        path: &Path,
        catalog: &Catalog,
        is_durable: bool,
    ) -> Result<TournamentFolder, Failure> {
        let wrong = |error: io::Error| Failure::cannot_run(format!("{}: {error}", path.display()));
        let LockedTournament { mut results, journal, records, mut reading } =
            LockedTournament::open(path, catalog, is_durable)?;
        for asked in results.take_asked().map_err(wrong)? {
            reading = requested_change::apply_asked(&mut results, reading, &asked)?;
        }
        let seed = reading.seed()?;
        let Reading { about, rules, catalog, config, schedule, .. } = reading;
        let prepared = config.prepare(rules, seed, schedule.plan())?;
        let version = rules.meta().rules_version;
        if version != about.rules {
            return Err(Failure::cannot_run(format!(
                "the tournament was started with rules version {} of {}, but this program has version {version}",
                about.rules, about.game
            )));
        }
        record::check_program(rules, about.program.as_deref()).map_err(|what| {
            Failure::usage(format!("{what}: the tournament began with them, so restore them"))
        })?;
        if let (Some(path), Some(before)) = (&config.openings_file(), &about.openings)
            && digest(path)? != *before
        {
            return Err(Failure::usage(format!(
                "the opening file {} has changed since the tournament began: restore it",
                path.display()
            )));
        }
        let path = path.to_owned();
        Ok(TournamentFolder { path, results, journal, records, config, prepared, schedule, catalog })
    }

    /// The unsealed records, of sets that were incomplete when the run ended.
    pub(super) fn unsealed(&self) -> Result<Vec<Unsealed>, Failure> {
        let wrong = |error: io::Error| Failure::cannot_run(format!("{}: {error}", self.path.display()));
        let mut unsealed = Vec::new();
        for match_id in self.records.matches().map_err(wrong)?.1 {
            let Ok(id) = match_id.parse::<MatchId>() else { continue };
            let deal = self.schedule.plan().deal(id);
            let record = self.records.read_unsealed(&match_id).map_err(wrong)?;
            let seats = self.schedule.plan().seating.seats();
            let reveal = reveal(&self.prepared.run.seed, &match_id, &deal, seats);
            unsealed.push(Unsealed { deal, match_id, record, reveal });
        }
        Ok(unsealed)
    }
}

/// A tournament that is locked by this process; the bots need not exist.
pub(super) struct LockedTournament {
    pub(super) results: Results,
    journal: Journal,
    records: Records,
    pub(super) reading: Reading,
}

impl LockedTournament {
    /// Opens it. Records interrupted matches as cut off.
    pub(super) fn open(
        path: &Path,
        catalog: &Catalog,
        is_durable: bool,
    ) -> Result<LockedTournament, Failure> {
        let wrong = |error: io::Error| Failure::cannot_run(format!("{}: {error}", path.display()));
        let mut results = super::database::open(path)?;
        let folder = Folder::make(path).map_err(Failure::cannot_run)?;
        let mut journal = journal(&folder)?;
        results.set_durable(is_durable).map_err(wrong)?;
        let records = Records::reopen(&folder, is_durable).map_err(Failure::cannot_run)?;
        adopt(path, &mut results, &records, catalog)?;
        let mut reading = read(path, &results, catalog)?;
        let roster = reading.config.roster();
        for number in std::mem::take(&mut reading.refused) {
            results.make_void(number).map_err(wrong)?;
            reading.schedule.cut_off(number);
        }
        for (id, entrants) in journal.read().map_err(wrong)? {
            let Ok(id) = id.parse::<MatchId>() else { continue };
            if !results.has(id).map_err(wrong)? {
                let entrants: Vec<usize> = entrants.iter().map(|&bot| roster.entrant_of(bot)).collect();
                results.cut_off(id, id.set(reading.schedule.legs()), &entrants).map_err(wrong)?;
                reading.schedule.cut_off(id.number);
            }
        }
        journal.clear().map_err(wrong)?;
        Ok(LockedTournament { results, journal, records, reading })
    }
}

/// The content of the seal of a match of a mirrored set.
pub(super) fn reveal(run: &Seed, match_id: &str, deal: &str, seats: usize) -> Reveal {
    Reveal {
        seed: run.of_deal(deal).to_hex(),
        salt: hex::encode(&run.salt(match_id)),
        deal: deal.to_owned(),
        // There are no nonces in mirrored sets.
        nonces: vec![String::new(); seats],
    }
}

/// Adds the matches that had ended, with complete records, but were not in the results when a process was killed.
/// Renames invalid records, such as those that a power failure leaves incomplete.
fn adopt(path: &Path, results: &mut Results, records: &Records, catalog: &Catalog) -> Result<(), Failure> {
    let reading = read(path, results, catalog)?;
    let (auditor, seed) = (Auditor::new(&reading)?, reading.seed()?);
    let (sealed, aside) = records.matches().map_err(Failure::cannot_run)?;
    let mut rows = BTreeMap::new();
    let id_of = |name: &str| name.parse::<MatchId>().ok().filter(|id| id.to_string() == name);
    for match_id in &sealed {
        let Some(id) = id_of(match_id) else { continue };
        let has_row = results.has(id).map_err(Failure::cannot_run)?;
        let is_aside = aside.contains(match_id);
        if has_row && !is_aside {
            continue;
        }
        let record = records.read(match_id).map_err(Failure::cannot_run)?;
        if !record::is_sealed(&record) {
            let kept = records.set_aside(match_id).map_err(Failure::cannot_run)?;
            tracing::warn!(
                "{} is incomplete: renamed to {}",
                records.path(match_id).display(),
                file_name(&kept)
            );
            continue;
        }
        if !has_row {
            let recorded = auditor.recorded(id, &record).map_err(|what| {
                Failure::cannot_run(format!(
                    "{} is not a record of this tournament ({}): move it away",
                    records.path(match_id).display(),
                    what.join("; ")
                ))
            })?;
            rows.insert(id, late_row(recorded, &records.path(match_id)));
        }
        if is_aside {
            records.discard_unsealed(match_id).map_err(Failure::cannot_run)?;
        }
    }
    for match_id in &aside {
        let Some(id) = id_of(match_id) else { continue };
        if rows.contains_key(&id) || results.has(id).map_err(Failure::cannot_run)? {
            continue;
        }
        let mut record = records.read_unsealed(match_id).map_err(Failure::cannot_run)?;
        let seats = reading.schedule.plan().seating.seats();
        record::seal(&mut record, reveal(&seed, match_id, &auditor.deal(id), seats));
        match auditor.recorded(id, &record) {
            Ok(recorded) => {
                rows.insert(id, late_row(recorded, &records.path(match_id)));
            }
            Err(what) => {
                let kept = records.set_unsealed_aside(match_id).map_err(Failure::cannot_run)?;
                tracing::warn!(
                    "{} is not a record of this tournament ({}): renamed to {}",
                    unsealed(&records.path(match_id)).display(),
                    what.join("; "),
                    file_name(&kept)
                );
            }
        }
    }
    let rows: Vec<MatchRow> = rows.into_values().collect();
    results.add_matches(&rows).map_err(Failure::cannot_run)
}

fn file_name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The row of a match that has no row yet.
fn late_row(found: AuditedMatch, record: &Path) -> MatchRow {
    MatchRow { began_at: began_at(record, &found.report), ..found.row }
}
