//! The rules of tic-tac-toe.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use referee::game::{
    Game, Imagination, Imagine, Known, Meta, NoDraw, NoFact, Outcome, ReasonMeta, Schemas, Seat, SeatSet,
    Seating, Turn, Uniform, Viewer, Wrong,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The options of the game; there are none.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Options {}

/// A position: the marks of each seat as bits, and the number of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TicTacToe {
    marks: [u16; 2],
    ply: u8,
}

/// A square, counted from the bottom left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Square(u8);

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.0 % 3), self.0 / 3 + 1)
    }
}

#[derive(Debug)]
pub struct NoSquare;

impl FromStr for Square {
    type Err = NoSquare;

    fn from_str(text: &str) -> Result<Square, NoSquare> {
        match *text.as_bytes() {
            [column @ b'a'..=b'c', row @ b'1'..=b'3'] => Ok(Square(column - b'a' + 3 * (row - b'1'))),
            _ => Err(NoSquare),
        }
    }
}

/// A move in the JSON Schema of the game.
impl JsonSchema for Square {
    fn schema_name() -> Cow<'static, str> {
        "Move".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "A free square.", "type": "string", "pattern": "^[a-c][1-3]$" })
    }
}

/// The public position.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct View {
    /// The seat to move; empty when the game is over.
    #[schemars(length(max = 1))]
    to_move: Vec<Seat>,
    /// The rows from the top: `x`, `o` and `.`.
    #[schemars(inner(regex(pattern = "^[xo.]{3}$")))]
    board: [String; 3],
}

const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

impl TicTacToe {
    const START: TicTacToe = TicTacToe { marks: [0; 2], ply: 0 };

    fn mover(&self) -> Seat {
        Seat(self.ply % 2)
    }

    fn outcome(&self) -> Option<Outcome> {
        let has_line = |seat: &usize| LINES.iter().any(|line| self.marks[*seat] & line == *line);
        match (0..2).find(has_line) {
            Some(winner) => Some(Outcome::win(winner, "line")),
            None => (self.ply == 9).then_some(Outcome::draw("full")),
        }
    }

    fn letter(&self, square: u8) -> char {
        match self.marks.map(|marks| marks >> square & 1) {
            [1, _] => 'x',
            [_, 1] => 'o',
            _ => '.',
        }
    }

    fn row(&self, row: u8) -> String {
        (3 * row..3 * row + 3).map(|square| self.letter(square)).collect()
    }
}

impl Game for TicTacToe {
    const META: Meta = Meta {
        id: "tic_tac_toe",
        title: "Tic-tac-toe",
        rules_version: 1,
        seatings: &[Seating::new(2, 2)],
        hidden: false,
        chance: false,
        simultaneous: false,
        draws_by_agreement: false,
        lists_moves: true,
        openings: Some(1),
        amounts: None,
        options: &[],
        reasons: &[
            ReasonMeta { code: "line", words: "three in a row", sentence: "{winner} has three in a row." },
            ReasonMeta { code: "full", words: "full board", sentence: "The board is full." },
        ],
        rules: include_str!("rules.md"),
    };
    // Optional, like the implementation of `Imagine` below: with it, `human` draws the board.
    const IMAGINATION: Option<Imagination<TicTacToe>> = Some(Imagination::OF);
    // Optional too: without it, `referee schema tic_tac_toe` only states the fields of every game.
    const SCHEMAS: Option<Schemas> = Some(Schemas::of::<View, NoFact, Square, Options>());
    type Options = Options;
    type Move = Square;
    type Fact = NoFact;
    type View<'a> = View;
    type Key = TicTacToe;
    type Draw = NoDraw;

    fn start(_: &Options, _: Seating) -> Result<TicTacToe, Wrong> {
        Ok(TicTacToe::START)
    }

    fn turn(&self) -> Turn<NoDraw> {
        self.outcome().map_or(Turn::Decide(SeatSet::one(self.mover())), Turn::Over)
    }

    fn turns_left(&self) -> Option<u32> {
        None
    }

    fn legal_moves(&self, _: Seat, out: &mut Vec<Square>) {
        let taken = self.marks[0] | self.marks[1];
        out.extend((0..9).filter(|square| taken >> square & 1 == 0).map(Square));
    }

    fn play_unchecked(&mut self, seat: Seat, square: Square, _: &mut impl FnMut(NoFact)) {
        self.marks[seat.index()] |= 1 << square.0;
        self.ply += 1;
    }

    fn view(&self, _: Viewer) -> View {
        let to_move = self.outcome().is_none().then(|| self.mover());
        View { to_move: to_move.into_iter().collect(), board: [2, 1, 0].map(|row| self.row(row)) }
    }

    fn key(&self) -> TicTacToe {
        *self
    }

    fn draw_board(&self, _: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        [2, 1, 0].into_iter().try_for_each(|row| writeln!(f, "{} {}", row + 1, self.row(row)))?;
        writeln!(f, "  abc")
    }
}

impl Imagine for TicTacToe {
    type Seen = View;

    fn imagine(_: &Known<'_, Options>, seen: &View, _: &mut impl Uniform) -> TicTacToe {
        let mut position = TicTacToe::START;
        for (square, letter) in (0..).zip(seen.board.iter().rev().flat_map(|row| row.chars())) {
            if let Some(seat) = "xo".find(letter).filter(|_| square < 9) {
                position.marks[seat] |= 1 << square;
                position.ply += 1;
            }
        }
        position
    }
}
