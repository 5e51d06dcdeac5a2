//! The view of a position, which is the same for all viewers: JSON and text.

use std::fmt;

use serde::de::Error;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Saxum;
use super::board::{Board, Field, SIDE};
use super::dice::Dice;
use super::position::{INSURANCE, Position};
use referee_game::{Game, Seat, Turn};

/// The use of the dice.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// Sixes have to be resolved.
    Six,
    /// The dice give one or two fields, or have not been rolled.
    Field,
}

/// The position, as every seat and spectator sees it. Pairs are by seat.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct View {
    /// The seat to move; empty when the game is over.
    #[serde(serialize_with = "write_seat")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Seat>", length(max = 1)))]
    to_move: Option<Seat>,
    phase: Phase,
    dice: Dice,
    board: Board,
    /// The points of each side.
    points: [u32; 2],
    /// Rows scored.
    rows: [u32; 2],
    /// Insurance stones left.
    #[cfg_attr(feature = "schema", schemars(inner(range(max = 7))))]
    insurance: [u8; 2],
    /// Stones not on the board.
    #[cfg_attr(feature = "schema", schemars(inner(range(max = 15))))]
    supply: [u8; 2],
}

impl View {
    pub(super) fn of(game: &Saxum) -> View {
        let Position { board, dice, to_move, points, rows, insurance } = game.position;
        View {
            to_move: game.outcome().is_none().then_some(to_move),
            phase: if dice == Dice::NONE || dice.are_resolved() { Phase::Field } else { Phase::Six },
            dice,
            board,
            points,
            rows,
            insurance,
            supply: [Seat(0), Seat(1)].map(|seat| board.supply(seat)),
        }
    }
}

/// A deserialized and validated view, without redundant fields.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Seen {
    /// The seat whose turn it is; `None` when the game is over.
    #[serde(deserialize_with = "read_seat")]
    pub to_move: Option<Seat>,
    /// The dice of this turn.
    pub dice: Dice,
    pub board: Board,
    pub points: [u32; 2],
    /// Rows scored.
    pub rows: [u32; 2],
    /// Insurance stones left.
    #[serde(deserialize_with = "read_insurance")]
    pub insurance: [u8; 2],
}

impl Seen {
    /// Reconstructs the position. Views of finished games show no turn; seat 0 is assumed.
    pub(super) fn position(&self) -> Position {
        let Seen { to_move, dice, board, points, rows, insurance } = *self;
        Position { board, dice, to_move: to_move.unwrap_or(Seat(0)), points, rows, insurance }
    }
}

fn write_seat<S: Serializer>(seat: &Option<Seat>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(seat)
}

fn read_seat<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Seat>, D::Error> {
    match *Vec::deserialize(deserializer)? {
        [] => Ok(None),
        [seat @ (0 | 1)] => Ok(Some(Seat(seat))),
        _ => Err(D::Error::custom("`to_move` lists no seat, or seat 0 or 1")),
    }
}

fn read_insurance<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 2], D::Error> {
    let insurance: [u8; 2] = Deserialize::deserialize(deserializer)?;
    if insurance.iter().all(|&stones| stones <= INSURANCE) {
        Ok(insurance)
    } else {
        Err(D::Error::custom(format!("there are 0 to {INSURANCE} insurance stones, not {insurance:?}")))
    }
}

impl Serialize for Dice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (*self != Dice::NONE).then_some(self.faces()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Dice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Dice, D::Error> {
        let faces = Option::deserialize(deserializer)?.unwrap_or_default();
        Dice::with(faces).ok_or_else(|| D::Error::custom(format!("dice show 1 to 6, not {faces:?}")))
    }
}

/// A row of the board as characters.
fn text(letters: &[u8]) -> &str {
    std::str::from_utf8(letters).unwrap_or_else(|_| unreachable!("letters are ASCII"))
}

impl Serialize for Board {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(SIDE.into()))?;
        for row in 1..=SIDE {
            rows.serialize_element(text(&self.letters(row)))?;
        }
        rows.end()
    }
}

impl<'de> Deserialize<'de> for Board {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Board, D::Error> {
        let rows: [String; SIDE as usize] = Deserialize::deserialize(deserializer)?;
        read_board(&rows).ok_or_else(|| {
            D::Error::custom("a board is five rows of five letters: `0` or `1` the owner's seat, at most 15 each, `.` free")
        })
    }
}

fn read_board(rows: &[String; SIDE as usize]) -> Option<Board> {
    let mut stones = [0; 2];
    for (row, letters) in (1..).zip(rows) {
        let letters: &[u8; SIDE as usize] = letters.as_bytes().try_into().ok()?;
        for (column, letter) in (1..).zip(letters) {
            match letter {
                b'.' => {}
                b'0' | b'1' => stones[usize::from(letter - b'0')] |= Field::at(row, column)?.bit(),
                _ => return None,
            }
        }
    }
    Board::with(stones)
}

/// Writes the board with the rolled fields in brackets, the players' state beside it, and the turn below.
pub(super) fn draw(game: &Saxum, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Position { board, dice, to_move, points, rows, insurance } = game.position;
    let supply = [Seat(0), Seat(1)].map(|seat| u32::from(board.supply(seat)));
    let tally = [
        ("points", points, Some(game.points_to_win)),
        ("rows", rows, Some(game.rows_to_win)),
        ("insurance", insurance.map(u32::from), None),
        ("supply", supply, None),
    ];
    writeln!(f, "     1  2  3  4  5               seat 0  seat 1")?;
    for row in 1..=SIDE {
        write!(f, "{row} | ")?;
        for (column, letter) in (1..).zip(board.letters(row)) {
            let is_rolled = Field::at(row, column).is_some_and(|field| dice.fields() & field.bit() != 0);
            let [left, right] = if is_rolled { ['[', ']'] } else { [' ', ' '] };
            write!(f, "{left}{}{right}", char::from(letter))?;
        }
        f.write_str(" |")?;
        if let Some((name, [zero, one], goal)) = tally.get(usize::from(row - 1)) {
            write!(f, "    {name:9} {zero:6}  {one:6}")?;
            if let Some(goal) = goal {
                write!(f, "   of {goal}")?;
            }
        }
        writeln!(f)?;
    }
    match game.turn() {
        Turn::Over(outcome) => writeln!(f, "over: {}", outcome.reason),
        Turn::Draw(_) => writeln!(f, "seat {to_move} to roll"),
        Turn::Decide(_) => {
            let [one, other] = dice.faces();
            writeln!(f, "seat {to_move} to move, dice {one} {other}")
        }
    }
}
