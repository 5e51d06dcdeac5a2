//! Static evaluation of a quiet position, in hundredths of a man.

use referee_games::checkers::{Board, Colour};

/// An immediate win. A win in n plies is worth n less.
pub(super) const WIN: i32 = 1_000_000;
/// The `score_scale` of scores: a lead of so much is worth 10 points of 11. Fitted to the results of 80 matches between the
/// depths 5 and 7.
pub(super) const SCALE: i32 = 400;
pub(super) const DRAW: i32 = 0;

const MAN: i32 = 100;
const KING: i32 = 150;
/// For each row that a man has gone.
const ROW: i32 = 4;
/// For a man on the row where the enemy is crowned.
const GUARD: i32 = 8;

/// Returns whether it is the score of a win that is in sight.
pub(super) const fn is_won(score: i32) -> bool {
    score > WIN / 2
}

pub(super) fn worth(board: &Board) -> i32 {
    let [own, enemy] = [board.to_move(), board.to_move().other()].map(|colour| Side::of(board, colour));
    let lead = own.material - enemy.material;
    // Exchanges favour the side that is ahead, and kings that approach the enemy bring the win nearer.
    let progress = match lead.signum() {
        0 => 0,
        1 => -own.distance(&enemy),
        _ => enemy.distance(&own),
    };
    lead + 2 * lead / (own.pieces + enemy.pieces).max(1) + own.position - enemy.position + progress
}

struct Side {
    all: u32,
    kings: u32,
    pieces: i32,
    material: i32,
    position: i32,
}

impl Side {
    fn of(board: &Board, colour: Colour) -> Side {
        let (men, kings) = (board.men(colour), board.kings(colour));
        let position = squares(men).map(|square| {
            let row = square as i32 / 4;
            let gone = if colour == Colour::Black { row } else { 7 - row };
            ROW * gone + if gone == 0 { GUARD } else { 0 }
        });
        let [men_count, king_count] = [men, kings].map(|set| set.count_ones() as i32);
        Side {
            all: men | kings,
            kings,
            pieces: men_count + king_count,
            material: MAN * men_count + KING * king_count,
            position: position.sum(),
        }
    }

    /// From each king to the nearest piece of the enemy, added up.
    fn distance(&self, enemy: &Side) -> i32 {
        squares(self.kings)
            .filter_map(|king| squares(enemy.all).map(|square| apart(king, square)).min())
            .sum()
    }
}

/// The squares of a set, counted from 0.
fn squares(mut set: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let square = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(square)
    })
}

/// A king's steps between two squares of an empty board, of either colour.
fn apart(one: u32, other: u32) -> i32 {
    let place = |square: u32| {
        let (row, along) = (square / 4, square % 4);
        (row, 2 * along + u32::from(row.is_multiple_of(2)))
    };
    let ((row, column), (other_row, other_column)) = (place(one), place(other));
    row.abs_diff(other_row).max(column.abs_diff(other_column)) as i32
}
