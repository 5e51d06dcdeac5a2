//! Syzygy tables, which say of each position with few pieces whether it is won, drawn or lost.
//!
//! Only the files `*.rtbw` are read, which have these three values, and a fourth and a fifth for wins that take more than 100 plies without a
//! capture or a move of a pawn. A table leaves out values that a capture gives, so captures are played first.

mod index;
mod table;

use std::collections::BTreeMap;

use cozy_chess::{Board, Color, Piece};
use referee_game::endgames::{Endgames, TABLEBASES, TableFiles};
use referee_game::{Outcome, Wrong};

use self::table::Table;
use super::{Chess, seat};

/// The end of the names of files.
const ENDING: &str = ".rtbw";
/// The most pieces of a table; the least are three.
const MOST_PIECES: usize = 7;
/// The order of pieces in names.
const LETTERS: [(Piece, char); 6] = [
    (Piece::King, 'K'),
    (Piece::Queen, 'Q'),
    (Piece::Rook, 'R'),
    (Piece::Bishop, 'B'),
    (Piece::Knight, 'N'),
    (Piece::Pawn, 'P'),
];

#[derive(Debug)]
struct Syzygy {
    files: Box<dyn TableFiles>,
    /// By material, such as `KQvKR`.
    tables: BTreeMap<String, Table>,
    pieces: u32,
}

/// Opens the tables among these files.
pub(super) fn open(files: Box<dyn TableFiles>) -> Result<&'static dyn Endgames<Chess>, Wrong> {
    let mut tables = BTreeMap::new();
    for name in files.names() {
        let Some(material) = name.strip_suffix(ENDING).filter(|material| is_material(material)) else {
            continue;
        };
        let table =
            files.open(&name).map_err(Wrong::from).and_then(|mut file| Table::read(material, &mut *file));
        tables.insert(material.to_owned(), table.map_err(|why| Wrong::at(name.clone(), why))?);
    }
    let pieces = tables.keys().map(|material| material.len() as u32 - 1).max();
    let pieces = pieces.ok_or_else(|| {
        Wrong::new("there are no Syzygy tables of chess, which are files such as KQvK.rtbw")
    })?;
    Ok(Box::leak(Box::new(Syzygy { files, tables, pieces })))
}

/// Returns whether this is the material of a table: `KRPvKR`.
fn is_material(text: &str) -> bool {
    let is_side = |side: &str| {
        let ranks: Option<Vec<usize>> =
            side.chars().map(|char| LETTERS.iter().position(|&(_, letter)| letter == char)).collect();
        ranks.is_some_and(|ranks| ranks.is_sorted() && ranks.iter().filter(|&&rank| rank == 0).count() == 1)
    };
    (4..=MOST_PIECES + 1).contains(&text.len())
        && text.split_once('v').is_some_and(|(one, other)| is_side(one) && is_side(other))
}

/// The pieces of a side, as in names.
fn material(board: &Board, color: Color) -> String {
    let of = |(piece, letter)| std::iter::repeat_n(letter, board.colored_pieces(color, piece).len() as usize);
    LETTERS.into_iter().flat_map(of).collect()
}

impl Syzygy {
    /// The value of a position without castling rights for the side to move: 2 is a win, 1 one that takes too long, 0 a draw. `None` if a
    /// table is missing or cannot be read.
    fn value(&self, board: &Board) -> Option<i8> {
        let (mut moves, mut captures, mut best) = (0, 0, -2);
        let them = board.colors(!board.side_to_move());
        let failed = board.generate_moves(|of_piece| {
            of_piece.into_iter().any(|mv| {
                moves += 1;
                let is_en_passant = of_piece.piece == Piece::Pawn && mv.from.file() != mv.to.file();
                if !them.has(mv.to) && !is_en_passant {
                    return false;
                }
                captures += 1;
                let mut next = board.clone();
                next.play_unchecked(mv);
                let value = self.value(&next);
                best = best.max(-value.unwrap_or_default());
                value.is_none()
            })
        });
        if failed {
            return None;
        }
        if moves == 0 {
            return Some(if board.checkers().is_empty() { 0 } else { -2 });
        }
        // No table knows captures en passant, and where each move is a capture it may have any value.
        if captures == moves || best == 2 { Some(best) } else { Some(self.stored(board)?.max(best)) }
    }

    /// Reads the value in the table.
    fn stored(&self, board: &Board) -> Option<i8> {
        let [white, black] = Color::ALL.map(|color| material(board, color));
        if white.len() + black.len() == 2 {
            return Some(0);
        }
        let (as_is, flipped) = (format!("{white}v{black}"), format!("{black}v{white}"));
        let (name, table, is_flipped) = match self.tables.get_key_value(&as_is) {
            // A table of equal sides has White to move.
            Some((name, table)) => (name, table, white == black && board.side_to_move() == Color::Black),
            None => self.tables.get_key_value(&flipped).map(|(name, table)| (name, table, true))?,
        };
        let mut file = self.files.open(&format!("{name}{ENDING}")).ok()?;
        table.value(board, is_flipped, &mut *file).ok()
    }
}

impl Endgames<Chess> for Syzygy {
    fn pieces(&self) -> u32 {
        self.pieces
    }

    fn outcome(&self, position: &Chess) -> Option<Outcome> {
        let board = position.board();
        let value = self.value(board)?;
        let mover = board.side_to_move();
        let winner = if value > 0 { mover } else { !mover };
        match (value.abs(), position.draw_plies) {
            (0, _) | (1, 100) => Some(Outcome::draw(TABLEBASES)),
            (1, 0) | (2, 0 | 100..) => Some(Outcome::win(seat(winner).index(), TABLEBASES)),
            // The tables count to 100 plies, and the options to another number.
            _ => None,
        }
    }
}
