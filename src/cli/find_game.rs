//! Games on the command line: an id, or the directory of a game whose rules are a program.

use std::path::Path;

use crate::cli::Failure;
use crate::cli::bots::launch;
use crate::game::Catalog;
use crate::game::erased::Rules;
use crate::runs::config::KnownGames;

/// The games of a catalog, and those that are programs of this machine.
pub(super) fn known_games(catalog: &Catalog) -> Result<KnownGames, Failure> {
    Ok(KnownGames::new(catalog, launch()?))
}

/// Adds the games of directories to a catalog.
pub(super) fn with_games<P: AsRef<Path>>(directories: &[P], catalog: &Catalog) -> Result<Catalog, Failure> {
    let mut games = known_games(catalog)?;
    for directory in directories {
        games.add(directory.as_ref()).map_err(Failure::usage)?;
    }
    Ok(games.catalog().clone())
}

/// Finds a game by its id or its directory, which is added to the catalog.
pub(super) fn find_game(game: &str, catalog: &Catalog) -> Result<(&'static dyn Rules, Catalog), Failure> {
    let mut games = known_games(catalog)?;
    let rules = games.find(Path::new(""), game).map_err(Failure::usage)?;
    Ok((rules, games.catalog().clone()))
}
