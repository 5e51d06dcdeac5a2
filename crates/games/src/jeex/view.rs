//! The view of a position, which is the same for all viewers: JSON and text.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Jeex;
use super::board::{Board, Colour, Phase, STONES};
use super::grid::{BATTLEFIELDS, CENTRE, Direction, Field, fields};
use referee_game::{Game, Known, Seat};

/// The position, as every seat and spectator sees it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct View {
    /// The seat to move; empty when the game is over.
    #[serde(serialize_with = "as_list")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Seat>", length(max = 1)))]
    to_move: Option<Seat>,
    phase: Phase,
    /// The stones on the board: owner and direction, by field.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<Field, (Seat, Direction)>"))]
    stones: Stones,
    /// The number of stones in the supply of each seat.
    #[cfg_attr(feature = "schema", schemars(inner(range(max = 14))))]
    supply: [u8; 2],
    /// The number of stones removed from the game.
    #[cfg_attr(feature = "schema", schemars(range(max = 14)))]
    removed: u8,
    /// Consecutive rotations.
    quiet_plies: u32,
}

impl View {
    pub(super) fn of(position: &Jeex) -> View {
        let board = position.board;
        View {
            to_move: position.outcome().is_none().then(|| board.to_move.seat()),
            phase: board.phase,
            stones: Stones(board),
            supply: board.supply,
            removed: board.removed,
            quiet_plies: position.quiet_plies,
        }
    }
}

fn as_list<S: Serializer>(seat: &Option<Seat>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(seat)
}

/// The stones as an object from field to owner and direction.
#[derive(Debug)]
struct Stones(Board);

impl Serialize for Stones {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.stones().map(|(at, (owner, facing))| (at, (owner.seat(), facing))))
    }
}

/// A deserialized and validated view.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "UncheckedView")]
pub struct Seen {
    /// The side to move; `None` when the game is over.
    pub to_move: Option<Colour>,
    /// The phase: the opening, or the play after it.
    pub phase: Phase,
    pub stones: BTreeMap<Field, (Colour, Direction)>,
    /// The supply of each side.
    pub supply: [u8; 2],
    /// The number of stones removed from the game.
    pub removed: u8,
    /// Consecutive rotations so far.
    pub quiet_plies: u32,
}

/// The fields of a view before validation.
#[derive(Deserialize)]
struct UncheckedView {
    #[serde(deserialize_with = "from_list")]
    to_move: Option<Colour>,
    phase: Phase,
    stones: BTreeMap<Field, (Colour, Direction)>,
    supply: [u8; 2],
    removed: u8,
    quiet_plies: u32,
}

fn from_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Colour>, D::Error> {
    Ok(Vec::deserialize(deserializer)?.first().copied())
}

impl TryFrom<UncheckedView> for Seen {
    type Error = &'static str;

    fn try_from(view: UncheckedView) -> Result<Seen, &'static str> {
        let UncheckedView { to_move, phase, stones, supply, removed, quiet_plies } = view;
        let elsewhere = supply.iter().chain([&removed]).map(|&stones| usize::from(stones)).sum::<usize>();
        if elsewhere + stones.len() != 2 * usize::from(STONES) {
            return Err("`stones`, `supply` and `removed` are 14 together");
        }
        let white_begins = to_move == Some(Colour::White) && stones.is_empty();
        let owners: Vec<Colour> = stones.values().map(|&(owner, _)| owner).collect();
        let black_answers = to_move == Some(Colour::Black) && owners == [Colour::White];
        let is_opening = removed == 0 && supply[1] == STONES && (white_begins || black_answers);
        if phase == Phase::Opening && !is_opening {
            return Err("in the opening, White has placed no stone or Black is to answer the first one");
        }
        Ok(Seen { to_move, phase, stones, supply, removed, quiet_plies })
    }
}

impl Seen {
    /// Reconstructs the position. Views of finished games omit the side to move and whether there was a claim. The
    /// side to move follows from the number of turns played, the claim from the absence of other endings.
    pub(super) fn position(&self, known: &Known<'_, super::Options>) -> Jeex {
        let super::Options { turn_limit, draw_plies } = *known.options;
        let turns_left = known.turns_left.unwrap_or(turn_limit);
        let is_whites_turn = turn_limit.saturating_sub(turns_left).is_multiple_of(2);
        let by_turns = if is_whites_turn { Colour::White } else { Colour::Black };
        let mut board = Board::default();
        board.supply = self.supply;
        board.removed = self.removed;
        board.phase = self.phase;
        board.to_move = self.to_move.unwrap_or(by_turns);
        for (&at, &(owner, facing)) in &self.stones {
            board.put(at, owner, facing);
        }
        let mut position = Jeex { board, quiet_plies: self.quiet_plies, draw_plies, turns_left };
        if self.to_move.is_none() && position.outcome().is_none() {
            position.board.to_move = by_turns.other();
            position.board.claimed = true;
        }
        position
    }
}

impl Direction {
    const fn arrow(self) -> char {
        ['↑', '↗', '→', '↘', '↓', '↙', '←', '↖'][self as usize]
    }
}

/// Writes a cell of the board, four columns wide: a stone as its owner's letter and an arrow, a battlefield in
/// brackets.
fn draw_cell(board: &Board, cell: u16, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if cell == CENTRE {
        return f.write_str(" () ");
    }
    let [open, close] = if cell & BATTLEFIELDS == 0 { [' ', ' '] } else { ['[', ']'] };
    match board.stones().find(|(at, _)| at.bit() == cell) {
        Some((_, (Colour::White, facing))) => write!(f, "{open}W{}{close}", facing.arrow()),
        Some((_, (Colour::Black, facing))) => write!(f, "{open}B{}{close}", facing.arrow()),
        None => write!(f, "{open}. {close}"),
    }
}

/// Writes the board with rank 3 at the top, the supplies and the side to move.
pub(super) fn draw(position: &Jeex, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const FILES: &str = "    a    b    c    d    e";
    let board = &position.board;
    writeln!(f, "{FILES}")?;
    for rank in (0..3).rev() {
        write!(f, "{} ", rank + 1)?;
        for file in 0..5 {
            f.write_str(" ")?;
            draw_cell(board, 1 << (3 * file + rank), f)?;
        }
        writeln!(f, " {}", rank + 1)?;
    }
    writeln!(f, "{FILES}")?;
    for colour in Colour::ALL {
        write!(f, "{colour}: supply {}", board.supply(colour))?;
        for (i, at) in fields(board.attackers(colour)).enumerate() {
            write!(f, "{}{at}", if i == 0 { ", attacks the centre from " } else { " " })?;
        }
        writeln!(f)?;
    }
    match position.outcome() {
        None => write!(f, "{}: {} to move", board.phase, board.to_move)?,
        Some(outcome) => {
            write!(f, "over: {}", outcome.reason)?;
            if let Some(winner) = outcome.winner(Jeex::META.seatings[0]) {
                write!(f, ", {} wins", Colour::ALL[winner])?;
            }
        }
    }
    if board.removed > 0 {
        write!(f, ", removed stones: {}", board.removed)?;
    }
    if position.quiet_plies > 0 {
        write!(f, ", quiet plies: {}", position.quiet_plies)?;
    }
    writeln!(f)
}
