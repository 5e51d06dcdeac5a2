//! Monte-Carlo tree search for every game: information-set UCT (Cowling, Powley, Whitehouse 2012) over moves alone.
//!
//! Every playout has a world of its own, one that agrees with all that the seat may know, and dice of its own. A node is a
//! sequence of decisions, whatever the worlds and the dice in which it came about; which moves are legal there differs,
//! and a move competes by how often it was legal. A decision counts for the side that makes it, of two sides or more.
//!
//! Where information is hidden, and where several seats decide at once, the tree holds the decisions of the searching seat
//! alone and the others play as in a playout: a tree of theirs, grown in worlds that the searcher imagined, would
//! know the searcher's secrets.

mod playout;
mod tree;

use referee::core::Game;
use referee::games::{self, Visitor};
use referee_bot::Start;
use serde_json::{Map, Value};

use self::playout::Playout;
use self::tree::Tree;
use crate::bot::{Found, Player, Question, Search, Searcher, seated};
use crate::dice::Dice;

/// The search.
#[derive(Clone, Debug)]
pub struct MonteCarlo {
    playouts: u32,
    rng: Dice,
}

impl MonteCarlo {
    /// A search of so many playouts for a decision, if its deadline does not come first.
    pub fn new(playouts: u32, seed: u64) -> MonteCarlo {
        MonteCarlo { playouts, rng: Dice::new(seed) }
    }
}

impl<G: Game> Search<G> for MonteCarlo {
    fn search(&mut self, question: &Question<'_, G>) -> Found<G::Move> {
        let Question { known, seen, deadline } = question;
        let mut playout = Playout::new(known.seating);
        let mut tree = Tree::new(known.seat);
        // What is not hidden needs to be imagined only once.
        let mut world = G::imagine(known, seen, &mut self.rng);
        tree.take_root(&world);
        let mut playouts = 0;
        while tree.has_choice() && playouts < self.playouts && !deadline.is_over() {
            if G::META.hidden && playouts > 0 {
                world = G::imagine(known, seen, &mut self.rng);
            }
            tree.grow(world.clone(), &mut playout, &mut self.rng, deadline);
            playouts += 1;
        }
        let (best, score) = tree.best();
        let mut info = Map::new();
        info.insert("nodes".to_owned(), playouts.into());
        if let Some(score) = score {
            info.insert("score".to_owned(), Value::from((score * 1000.0).round() / 1000.0));
        }
        Found { best, is_behind: score.is_some_and(|score| score < 0.5), info }
    }
}

impl Searcher for MonteCarlo {
    const NAME: &'static str = "monte-carlo";

    fn games() -> Vec<&'static str> {
        games::GAMES.iter().map(|rules| rules.meta().id).collect()
    }

    fn sit(&mut self, start: &Start<'_>) -> Result<Box<dyn Player>, String> {
        let search = MonteCarlo { playouts: self.playouts, rng: self.rng.fork() };
        let mut sitting = Sitting { start, search, player: Err(games::unknown(&start.game)) };
        games::visit(&mut sitting);
        sitting.player
    }
}

/// Looks for the game of a match in the list.
struct Sitting<'a> {
    start: &'a Start<'a>,
    search: MonteCarlo,
    player: Result<Box<dyn Player>, String>,
}

impl Visitor for Sitting<'_> {
    fn game<G: Game>(&mut self) {
        if G::META.id == self.start.game {
            self.player = seated::<G, _>(self.start, self.search.clone());
        }
    }
}

#[cfg(test)]
mod tests;
