//! Games by their names: an id, or the directory of a game whose rules are a program.

use std::path::Path;

use referee_bots::Launch;
use referee_game::Wrong;
use referee_game::catalog::Catalog;
use referee_game::erased::Rules;
use referee_program::{MANIFEST, is_game, load};

/// The games that can be played.
#[derive(Clone, Debug)]
pub struct KnownGames {
    catalog: Catalog,
    /// Starts the programs of games, and bots.
    launch: Launch,
}

fn owner(is_program: bool) -> &'static str {
    if is_program { "another game" } else { "a game of the referee" }
}

impl KnownGames {
    /// Adds games of directories, whose programs start in this way, to these games.
    pub fn new(catalog: &Catalog, launch: Launch) -> KnownGames {
        KnownGames { catalog: catalog.clone(), launch }
    }

    /// The games by their ids.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The launcher of the programs of games, and of bots.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Replaces the game with the same id.
    pub fn replace(&mut self, rules: &'static dyn Rules) {
        self.catalog.replace(rules);
    }

    /// Finds a game by its id or its directory, whose game then has an id, too. A relative path is seen from `base`.
    ///
    /// # Errors
    /// If there is no such game, or its directory is not valid.
    pub fn find(&mut self, base: &Path, game: &str) -> Result<&'static dyn Rules, Wrong> {
        let directory = base.join(game);
        // No id has a slash.
        let is_path = game.contains('/') || (self.catalog.find(game).is_err() && is_game(&directory));
        if is_path {
            self.add(&directory)
        } else {
            self.catalog.find(game).map_err(|why| {
                let id: String = game.chars().take(40).collect();
                format!("{why}; or the directory of a game that is a program, such as ./{id}").into()
            })
        }
    }

    /// Adds a game that was kept with a run. Returns whether no other one has its id.
    pub fn add_kept(&mut self, rules: &'static dyn Rules) -> bool {
        self.catalog.add(rules)
    }

    /// Adds the game in this directory.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn add(&mut self, directory: &Path) -> Result<&'static dyn Rules, Wrong> {
        if !is_game(directory) {
            return Err(format!(
                "{}: there is no {MANIFEST}, which the directory of a game has",
                directory.display()
            )
            .into());
        }
        let rules = load(directory, &self.launch).map_err(|error| Wrong::of(&error))?;
        let id = rules.meta().id;
        let known = self.catalog.find(id).ok();
        if let Some(known) = known.filter(|known| !std::ptr::eq(known.meta(), rules.meta())) {
            let (file, is_program) = (directory.join(MANIFEST), known.program().is_some());
            return Err(
                format!("{}: id: `{id}` is {}; choose another", file.display(), owner(is_program)).into()
            );
        }
        self.catalog.add(rules);
        Ok(rules)
    }
}
