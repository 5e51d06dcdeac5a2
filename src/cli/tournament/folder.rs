//! The folder of a tournament.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use referee_protocol::referee::Reveal;
use sha2::{Digest, Sha256};

use crate::cli::tournament::config::{Config, Prepared};
use crate::cli::{Failure, files};
use crate::core::chance::Seed;
use crate::core::hex;
use crate::server::{Entrant, Unsealed};
use crate::store::{About, EntrantRow, Journal, Records, Results};
use crate::tournament::schedule::{Entry, MatchId, Schedule, Unplanned};

/// A tournament as its folder has it.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) results: Results,
    pub(super) journal: Journal,
    pub(super) config: Config,
    pub(super) prepared: Prepared,
    pub(super) schedule: Schedule,
}

pub(super) fn fingerprints(entrant: &Entrant) -> BTreeMap<String, String> {
    entrant.files.iter().cloned().collect()
}

/// An entrant that is paired from this round on.
pub(super) fn row(entrant: &Entrant, joins: u32) -> EntrantRow {
    EntrantRow {
        name: entrant.name.clone(),
        source: entrant.source.to_string(),
        files: fingerprints(entrant),
        joins,
        leaves: None,
        interruptions: 0,
    }
}

/// Whoever has it is the only one who plays the tournament or changes it.
pub(super) fn journal(folder: &Path) -> Result<Journal, Failure> {
    Journal::open(&folder.join("begun")).map_err(|error| {
        let path = folder.display();
        Failure::cannot_run(match error.kind() {
            io::ErrorKind::WouldBlock => format!("{path}: another process plays this tournament"),
            _ => format!("{path}: {error}"),
        })
    })
}

/// SHA-256 of a file.
fn digest(path: &Path) -> Result<String, Failure> {
    Ok(hex::encode(&Sha256::digest(files::read(path)?)))
}

fn database(path: &Path) -> PathBuf {
    path.join("results.sqlite")
}

impl Folder {
    /// Makes the folder of a new tournament.
    pub(super) fn create(path: &Path, mut config: Config, seed: Seed) -> Result<Folder, Failure> {
        let wrong = |error: io::Error| Failure::cannot_run(format!("{}: {error}", path.display()));
        let plan = config.plan(None)?;
        let prepared = config.prepare(seed, &plan)?;
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(wrong)?;
        let journal = journal(path)?;
        if database(path).exists() {
            return Err(Failure::usage(format!(
                "{} holds a tournament already: `referee tournament resume {}` goes on with it, --dir names another \
                 folder",
                path.display(),
                path.display()
            )));
        }
        config.keep_names(&prepared.entrants);
        let about = About {
            name: config.title().to_owned(),
            game: prepared.rules.meta().id.to_owned(),
            rules: prepared.rules.meta().rules_version,
            seating: plan.seating,
            config: config.to_toml()?,
            openings: config.openings.as_deref().map(digest).transpose()?,
            seed: seed.to_hex(),
        };
        let rows = prepared.entrants.iter().map(|entrant| row(entrant, 1));
        let schedule = Schedule::new(plan).map_err(Failure::usage)?;
        let results = Results::create(&database(path), &about, &rows.collect::<Vec<_>>()).map_err(wrong)?;
        Ok(Folder { path: path.to_owned(), results, journal, config, prepared, schedule })
    }

    /// Opens the folder of a tournament that has begun, alone. What was cut off is noted as that.
    pub(super) fn open(path: &Path) -> Result<Folder, Failure> {
        let wrong = |error: io::Error| Failure::cannot_run(format!("{}: {error}", path.display()));
        let mut results = super::results(path)?;
        let mut journal = journal(path)?;
        let Reading { about, config, mut schedule, refused, .. } = read(&results)?;
        let seed = hex::decode32(&about.seed).map(Seed);
        let seed = seed.ok_or_else(|| Failure::cannot_run("results: the seed cannot be read"))?;
        let prepared = config.prepare(seed, schedule.plan())?;
        let rules = prepared.rules.meta().rules_version;
        if rules != about.rules {
            return Err(Failure::cannot_run(format!(
                "the tournament is played by rules version {} of {}, this program knows {rules}",
                about.rules, about.game
            )));
        }
        if let (Some(path), Some(before)) = (&config.openings, &about.openings)
            && digest(path)? != *before
        {
            return Err(Failure::usage(format!(
                "the openings of {} are not what they were when the tournament began: put them back",
                path.display()
            )));
        }
        for number in refused {
            results.make_void(number).map_err(wrong)?;
            schedule.cut_off(number);
        }
        for (id, entrants) in journal.read().map_err(wrong)? {
            let Ok(id) = id.parse::<MatchId>() else { continue };
            if !results.has(id).map_err(wrong)? {
                results.cut_off(id, id.set(schedule.legs()), &entrants).map_err(wrong)?;
                schedule.cut_off(id.number);
            }
        }
        journal.clear().map_err(wrong)?;
        Ok(Folder { path: path.to_owned(), results, journal, config, prepared, schedule })
    }

    /// Where its records go.
    pub(super) fn records(&self) -> Result<Records, Failure> {
        Records::reopen(&self.path.join("records"))
            .map_err(|error| Failure::cannot_run(format!("{}: {error}", self.path.display())))
    }

    /// The records that wait for their seals: of sets that were not complete when the run ended.
    pub(super) fn unsealed(&self, records: &Records) -> Result<Vec<Unsealed>, Failure> {
        let wrong = |error: io::Error| Failure::cannot_run(format!("{}: {error}", self.path.display()));
        let mut unsealed = Vec::new();
        for match_id in records.set_aside_matches().map_err(wrong)? {
            let Ok(id) = match_id.parse::<MatchId>() else { continue };
            let deal = format!("s{}", id.set(self.schedule.legs()));
            let record = records.take_up(&match_id).map_err(wrong)?;
            let run = &self.prepared.run.seed;
            let reveal = Reveal {
                seed: run.of_deal(&deal).to_hex(),
                salt: hex::encode(&run.salt(&match_id)),
                deal: deal.clone(),
                // Mirrored sets and nonces exclude each other.
                nonces: vec![String::new(); self.schedule.plan().seating.seats()],
            };
            unsealed.push(Unsealed { deal, match_id, record, reveal });
        }
        Ok(unsealed)
    }
}

/// A tournament as its database tells it, wherever its bots are.
pub(super) struct Reading {
    pub(super) about: About,
    pub(super) entrants: Vec<EntrantRow>,
    config: Config,
    pub(super) schedule: Schedule,
    /// The matches whose results do not belong to the schedule: what led to them was not stored any more.
    refused: Vec<u32>,
}

/// What is to be played, and what of it was.
pub(super) fn read(results: &Results) -> Result<Reading, Failure> {
    let about = results.about().map_err(Failure::cannot_run)?;
    let entrants = results.entrants().map_err(Failure::cannot_run)?;
    let config = Config::parse(&about.config).map_err(Failure::cannot_run)?;
    let entries = entrants.iter().map(|row| Entry { joins: row.joins, leaves: row.leaves }).collect();
    let played = results.results(about.seating).map_err(Failure::cannot_run)?;
    let (mut schedule, refused) =
        Schedule::resume(config.plan(Some(entries))?, played).map_err(Failure::cannot_run)?;
    for refused in &refused {
        tracing::warn!("{refused}");
    }
    let cut_offs = results.cut_offs().map_err(Failure::cannot_run)?;
    for number in cut_offs.into_iter().chain(results.voids().map_err(Failure::cannot_run)?) {
        schedule.cut_off(number);
    }
    let refused = refused.into_iter().map(Unplanned::number).collect();
    Ok(Reading { about, entrants, config, schedule, refused })
}
