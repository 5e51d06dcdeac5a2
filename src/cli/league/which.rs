//! The league that a command is about.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::exit::Failure;
use crate::files::{Folder, Journal};
use crate::league::League;
use crate::runs::league::config::{LadderConfig, LeagueConfig};
use crate::runs::league::ladder_folder;
use crate::store::now;

#[derive(Debug, ClapArgs)]
pub(super) struct LeagueSelector {
    /// The file of the league
    #[arg(long, short, value_name = "FILE", default_value = "league.toml")]
    pub(super) league: PathBuf,
}

impl LeagueSelector {
    /// Reads the file, and opens the database beside it. Programs of the file are stored there, unless a server runs,
    /// which has read an earlier version of the file.
    pub(super) fn open(&self) -> Result<(LeagueConfig, League), Failure> {
        let config = LeagueConfig::read(&self.league)?;
        let folder = Folder::open(&config.folder).map_err(Failure::cannot_run)?;
        let mut league = League::open(&folder).map_err(Failure::cannot_run)?;
        if !is_played(&config)? {
            config.store_programs(&mut league, now())?;
        }
        Ok((config, league))
    }
}

/// Returns whether a server plays a league.
pub(super) fn is_played(config: &LeagueConfig) -> Result<bool, Failure> {
    let folder = Folder::open(&config.folder).map_err(Failure::cannot_run)?;
    for ladder in &config.ladders {
        let folder = ladder_folder(&folder, &ladder.name).map_err(Failure::cannot_run)?;
        if Journal::is_open(&folder).map_err(Failure::cannot_run)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The ladder with this name; without a name the only one.
pub(super) fn find_ladder<'a>(
    config: &'a LeagueConfig,
    name: Option<&str>,
) -> Result<&'a LadderConfig, Failure> {
    let names: Vec<&str> = config.ladders.iter().map(|ladder| &*ladder.name).collect();
    let names = names.join(", ");
    match name {
        None if config.ladders.len() == 1 => Ok(&config.ladders[0]),
        None => Err(Failure::usage(format!("--ladder: the league has several: {names}"))),
        Some(name) => config
            .ladders
            .iter()
            .find(|ladder| ladder.name == name)
            .ok_or_else(|| Failure::usage(format!("--ladder: there is no `{name}`; ladders: {names}"))),
    }
}
