//! Alpha-beta search for checkers: iterative deepening, captures followed to their end, a transposition table.

mod table;
mod worth;

use referee_bot::Start;
use referee_game::{Game, Imagine, Seat, Turn};
use referee_games::checkers::Checkers;
use serde_json::{Map, Value};

use self::table::{Bound, Entry, Table};
use self::worth::{DRAW, SCALE, WIN, is_won, worth};
use crate::bot::{Found, NoPlayer, Player, Question, Search, Searcher, seated};
use crate::deadline::Deadline;
use crate::dice::Dice;

type Move = <Checkers as Game>::Move;

/// Nodes between two looks at the clock.
const BETWEEN_LOOKS: u64 = 256;

#[derive(Clone, Debug)]
pub struct AlphaBeta {
    depth: u8,
    table: Table,
}

impl AlphaBeta {
    /// A search so many plies ahead, if its deadline does not come first.
    pub fn new(depth: u8) -> AlphaBeta {
        AlphaBeta { depth, table: Table::new() }
    }
}

impl Searcher for AlphaBeta {
    const NAME: &'static str = "alpha-beta";

    fn games() -> Vec<&'static str> {
        vec![Checkers::META.id]
    }

    fn sit(&mut self, start: &Start<'_>) -> Result<Box<dyn Player>, NoPlayer> {
        if start.game == Checkers::META.id {
            seated::<Checkers, _>(start, AlphaBeta::new(self.depth))
        } else {
            Err(NoPlayer::Game(start.game.to_string()))
        }
    }
}

impl Search<Checkers> for AlphaBeta {
    fn search(&mut self, question: &Question<'_, Checkers>) -> Found<Move> {
        let Question { known, seen, deadline } = question;
        let root = Checkers::imagine(known, seen, &mut Dice::new(0));
        // The table key does not contain the counter of quiet plies, which changes scores between decisions.
        self.table.clear();
        let mut search = Deepening { table: &mut self.table, deadline, nodes: 0, lists: Vec::new() };
        let mut moves = Vec::new();
        root.legal_moves(known.seat, &mut moves);
        let mut found = (moves.first().copied(), DRAW, 0);
        if moves.len() > 1 {
            for depth in 1..=self.depth {
                let Some((best, score)) = search.best(&root, known.seat, &mut moves, depth) else { break };
                found = (Some(best), score, depth);
                if is_won(score.abs()) {
                    break;
                }
            }
        }
        let (best, score, depth) = found;
        let mut info = vec![("depth", depth.into()), ("nodes", search.nodes.into())];
        if depth > 0 {
            // A move that is forced is played without a search.
            info.extend([("score", Value::from(score)), ("score_scale", SCALE.into())]);
        }
        let info: Map<String, Value> = info.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Found { best, is_behind: score < DRAW, info }
    }
}

/// The search for one decision.
struct Deepening<'a> {
    table: &'a mut Table,
    deadline: &'a Deadline,
    nodes: u64,
    /// Unused move lists, kept for reuse.
    lists: Vec<Vec<Move>>,
}

impl Deepening<'_> {
    /// Returns the best move and its score, and moves it to the front. `None` when the time is up.
    fn best(&mut self, root: &Checkers, seat: Seat, moves: &mut [Move], depth: u8) -> Option<(Move, i32)> {
        let (mut best, mut alpha) = (0, -WIN);
        for (place, &mv) in moves.iter().enumerate() {
            let mut next = root.clone();
            next.play_unchecked(seat, mv, &mut |_| {});
            let score = -self.score(&next, depth - 1, -WIN, -alpha, 1)?;
            if score > alpha {
                (best, alpha) = (place, score);
            }
        }
        moves[..=best].rotate_right(1);
        Some((moves[0], alpha))
    }

    /// Returns the score for the side to move, `ply` plies from the root. `None` when the time is up.
    fn score(&mut self, position: &Checkers, depth: u8, mut alpha: i32, beta: i32, ply: i32) -> Option<i32> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(BETWEEN_LOOKS) && self.deadline.is_over() {
            return None;
        }
        let board = position.key();
        let seat = board.to_move().seat();
        if let Turn::Over(outcome) = position.turn() {
            // The winner made the last move.
            return Some(if outcome.standing(seat.index()) > 0 { ply - WIN } else { DRAW });
        }
        let known = self.table.find(&board);
        if let Some(score) = known.and_then(|entry| entry.settles(depth, alpha, beta, ply)) {
            return Some(score);
        }
        let mut moves = self.lists.pop().unwrap_or_default();
        moves.clear();
        position.legal_moves(seat, &mut moves);
        // Captures are mandatory: a position without captures is quiet.
        if depth == 0 && !moves[0].is_capture() {
            self.lists.push(moves);
            return Some(worth(&board));
        }
        if let Some(place) = known.and_then(|entry| moves.iter().position(|&mv| mv == entry.best)) {
            moves.swap(0, place);
        }
        let (low, mut best, mut top) = (alpha, moves[0], -WIN);
        for &mv in &moves {
            let mut next = position.clone();
            next.play_unchecked(seat, mv, &mut |_| {});
            let score = -self.score(&next, depth.saturating_sub(1), -beta, -alpha, ply + 1)?;
            if score > top {
                (best, top) = (mv, score);
            }
            alpha = alpha.max(top);
            if alpha >= beta {
                break;
            }
        }
        self.lists.push(moves);
        let bound = match top {
            _ if top >= beta => Bound::AtLeast,
            _ if top <= low => Bound::AtMost,
            _ => Bound::Exact,
        };
        self.table.keep(board, Entry::new(best, top, bound, depth, ply));
        Some(top)
    }
}

#[cfg(test)]
mod tests;
