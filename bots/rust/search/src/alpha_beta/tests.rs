//! The search in positions of checkers.

use std::time::Duration;

use referee_game::{Game, Known, Turn, Uniform};
use referee_games::checkers::{Board, Checkers, Options, Seen};

use super::AlphaBeta;
use super::worth::{DRAW, WIN, worth};
use crate::bot::{Found, Question, Search};
use crate::deadline::Deadline;
use crate::dice::Dice;

fn found(fen: &str, depth: u8, deadline: Deadline) -> Found<<Checkers as Game>::Move> {
    let board: Board = fen.parse().expect("a FEN");
    let options = Options::default();
    let seating = Checkers::META.seatings[0];
    let known = Known { options: &options, seating, seat: board.to_move().seat(), turns_left: None };
    let question = Question { known, seen: Seen { board, quiet_plies: 0 }, deadline };
    AlphaBeta::new(depth).search(&question)
}

#[track_caller]
fn assert_finds(fen: &str, depth: u8, best: &str, score: i32) {
    let found = found(fen, depth, Deadline::new(None, None));
    assert_eq!(found.best.map(|mv| mv.to_string()).as_deref(), Some(best), "{fen}: {found:?}");
    assert_eq!(found.info["score"], score, "{fen}");
}

#[test]
fn search_finds_a_win_in_one() {
    assert_finds("B:B14,15,K30:W18,26", 1, "15x22x31", WIN - 1);
    assert_finds("B:B14,15,K30:W18,26", 8, "15x22x31", WIN - 1);
}

/// The value of a position by exhaustive search.
fn minimax(position: &Checkers, depth: u8, ply: i32) -> i32 {
    let board = position.key();
    let seat = board.to_move().seat();
    if let Turn::Over(outcome) = position.turn() {
        return if outcome.standing(seat.index()) > 0 { ply - WIN } else { DRAW };
    }
    let mut moves = Vec::new();
    position.legal_moves(seat, &mut moves);
    if depth == 0 && !moves[0].is_capture() {
        return worth(&board);
    }
    let behind = moves.iter().map(|&mv| {
        let mut next = position.clone();
        next.play_unchecked(seat, mv, &mut |_| {});
        -minimax(&next, depth.saturating_sub(1), ply + 1)
    });
    behind.max().expect("a move")
}

#[test]
fn search_agrees_with_full_minimax() {
    let mut rng = Dice::new(7);
    for _ in 0..20 {
        let mut position = Checkers::start(&Options::default(), Checkers::META.seatings[0]).expect("a start");
        while let Turn::Decide(_) = position.turn() {
            let seat = position.key().to_move().seat();
            let mut moves = Vec::new();
            position.legal_moves(seat, &mut moves);
            if moves.len() > 1 && rng.uniform(5) == 0 {
                let board = position.key();
                // Nothing is quiet for long enough to matter.
                let fresh = Checkers::start(
                    &Options { fen: board, ..Options::default() },
                    Checkers::META.seatings[0],
                );
                let score = minimax(&fresh.expect("a start"), 4, 0);
                assert_eq!(
                    found(&board.to_string(), 4, Deadline::new(None, None)).info["score"],
                    score,
                    "{board}"
                );
            }
            position.play_unchecked(seat, moves[rng.uniform(moves.len() as u64) as usize], &mut |_| {});
        }
    }
}

#[test]
fn a_deadline_ends_an_unlimited_search() {
    for time in [0, 20] {
        let deadline = Deadline::new(Some(Duration::from_millis(time)), None);
        let found = found(&Board::default().to_string(), u8::MAX, deadline);
        assert!(found.best.is_some() && deadline.is_over(), "{found:?}");
    }
}

#[test]
fn search_reports_when_a_draw_is_better() {
    assert!(found("B:B1,2:WK10,K15,K18", 4, Deadline::new(None, None)).is_behind);
    assert!(!found("W:B1,2:WK10,K15,K18", 4, Deadline::new(None, None)).is_behind);
}
