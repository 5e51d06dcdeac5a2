//! The built-in games. To add one, add a folder here and a line to the list.

use crate::core::erased::{Of, Rules};
use crate::core::{Game, Notation, Seating};

#[cfg(test)]
mod battery;

/// Declares, for each game of the list, its module, its entry in [`GAMES`], its call in [`visit`] and its tests from
/// the battery.
macro_rules! games {
    ($($module:ident :: $game:ident,)*) => {
        $(pub mod $module;)*

        /// All games, sorted by id.
        pub static GAMES: &[&dyn Rules] = &[$(&Of::<$module::$game>::RULES,)*];

        /// Calls a visitor for each game, in the order of the list.
        pub fn visit(visitor: &mut impl Visitor) {
            $(visitor.game::<$module::$game>();)*
        }

        #[cfg(test)]
        mod tests {
            $(mod $module {
                crate::games::battery::battery!(crate::games::$module::$game);
            })*
        }
    };
}

/// An operation that needs the concrete type of each game, which [`GAMES`] erases.
pub trait Visitor {
    /// Visits one game.
    fn game<G: Game>(&mut self);
}

games! {
    checkers::Checkers,
    jeex::Jeex,
    keezen::Keezen,
    saxum::Saxum,
    xe_queo::XeQueo,
}

/// Finds a game by id.
pub fn find(id: &str) -> Option<&'static dyn Rules> {
    GAMES.iter().copied().find(|rules| rules.meta().id == id)
}

/// The error message for an unknown game id; it lists the available games.
pub fn unknown(id: &str) -> String {
    let shown: String = id.chars().take(40).collect();
    let ids: Vec<&str> = GAMES.iter().map(|rules| rules.meta().id).collect();
    format!("unknown game `{shown}`; available: {}", ids.join(", "))
}

/// Finds a notation by name, case-insensitively.
pub fn notation(name: &str) -> Option<&'static dyn Notation> {
    let named = |notation: &&dyn Notation| notation.name().eq_ignore_ascii_case(name);
    GAMES.iter().find_map(|rules| rules.notation().filter(named))
}

/// The seating of a game with this number of seats; the game's default if `None`.
///
/// # Errors
/// When the game does not support this number of seats.
pub fn seating(rules: &dyn Rules, seats: Option<impl Into<u64>>) -> Result<Seating, String> {
    let (meta, seats) = (rules.meta(), seats.map(Into::into));
    let fits = |seating: &&Seating| seats.is_none_or(|seats| seating.seats() as u64 == seats);
    meta.seatings.iter().find(fits).copied().ok_or_else(|| {
        let counts: Vec<String> = meta.seatings.iter().map(|seating| seating.seats().to_string()).collect();
        format!("{} is played with {} seats, not {}", meta.id, counts.join(" or "), seats.unwrap_or_default())
    })
}
