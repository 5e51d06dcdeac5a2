//! The transposition table.

use std::hash::{DefaultHasher, Hash, Hasher};

use referee_games::checkers::{Board, Move};

use super::worth::is_won;

/// Capacity of the table, in positions.
const ROOM: usize = 1 << 17;

/// The bound that a stored score is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// The stored result for a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) best: Move,
    /// Distances of wins are relative to the position, not to the root.
    score: i32,
    bound: Bound,
    depth: u8,
}

impl Entry {
    pub(super) fn new(best: Move, score: i32, bound: Bound, depth: u8, ply: i32) -> Entry {
        Entry { best, score: farther(score, -ply), bound, depth }
    }

    /// Returns the stored score if its depth suffices and it decides the window between alpha and beta.
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

/// Shifts the distance of a win or loss by this many plies; other scores are unchanged.
const fn farther(score: i32, plies: i32) -> i32 {
    if is_won(score) {
        score - plies
    } else if is_won(-score) {
        score + plies
    } else {
        score
    }
}

/// A transposition table that always replaces.
#[derive(Clone, Debug)]
pub(super) struct Table {
    places: Vec<Option<(Board, Entry)>>,
}

impl Table {
    pub(super) fn new() -> Table {
        Table { places: vec![None; ROOM] }
    }

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
