//! The programs in the file of a league, and in its database.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use referee_bots::Command;
use referee_game::Wrong;
use referee_league::{ActError, League, NewBot};
use serde::Deserialize;

use super::LeagueConfig;
use crate::config::SandboxConfig;

/// The machines that start a program of the league.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramPlace {
    /// The server, and workers if there are any.
    Anywhere,
    /// The program plays on workers only: the server lacks a layer of its sandbox.
    Workers,
}

/// A program that the server starts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramConfig {
    name: String,
    /// The display name, at first.
    #[serde(default)]
    display_name: Option<String>,
    #[serde(alias = "engine", deserialize_with = "referee_bots::command_line")]
    pub(super) command: String,
    #[serde(default)]
    pub(super) files: Option<PathBuf>,
    #[serde(default)]
    directory: Option<PathBuf>,
    #[serde(default)]
    owner: Option<String>,
    #[serde(default)]
    anchor: Option<f64>,
    #[serde(default)]
    ladders: Option<BTreeSet<String>>,
    /// Instead of that of the league.
    #[serde(default)]
    pub(super) sandbox: Option<SandboxConfig>,
}

impl ProgramConfig {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks all but its name. `ladders`: the names of those that there are.
    pub(super) fn check(&self, ladders: &BTreeSet<&String>) -> Result<(), Wrong> {
        self.command.parse::<Command>()?;
        if self.anchor.is_some_and(|elo| !elo.is_finite() || elo.abs() > 100_000.0) {
            return Err("anchor is not a rating from -100000 to 100000".into());
        }
        match self.ladders.iter().flatten().find(|ladder| !ladders.contains(ladder)) {
            Some(ladder) => Err(format!("there is no ladder `{ladder}`").into()),
            None => Ok(()),
        }
    }
}

impl LeagueConfig {
    /// The working directory of a program.
    pub(super) fn directory(&self, program: &ProgramConfig) -> PathBuf {
        let directory = program.directory.as_ref().or(program.files.as_ref());
        self.folder.join(directory.map_or(Path::new(""), PathBuf::as_path))
    }

    /// Stores the programs of the file in the database. Programs that are not listed any more are revoked. A
    /// program whose name another bot has is left out, so that the name of an owner's bot does not keep the
    /// server from starting.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn store_programs(&self, league: &mut League, now: SystemTime) -> Result<Vec<Wrong>, ActError> {
        let directories: Vec<PathBuf> = self.programs.iter().map(|program| self.directory(program)).collect();
        let programs = self.programs.iter().zip(&directories).map(|(program, directory)| NewBot {
            name: &program.name,
            owner: Some(program.owner.as_ref().unwrap_or(&program.name)),
            command: Some(&program.command),
            directory: Some(directory),
            anchor: program.anchor,
            ladders: program.ladders.as_ref(),
            is_of_file: true,
            display_name: program.display_name.as_deref(),
            ..NewBot::default()
        });
        league.set_programs(&programs.collect::<Vec<_>>(), now)
    }
}
