//! The fields around the Jeex centre, and their adjacency.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The number of cells, including the centre.
pub(super) const GRID: usize = 15;
/// The cells of the grid, including the centre `c2`, sorted by name. Bit i of a set of fields is cell i.
const NAMES: [&str; GRID] =
    ["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3", "d1", "d2", "d3", "e1", "e2", "e3"];
const CELLS: u16 = (1 << NAMES.len()) - 1;
/// The cells of the southernmost and of the northernmost rank.
const RANK_1: u16 = 0b001_001_001_001_001;
const RANK_3: u16 = RANK_1 << 2;

/// The Jeex centre, `c2`. Stones can point at it, but it is not a field.
pub(super) const CENTRE: u16 = 1 << 7;
/// The 15 cells without the centre.
pub(super) const FIELDS: u16 = CELLS & !CENTRE;
/// The two battlefields, `b2` and `d2` (J1).
pub(super) const BATTLEFIELDS: u16 = 1 << 4 | 1 << 10;

/// The fields of a set, sorted by name.
pub(super) fn fields(mut set: u16) -> impl Iterator<Item = Field> {
    std::iter::from_fn(move || {
        let field = (set != 0).then(|| Field(set.trailing_zeros() as u8))?;
        set &= set - 1;
        Some(field)
    })
}

/// A field of the 14, `a1` to `e3` without `c2`. Fields are ordered by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field(pub(super) u8);

impl Field {
    /// Returns file and rank: `b3`.
    pub const fn name(self) -> &'static str {
        NAMES[self.0 as usize]
    }

    /// The field with this name; `None` for the centre and names off the board.
    pub fn named(name: &str) -> Option<Field> {
        fields(FIELDS).find(|field| field.name() == name)
    }

    /// Returns the set with this one field.
    pub(super) const fn bit(self) -> u16 {
        1 << self.0
    }

    /// The field directly adjacent in this direction, as a set, which is empty at the edge of the board.
    pub(super) const fn adjacent(self, direction: Direction) -> u16 {
        const ADJACENT: [[u16; GRID]; 8] = {
            let mut sets = [[0; GRID]; 8];
            let mut at = 0;
            while at < 8 * GRID {
                sets[at / GRID][at % GRID] = Direction::ALL[at / GRID].adjacent(1 << (at % GRID));
                at += 1;
            }
            sets
        };
        ADJACENT[direction as usize][self.0 as usize]
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Field::named(&name).ok_or_else(|| {
            serde::de::Error::custom("a field is a file a to e and a rank 1 to 3, but not the centre c2")
        })
    }
}

/// The direction in which a stone points: `N` is towards rank 3, `E` towards file e. Its tail points the opposite
/// way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Direction {
    N,
    NE,
    E,
    SE,
    S,
    SW,
    W,
    NW,
}

impl Direction {
    /// Clockwise from the north.
    pub const ALL: [Direction; 8] = {
        use Direction::{E, N, NE, NW, S, SE, SW, W};
        [N, NE, E, SE, S, SW, W, NW]
    };

    /// The compass point, for example `NE`.
    pub const fn name(self) -> &'static str {
        ["N", "NE", "E", "SE", "S", "SW", "W", "NW"][self as usize]
    }

    /// The direction of this compass point.
    pub fn named(name: &str) -> Option<Direction> {
        Direction::ALL.into_iter().find(|direction| direction.name() == name)
    }

    pub const fn back(self) -> Direction {
        Direction::ALL[(self as usize + 4) % 8]
    }

    /// Moves a set by one cell, including to the centre; cells that leave the board are dropped.
    const fn step(self, set: u16) -> u16 {
        let (south, north) = (set & !RANK_1, set & !RANK_3);
        CELLS
            & match self {
                Direction::N => north << 1,
                Direction::NE => north << 4,
                Direction::E => set << 3,
                Direction::SE => south << 2,
                Direction::S => south >> 1,
                Direction::SW => south >> 4,
                Direction::W => set >> 3,
                Direction::NW => north >> 2,
            }
    }

    /// The fields directly adjacent to a set in this direction: the next cells, skipping the centre. The mapping is
    /// injective, so a step back inverts it.
    pub(super) const fn adjacent(self, set: u16) -> u16 {
        let next = self.step(set);
        next & FIELDS | self.step(next & CENTRE)
    }

    /// The field from which a stone that points this way attacks the centre.
    pub(super) const fn towards_centre(self) -> u16 {
        self.back().step(CENTRE)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
