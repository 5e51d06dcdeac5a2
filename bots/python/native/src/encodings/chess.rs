//! Chess: an action is a square, the origin and then the destination, or the piece of a promotion.

use referee_game::{Seat, Seating};
use referee_games::chess::cozy_chess::{Color, Piece, Rank, Square};
use referee_games::chess::{Chess, Move};

use super::{Encoding, Word, fill, share};

const PLANES: usize = 18;
const CASTLING: usize = 12;
const EN_PASSANT: usize = 13;
const OCCURRENCES: usize = 14;
const QUIET: usize = 15;
const CHOSEN: usize = 16;
/// The action of the first piece of a promotion.
const PROMOTION: u16 = 64;

/// The number of a square from the own side: rows from the own back rank, columns from the file a.
fn number(seat: Seat, square: Square) -> usize {
    square as usize ^ if seat.0 == 0 { 0 } else { 56 }
}

#[derive(Debug)]
pub(crate) struct ChessEncoding;

impl Encoding for ChessEncoding {
    type Game = Chess;

    fn new(_: Seating) -> Self {
        ChessEncoding
    }

    fn shape(&self) -> Vec<usize> {
        vec![8, 8, PLANES]
    }

    fn actions(&self) -> usize {
        64 + 4
    }

    fn word(&self, seat: Seat, mv: Move) -> Word {
        let piece = mv.promotion().map(|piece| PROMOTION + piece as u16 - Piece::Knight as u16);
        Word::of(mv.squares().map(|square| number(seat, square) as u16).into_iter().chain(piece))
    }

    fn write(&self, position: &Chess, seat: Seat, chosen: &[u16], out: &mut [f32]) {
        let board = position.board();
        let own = if seat.0 == 0 { Color::White } else { Color::Black };
        let mut mark = |square: usize, plane: usize| out[square * PLANES + plane] = 1.0;
        for (side, color) in [own, !own].into_iter().enumerate() {
            for piece in Piece::ALL {
                let squares = board.colored_pieces(color, piece);
                squares.into_iter().for_each(|square| mark(number(seat, square), 6 * side + piece as usize));
            }
            let rights = board.castle_rights(color);
            for file in rights.short.into_iter().chain(rights.long) {
                mark(number(seat, Square::new(file, Rank::First.relative_to(color))), CASTLING);
            }
        }
        if let Some(square) = position.en_passant() {
            mark(number(seat, square), EN_PASSANT);
        }
        for (at, &action) in chosen.iter().enumerate() {
            mark(usize::from(action), CHOSEN + at);
        }
        fill(out, PLANES, OCCURRENCES, share(position.occurrences() - 1, 2));
        fill(out, PLANES, QUIET, share(position.quiet_plies(), 100));
    }
}
