//! Games on the command line: an id, or the directory of a game whose rules are a program.

use std::path::{Path, PathBuf};

use crate::cli::bots::launch;
use crate::cli::exit::Failure;
use crate::game::disguise::disguise;
use crate::game::erased::Rules;
use crate::game::{Catalog, Chain};
use crate::record::{self, OtherRules};
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

/// The games with whose rules records are replayed.
#[derive(Debug, clap::Args)]
pub(super) struct ReplayOptions {
    /// The directory of a game whose rules are a program, for its records; may be repeated. With other files than those
    /// of a record, the exit code is 2
    #[arg(long = "game", value_name = "DIR")]
    games: Vec<PathBuf>,
    /// Replay records although files of the rules have changed since; the output names them
    #[arg(long, requires = "games")]
    accept_changed: bool,
}

impl ReplayOptions {
    /// Adds the games to a catalog.
    pub(super) fn catalog(&self, catalog: &Catalog) -> Result<Catalog, Failure> {
        let mut catalog = with_games(&self.games, catalog)?;
        if self.accept_changed {
            catalog.accept_changed();
        }
        Ok(catalog)
    }
}

/// Checks that the catalog has the rules of the record; errors name `file`.
pub(super) fn check_rules(file: &Path, record: &[u8], catalog: &Catalog) -> Result<(), Failure> {
    record::check_rules(record, catalog).map_err(|what| {
        let hint = match what {
            OtherRules::OtherFiles { .. } => "; --accept-changed replays it with the files as they are now",
            _ => "",
        };
        Failure::usage(format!("{}: {}{hint}", file.display(), in_words(&what)))
    })
}

/// Names the option for rules that are missing.
pub(super) fn in_words(what: &OtherRules) -> String {
    match what {
        OtherRules::NoProgram { game } => {
            format!("the rules of {game} are a program: its directory is given with --game DIR")
        }
        other => Chain(other).to_string(),
    }
}

/// Says with which changed files of the rules a record is replayed.
pub(super) fn of_changed_files(files: &[String]) -> Option<String> {
    (!files.is_empty()).then(|| format!("replayed with changed files of the rules: {}", files.join(", ")))
}

/// Finds a game by its id or its directory, which is added to the catalog.
pub(super) fn find_game(game: &str, catalog: &Catalog) -> Result<(&'static dyn Rules, Catalog), Failure> {
    let mut games = known_games(catalog)?;
    let rules = games.find(Path::new(""), game).map_err(Failure::usage)?;
    Ok((rules, games.catalog().clone()))
}

/// Other names for a game.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct DisguiseOptions {
    /// Give the squares, pieces and moves of the game other names, which derive from this text: the tree is the same, and bots
    /// are not told which game it is. The text must be unknown to the bots. See `--recall` of `referee tournament report`
    #[arg(long, value_name = "TEXT")]
    disguise: Option<String>,
}

impl DisguiseOptions {
    /// Finds a game, and disguises it if the option is given.
    pub(super) fn find_game(
        &self,
        game: &str,
        catalog: &Catalog,
    ) -> Result<(&'static dyn Rules, Catalog), Failure> {
        let (rules, mut catalog) = find_game(game, catalog)?;
        let Some(text) = &self.disguise else { return Ok((rules, catalog)) };
        let rules =
            disguise(rules, text).map_err(|why| Failure::usage(format!("--disguise {text}: {why}")))?;
        catalog.add(rules);
        Ok((rules, catalog))
    }
}
