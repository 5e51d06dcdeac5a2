//! The programs in the file of a league, and in its database.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use referee_bots::Command;
use referee_game::name;
use referee_store::{League, LeagueBot, StoreError, utc};
use serde::Deserialize;

use super::{LeagueConfig, ProgramError};
use crate::config::SandboxConfig;

/// Which machines start a program of the league.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramPlace {
    /// The server, and workers if there are any.
    Anywhere,
    /// Only workers: the server lacks a layer of its sandbox.
    Workers,
}

/// A program that the server starts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramConfig {
    name: String,
    /// What people see instead of the name, at first.
    #[serde(default)]
    display_name: Option<String>,
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
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks all but its name. `ladders`: the names of those that there are.
    pub(super) fn check(&self, ladders: &BTreeSet<&String>) -> Result<(), ProgramError> {
        self.command.parse::<Command>()?;
        if self.anchor.is_some_and(|elo| !elo.is_finite() || elo.abs() > 100_000.0) {
            return Err(ProgramError::Anchor);
        }
        match self.ladders.iter().flatten().find(|ladder| !ladders.contains(ladder)) {
            Some(ladder) => Err(ProgramError::NoLadder(ladder.clone())),
            None => Ok(()),
        }
    }
}

/// A bot is not stored in the database of a league.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramsError {
    /// Its name could be confused with that of another bot.
    #[error("`{name}` looks like `{other}`, which is taken; choose a name that cannot be confused with it")]
    LooksLike {
        /// Its name.
        name: String,
        /// The name of the other bot.
        other: String,
    },
    /// The database cannot be read or written.
    #[error(transparent)]
    Database(#[from] StoreError),
}

/// What the organiser should know of the name of a program in the file of a league.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramName {
    /// Another bot has it, so that the program does not play.
    #[error(
        "program {0} does not play: another bot has this name; rename the program, or `referee league revoke {0}`"
    )]
    Taken(String),
    /// It could be confused with the name of another bot.
    #[error(
        "program {name}: its name looks like that of the bot `{other}`; `referee league revoke {other}` removes that one"
    )]
    LooksLike {
        /// The name of the program.
        name: String,
        /// The name of the other bot.
        other: String,
    },
}

impl ProgramsError {
    /// Whether the names are wrong, not the database.
    pub fn is_usage(&self) -> bool {
        !matches!(self, ProgramsError::Database(_))
    }
}

/// Stores a bot.
///
/// # Errors
/// If its name looks like another one, or the database cannot be written.
pub fn put_bot(league: &mut League, bot: &LeagueBot) -> Result<(), ProgramsError> {
    league.put_bot(bot).map_err(|error| match error {
        StoreError::Exists(other) => ProgramsError::LooksLike { name: bot.name.clone(), other },
        error => error.into(),
    })
}

impl LeagueConfig {
    /// The working directory of a program.
    pub(super) fn directory(&self, program: &ProgramConfig) -> PathBuf {
        let directory = program.directory.as_ref().or(program.files.as_ref());
        self.folder.join(directory.map_or(Path::new(""), PathBuf::as_path))
    }

    /// Stores the programs of the file in the database. Those that are not listed any more are revoked. One whose name another
    /// bot has is left out: whoever adds a bot does not keep the server from starting.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn store_programs(
        &self,
        league: &mut League,
        now: SystemTime,
    ) -> Result<Vec<ProgramName>, ProgramsError> {
        let known = league.bots()?;
        let mut notices = Vec::new();
        for program in &self.programs {
            let before = known.iter().find(|bot| bot.name == program.name);
            if before.is_some_and(|bot| !bot.is_of_file && bot.revoked_at.is_none()) {
                notices.push(ProgramName::Taken(program.name.clone()));
                continue;
            }
            let skeleton = name::skeleton(&program.name);
            let looks_alike = |bot: &&LeagueBot| {
                !bot.is_of_file && bot.revoked_at.is_none() && name::skeleton(&bot.name) == skeleton
            };
            notices.extend(known.iter().find(looks_alike).map(|other| {
                let (name, other) = (program.name.clone(), other.name.clone());
                ProgramName::LooksLike { name, other }
            }));
            let directory = self.directory(program);
            let bot = LeagueBot {
                name: program.name.clone(),
                owner: program.owner.clone().unwrap_or_else(|| program.name.clone()),
                token: None,
                command: Some(program.command.clone()),
                directory: Some(directory),
                anchor: program.anchor,
                ladders: program.ladders.clone(),
                is_of_file: true,
                is_paused: before.is_some_and(|bot| bot.is_paused),
                added_at: before.map_or_else(|| utc(now), |bot| bot.added_at.clone()),
                revoked_at: None,
                refused: None,
                version: None,
                display_name: match before {
                    Some(bot) => bot.display_name.clone(),
                    None => program.display_name.clone(),
                },
            };
            if before != Some(&bot) {
                put_bot(league, &bot)?;
            }
        }
        let is_listed = |bot: &LeagueBot| self.programs.iter().any(|program| program.name == bot.name);
        for bot in known.into_iter().filter(|bot| bot.is_of_file && bot.revoked_at.is_none()) {
            if !is_listed(&bot) {
                put_bot(league, &LeagueBot { revoked_at: Some(utc(now)), ..bot })?;
            }
        }
        Ok(notices)
    }
}
