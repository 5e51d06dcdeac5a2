//! Positions that were searched already.

use std::hash::{DefaultHasher, Hash, Hasher};

use referee::games::checkers::{Board, Move};

use super::worth::is_won;

/// How many positions there is room for.
const ROOM: usize = 1 << 17;

/// How a score stands to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// What is known of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) best: Move,
    /// Wins are counted from the position, not from the root.
    score: i32,
    bound: Bound,
    depth: u8,
}

impl Entry {
    pub(super) fn new(best: Move, score: i32, bound: Bound, depth: u8, ply: i32) -> Entry {
        Entry { best, score: farther(score, -ply), bound, depth }
    }

    /// The score, if it was found as deep as asked and settles what is between alpha and beta.
    pub(super) fn settles(&self, depth: u8, alpha: i32, beta: i32, ply: i32) -> Option<i32> {
        let score = farther(self.score, ply);
        let settles = match self.bound {
            Bound::Exact => true,
            Bound::AtLeast => score >= beta,
            Bound::AtMost => score <= alpha,
        };
        (settles && self.depth >= depth).then_some(score)
    }
}

/// The score of a win or a defeat that is so many plies farther away; others are as they are.
const fn farther(score: i32, plies: i32) -> i32 {
    if is_won(score) {
        score - plies
    } else if is_won(-score) {
        score + plies
    } else {
        score
    }
}

/// A table in which later positions take the places of earlier ones.
#[derive(Clone, Debug)]
pub(super) struct Table {
    places: Vec<Option<(Board, Entry)>>,
}

impl Table {
    pub(super) fn new() -> Table {
        Table { places: vec![None; ROOM] }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.places.fill(None);
    }

    fn place(board: &Board) -> usize {
        let mut hasher = DefaultHasher::new();
        board.hash(&mut hasher);
        hasher.finish() as usize % ROOM
    }

    pub(super) fn find(&self, board: &Board) -> Option<Entry> {
        self.places[Self::place(board)].filter(|(known, _)| known == board).map(|(_, entry)| entry)
    }

    pub(super) fn keep(&mut self, board: Board, entry: Entry) {
        self.places[Self::place(&board)] = Some((board, entry));
    }
}
