//! Games on the command line: an id, or the directory of a game whose rules are a program.

use std::path::Path;

use crate::cli::Failure;
use crate::cli::bots::launch;
use crate::external::{MANIFEST, is_game, load};
use crate::game::Catalog;
use crate::game::erased::Rules;

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
    let mut catalog = catalog.clone();
    let directory = Path::new(game);
    // No id has a slash.
    let is_path = game.contains('/') || (catalog.find(game).is_err() && is_game(directory));
    let rules = match is_path {
        true => add(directory, &mut catalog)?,
        false => catalog.find(game).map_err(|error| {
            let id = &error.id;
            Failure::usage(format!(
                "{error}; here, too, the directory of a game that is a program, such as ./{id}"
            ))
        })?,
    };
    Ok((rules, catalog))
}

fn add(directory: &Path, catalog: &mut Catalog) -> Result<&'static dyn Rules, Failure> {
    if !is_game(directory) {
        let shown = directory.display();
        return Err(Failure::usage(format!("{shown}: there is no {MANIFEST}, so that it is not a game")));
    }
    let rules = load(directory, &launch()?).map_err(Failure::usage)?;
    let id = rules.meta().id;
    if !catalog.add(rules) && catalog.find(id).is_ok_and(|known| known.program().is_none()) {
        let shown = directory.join(MANIFEST);
        return Err(Failure::usage(format!(
            "{}: id: `{id}` is a game of the referee; choose another",
            shown.display()
        )));
    }
    Ok(rules)
}
