//! The search tree.

use referee_game::{Game, Seat, Turn, Uniform};

use super::playout::{Playout, Worth};
use crate::deadline::Deadline;
use crate::dice::Dice;

/// The exploration constant of UCB1, for values between 0 and 1.
const CURIOSITY: f64 = 0.7;

/// The search tree. It grows by one node per playout.
pub(super) struct Tree<G: Game> {
    me: Seat,
    /// All nodes; the root is the first.
    nodes: Vec<Node<G::Move>>,
    path: Vec<Step>,
    legal: Vec<G::Move>,
}

/// A node, that is a sequence of decisions: the moves that were legal after it in any world.
struct Node<M> {
    moves: Vec<Arm<M>>,
}

/// The UCB1 statistics of a move.
struct Arm<M> {
    mv: M,
    /// In how many visits the move was legal.
    available: u32,
    visits: u32,
    /// The number of playouts in which the move ended the game.
    ends: u32,
    /// The sum of its playout values for the deciding side.
    worth: f64,
    /// The child node, once visited.
    next: Option<usize>,
}

struct Step {
    node: usize,
    arm: usize,
    side: usize,
}

impl<M: Copy + Eq> Node<M> {
    const fn new() -> Node<M> {
        Node { moves: Vec::new() }
    }

    /// Returns the index of a move. Fast path: legal moves usually come in the same order.
    fn place(&mut self, mv: M, guess: usize) -> usize {
        if self.moves.get(guess).is_some_and(|arm| arm.mv == mv) {
            return guess;
        }
        self.moves.iter().position(|arm| arm.mv == mv).unwrap_or_else(|| {
            self.moves.push(Arm { mv, available: 0, visits: 0, ends: 0, worth: 0.0, next: None });
            self.moves.len() - 1
        })
    }

    /// Selects the move to try: a random untried move, or the one with the highest UCB1 value.
    fn choose(&mut self, legal: &[M], rng: &mut Dice) -> usize {
        let (mut best, mut height, mut untried) = (0, f64::NEG_INFINITY, 0);
        for (guess, &mv) in legal.iter().enumerate() {
            let place = self.place(mv, guess);
            let arm = &mut self.moves[place];
            arm.available += 1;
            if arm.wins_at_once() {
                return place;
            }
            if arm.visits == 0 {
                untried += 1;
                if rng.uniform(untried) == 0 {
                    best = place;
                }
            } else if untried == 0 {
                let bound =
                    arm.mean() + CURIOSITY * (f64::from(arm.available).ln() / f64::from(arm.visits)).sqrt();
                if bound > height {
                    (best, height) = (place, bound);
                }
            }
        }
        best
    }
}

impl<M> Arm<M> {
    fn mean(&self) -> f64 {
        self.worth / f64::from(self.visits)
    }

    /// Returns whether the move always ended the game: then it needs no exploration.
    fn wins_at_once(&self) -> bool {
        self.visits > 0 && self.ends == self.visits && self.worth == f64::from(self.visits)
    }
}

impl<G: Game> Tree<G> {
    pub(super) fn new(me: Seat) -> Tree<G> {
        Tree { me, nodes: vec![Node::new()], path: Vec::new(), legal: Vec::new() }
    }

    /// Adds the legal moves of the root position.
    pub(super) fn take_root(&mut self, position: &G) {
        position.legal_moves(self.me, &mut self.legal);
        for (guess, &mv) in self.legal.iter().enumerate() {
            self.nodes[0].place(mv, guess);
        }
    }

    /// Returns whether there is more than one move.
    pub(super) fn has_choice(&self) -> bool {
        self.nodes[0].moves.len() > 1
    }

    /// Runs one iteration: selection, expansion, playout and backpropagation. Discards the playout if the time runs out.
    pub(super) fn grow(
        &mut self,
        mut position: G,
        playout: &mut Playout<G>,
        rng: &mut Dice,
        deadline: &Deadline,
    ) {
        self.path.clear();
        let mut node = Some(0);
        let worth = loop {
            let seats = match playout.waits_for(&mut position, rng) {
                Ok(seats) => seats,
                Err(worth) => break Some(worth),
            };
            for seat in seats.iter() {
                let is_open = !G::META.hidden && seats.len() == 1;
                match node.filter(|_| is_open || seat == self.me) {
                    Some(at) => node = self.step(&mut position, seat, at, playout, rng),
                    None => playout.decide(&mut position, seat, rng),
                }
            }
            if node.is_none() {
                break playout.finish(position, rng, deadline);
            }
        };
        if let Some(worth) = worth {
            self.learn(&worth);
        }
    }

    /// Selects a move for a seat. Returns the child node, or `None` if it is new.
    fn step(
        &mut self,
        position: &mut G,
        seat: Seat,
        at: usize,
        playout: &Playout<G>,
        rng: &mut Dice,
    ) -> Option<usize> {
        self.legal.clear();
        position.legal_moves(seat, &mut self.legal);
        let count = self.nodes.len();
        let place = self.nodes[at].choose(&self.legal, rng);
        let arm = &mut self.nodes[at].moves[place];
        self.path.push(Step { node: at, arm: place, side: playout.seating.side(seat) });
        position.play_unchecked(seat, arm.mv, &mut |_| {});
        arm.ends += u32::from(matches!(position.turn(), Turn::Over(_)));
        if arm.next.is_none() {
            arm.next = Some(count);
            self.nodes.push(Node::new());
            return None;
        }
        arm.next
    }

    fn learn(&mut self, worth: &Worth) {
        for step in &self.path {
            let arm = &mut self.nodes[step.node].moves[step.arm];
            arm.visits += 1;
            arm.worth += worth[step.side];
        }
    }

    /// Returns the most visited move, and its mean value if it was tried.
    pub(super) fn best(&self) -> (Option<G::Move>, Option<f64>) {
        let best = self.nodes[0].moves.iter().max_by_key(|arm| arm.visits);
        (best.map(|arm| arm.mv), best.filter(|arm| arm.visits > 0).map(Arm::mean))
    }
}
