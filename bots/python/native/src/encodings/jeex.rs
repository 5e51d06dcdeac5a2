//! Jeex: an action is a whole move.

use referee_game::{Seat, Seating};
use referee_games::jeex::{Colour, Direction, Field, Jeex, Move, Phase};

use super::{Encoding, Word, fill, share};

const PLANES: usize = 21;
const DIRECTIONS: u16 = 8;
const FIELDS: u16 = 14;
const ROTATE: u16 = DIRECTIONS * FIELDS;
const CAPTURE: u16 = 2 * ROTATE;
const CLAIM: u16 = CAPTURE + FIELDS;

/// The cell of a field, 0 to 14, rank by rank: a1 is 0, the centre c2 is 7.
fn cell(field: Field) -> u16 {
    let [file, rank] = [0, 1].map(|at| u16::from(field.name().as_bytes()[at]));
    5 * (rank - u16::from(b'1')) + file - u16::from(b'a')
}

/// The number of a field, 0 to 13: the cells without the centre.
fn number(field: Field) -> u16 {
    let cell = cell(field);
    cell - u16::from(cell > 7)
}

#[derive(Debug)]
pub(crate) struct JeexEncoding;

impl Encoding for JeexEncoding {
    type Game = Jeex;

    fn new(_: Seating) -> Self {
        JeexEncoding
    }

    fn shape(&self) -> Vec<usize> {
        vec![3, 5, PLANES]
    }

    fn actions(&self) -> usize {
        usize::from(CLAIM) + 1
    }

    fn word(&self, _: Seat, mv: Move) -> Word {
        let turned = |at, facing: Direction| DIRECTIONS * number(at) + facing as u16;
        Word::of([match mv {
            Move::Place { at, facing } => turned(at, facing),
            Move::Rotate { at, facing } => ROTATE + turned(at, facing),
            // The captor's direction determines the capture.
            Move::Capture { from, .. } => CAPTURE + number(from),
            Move::Claim => CLAIM,
        }])
    }

    fn write(&self, position: &Jeex, seat: Seat, _: &[u16], out: &mut [f32]) {
        let board = position.board();
        for (field, (owner, direction)) in board.stones() {
            let plane = 8 * usize::from(owner.seat() != seat) + direction as usize;
            out[PLANES * usize::from(cell(field)) + plane] = 1.0;
        }
        let own = Colour::ALL[seat.index()];
        fill(out, PLANES, 16, share(board.supply(own), 14));
        fill(out, PLANES, 17, share(board.supply(own.other()), 14));
        fill(out, PLANES, 18, share(board.removed(), 14));
        fill(out, PLANES, 19, share(position.quiet_plies(), 50));
        fill(out, PLANES, 20, if board.phase() == Phase::Opening { 1.0 } else { 0.0 });
    }
}
