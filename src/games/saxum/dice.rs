//! The two dice.

use super::board::Field;

/// The face that has to be resolved.
pub(super) const SIX: u8 = 6;

/// One of the two dice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Die {
    /// Die 1.
    First,
    /// Die 2.
    Second,
}

impl Die {
    pub(super) const BOTH: [Die; 2] = [Die::First, Die::Second];

    /// 1 or 2, as moves name it.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// The dice as they lie on the table. A face of 0 is a die that does not: it has not been rolled yet in this turn, or
/// is being rolled again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dice([u8; 2]);

impl Dice {
    /// No die lies on the table.
    pub const NONE: Dice = Dice([0; 2]);

    /// Dice with these faces, each 0 to 6; none if one is above that.
    pub fn with(faces: [u8; 2]) -> Option<Dice> {
        faces.iter().all(|&face| face <= SIX).then_some(Dice(faces))
    }

    /// The faces of die 1 and die 2, 0 to 6.
    pub const fn faces(self) -> [u8; 2] {
        self.0
    }

    /// How many dice do not lie on the table.
    pub fn missing(self) -> u8 {
        self.0.iter().map(|&face| u8::from(face == 0)).sum()
    }

    /// The dice that show a six.
    pub(super) fn sixes(self) -> impl Iterator<Item = Die> {
        Die::BOTH.into_iter().filter(move |&die| self.0[die as usize] == SIX)
    }

    /// Whether both dice lie on the table and none shows a six.
    pub fn are_resolved(self) -> bool {
        self.0.iter().all(|&face| 0 < face && face < SIX)
    }

    /// The one or two fields that resolved dice give, as a set; none if they are not resolved.
    pub(super) fn fields(self) -> u32 {
        let [a, b] = self.0;
        match (Field::at(a, b), Field::at(b, a)) {
            (Some(one), Some(other)) => one.bit() | other.bit(),
            _ => 0,
        }
    }

    /// Takes a die from the table, to be rolled again.
    pub(super) const fn lift(&mut self, die: Die) {
        self.0[die as usize] = 0;
    }

    /// Turns a die to a face.
    pub(super) const fn turn(&mut self, die: Die, face: u8) {
        self.0[die as usize] = face;
    }

    /// Lays down what was drawn, a face for each missing die, die 1 first.
    pub(super) fn lay(&mut self, drawn: &[u16]) {
        for (face, &drawn) in self.0.iter_mut().filter(|face| **face == 0).zip(drawn) {
            *face = drawn as u8;
        }
    }
}
