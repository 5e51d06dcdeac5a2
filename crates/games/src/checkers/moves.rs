//! Moves and their text form.

use std::fmt;
use std::str::FromStr;

use super::board::{Diagonal, bit, index, jumped_place, place};
use super::text::{Text, read_square, spell_square};
use referee_game::Wrong;

/// The maximum number of squares that a move visits, including the first.
///
/// A jump moves two rows and two columns, so all visited squares are in rows of one parity, and all jumped squares
/// in rows of the other. A jumped square is not on the edge. Of the dark squares off the edge, nine are in even rows
/// (three in each of three) and nine in odd ones. Each is jumped at most once, because its piece is captured. So
/// there are at most nine jumps, which visit ten squares.
pub(super) const MAX_SQUARES: usize = 10;

/// A step or a complete capture: every visited square, in order.
///
/// The text form is that of PDN: `11-15` for a step, `15x24x31` for a capture.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// The lowest five bits contain the place of the first square, the next five that of the last; those between them
    /// follow in order. The highest four bits contain the number of squares.
    path: u64,
}

const PLACE: u32 = 5;
const COUNT: u32 = 60;
const _: () = assert!(MAX_SQUARES * PLACE as usize <= COUNT as usize && MAX_SQUARES < 16);

impl Move {
    /// A path of one square, to be extended with [`Move::then`].
    pub(super) const fn from_place(place: u32) -> Move {
        let place = place as u64;
        Move { path: place | place << PLACE | 1 << COUNT }
    }

    /// Extends the path by one square. It must have fewer than [`MAX_SQUARES`].
    pub(super) const fn then(self, place: u32) -> Move {
        const ENDS: u64 = (1 << (2 * PLACE)) - 1;
        // The last square, unless it is the first as well, moves behind those between.
        let between = (self.last() as u64) << (PLACE * self.count()) & !ENDS;
        Move { path: (self.path & !ENDS | between | (self.first() | place << PLACE) as u64) + (1 << COUNT) }
    }

    const fn count(self) -> u32 {
        (self.path >> COUNT) as u32
    }

    /// The place of the k-th square.
    const fn place(self, k: u32) -> u32 {
        if k == 0 {
            self.first()
        } else if k + 1 == self.count() {
            self.last()
        } else {
            (self.path >> (PLACE * (k + 1))) as u32 & 31
        }
    }

    /// The place of the first square.
    pub(super) const fn first(self) -> u32 {
        self.path as u32 & 31
    }

    /// The place of the last square.
    pub(super) const fn last(self) -> u32 {
        (self.path >> PLACE) as u32 & 31
    }

    /// The indices, 0 to 31, of the first and the last square.
    pub(super) const fn ends(self) -> [u32; 2] {
        [index(self.first()), index(self.last())]
    }

    /// Returns whether it is a capture. A step turns the place by an odd number, a jump by twice as much.
    pub const fn is_capture(self) -> bool {
        (self.first() ^ self.last()) & 1 == 0
    }

    /// The numbers, 1 to 32, of the squares it visits, in order.
    pub fn squares(self) -> impl Iterator<Item = u8> {
        (0..self.count()).map(move |k| index(self.place(k)) as u8 + 1)
    }

    /// Passes its text, which is ASCII, to `push` byte by byte.
    pub(super) fn spell(self, mut push: impl FnMut(u8)) {
        spell_square(index(self.first()), &mut push);
        let between = if self.is_capture() { b'x' } else { b'-' };
        for k in 1..self.count() {
            push(between);
            spell_square(index(self.place(k)), &mut push);
        }
    }

    /// The set of jumped squares. The move must be a capture.
    pub(super) fn jumped(self) -> u32 {
        (1..self.count()).fold(0, |set, k| set | bit(jumped_place(self.place(k - 1), self.place(k))))
    }

    /// Returns whether the text is the short form of this capture, with only the first and last square:
    /// `15x31` for `15x24x31`.
    pub(super) fn is_shortened_to(self, text: &str) -> bool {
        let ends = text.split_once('x').and_then(|(from, to)| Some([read_square(from)?, read_square(to)?]));
        self.is_capture() && ends == Some(self.ends())
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

pub(super) const NO_MOVE: Wrong = Wrong::new(
    "a move is a step like 11-15 or a capture with every square it visits like 15x24x31, squares 1 to 32",
);
pub(super) const UNREACHED: Wrong = Wrong::new(
    "a step goes to a diagonally adjacent square, each jump of a capture two squares along a diagonal",
);

impl FromStr for Move {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Move, Wrong> {
        let is_step = text.contains('-');
        let mut squares =
            text.split(if is_step { '-' } else { 'x' }).map(|number| read_square(number).ok_or(NO_MOVE));
        let mut mv = Move::from_place(place(squares.next().ok_or(NO_MOVE)??));
        for square in squares {
            let to = place(square?);
            if mv.count() as usize == if is_step { 2 } else { MAX_SQUARES } {
                return Err(NO_MOVE);
            }
            let from = bit(mv.last());
            let goes = |way: Diagonal| if is_step { way.step(from) } else { way.step(way.step(from)) };
            if !Diagonal::ALL.into_iter().any(|way| goes(way) == bit(to)) {
                return Err(UNREACHED);
            }
            mv = mv.then(to);
        }
        if mv.count() == 1 { Err(NO_MOVE) } else { Ok(mv) }
    }
}
