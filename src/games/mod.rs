//! The games. A new one is a folder here and a line in the list.

use crate::core::erased::{Of, Rules};
use crate::core::{Game, Notation, Seating};

#[cfg(test)]
mod battery;

/// The list: it makes the module, the entry in [`GAMES`], a call in [`visit`] and a run of the test battery.
macro_rules! games {
    ($($module:ident :: $game:ident,)*) => {
        $(pub mod $module;)*

        /// All games, by id.
        pub static GAMES: &[&dyn Rules] = &[$(&Of::<$module::$game>::RULES,)*];

        /// Shows all games to a visitor, in the order of the list.
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

/// Something to do with every game that needs its type, which [`GAMES`] hides.
pub trait Visitor {
    /// Does it with one.
    fn game<G: Game>(&mut self);
}

games! {
    checkers::Checkers,
    jeex::Jeex,
    keezen::Keezen,
    saxum::Saxum,
    xe_queo::XeQueo,
}

/// The game with this id.
pub fn find(id: &str) -> Option<&'static dyn Rules> {
    GAMES.iter().copied().find(|rules| rules.meta().id == id)
}

/// That there is no such game, and which there are.
pub fn unknown(id: &str) -> String {
    let shown: String = id.chars().take(40).collect();
    let ids: Vec<&str> = GAMES.iter().map(|rules| rules.meta().id).collect();
    format!("there is no game `{shown}`: there is {}", ids.join(", "))
}

/// The notation with this name, in lower case or not.
pub fn notation(name: &str) -> Option<&'static dyn Notation> {
    let named = |notation: &&dyn Notation| notation.name().eq_ignore_ascii_case(name);
    GAMES.iter().find_map(|rules| rules.notation().filter(named))
}

/// How so many seats play a game together; none: its default.
///
/// # Errors
/// When the game is not played with so many.
pub fn seating(rules: &dyn Rules, seats: Option<impl Into<u64>>) -> Result<Seating, String> {
    let (meta, seats) = (rules.meta(), seats.map(Into::into));
    let fits = |seating: &&Seating| seats.is_none_or(|seats| seating.seats() as u64 == seats);
    meta.seatings.iter().find(fits).copied().ok_or_else(|| {
        let counts: Vec<String> = meta.seatings.iter().map(|seating| seating.seats().to_string()).collect();
        format!("{} is played with {} seats, not {}", meta.id, counts.join(" or "), seats.unwrap_or_default())
    })
}
