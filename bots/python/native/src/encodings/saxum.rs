//! Saxum: an action is a whole move.

use referee_game::{Seat, Seating};
use referee_games::saxum::{Field, Move, Saxum};

use super::{Encoding, Word, fill, share};

const PLANES: usize = 22;
const FIELDS: u16 = 25;
const TURN: u16 = 2;
const PLACE: u16 = TURN + 10;

fn number(field: Field) -> u16 {
    5 * u16::from(field.row() - 1) + u16::from(field.column() - 1)
}

#[derive(Debug)]
pub(crate) struct SaxumEncoding;

impl Encoding for SaxumEncoding {
    type Game = Saxum;

    fn new(_: Seating) -> Self {
        SaxumEncoding
    }

    fn shape(&self) -> Vec<usize> {
        vec![5, 5, PLANES]
    }

    fn actions(&self) -> usize {
        usize::from(PLACE + 4 * FIELDS)
    }

    fn word(&self, _: Seat, mv: Move) -> Word {
        Word::of([match mv {
            Move::Reroll(die) => u16::from(die.number()) - 1,
            Move::Turn(die, face) => TURN + 5 * (u16::from(die.number()) - 1) + u16::from(face) - 1,
            Move::Place(field) => PLACE + number(field),
            Move::Score(field) => PLACE + FIELDS + number(field),
            Move::Pay(field) => PLACE + 2 * FIELDS + number(field),
            Move::Insure(field) => PLACE + 3 * FIELDS + number(field),
        }])
    }

    fn write(&self, position: &Saxum, seat: Seat, _: &[u16], out: &mut [f32]) {
        let position = position.position();
        let seats = [seat, Seat(1 - seat.0)];
        for (plane, owner) in seats.into_iter().enumerate() {
            let mut stones = position.board.stones(owner);
            while stones != 0 {
                out[PLANES * stones.trailing_zeros() as usize + plane] = 1.0;
                stones &= stones - 1;
            }
        }
        for (die, face) in position.dice.faces().into_iter().enumerate().filter(|&(_, face)| face > 0) {
            fill(out, PLANES, 1 + 6 * die + usize::from(face), 1.0);
        }
        for (turn, owner) in seats.into_iter().enumerate() {
            let at = owner.index();
            fill(out, PLANES, 14 + turn, share(position.points[at], 177));
            fill(out, PLANES, 16 + turn, share(position.rows[at], 7));
            fill(out, PLANES, 18 + turn, share(position.insurance[at], 7));
            fill(out, PLANES, 20 + turn, share(position.board.supply(owner), 15));
        }
    }
}
