//! Games on the command line: an id, or the directory of a game whose rules are a program.

use std::path::Path;

use crate::cli::Failure;
use crate::cli::bots::launch;
use crate::game::Catalog;
use crate::game::erased::Rules;
use crate::program::{MANIFEST, is_game, load};

/// Adds the games of directories to a catalog.
pub(super) fn with_games<P: AsRef<Path>>(directories: &[P], catalog: &Catalog) -> Result<Catalog, Failure> {
    let mut catalog = catalog.clone();
    for directory in directories {
        add(directory.as_ref(), &mut catalog)?;
    }
    Ok(catalog)
}

/// Finds a game by its id or its directory, which is added to the catalog.
pub(super) fn find_game(game: &str, catalog: &Catalog) -> Result<(&'static dyn Rules, Catalog), Failure> {
    find_game_from(Path::new(""), game, catalog)
}

/// The same with a path relative to this directory.
pub(super) fn find_game_from(
    base: &Path,
    game: &str,
    catalog: &Catalog,
) -> Result<(&'static dyn Rules, Catalog), Failure> {
    let mut catalog = catalog.clone();
    let directory = base.join(game);
    // No id has a slash.
    let is_path = game.contains('/') || (catalog.find(game).is_err() && is_game(&directory));
    let rules = match is_path {
        true => add(&directory, &mut catalog)?,
        false => catalog.find(game).map_err(|error| {
            let id = &error.id;
            Failure::usage(format!("{error}; or the directory of a game that is a program, such as ./{id}"))
        })?,
    };
    Ok((rules, catalog))
}

fn add(directory: &Path, catalog: &mut Catalog) -> Result<&'static dyn Rules, Failure> {
    if !is_game(directory) {
        let shown = directory.display();
        return Err(Failure::usage(format!(
            "{shown}: there is no {MANIFEST}, which the directory of a game has"
        )));
    }
    let rules = load(directory, &launch()?).map_err(Failure::usage)?;
    let id = rules.meta().id;
    let known = catalog.find(id).ok();
    if let Some(known) = known.filter(|known| !std::ptr::eq(known.meta(), rules.meta())) {
        let shown = directory.join(MANIFEST);
        let owner = if known.program().is_none() { "a game of the referee" } else { "another game" };
        return Err(Failure::usage(format!("{}: id: `{id}` is {owner}; choose another", shown.display())));
    }
    catalog.add(rules);
    Ok(rules)
}
