//! Checkers: an action is a square and a diagonal; a capture takes one for each jump.

use referee_game::{Seat, Seating};
use referee_games::checkers::{Checkers, Colour, Move};

use super::{Encoding, Word, fill, share};

const PLANES: usize = 6;
/// The plane of the piece in the middle of a capture.
const JUMPING: usize = 4;
const QUIET: usize = 5;
/// Rows and columns of a step along each diagonal.
const DIAGONALS: [(i8, i8); 4] = [(1, -1), (1, 1), (-1, -1), (-1, 1)];

/// The row and the column of a square, 0 to 31.
const fn cell(square: u16) -> (i8, i8) {
    let row = (square / 4) as i8;
    (row, 2 * (square % 4) as i8 + 1 - row % 2)
}

const fn square((row, column): (i8, i8)) -> u16 {
    (4 * row + column / 2) as u16
}

/// The offsets of each square's planes in an observation.
const OFFSETS: [usize; 32] = {
    let mut offsets = [0; 32];
    let mut square = 0;
    while square < 32 {
        let (row, column) = cell(square as u16);
        offsets[square] = (8 * row as usize + column as usize) * PLANES;
        square += 1;
    }
    offsets
};

/// The square this many steps away along a diagonal, which must be on the board.
fn towards(from: u16, diagonal: u16, steps: i8) -> u16 {
    let ((row, column), (rows, columns)) = (cell(from), DIAGONALS[usize::from(diagonal)]);
    square((row + steps * rows, column + steps * columns))
}

/// The diagonal between two squares that are on one.
fn diagonal(from: u16, to: u16) -> u16 {
    let ((row, column), (to_row, to_column)) = (cell(from), cell(to));
    2 * u16::from(to_row < row) + u16::from(to_column > column)
}

#[derive(Debug)]
pub(crate) struct CheckersEncoding;

impl Encoding for CheckersEncoding {
    type Game = Checkers;

    fn new(_: Seating) -> Self {
        CheckersEncoding
    }

    fn shape(&self) -> Vec<usize> {
        vec![8, 8, PLANES]
    }

    fn actions(&self) -> usize {
        4 * 32
    }

    fn word(&self, seat: Seat, mv: Move) -> Word {
        let mut squares = mv
            .squares()
            .map(|number| if seat.0 == 0 { u16::from(number) - 1 } else { 32 - u16::from(number) });
        let mut from = squares.next().unwrap_or_default();
        Word::of(squares.map(|to| 4 * from + diagonal(std::mem::replace(&mut from, to), to)))
    }

    fn write(&self, position: &Checkers, seat: Seat, chosen: &[u16], out: &mut [f32]) {
        let board = position.board();
        let colours =
            if seat.0 == 0 { [Colour::Black, Colour::White] } else { [Colour::White, Colour::Black] };
        let [mut own, mut enemy] = colours.map(|colour| [board.men(colour), board.kings(colour)]);
        if seat.0 == 1 {
            // The board is rotated by 180 degrees: square s becomes 33 - s.
            [own, enemy] = [own, enemy].map(|sets| sets.map(u32::reverse_bits));
        }
        for (at, &action) in chosen.iter().enumerate() {
            let (from, diagonal) = (action / 4, action % 4);
            let (over, to) = (towards(from, diagonal, 1), towards(from, diagonal, 2));
            own = own.map(|set| set & !(1 << from) | (set >> from & 1) << to);
            enemy = enemy.map(|set| set & !(1 << over));
            if at + 1 == chosen.len() {
                out[OFFSETS[usize::from(to)] + JUMPING] = 1.0;
            }
        }
        for (plane, mut set) in own.into_iter().chain(enemy).enumerate() {
            while set != 0 {
                out[OFFSETS[set.trailing_zeros() as usize] + plane] = 1.0;
                set &= set - 1;
            }
        }
        fill(out, PLANES, QUIET, share(position.quiet_plies(), 50));
    }
}
