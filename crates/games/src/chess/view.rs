//! The view of a position, which is the same for all viewers: JSON and text.

use std::fmt;

use cozy_chess::{BitBoard, Board, Square};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::fen::{Fen, letters};
use super::{Chess, Move, Options, Variant, name, on_board, seat};
use referee_game::{Seat, json};

/// The position, as every seat and spectator sees it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct View<'a> {
    /// The seat to move; empty when the game is over.
    #[serde(serialize_with = "as_list")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Seat>", length(max = 1)))]
    to_move: Option<Seat>,
    board: Letters<'a>,
    fen: &'a Fen,
    checks: Checks,
    /// The number of times that the position has occurred, including now.
    occurrences: u32,
    /// The positions and moves since the last capture, move of a pawn or loss of a castling right.
    since: Line<'a>,
}

/// A position and the moves that follow it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Line<'a> {
    fen: &'a Fen,
    /// The moves from there to the position.
    #[serde(serialize_with = "as_moves")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Move>"))]
    moves: &'a [(Move, u64)],
}

impl View<'_> {
    pub(super) fn of(position: &Chess) -> View<'_> {
        let Chess { now, since, occurrences, .. } = position;
        View {
            to_move: position.outcome().is_none().then(|| seat(now.board.side_to_move())),
            board: Letters(&now.board),
            fen: now,
            checks: Checks(now.board.checkers()),
            occurrences: *occurrences,
            since: Line { fen: &since.fen, moves: &since.line },
        }
    }

    /// Appends the same JSON as `Serialize`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"to_move\":[");
        out.extend(self.to_move.map(|seat| b'0' + seat.0));
        out.extend_from_slice(b"],\"board\":\"");
        out.extend_from_slice(&letters(self.board.0));
        out.extend_from_slice(b"\",\"fen\":\"");
        self.fen.write(out);
        out.extend_from_slice(b"\",\"checks\":[");
        write_list(self.checks.0, out, |square, out| {
            out.extend([b'a' + square.file() as u8, b'1' + square.rank() as u8]);
        });
        out.extend_from_slice(b"],\"occurrences\":");
        json::decimal(out, self.occurrences.into());
        out.extend_from_slice(b",\"since\":{\"fen\":\"");
        self.since.fen.write(out);
        out.extend_from_slice(b"\",\"moves\":[");
        write_list(self.since.moves, out, |(mv, _), out| mv.spell(|byte| out.push(byte)));
        out.extend_from_slice(b"]}}");
    }
}

/// Appends the elements of a list of strings.
fn write_list<T>(list: impl IntoIterator<Item = T>, out: &mut Vec<u8>, write: impl Fn(T, &mut Vec<u8>)) {
    for (index, element) in list.into_iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"\"" } else { b",\"" });
        write(element, out);
        out.push(b'"');
    }
}

fn as_list<S: Serializer>(seat: &Option<Seat>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(seat)
}

fn as_moves<S: Serializer>(moves: &[(Move, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(moves.iter().map(|(mv, _)| mv.to_string()))
}

/// The board with one letter per square.
#[derive(Debug)]
pub(super) struct Letters<'a>(&'a Board);

impl Serialize for Letters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let letters = letters(self.0);
        serializer.serialize_str(
            std::str::from_utf8(&letters).unwrap_or_else(|_| unreachable!("letters are ASCII")),
        )
    }
}

/// The squares of the pieces that give check to the side to move.
#[derive(Debug)]
pub(super) struct Checks(BitBoard);

impl Serialize for Checks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.into_iter().map(|square: Square| square.to_string()))
    }
}

/// A deserialized view: `since` contains everything.
#[derive(Clone, Debug)]
pub struct Seen(pub(super) Chess);

impl<'de> Deserialize<'de> for Seen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Seen, D::Error> {
        #[derive(Deserialize)]
        struct Given {
            since: GivenLine,
        }
        #[derive(Deserialize)]
        struct GivenLine {
            fen: Fen,
            moves: Vec<String>,
        }
        let Given { since: GivenLine { fen, moves } } = Given::deserialize(deserializer)?;
        // Castling is written in the form of the variant, but never follows a position of `since`.
        let variant = if fen.needs_chess960() { Variant::Chess960 } else { Variant::Standard };
        let mut position = Chess::at(fen, &Options { variant, ..Options::default() }, None);
        for (ply, text) in moves.iter().enumerate() {
            let mv: Move = text.parse().map_err(serde::de::Error::custom)?;
            let board = position.board();
            if !board.is_legal(on_board(board, mv)) {
                return Err(serde::de::Error::custom(format!("`{mv}` is not legal in {}", position.now)));
            }
            position.advance(mv);
            if position.since.line.len() != ply + 1 {
                let what = format!(
                    "`{mv}` is a move after which nothing can be repeated: `since` begins with the position after it"
                );
                return Err(serde::de::Error::custom(what));
            }
        }
        Ok(Seen(position))
    }
}

/// Writes the board with White at the bottom.
pub(super) fn draw(position: &Chess, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (row, rank) in letters(position.board()).chunks(8).enumerate() {
        write!(f, "{} |", 8 - row)?;
        for letter in rank {
            write!(f, " {}", char::from(*letter))?;
        }
        writeln!(f)?;
    }
    writeln!(f, "    a b c d e f g h")?;
    match position.outcome() {
        None => write!(f, "{} to move", name(position.board().side_to_move()))?,
        Some(outcome) => write!(f, "over: {}", outcome.reason)?,
    }
    if !position.board().checkers().is_empty() {
        write!(f, ", in check")?;
    }
    if position.quiet_plies() > 0 {
        write!(f, ", quiet plies: {}", position.quiet_plies())?;
    }
    if position.occurrences() > 1 {
        write!(f, ", occurrences: {}", position.occurrences())?;
    }
    writeln!(f)
}
