//! The rules by which matches end before the rules of the game end them.

use std::num::NonZeroU32;
use std::path::Path;

use referee_files::TableFolder;
use referee_game::erased::Rules;
use referee_game::{Catalog, Wrong};
use referee_match::{Adjudication, DrawRule, ResignRule, SyzygyRule};

use super::Setting;

/// The rules of these settings of a file.
pub fn adjudication(
    resign: Option<&Setting<ResignRule>>,
    draw: Option<&Setting<DrawRule>>,
    max_moves: Option<NonZeroU32>,
) -> Adjudication {
    Adjudication {
        resign: resign.map(|rule| **rule),
        draw: draw.map(|rule| **rule),
        max_moves: max_moves.map(NonZeroU32::get),
        syzygy: None,
    }
}

/// Opens the Syzygy tables in a directory for a game, whose rules then have them. Returns the rule by which they adjudicate, too.
///
/// # Errors
/// If the game has no such tables, or they cannot be read.
pub fn with_syzygy(
    rules: &'static dyn Rules,
    directory: &Path,
) -> Result<(&'static dyn Rules, SyzygyRule), Wrong> {
    let at = |why: Wrong| Wrong::at(format!("syzygy {}", directory.display()), why);
    let files = TableFolder::open(directory).map_err(|why| at(why.into()))?;
    let rules = rules.with_endgames(Box::new(files)).unwrap_or_else(|| {
        Err(Wrong::from(format!("{} has no Syzygy tables; only chess has", rules.meta().id)))
    });
    let rules = rules.map_err(at)?;
    Ok((rules, SyzygyRule { pieces: rules.endgame_pieces().unwrap_or_default() }))
}

/// Opens the Syzygy tables in a directory for chess, as matches and records of this catalog need them.
///
/// # Errors
/// As [`with_syzygy`].
pub fn add_syzygy(catalog: &mut Catalog, directory: &Path) -> Result<(), Wrong> {
    let (rules, _) = with_syzygy(catalog.find("chess")?, directory)?;
    catalog.replace(rules);
    Ok(())
}
