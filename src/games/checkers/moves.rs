//! A move and its text.

use std::fmt;
use std::str::FromStr;

use super::board::{Way, bit};
use super::text::{Text, read_square, spell_square};

/// The most squares that a move visits, the first included.
///
/// A jump goes two rows and two columns on, so all squares that a capture visits lie in rows of one parity, and all
/// that it jumps over in rows of the other. A jumped square is not on the edge. Of the dark squares off the edge nine
/// lie in even rows (three in each of three) and nine in odd ones; each is jumped at most once, for what stood there
/// is gone. So there are at most nine jumps, which visit ten squares.
pub(super) const MAX_SQUARES: usize = 10;

/// A step or a whole capture: every square it visits, in order.
///
/// Its text is PDN's: `11-15` for a step, `15x24x31` for a capture.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// In the bits from 5k the index of the k-th square, in the highest four how many there are.
    path: u64,
}

const COUNT: u32 = 60;
const _: () = assert!(MAX_SQUARES * 5 <= COUNT as usize && MAX_SQUARES < 16);

impl Move {
    /// A path with nothing but its first square, to be continued with [`Move::then`].
    pub(super) const fn from_square(square: u32) -> Move {
        Move { path: square as u64 | 1 << COUNT }
    }

    /// The path with one square more. There must be less than [`MAX_SQUARES`].
    pub(super) const fn then(self, square: u32) -> Move {
        Move { path: (self.path | (square as u64) << (5 * self.count())) + (1 << COUNT) }
    }

    const fn count(self) -> u32 {
        (self.path >> COUNT) as u32
    }

    /// The index, 0 to 31, of the k-th square.
    const fn square(self, k: u32) -> u32 {
        (self.path >> (5 * k)) as u32 & 31
    }

    pub(super) const fn first(self) -> u32 {
        self.square(0)
    }

    pub(super) const fn last(self) -> u32 {
        self.square(self.count() - 1)
    }

    /// Whether it captures. The squares of a step are at most five numbers apart, those of a jump seven or nine.
    pub const fn is_capture(self) -> bool {
        self.square(0).abs_diff(self.square(1)) > 5
    }

    /// The numbers, 1 to 32, of the squares it visits, in order.
    pub fn squares(self) -> impl Iterator<Item = u8> {
        (0..self.count()).map(move |k| self.square(k) as u8 + 1)
    }

    /// Gives its text to `push`, which is ASCII.
    pub(super) fn spell(self, mut push: impl FnMut(u8)) {
        spell_square(self.first(), &mut push);
        let between = if self.is_capture() { b'x' } else { b'-' };
        for k in 1..self.count() {
            push(between);
            spell_square(self.square(k), &mut push);
        }
    }

    /// The squares it jumps over, as a set. It must be a capture.
    pub(super) fn jumped(self) -> u32 {
        (1..self.count()).fold(0, |set, k| {
            let (from, to) = (self.square(k - 1), self.square(k));
            // The square between lies half-way, which is no whole number: upwards from rows that are
            // shifted right (1-4, 9-12, ...), downwards from the others.
            let shifted = !(from >> 2) & 1;
            set | bit((from + to + shifted) / 2)
        })
    }

    /// Whether the text is this capture with its first and last square alone: `15x31` for `15x24x31`.
    pub(super) fn is_shortened_to(self, text: &str) -> bool {
        let ends = text.split_once('x').and_then(|(from, to)| Some((read_square(from)?, read_square(to)?)));
        self.is_capture() && ends == Some((self.first(), self.last()))
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text::<{ 3 * MAX_SQUARES }>::new();
        self.spell(|byte| text.push(byte));
        text.fmt(f)
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no move on any board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMove {
    /// It is built in another way.
    #[error(
        "a move is a step like 11-15 or a capture with every square it visits like 15x24x31, squares 1 to 32"
    )]
    Form,
    /// No piece goes from the one square to the other like this.
    #[error(
        "a step goes to a square that touches, each jump of a capture to the second square on a diagonal"
    )]
    Reach,
}

impl FromStr for Move {
    type Err = BadMove;

    fn from_str(text: &str) -> Result<Move, BadMove> {
        let is_step = text.contains('-');
        let mut squares = text
            .split(if is_step { '-' } else { 'x' })
            .map(|number| read_square(number).ok_or(BadMove::Form));
        let mut mv = Move::from_square(squares.next().ok_or(BadMove::Form)??);
        for square in squares {
            let square = square?;
            if mv.count() as usize == if is_step { 2 } else { MAX_SQUARES } {
                return Err(BadMove::Form);
            }
            let from = bit(mv.last());
            let goes = |way: Way| if is_step { way.step(from) } else { way.step(way.step(from)) };
            if !Way::ALL.into_iter().any(|way| goes(way) == bit(square)) {
                return Err(BadMove::Reach);
            }
            mv = mv.then(square);
        }
        if mv.count() == 1 { Err(BadMove::Form) } else { Ok(mv) }
    }
}
