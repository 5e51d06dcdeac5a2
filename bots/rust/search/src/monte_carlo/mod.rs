//! Monte-Carlo tree search for every game: information-set UCT (Cowling, Powley, Whitehouse 2012).
//!
//! Each playout samples a world that is consistent with the seat's knowledge, and its own dice. A node is a sequence
//! of decisions, regardless of worlds and dice. The legal moves at a node differ between playouts, so UCB1 counts how
//! often a move was legal. Each decision maximizes the value of the side that makes it; there may be more than two
//! sides.
//!
//! In games with hidden information or simultaneous decisions, the tree contains only the decisions of the searching
//! seat, and the other seats play as in a playout. A tree for them, grown in worlds sampled by the searcher, would
//! know the searcher's secrets.

mod playout;
mod tree;

use referee_bot::Start;
use referee_game::Imagine;
use referee_games::Visitor;
use serde_json::{Map, Value};

use self::playout::Playout;
use self::tree::Tree;
use crate::bot::{Found, NoPlayer, Player, Question, Search, Searcher, seated};
use crate::dice::Dice;

#[derive(Clone, Debug)]
pub struct MonteCarlo {
    playouts: u32,
    rng: Dice,
}

impl MonteCarlo {
    /// Creates a search with this many playouts per decision, or fewer if the deadline passes.
    pub fn new(playouts: u32, seed: u64) -> MonteCarlo {
        MonteCarlo { playouts, rng: Dice::new(seed) }
    }
}

impl<G: Imagine> Search<G> for MonteCarlo {
    fn search(&mut self, question: &Question<'_, G>) -> Found<G::Move> {
        let Question { known, seen, deadline } = question;
        let mut playout = Playout::new(known.seating);
        let mut tree = Tree::new(known.seat);
        // Without hidden information, one sampled world suffices.
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
            info.insert("score_scale".to_owned(), "points".into());
        }
        Found { best, is_behind: score.is_some_and(|score| score < 0.5), info }
    }
}

impl Searcher for MonteCarlo {
    const NAME: &'static str = "monte-carlo";

    fn games() -> Vec<&'static str> {
        referee_games::catalog().ids()
    }

    fn sit(&mut self, start: &Start<'_>) -> Result<Box<dyn Player>, NoPlayer> {
        let search = MonteCarlo { playouts: self.playouts, rng: self.rng.fork() };
        let mut sitting = Sitting { start, search, player: None };
        referee_games::visit(&mut sitting);
        sitting.player.unwrap_or_else(|| Err(NoPlayer::Game(start.game.to_string())))
    }
}

/// Finds the game of a match.
struct Sitting<'a> {
    start: &'a Start<'a>,
    search: MonteCarlo,
    player: Option<Result<Box<dyn Player>, NoPlayer>>,
}

impl Visitor for Sitting<'_> {
    fn game<G: Imagine>(&mut self) {
        if G::META.id == self.start.game {
            self.player = Some(seated::<G, _>(self.start, self.search.clone()));
        }
    }
}

#[cfg(test)]
mod tests;
