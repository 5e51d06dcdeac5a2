//! The two dice.

use super::board::Field;

/// The face that has to be resolved.
pub(super) const SIX: u8 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Die {
    First,
    Second,
}

impl Die {
    pub(super) const BOTH: [Die; 2] = [Die::First, Die::Second];

    /// 1 or 2, as moves name it.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// The state of the dice. A face of 0 means that the die has yet to be rolled in this turn, or is being rerolled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dice([u8; 2]);

impl Dice {
    /// The dice before a roll.
    pub const NONE: Dice = Dice([0; 2]);

    /// Creates dice with these faces, each 0 to 6; `None` if a face is larger.
    pub fn with(faces: [u8; 2]) -> Option<Dice> {
        faces.iter().all(|&face| face <= SIX).then_some(Dice(faces))
    }

    /// The faces of die 1 and die 2, 0 to 6.
    pub const fn faces(self) -> [u8; 2] {
        self.0
    }

    /// The number of dice to be rolled.
    pub fn missing(self) -> u8 {
        self.0.iter().map(|&face| u8::from(face == 0)).sum()
    }

    /// The dice that show a six.
    pub(super) fn sixes(self) -> impl Iterator<Item = Die> {
        Die::BOTH.into_iter().filter(move |&die| self.0[die as usize] == SIX)
    }

    /// Returns whether both dice have been rolled and none shows a six.
    pub fn are_resolved(self) -> bool {
        self.0.iter().all(|&face| 0 < face && face < SIX)
    }

    /// The one or two fields given by resolved dice, as a set; empty if they are not resolved.
    pub(super) fn fields(self) -> u32 {
        let [a, b] = self.0;
        match (Field::at(a, b), Field::at(b, a)) {
            (Some(one), Some(other)) => one.bit() | other.bit(),
            _ => 0,
        }
    }

    /// Marks a die to be rerolled.
    pub(super) const fn lift(&mut self, die: Die) {
        self.0[die as usize] = 0;
    }

    pub(super) const fn turn(&mut self, die: Die, face: u8) {
        self.0[die as usize] = face;
    }

    /// Sets the faces drawn for the dice to be rolled, die 1 first.
    pub(super) fn set_rolled(&mut self, drawn: &[u32]) {
        for (face, &drawn) in self.0.iter_mut().filter(|face| **face == 0).zip(drawn) {
            *face = drawn as u8;
        }
    }
}
