//! Xe Queo!: an action is a whole move.

use referee_game::{Seat, Seating};
use referee_games::xe_queo::{Move, Phase, Square, XeQueo};

use super::{Encoding, Word, fill, share};

const PLANES: usize = 34;
const SQUARES: u16 = 49;
const PAWNS: u16 = 7;
const CHOOSE: u16 = SQUARES;
const MOVE: u16 = CHOOSE + PAWNS;
const ACCUSE: u16 = MOVE + PAWNS * SQUARES;

fn number(square: Square) -> u16 {
    7 * u16::from(square.rank()) + u16::from(square.file())
}

#[derive(Debug)]
pub(crate) struct XeQueoEncoding;

impl Encoding for XeQueoEncoding {
    type Game = XeQueo;

    fn new(_: Seating) -> Self {
        XeQueoEncoding
    }

    fn shape(&self) -> Vec<usize> {
        vec![7, 7, PLANES]
    }

    fn actions(&self) -> usize {
        usize::from(ACCUSE + PAWNS)
    }

    fn word(&self, _: Seat, mv: Move) -> Word {
        Word::of([match mv {
            Move::Ring(square) => number(square),
            Move::Choose(pawn) => CHOOSE + pawn as u16,
            Move::Move(pawn, to) => MOVE + SQUARES * pawn as u16 + number(to),
            Move::Accuse(pawn) => ACCUSE + pawn as u16,
        }])
    }

    fn write(&self, game: &XeQueo, seat: Seat, _: &[u16], out: &mut [f32]) {
        let position = game.position();
        let mut set = |square, plane| out[PLANES * usize::from(number(square)) + plane] = 1.0;
        for (pawn, square) in position.pawns.iter().flat_map(|pawns| pawns.iter()) {
            set(square, pawn as usize);
        }
        if let Some(ring) = position.ring {
            set(ring, 7);
        }
        if let Some(choice) = position.choices[seat.index()] {
            fill(out, PLANES, 8 + choice as usize, 1.0);
        }
        let phase = match position.phase() {
            Phase::Ring => Some(15),
            Phase::Choose => Some(16),
            Phase::Play => Some(17),
            Phase::Over => None,
        };
        if let Some(plane) = phase {
            fill(out, PLANES, plane, 1.0);
        }
        let [own, other] = [seat.index(), 1 - seat.index()].map(|seat| share(position.rings[seat], 4));
        fill(out, PLANES, 18, own);
        fill(out, PLANES, 19, other);
        // The moves of each pawn in this round, by the own side and by the enemy.
        let mut moved = [0_u32; 14];
        for (mover, pawn, _) in game.moves() {
            moved[7 * usize::from(mover != seat) + pawn as usize] += 1;
        }
        for (at, times) in moved.into_iter().enumerate() {
            fill(out, PLANES, 20 + at, share(times, 8));
        }
    }
}
