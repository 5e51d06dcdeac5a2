//! The games that are available to a program.

use crate::Wrong;
use crate::erased::{ErasedRules, Rules};
use crate::game::Game;
use crate::notation::Notation;

/// The games that are available by id.
///
/// The crate `referee-games` has one with all its games; a program adds its own:
///
/// ```
/// use referee_game::Catalog;
/// use referee_games::jeex::Jeex;
///
/// let catalog = Catalog::empty().with::<Jeex>();
/// assert_eq!(catalog.find("jeex")?.meta().title, "Jeex");
/// assert!(catalog.find("ludo").unwrap_err().to_string().starts_with("unknown game `ludo`; available: jeex, "));
/// # Ok::<(), referee_game::Wrong>(())
/// ```
#[derive(Clone, Debug)]
pub struct Catalog {
    /// Sorted by id.
    games: Vec<&'static dyn Rules>,
    /// Further versions of games.
    versions: Vec<&'static dyn Rules>,
    accepts_changed: bool,
}

impl Catalog {
    pub const fn empty() -> Catalog {
        Catalog { games: Vec::new(), versions: Vec::new(), accepts_changed: false }
    }

    /// Adds a game.
    ///
    /// # Panics
    /// If the catalog has a game with the same id.
    #[must_use]
    pub fn with<G: Game>(mut self) -> Catalog {
        let is_new = self.add(const { &ErasedRules::<G>::RULES });
        assert!(is_new, "the catalog has two games `{}`", G::META.id);
        self
    }

    /// Adds a game by its rules. Returns whether the catalog had no game with the same id; otherwise it is unchanged.
    pub fn add(&mut self, rules: &'static dyn Rules) -> bool {
        let place = self.games.binary_search_by_key(&rules.meta().id, |other| other.meta().id);
        place.map_err(|at| self.games.insert(at, rules)).is_err()
    }

    /// Replaces the game with the same id.
    pub fn replace(&mut self, rules: &'static dyn Rules) {
        self.games.retain(|other| other.meta().id != rules.meta().id);
        self.add(rules);
    }

    /// Adds another version of a game whose rules are a program. It replays records of its own, and is not found by id.
    pub fn add_version(&mut self, rules: &'static dyn Rules) {
        self.versions.push(rules);
    }

    /// The versions of a game, beginning with the one that is found by id.
    pub fn versions(&self, id: &str) -> impl Iterator<Item = &'static dyn Rules> {
        self.games.iter().chain(&self.versions).copied().filter(move |rules| rules.meta().id == id)
    }

    /// Allows the replay of records of other versions of a game that is a program, with the one that is found by id.
    pub fn accept_changed(&mut self) {
        self.accepts_changed = true;
    }

    /// Returns whether records are replayed with other versions of a game.
    pub fn accepts_changed(&self) -> bool {
        self.accepts_changed
    }

    /// Returns all games, sorted by id.
    pub fn games(&self) -> impl Iterator<Item = &'static dyn Rules> {
        self.games.iter().copied()
    }

    /// The ids of all games, sorted.
    pub fn ids(&self) -> Vec<&'static str> {
        self.games().map(|rules| rules.meta().id).collect()
    }

    /// Finds a game by id.
    ///
    /// # Errors
    /// If there is none: lists the available games.
    pub fn find(&self, id: &str) -> Result<&'static dyn Rules, Wrong> {
        let unknown = || {
            let (id, available) = (id.chars().take(40).collect::<String>(), self.ids().join(", "));
            let added = "and any that you add as the example `custom_game` does";
            format!("unknown game `{id}`; available: {available}, {added}").into()
        };
        self.games().find(|rules| rules.meta().id == id).ok_or_else(unknown)
    }

    /// Finds a notation by name, case-insensitively.
    pub fn notation(&self, name: &str) -> Option<&'static dyn Notation> {
        self.games().find_map(|rules| rules.notation(name))
    }
}
