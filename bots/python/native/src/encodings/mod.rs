//! The encoding of positions as observations and of moves as actions, for each game: what the tables in the
//! README of `referee_bot.env` define. The same definitions for the other backend are in
//! `referee_bot/env/encodings`; `tests/test_env_native.py` compares every number of both over thousands of
//! positions.

mod checkers;
mod chess;
mod jeex;
mod keezen;
mod saxum;
mod xe_queo;

use referee_game::{Game, Seat, Seating};

pub(crate) use self::checkers::CheckersEncoding;
pub(crate) use self::chess::ChessEncoding;
pub(crate) use self::jeex::JeexEncoding;
pub(crate) use self::keezen::KeezenEncoding;
pub(crate) use self::saxum::SaxumEncoding;
pub(crate) use self::xe_queo::XeQueoEncoding;

/// The longest word: a capture of nine jumps.
const LONGEST: usize = 9;

/// The actions that spell a move. No legal move's word begins another's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    actions: [u16; LONGEST],
    len: u8,
}

impl Word {
    /// The word of an iterator of at most nine actions.
    pub(crate) fn of(actions: impl IntoIterator<Item = u16>) -> Word {
        let mut word = Word { actions: [0; LONGEST], len: 0 };
        for action in actions {
            word.actions[usize::from(word.len)] = action;
            word.len += 1;
        }
        word
    }

    /// The actions in order, at least one.
    pub(crate) fn actions(&self) -> &[u16] {
        &self.actions[..usize::from(self.len)]
    }
}

/// A move of the game of an encoding.
pub(crate) type MoveOf<E> = <<E as Encoding>::Game as Game>::Move;

/// The encoding of one game's positions and moves for a network.
pub(crate) trait Encoding: Send + Sync + 'static {
    type Game: Game<Move: Sync, Options: Sync> + Sync;

    /// Creates the encoding for a seating of the game.
    fn new(seating: Seating) -> Self;

    /// The shape of an observation.
    fn shape(&self) -> Vec<usize>;

    fn actions(&self) -> usize;

    /// The actions that spell a move of a seat.
    fn word(&self, seat: Seat, mv: MoveOf<Self>) -> Word;

    /// Writes the observation of a seat into `out`, which is all zeros and has the size of an observation.
    /// `chosen` are the actions of its decision so far, where a move takes several.
    fn write(&self, position: &Self::Game, seat: Seat, chosen: &[u16], out: &mut [f32]);
}

/// A number divided by its usual maximum, capped at 1.
fn share(number: impl Into<f64>, of: u32) -> f32 {
    (number.into() / f64::from(of)).min(1.0) as f32
}

/// Gives a plane about the whole match its value everywhere. `out` consists of cells with this number of planes.
fn fill(out: &mut [f32], planes: usize, plane: usize, value: f32) {
    if value != 0.0 {
        out.iter_mut().skip(plane).step_by(planes).for_each(|cell| *cell = value);
    }
}
