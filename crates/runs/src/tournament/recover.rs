//! The directory of a tournament: opened, and completed after a crash.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use referee_engine::runner::Unsealed;
use referee_files::{Folder, Journal, Records, read_regular, unsealed};
use referee_game::chance::Seed;
use referee_game::hex;
use referee_match::record;
use referee_protocol::referee::Reveal;
use referee_stats::schedule::{MatchId, Schedule};
use referee_store::{About, MatchRow, Results};
use sha2::{Digest, Sha256};

use crate::RunError;
use crate::config::{Dollars, KnownGames};
use crate::tournament::audit::{AuditedMatch, Auditor, began_at};
use crate::tournament::change::{self, Applied};
use crate::tournament::config::{PreparedTournament, TournamentConfig};
use crate::tournament::entrant_row::{fingerprints, row};
use crate::tournament::stored::{RESULTS, StoredTournament, open_results};

/// The directory of a tournament, which this process has locked.
#[derive(Debug)]
pub struct TournamentFolder {
    pub path: PathBuf,
    pub results: Results,
    pub records: Records,
    pub(super) journal: Journal,
    /// Whether results and records are on the disk before they count.
    pub(super) is_durable: bool,
}

/// A tournament that this process plays.
#[derive(Debug)]
pub struct Tournament {
    pub folder: TournamentFolder,
    /// The tournament file. Its paths are relative to the directory.
    pub config: TournamentConfig,
    /// The validated contents of the file.
    pub prepared: PreparedTournament,
    pub schedule: Schedule,
    /// The known games, with that of the tournament.
    pub games: KnownGames,
    /// The limit of its costs in place of that of the tournament file.
    pub max_cost: Option<Dollars>,
    /// The requested changes that were made, or could not be made, when it was opened.
    pub applied: Vec<Applied>,
}

/// Opens the journal, whose lock gives the exclusive right to play or change the tournament.
fn journal(folder: &Folder) -> Result<Journal, RunError> {
    Journal::open(folder).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            let path = folder.path().display();
            RunError::machine(format!("{path}: another process is playing this tournament"))
        }
        _ => error.into(),
    })
}

/// Returns the SHA-256 of a file, in hex.
fn digest(path: &Path) -> Result<String, RunError> {
    let file = read_regular(path);
    let file = file.map_err(|why| RunError::at(path, why))?;
    Ok(hex::encode(&Sha256::digest(file)))
}

impl Tournament {
    /// Creates the directory of a new tournament. Without `is_durable` a power failure may lose results.
    ///
    /// # Errors
    /// If it cannot be played, or the directory has a tournament already.
    pub fn create(
        path: &Path,
        mut config: TournamentConfig,
        seed: Seed,
        games: &KnownGames,
        is_durable: bool,
    ) -> Result<Tournament, RunError> {
        let mut games = games.clone();
        let rules = config.find_game(&mut games)?;
        let plan = config.plan(rules, None)?;
        let prepared = config.prepare(rules, seed, &plan)?;
        games.replace(prepared.rules);
        let folder = Folder::make(path)?;
        let journal = journal(&folder)?;
        if folder.has_file(RESULTS)? {
            let path = path.display();
            return Err(format!("{path} contains a tournament: `referee tournament resume {path}` continues it, another one needs another directory").into());
        }
        referee_program::keep(rules, path)?;
        config.keep_names(&prepared.entrants);
        let about = About {
            name: config.title(rules.meta().id).to_owned(),
            game: rules.meta().id.to_owned(),
            rules: rules.meta().rules_version,
            program: rules.program().map(ToOwned::to_owned),
            seating: plan.seating,
            config: config
                .moved_to(path, rules.disguised().unwrap_or(rules).program().is_some())
                .map_err(|why| RunError::at(path, why))?
                .to_toml()?,
            openings: config.openings_file().as_deref().map(digest).transpose()?,
            seed: seed.to_hex(),
        };
        let rows = config.entrants.iter().enumerate();
        let rows = rows.map(|(index, entrant)| row(entrant, prepared.bots_of(index), 1));
        let rows = rows.collect::<Vec<_>>();
        let schedule = Schedule::new(plan)?;
        let results =
            Results::create(&path.join(RESULTS), &about, &rows).map_err(|why| RunError::at(path, why))?;
        results.set_durable(is_durable).map_err(|why| RunError::at(path, why))?;
        let records = Records::reopen(&folder, is_durable)?;
        let folder = TournamentFolder { path: path.to_owned(), results, records, journal, is_durable };
        Ok(Tournament { folder, config, prepared, schedule, games, max_cost: None, applied: Vec::new() })
    }

    /// Opens and locks the directory of a tournament in progress, as [`LockedTournament::open`] does.
    ///
    /// # Errors
    /// If it cannot be played as it was, or another process plays it.
    pub fn open(path: &Path, games: &KnownGames, is_durable: bool) -> Result<Tournament, RunError> {
        Tournament::prepare(LockedTournament::open(path, games, is_durable)?)
    }

    /// Opens it again after a change, without giving up the lock.
    ///
    /// # Errors
    /// If it cannot be played as it was.
    pub(super) fn reopen(
        path: &Path,
        games: &KnownGames,
        is_durable: bool,
        journal: Journal,
    ) -> Result<Tournament, RunError> {
        let (results, folder) = (open_results(path)?, Folder::make(path)?);
        Tournament::prepare(LockedTournament::complete(&folder, games, is_durable, results, journal)?)
    }

    fn prepare(locked: LockedTournament) -> Result<Tournament, RunError> {
        let LockedTournament { folder, stored, applied } = locked;
        stored.warn_of_changed_game();
        let seed = stored.seed()?;
        let StoredTournament { about, rules, mut games, config, schedule, .. } = stored;
        let prepared = config.prepare(rules, seed, schedule.plan())?;
        games.replace(prepared.rules);
        let here = rules.meta().rules_version;
        if here != about.rules {
            let (game, began) = (about.game, about.rules);
            return Err(RunError::Changed(format!("the tournament was started with rules version {began} of {game}, but this program has version {here}").into()));
        }
        if let (Some(path), Some(before)) = (config.openings_file(), &about.openings)
            && digest(&path)? != *before
        {
            let path = path.display();
            return Err(RunError::Changed(
                format!("the opening file {path} has changed since the tournament began: restore it").into(),
            ));
        }
        Ok(Tournament { folder, config, prepared, schedule, games, max_cost: None, applied })
    }

    /// Checks that the programs and scripts of all entrants are those with which the tournament began. With
    /// `is_accepted` they are those of the tournament from now on.
    ///
    /// # Errors
    /// If the files of one have changed, and that is not accepted.
    pub fn check_files(&self, is_accepted: bool) -> Result<(), RunError> {
        for (index, row) in self.folder.results.entrants()?.into_iter().enumerate() {
            let files = fingerprints(self.prepared.bots_of(index));
            if row.leaves.is_some() || files == row.files {
                continue;
            }
            if !is_accepted {
                let name = row.name;
                return Err(RunError::Changed(format!("the program or a script of `{name}` has changed since the tournament began: restore it").into()));
            }
            self.folder.results.set_files(index, &files)?;
        }
        Ok(())
    }

    /// The unsealed records, of sets that were incomplete when the run ended.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn unsealed(&self) -> Result<Vec<Unsealed>, RunError> {
        let mut unsealed = Vec::new();
        for match_id in self.folder.records.matches().map_err(|why| RunError::at(&self.folder.path, why))?.1 {
            let Ok(id) = match_id.parse::<MatchId>() else { continue };
            let deal = self.schedule.plan().deal(id);
            let record = self
                .folder
                .records
                .read_unsealed(&match_id)
                .map_err(|why| RunError::at(&self.folder.path, why))?;
            let seats = self.schedule.plan().seating.seats();
            let reveal = reveal(&self.prepared.run.seed, &match_id, &deal, seats);
            unsealed.push(Unsealed { deal, match_id, record, reveal });
        }
        Ok(unsealed)
    }
}

/// A tournament that is locked by this process; the bots need not exist.
#[derive(Debug)]
pub struct LockedTournament {
    pub folder: TournamentFolder,
    pub stored: StoredTournament,
    /// The requested changes that were made, or could not be made, when it was opened.
    pub(super) applied: Vec<Applied>,
}

impl LockedTournament {
    /// Opens it. Applies changes that were requested from the process that played it, and records interrupted matches as
    /// cut off.
    ///
    /// # Errors
    /// If it cannot be read, or another process plays it.
    pub fn open(path: &Path, games: &KnownGames, is_durable: bool) -> Result<LockedTournament, RunError> {
        let results = open_results(path)?;
        let folder = Folder::make(path)?;
        let journal = journal(&folder)?;
        LockedTournament::complete(&folder, games, is_durable, results, journal)
    }

    fn complete(
        folder: &Folder,
        games: &KnownGames,
        is_durable: bool,
        mut results: Results,
        mut journal: Journal,
    ) -> Result<LockedTournament, RunError> {
        let path = folder.path();
        results.set_durable(is_durable).map_err(|why| RunError::at(path, why))?;
        let records = Records::reopen(folder, is_durable)?;
        adopt(path, &mut results, &records, games)?;
        let mut stored = StoredTournament::read(path, &results, games)?;
        let roster = stored.config.roster();
        for number in mem::take(&mut stored.refused) {
            results.make_void(number).map_err(|why| RunError::at(path, why))?;
            stored.schedule.cut_off(number);
        }
        for (id, entrants) in journal.read().map_err(|why| RunError::at(path, why))? {
            let Ok(id) = id.parse::<MatchId>() else { continue };
            if !results.has(id).map_err(|why| RunError::at(path, why))? {
                let entrants: Vec<usize> = entrants.iter().map(|&bot| roster.entrant_of(bot)).collect();
                results
                    .cut_off(id, id.set(stored.schedule.legs()), &entrants)
                    .map_err(|why| RunError::at(path, why))?;
                stored.schedule.cut_off(id.number);
            }
        }
        journal.clear().map_err(|why| RunError::at(path, why))?;
        let mut applied = Vec::new();
        while let Some(requested) = results.requests().take().map_err(|why| RunError::at(path, why))? {
            applied.push(change::apply(&mut results, &stored, &requested)?);
            stored = StoredTournament::read(path, &results, games)?;
        }
        let folder = TournamentFolder { path: path.to_owned(), results, records, journal, is_durable };
        Ok(LockedTournament { folder, stored, applied })
    }
}

/// The content of the seal of a match of a mirrored set.
pub fn reveal(run: &Seed, match_id: &str, deal: &str, seats: usize) -> Reveal {
    Reveal {
        seed: run.of_deal(deal).to_hex(),
        salt: hex::encode(&run.salt(match_id)),
        deal: deal.to_owned(),
        // Mirrored sets have no nonces.
        nonces: vec![String::new(); seats],
    }
}

/// Adds the matches that had ended, with complete records, but were not in the results when a process was killed.
/// Renames invalid records, such as those that a power failure leaves incomplete.
fn adopt(path: &Path, results: &mut Results, records: &Records, games: &KnownGames) -> Result<(), RunError> {
    let stored = StoredTournament::read(path, results, games)?;
    let (auditor, seed) = (Auditor::new(&stored)?, stored.seed()?);
    let (sealed, aside) = records.matches()?;
    let mut rows = BTreeMap::new();
    let id_of = |name: &str| name.parse::<MatchId>().ok().filter(|id| id.to_string() == name);
    for match_id in &sealed {
        let Some(id) = id_of(match_id) else { continue };
        let has_row = results.has(id)?;
        let is_aside = aside.contains(match_id);
        if has_row && !is_aside {
            continue;
        }
        let record = records.read(match_id)?;
        if !record::is_sealed(&record) {
            let kept = records.set_aside(match_id)?;
            tracing::warn!(
                "{} is incomplete: renamed to {}",
                records.path(match_id).display(),
                file_name(&kept)
            );
            continue;
        }
        if !has_row {
            let recorded = auditor.recorded(id, &record);
            let recorded = recorded.map_err(|why| {
                let path = records.path(match_id).display().to_string();
                RunError::machine(format!("{path} is not a record of this tournament ({why}): move it away"))
            })?;
            rows.insert(id, late_row(recorded, &records.path(match_id)));
        }
        if is_aside {
            records.discard_unsealed(match_id)?;
        }
    }
    for match_id in &aside {
        let Some(id) = id_of(match_id) else { continue };
        if rows.contains_key(&id) || results.has(id)? {
            continue;
        }
        let mut record = records.read_unsealed(match_id)?;
        let seats = stored.schedule.plan().seating.seats();
        record::seal(&mut record, reveal(&seed, match_id, &auditor.deal(id), seats));
        match auditor.recorded(id, &record) {
            Ok(recorded) => {
                rows.insert(id, late_row(recorded, &records.path(match_id)));
            }
            Err(why) => {
                let kept = records.set_unsealed_aside(match_id)?;
                tracing::warn!(
                    "{} is not a record of this tournament ({why}): renamed to {}",
                    unsealed(&records.path(match_id)).display(),
                    file_name(&kept)
                );
            }
        }
    }
    let rows: Vec<MatchRow> = rows.into_values().collect();
    Ok(results.add_matches(&rows)?)
}

fn file_name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The row of a match that has no row yet.
fn late_row(found: AuditedMatch, record: &Path) -> MatchRow {
    MatchRow { began_at: began_at(record, &found.finished), ..found.row }
}
