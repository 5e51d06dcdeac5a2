//! Verifies a workshop: its versions by their hashes, and the tournament of each round by its records.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use referee_game::Chain;
use referee_workers::archive::check;
use serde::Serialize;

use crate::RunError;
use crate::tournament::{StoredTournament, open_results, verify as verify_tournament};
use crate::workshop::{EditReport, Workshop, WorkshopConfig, WorkshopLine};

/// The findings of a workshop's verification, in the format of `--json`.
#[derive(Debug, Default, Serialize)]
#[serde(tag = "type", rename = "audit")]
pub struct WorkshopAudit {
    /// The number of versions whose archives have their hashes.
    pub versions: usize,
    pub rounds: usize,
    /// The number of records of the rounds.
    pub records: usize,
    pub differences: Vec<String>,
}

/// Verifies a workshop.
///
/// # Errors
/// If it cannot be read at all.
pub fn verify(workshop: &Workshop) -> Result<WorkshopAudit, RunError> {
    let mut audit = WorkshopAudit::default();
    let limits = WorkshopConfig::terms()?.archive;
    let known: BTreeSet<&String> = workshop
        .lines
        .iter()
        .filter_map(|line| match line {
            WorkshopLine::Start { version, .. }
            | WorkshopLine::Practice { version: Some(version), .. }
            | WorkshopLine::Edit(EditReport { version, .. }) => Some(version),
            _ => None,
        })
        .collect();
    for version in known {
        let path = workshop.folder.join("versions").join(format!("{version}.tar"));
        let found = File::open(&path).map_err(Into::into).and_then(|file| check(file, limits));
        match found {
            Ok(id) if id.to_string() == *version => audit.versions += 1,
            Ok(id) => audit.differences.push(format!("version {version}: its archive is {id}")),
            Err(why) => audit.differences.push(format!("version {version}: {}", Chain(&why))),
        }
    }
    for line in &workshop.lines {
        let WorkshopLine::Round(report) = line else { continue };
        let (round, folder) = (report.round, workshop.round_folder(report.round));
        let results = open_results(&folder)?;
        let stored = StoredTournament::read(&folder, &results, workshop.games())?;
        for edit in workshop.lines.iter().filter_map(|line| match line {
            WorkshopLine::Edit(edit) if edit.round == round => Some(edit),
            _ => None,
        }) {
            let entrants = stored.config.entrants.iter();
            let mut entrants = entrants.filter(|entrant| entrant.name.as_ref() == Some(&edit.agent));
            let plays = |files: &Path| files.file_name().is_some_and(|name| *name == *edit.version);
            if !entrants.any(|entrant| entrant.files.as_deref().is_some_and(plays)) {
                let EditReport { agent, version, .. } = edit;
                audit
                    .differences
                    .push(format!("round {round}: `{agent}` did not play with version {version}"));
            }
        }
        let found = verify_tournament(&folder, &results, workshop.games(), |_, _| ())?;
        audit.rounds += 1;
        audit.records += found.summary.records;
        for (id, what) in found.differences {
            let id = id.map(|id| format!("{id}: ")).unwrap_or_default();
            audit.differences.push(format!("round {round}: {id}{what}"));
        }
    }
    Ok(audit)
}
