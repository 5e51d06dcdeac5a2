//! The board: fields and stones.

use std::fmt;

use referee_game::Seat;

/// The number of rows and columns.
pub(super) const SIDE: u8 = 5;
/// The number of stones of a player, on the board and in supply.
pub(super) const STONES: u8 = 15;

const FIRST_COLUMN: u32 = 0b00001_00001_00001_00001_00001;
const LAST_COLUMN: u32 = FIRST_COLUMN << (SIDE - 1);
const FIRST_ROW: u32 = (1 << SIDE) - 1;

/// The fields of a set, row by row.
pub(super) fn fields(mut set: u32) -> impl Iterator<Item = Field> {
    std::iter::from_fn(move || {
        let field = (set != 0).then(|| Field(set.trailing_zeros() as u8))?;
        set &= set - 1;
        Some(field)
    })
}

/// The orthogonal neighbours of a set of fields. The result can include fields of the set and bits beyond the board.
const fn beside(set: u32) -> u32 {
    set >> SIDE | set << SIDE | (set & !FIRST_COLUMN) >> 1 | (set & !LAST_COLUMN) << 1
}

pub(super) const fn other(seat: Seat) -> Seat {
    Seat(1 - seat.0)
}

/// A field of the board. Its text form is row and column, each 1 to 5: `4 3`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Field(u8);

impl Field {
    /// The field in this row and column; `None` unless both are 1 to 5.
    pub const fn at(row: u8, column: u8) -> Option<Field> {
        match (row, column) {
            (1..=SIDE, 1..=SIDE) => Some(Field((row - 1) * SIDE + column - 1)),
            _ => None,
        }
    }

    /// Returns 1 to 5.
    pub const fn row(self) -> u8 {
        self.0 / SIDE + 1
    }

    /// Returns 1 to 5.
    pub const fn column(self) -> u8 {
        self.0 % SIDE + 1
    }

    pub(super) const fn bit(self) -> u32 {
        1 << self.0
    }

    /// The row and the column of the field, as sets.
    const fn lines(self) -> [u32; 2] {
        [FIRST_ROW << ((self.row() - 1) * SIDE), FIRST_COLUMN << (self.column() - 1)]
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.row(), self.column())
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The stones on the board.
///
/// Sets of fields are bits, row by row: the lowest is row 1, column 1, the 25th row 5, column 5.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Board {
    stones: [u32; 2],
}

impl Board {
    /// Creates a board with these stones; `None` if a field is listed twice or a seat has more than 15 stones.
    pub(super) fn with(stones: [u32; 2]) -> Option<Board> {
        let fits = stones.iter().all(|set| set.count_ones() <= STONES.into());
        (fits && stones[0] & stones[1] == 0).then_some(Board { stones })
    }

    /// The fields with stones of this seat, as a set.
    pub const fn stones(&self, seat: Seat) -> u32 {
        self.stones[seat.index()]
    }

    /// The fields without a stone, as a set with bits beyond the board.
    pub(super) const fn free(&self) -> u32 {
        !(self.stones[0] | self.stones[1])
    }

    /// The owner of the stone on a field.
    pub const fn owner(&self, field: Field) -> Option<Seat> {
        match (self.stones[0] & field.bit(), self.stones[1] & field.bit()) {
            (0, 0) => None,
            (0, _) => Some(Seat(1)),
            _ => Some(Seat(0)),
        }
    }

    /// The supply of a seat, 0 to 15, including replaced stones (S3).
    pub const fn supply(&self, seat: Seat) -> u8 {
        STONES - self.stones(seat).count_ones() as u8
    }

    /// The size of the orthogonally connected group that contains the field; 0 if the field is free.
    pub fn group(&self, field: Field) -> u32 {
        let Some(owner) = self.owner(field) else { return 0 };
        let stones = self.stones(owner);
        let mut group = field.bit();
        loop {
            let grown = group | beside(group) & stones;
            if grown == group {
                return group.count_ones();
            }
            group = grown;
        }
    }

    /// Puts a stone of the seat on a field that is free or has an enemy stone, which leaves the board. Returns the
    /// number of completed lines of five, 0 to 2.
    pub(super) fn put(&mut self, seat: Seat, field: Field) -> usize {
        self.stones[other(seat).index()] &= !field.bit();
        self.stones[seat.index()] |= field.bit();
        field.lines().into_iter().filter(|line| line & !self.stones(seat) == 0).count()
    }

    /// A row of the board, 1 to 5, as characters: `0` or `1` for the owner's seat, `.` for free.
    pub(super) fn letters(&self, row: u8) -> [u8; SIDE as usize] {
        std::array::from_fn(|column| {
            let field = Field((row - 1) * SIDE + column as u8);
            self.owner(field).map_or(b'.', |seat| b'0' + seat.0)
        })
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = (1..=SIDE).map(|row| self.letters(row).map(char::from));
        f.debug_list().entries(rows.map(String::from_iter)).finish()
    }
}
