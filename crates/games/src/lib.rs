//! The games of this crate. To add one, add a folder here and a line to the list.

use referee_game::{Catalog, Imagine};

#[cfg(test)]
mod battery;
mod collection;

/// Declares, for each game of the list, its module, its entry in the [`catalog`], its call in [`visit`] and
/// its tests from the battery.
macro_rules! games {
    ($($module:ident :: $game:ident,)*) => {
        $(pub mod $module;)*

        pub fn catalog() -> Catalog {
            Catalog::empty()$(.with::<$module::$game>())*
        }

        /// Calls a visitor for each game, in the order of the list.
        pub fn visit(visitor: &mut impl Visitor) {
            $(visitor.game::<$module::$game>();)*
        }

        #[cfg(test)]
        mod tests {
            $(mod $module {
                crate::battery::battery!(crate::$module::$game);
            })*
        }
    };
}

/// An operation that needs the concrete type of each game, which a [`Catalog`] erases.
pub trait Visitor {
    fn game<G: Imagine>(&mut self);
}

games! {
    checkers::Checkers,
    chess::Chess,
    jeex::Jeex,
    keezen::Keezen,
    saxum::Saxum,
    xe_queo::XeQueo,
}
